//! `run --agent "ssh … countersign acp"`: the program on another machine works, and asks here. The other machine is a server
//! of our own for one connection, with keys of its own and no port.

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

/// Two machines: one where the person is, and one behind ssh, each with folders of its own.
struct Machines {
    here: CliFixture,
    there: CliFixture,
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
        let keys = keys.display();
        let server = format!(
            "HostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nAllowAgentForwarding no\n\
             AllowTcpForwarding no\nAllowStreamLocalForwarding no\nX11Forwarding no\n"
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
            config,
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
