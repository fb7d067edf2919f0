//! The GitHub Action and the GitLab component: what their steps do, with the real program and stand-ins for what a runner has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::CliFixture;

const ACTION: &str = include_str!("../../../../../action.yml");
const COMPONENT: &str = include_str!("../../../../../templates/countersign.yml");

/// A run that reads a file, and then one that a rule of the manifest denies.
const SCRIPT: &str = r#"{"turns":[
  {"calls":[{"name":"read","arguments":{"path":"a.txt"}}]},
  {"calls":[{"name":"read","arguments":{"path":"b.txt"}}]},
  {"text":"Done."}]}"#;
const MANIFEST: &str = "name = \"reader\"\n[[rule]]\npermission = \"fs.read\"\npattern = \"b.txt\"\naction = \"deny\"\n";

fn parse(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

/// The shell script of a step of the action.
fn action_step(name: &str) -> String {
    let action = parse(ACTION);
    let mut steps = action["runs"]["steps"].as_array().unwrap().iter();
    let step = steps.find(|step| step["name"] == name).unwrap();
    step["run"].as_str().unwrap().to_owned()
}

/// A part of the job of the component: its variables and scripts.
fn component_job() -> Value {
    let (_, job) = COMPONENT.split_once("\n---\n").unwrap();
    let jobs = parse(job);
    jobs.as_object().unwrap().values().next().unwrap().clone()
}

/// A runner: the program in its place, stand-ins for the programs of a runner, and folders.
struct Runner {
    place: CliFixture,
    root: PathBuf,
}

impl Runner {
    fn new() -> Self {
        let place = CliFixture::new();
        place.write_file("a.txt", "alpha\n");
        place.write_file("b.txt", "beta\n");
        let root = PathBuf::from(place.create_outside_folder("runner"));
        fs::create_dir(root.join("bin")).unwrap();
        Self { place, root }
    }

    /// Puts a program on the path of the runner.
    fn add_program(&self, name: &str, script: &str) {
        let file = self.root.join("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts the real program on the path of the runner.
    fn add_countersign(&self) {
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        std::os::unix::fs::symlink(program, self.root.join("bin/countersign")).unwrap();
    }

    /// Runs a script as a step, with the options that play a script in the place of a model.
    fn run(&self, shell: &str, script: &str, variables: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.root.join("bin").display());
        let mut command = Command::new(shell);
        command
            .args(["-c", script])
            .current_dir(self.place.workspace())
            .env_clear()
            .envs(self.place.environment())
            .env("PATH", path)
            .envs(variables.iter().copied());
        command.output().unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }
}

/// The run that was denied a call ends as such, and its record is there: events, log, and story.
fn assert_record(ran: &Output, record: &Path) {
    let error = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{error}");
    let read = |name: &str| fs::read_to_string(record.join(name)).unwrap();
    let events = read("events.jsonl");
    let lines = events.lines().map(serde_json::from_str::<Value>);
    assert!(lines.into_iter().all(|line| line.is_ok()), "{events}");
    assert!(read("session.jsonl").contains("call_judged"));
    let story = read("session.md");
    assert!(story.contains("Read $HOME; \"both\""), "{story}");
    assert!(story.contains("Done."), "{story}");
}

#[test]
fn the_action_keeps_the_record_of_a_run_that_was_denied_something() {
    let runner = Runner::new();
    runner.add_countersign();
    let script = runner.place.write_outside_file("script.json", SCRIPT);
    let agent = runner.place.write_outside_file("agent.toml", MANIFEST);
    let (record, output) = (runner.path("record"), runner.path("output"));
    let options = format!("--script\n{script}\n");
    let variables: [(&str, &str); 6] = [
        ("AGENT", &agent),
        ("PROMPT", "Read $HOME; \"both\""),
        ("WORKSPACE", "."),
        ("OPTIONS", &options),
        ("RECORD", &record),
        ("GITHUB_OUTPUT", &output),
    ];
    let ran = runner.run("bash", &action_step("Run the agent"), &variables);
    assert_record(&ran, Path::new(&record));
    assert_eq!(runner.read("output"), format!("record={record}\n"));

    let wrong = runner.run(
        "bash",
        &action_step("Run the agent"),
        &[&variables[..], &[("OPTIONS", "--no-such-option")]].concat(),
    );
    assert_eq!(wrong.status.code(), Some(2), "it fails as the program does");
}

#[test]
fn the_component_keeps_the_record_of_a_run_that_was_denied_something() {
    let runner = Runner::new();
    runner.add_countersign();
    let script = runner.place.write_outside_file("script.json", SCRIPT);
    let agent = runner.place.write_outside_file("agent.toml", MANIFEST);
    let job = component_job();
    let project = runner.path("project");
    fs::create_dir(&project).unwrap();
    let ran = runner.run(
        "sh",
        job["script"][0].as_str().unwrap(),
        &[
            ("AGENT", &agent),
            ("PROMPT", "Read $HOME; \"both\""),
            ("WORKSPACE", "."),
            ("OPTIONS", &format!("--script\n{script}\n")),
            ("FOLDER", &runner.path("job")),
            ("CI_PROJECT_DIR", &project),
        ],
    );
    let kept = job["artifacts"]["paths"][0].as_str().unwrap();
    assert_record(&ran, &Path::new(&project).join(kept));
    assert_eq!(job["artifacts"]["when"], "always");
    // What the job gets from its inputs is not expanded a second time.
    for name in [
        "AGENT",
        "PROMPT",
        "WORKSPACE",
        "OPTIONS",
        "PACKAGE",
        "SHA256",
    ] {
        assert_eq!(job["variables"][name]["expand"], false, "{name}");
    }
}

/// A package whose program says that it was installed, with its checksum, in a folder of releases.
fn add_release(runner: &Runner) -> String {
    let package = "usr/bin/countersign";
    let folder = runner.root.join("package");
    fs::create_dir_all(folder.join("usr/bin")).unwrap();
    fs::write(folder.join(package), "#!/bin/sh\necho installed\n").unwrap();
    fs::set_permissions(folder.join(package), fs::Permissions::from_mode(0o755)).unwrap();
    let releases = runner.path("releases");
    fs::create_dir(&releases).unwrap();
    let script = format!(
        "set -e; tar --create --file {releases}/Countersign_1.2.0_amd64.deb --directory {} usr; cd {releases}; \
         sha256sum Countersign_1.2.0_amd64.deb >Countersign_1.2.0_amd64.deb.sha256; \
         cut --characters 1-64 Countersign_1.2.0_amd64.deb.sha256",
        folder.display()
    );
    let made = runner.run("sh", &script, &[]);
    assert!(made.status.success(), "{made:?}");
    runner.add_program("dpkg", "echo amd64");
    runner.add_program("dpkg-deb", "tar --extract --file \"$2\" --directory \"$3\"");
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_action_installs_a_release_with_the_right_checksum_alone() {
    let runner = Runner::new();
    let sum = add_release(&runner);
    let releases = runner.path("releases");
    runner.add_program(
        "gh",
        &format!("echo \"$@\" >>{releases}/asked; test \"$3\" = v1.2.0 && cp {releases}/*.deb* ."),
    );
    let (folder, path) = (runner.path("installed"), runner.path("path"));
    let install = |version: &str, sha256: &str| {
        let variables: [(&str, &str); 5] = [
            ("REPOSITORY", "example/countersign"),
            ("VERSION", version),
            ("SHA256", sha256),
            ("FOLDER", &folder),
            ("GITHUB_PATH", &path),
        ];
        runner.run("bash", &action_step("Install Countersign"), &variables)
    };
    let other = "0".repeat(64);
    let refused = install("v1.2.0", &other);
    assert!(!refused.status.success());
    assert!(!Path::new(&path).exists(), "nothing was put on the path");
    let missing = install("main", "");
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8(missing.stdout).unwrap();
    assert!(
        said.contains("There is no release main of example/countersign"),
        "{said}"
    );
    for sha256 in ["", &sum] {
        let ran = install("v1.2.0", sha256);
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(runner.read("path"), format!("{folder}/usr/bin\n"));
        fs::remove_file(&path).unwrap();
    }
    let asked = runner.read("releases/asked");
    assert!(
        asked.contains("--pattern Countersign_1.2.0_amd64.deb.sha256"),
        "{asked}"
    );
}

#[test]
fn the_component_installs_a_package_with_the_right_checksum_alone() {
    let runner = Runner::new();
    let sum = add_release(&runner);
    let releases = runner.path("releases");
    let package = format!("{releases}/Countersign_1.2.0_amd64.deb");
    runner.add_program("curl", "for last; do :; done; cp \"$last\" \"$6\"");
    let job = component_job();
    let script = format!("{}\ncountersign", job["before_script"][0].as_str().unwrap());
    let install = |sha256: &str| {
        let folder = runner.path("job");
        let variables: [(&str, &str); 3] = [
            ("PACKAGE", &package),
            ("SHA256", sha256),
            ("FOLDER", &folder),
        ];
        runner.run("sh", &script, &variables)
    };
    let refused = install(&"0".repeat(64));
    assert!(!refused.status.success());
    assert!(
        !Path::new(&runner.path("job/usr")).exists(),
        "nothing was unpacked"
    );
    let ran = install(&sum);
    assert_eq!(
        String::from_utf8(ran.stdout).unwrap().lines().last(),
        Some("installed")
    );
}

#[test]
fn every_input_is_used_and_every_use_is_an_input() {
    let action = parse(ACTION);
    let inputs = action["inputs"].as_object().unwrap().keys();
    for input in inputs {
        assert!(ACTION.contains(&format!("inputs.{input}")), "{input}");
    }
    let (spec, job) = COMPONENT.split_once("\n---\n").unwrap();
    let spec = parse(spec);
    let inputs = spec["spec"]["inputs"].as_object().unwrap();
    for input in inputs.keys() {
        assert!(job.contains(&format!("$[[ inputs.{input} ]]")), "{input}");
    }
    let uses = job.split("$[[ inputs.").skip(1);
    for used in uses.filter_map(|rest| rest.split_once(" ]]")) {
        assert!(inputs.contains_key(used.0), "{}", used.0);
    }
    // A script names no input itself, so that none is read as a part of it.
    for name in ["Install Countersign", "Run the agent"] {
        assert!(!action_step(name).contains("${{"), "{name}");
    }
}
