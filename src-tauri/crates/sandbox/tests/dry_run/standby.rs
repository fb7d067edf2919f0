//! The sandbox that stands ready for the next command: made after one, taken by the next, and gone with its
//! environment.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use runtime::{DryRunEnvironment, DryRunOutput, FileError, NetworkClient, ShellCommand};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::fixture::{DISK, Stage};
use crate::single_commands::furnished;

/// An environment with a copy of the sandbox program that nobody else starts.
struct Own {
    stage: Stage,
    environment: DryRunEnvironment,
    program: PathBuf,
    _home: TempDir,
}

impl Own {
    fn new() -> Option<Self> {
        let stage = furnished()?;
        let home = tempfile::tempdir_in(DISK).unwrap();
        let program = home.path().join("sandbox");
        fs::copy(env!("CARGO_BIN_EXE_countersign-sandbox"), &program).unwrap();
        let folder = home.path().join("sandboxes");
        Some(Self {
            environment: DryRunEnvironment::open(Some(program.clone()), &folder, Vec::new())
                .unwrap(),
            stage,
            program,
            _home: home,
        })
    }

    fn rehearse(&self, line: &str) -> Result<DryRunOutput, FileError> {
        let (command, never) = (self.stage.command(line), CancellationToken::new());
        let net = NetworkClient::offline();
        let rehearsed = self.environment.dry_run(&command, &net, |_| {}, &never);
        self.stage.block_on(rehearsed)
    }

    fn says(&self, line: &str) -> String {
        String::from_utf8_lossy(&self.rehearse(line).unwrap().command.head).into_owned()
    }

    /// The program that waits, once there is exactly one.
    fn waiting(&self) -> Pid {
        let mut found = Vec::new();
        let one = soon(|| {
            found = doors(&self.program);
            found.len() == 1
        });
        assert!(one, "{found:?}");
        found[0]
    }
}

/// Whether it holds within a while.
fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// Processes of ours that this program was started as.
fn doors(program: &Path) -> Vec<Pid> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let doors = processes.filter_map(|process| {
        let id = process.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        // Its file may be gone by then, which is said behind its name.
        let file = fs::read_link(process.path().join("exe")).ok()?;
        let is_it = file
            .as_os_str()
            .as_bytes()
            .starts_with(program.as_os_str().as_bytes());
        (parent == own && is_it)
            .then(|| Pid::from_raw(id))
            .flatten()
    });
    doors.collect()
}

#[test]
fn the_next_command_enters_the_sandbox_that_stands_ready() {
    let Some(own) = Own::new() else { return };
    own.rehearse("true").unwrap();
    let first = own.waiting();
    assert_eq!(own.says("echo hello > seen; cat seen"), "hello\n");
    assert!(
        !own.stage.root().join("seen").exists(),
        "nothing real changed"
    );
    let second = own.waiting();
    assert_ne!(first, second, "the one that waited was taken");
}

#[test]
fn one_that_was_ended_meanwhile_is_not_missed() {
    let Some(own) = Own::new() else { return };
    own.rehearse("true").unwrap();
    for _ in 0..3 {
        kill_process(own.waiting(), Signal::KILL).unwrap();
        assert!(soon(|| doors(&own.program).is_empty()));
        assert_eq!(own.says("echo here"), "here\n");
    }
}

#[test]
fn it_ends_with_its_environment() {
    let Some(own) = Own::new() else { return };
    own.rehearse("true").unwrap();
    own.waiting();
    let program = own.program.clone();
    drop(own);
    assert!(soon(|| doors(&program).is_empty()), "{:?}", doors(&program));
}

/// A command gets its own specification, whatever was prepared before.
#[test]
fn a_sandbox_that_stood_ready_is_the_one_that_was_asked_for() {
    let Some(own) = Own::new() else { return };
    own.rehearse("true").unwrap();
    own.waiting();
    let command = ShellCommand {
        env: vec![("GREETING".into(), "hello".into())],
        ..own
            .stage
            .command("echo $GREETING; pwd; cat /proc/sys/kernel/pid_max")
    };
    let (net, never) = (NetworkClient::offline(), CancellationToken::new());
    let rehearsed = own.environment.dry_run(&command, &net, |_| {}, &never);
    let ran = own.stage.block_on(rehearsed).unwrap().command;
    let said = String::from_utf8_lossy(&ran.head).into_owned();
    let root = own.stage.root();
    assert_eq!(said, format!("hello\n{}\n4096\n", root.display()));
}
