//! `run --agent "ssh … countersign acp"`: the program on another machine works, and asks here. The other machine is a server
//! of our own for one connection, with keys of its own and no port. The lines that the window builds run as they are; a container
//! is stood in for by a program that starts the words it is given, as Docker and Podman do.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::CliFixture;

/// The server of OpenSSH, which is started by its whole path alone.
const SSHD: &str = "/usr/sbin/sshd";
/// Folder without which the server does not start as root.
const PRIVILEGES_FOLDER: &str = "/run/sshd";

const SCRIPT: &str = r#"{"turns":[
  {"calls":[{"name":"bash","arguments":{"command":"cp a.txt b.txt"}}]},
  {"text":"Done there."}]}"#;

/// The lines that the window builds, in which `FOLDER` stands for a folder there.
const WINDOW_LINES: &str = include_str!("../../../../../tests/golden/elsewhere.json");

/// Two machines: one where the person is, and one behind ssh, each with folders of its own.
struct Machines {
    here: CliFixture,
    there: CliFixture,
    /// Where programs are found there.
    bin_there: PathBuf,
    /// The configuration of the client, in which the other machine is `other`.
    config: PathBuf,
}

impl Machines {
    fn new() -> Self {
        let (here, there) = (CliFixture::new(), CliFixture::new());
        let keys = PathBuf::from(here.create_outside_folder("keys"));
        for name in ["host", "client"] {
            let file = keys.join(name);
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(&file)
                .status()
                .unwrap();
            assert!(made.success());
        }
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            fs::create_dir_all(PRIVILEGES_FOLDER).unwrap();
        }
        let public = fs::read_to_string(keys.join("client.pub")).unwrap();
        write_private(&keys.join("authorized"), &public);
        let host_key = fs::read_to_string(keys.join("host.pub")).unwrap();
        write_private(&keys.join("known"), &format!("other {host_key}"));
        let bin_there = PathBuf::from(there.create_outside_folder("bin"));
        let keys = keys.display();
        let server = format!(
            "HostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nAllowAgentForwarding no\n\
             AllowTcpForwarding no\nAllowStreamLocalForwarding no\nX11Forwarding no\nSetEnv PATH={}:{}\n",
            bin_there.display(),
            std::env::var("PATH").unwrap(),
        );
        let server_config = here.write_outside_file("server.conf", &server);
        let client = format!(
            "Host other\n  ProxyCommand {SSHD} -i -e -f {server_config}\n  IdentityFile {keys}/client\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {keys}/known\n  StrictHostKeyChecking yes\n  BatchMode yes\n  ForwardAgent no\n  LogLevel ERROR\n"
        );
        let config = PathBuf::from(here.write_outside_file("client.conf", &client));
        Self {
            here,
            there,
            bin_there,
            config,
        }
    }

    /// Lets the program there work that this line of the window starts, and returns what was told here. `ssh` here reads the
    /// configuration of the person; the program there has data and a model of its own.
    fn run_window_line(&self, line: &str) -> crate::support::CliRun {
        let script = self.there.write_outside_file("script.json", SCRIPT);
        let bin_here = PathBuf::from(self.here.create_outside_folder("bin"));
        let countersign = format!(
            "exec {} --data-dir {} \"$@\" --script {script}",
            env!("CARGO_BIN_EXE_countersign"),
            self.there.data().display(),
        );
        write_program(&self.bin_there.join("countersign"), &countersign);
        let path = std::env::var("PATH").unwrap();
        let path_there = format!("{}:{path}", self.bin_there.display());
        let ssh = find_program("ssh").display().to_string();
        let ssh = format!("exec {ssh} -F {} \"$@\"", self.config.display());
        write_program(&bin_here.join("ssh"), &ssh);
        let container = format!(
            "[ \"$1 $2 $3\" = 'exec -i web' ] || exit 64\nshift 3\nPATH='{path_there}' exec \"$@\""
        );
        for carrier in ["docker", "podman"] {
            write_program(&bin_here.join(carrier), &container);
        }
        let args = [
            "run",
            "--agent",
            line,
            "--json",
            "--approve-all",
            "Copy it.",
        ];
        let mut command = self.here.command(&args);
        let output = command
            .env("PATH", format!("{}:{path}", bin_here.display()))
            .output()
            .unwrap();
        crate::support::CliRun {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Lets the program there work, and returns what was told here.
    fn run(&self, options: &[&str]) -> crate::support::CliRun {
        let script = self.there.write_outside_file("script.json", SCRIPT);
        let agent = format!(
            "ssh -F {} other {} --data-dir {} acp --workspace {} --script {script}",
            self.config.display(),
            env!("CARGO_BIN_EXE_countersign"),
            self.there.data().display(),
            self.there.workspace().display(),
        );
        self.here.run(
            &[
                &["run", "--agent", &agent, "--json"],
                options,
                &["Copy it."],
            ]
            .concat(),
        )
    }
}

fn write_private(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

fn write_program(file: &Path, script: &str) {
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn find_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file()).unwrap()
}

/// A folder with a blank and a quote is one word, also for the shell there.
#[test]
fn the_lines_that_the_window_builds_start_a_program_elsewhere() {
    let lines: Value = serde_json::from_str(WINDOW_LINES).unwrap();
    for line in lines["commands"].as_array().unwrap() {
        let machines = Machines::new();
        let workspace = machines.there.workspace();
        let text = |member: &str| {
            let text = line[member].as_str().unwrap();
            text.replace("FOLDER", &workspace.display().to_string())
        };
        let folder = PathBuf::from(text("folder"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.txt"), "there\n").unwrap();
        machines.here.write_file("a.txt", "here\n");
        let command = text("command");
        let ran = machines.run_window_line(&command);
        assert_eq!(ran.code, 0, "{command}: {}{}", ran.out, ran.err);
        let copied = fs::read_to_string(folder.join("b.txt"));
        assert_eq!(copied.unwrap(), "there\n", "{command}: {}", ran.out);
        assert_eq!(machines.here.read_file("b.txt"), None, "{command}");
    }
}

#[test]
fn a_command_there_asks_here_and_runs_there() {
    for (options, code, expected) in [
        (["--approve-all"].as_slice(), 0, Some("there\n")),
        (&["--headless"], 3, None),
    ] {
        let machines = Machines::new();
        machines.here.write_file("a.txt", "here\n");
        machines.there.write_file("a.txt", "there\n");
        let ran = machines.run(options);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(
            machines.there.read_file("b.txt").as_deref(),
            expected,
            "{}",
            ran.out
        );
        assert_eq!(
            machines.here.read_file("b.txt"),
            None,
            "nothing is done here"
        );

        let events = machines
            .here
            .run_ok(&["export", "last", "--format", "jsonl"]);
        let mut events = events
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let proposal = events
            .find(|event| event["body"]["type"] == "call_proposed")
            .unwrap();
        let call = &proposal["body"]["call"];
        assert_eq!(call["arguments"]["input"]["command"], "cp a.txt b.txt");
        let leads = call["arguments"]["where"].as_str().unwrap();
        assert!(leads.contains(" other "), "{leads}");
        let there = machines
            .there
            .run_ok(&["export", "last", "--format", "jsonl"]);
        assert!(there.contains("call_judged"), "it was judged there as well");
    }
}
