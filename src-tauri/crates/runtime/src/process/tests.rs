//! Tests of commands that end well, badly, late, never, and of processes that they leave behind.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{CommandExit, CommandRun, OutputSpill, ShellCommand, run};
use crate::{FileError, SessionFolder, Workspace};

struct Fixture {
    home: TempDir,
    folder: Arc<SessionFolder>,
}

impl Fixture {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("ws/sub")).unwrap();
        let folder = SessionFolder::open(&home.path().join("data"), &"ses_1".into()).unwrap();
        Self {
            home,
            folder: Arc::new(folder),
        }
    }

    fn ws(&self) -> std::path::PathBuf {
        self.home.path().join("ws")
    }

    fn command(&self, line: &str) -> ShellCommand {
        ShellCommand {
            line: line.into(),
            workspace: Workspace::open(&self.ws()).unwrap(),
            folder: String::new(),
            env: vec![("EXTRA".into(), "more".into())],
            timeout_ms: 60_000,
            output_bytes_max: 200_000,
            errors: None,
            mask_secrets: true,
            spill: Some(OutputSpill {
                folder: Arc::clone(&self.folder),
                call: "call_1".into(),
            }),
        }
    }
}

async fn plain(command: &ShellCommand) -> CommandRun {
    run(command, |_| {}, &CancellationToken::new())
        .await
        .unwrap()
}

/// Whether a process still runs: it exists and is no zombie that waits to be reaped.
fn runs(pid: &str) -> bool {
    let status = Path::new("/proc").join(pid.trim()).join("stat");
    fs::read_to_string(status).is_ok_and(|stat| !stat.contains(") Z "))
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn exits_and_output() {
    let fixture = Fixture::new();
    let real = fixture.ws().canonicalize().unwrap().display().to_string();
    let cases = [
        (
            "echo out; echo err >&2; echo out",
            CommandExit::Code(0),
            "out\nerr\nout\n".to_owned(),
        ),
        ("exit 3", CommandExit::Code(3), String::new()),
        ("kill -9 $$", CommandExit::Signal(9), String::new()),
        ("cat", CommandExit::Code(0), String::new()),
        (
            "pwd; echo $PWD",
            CommandExit::Code(0),
            format!("{real}\n{real}\n"),
        ),
        (
            "echo $GIT_TERMINAL_PROMPT $PAGER $EXTRA",
            CommandExit::Code(0),
            "0 cat more\n".into(),
        ),
    ];
    for (line, exit, text) in cases {
        let ran = plain(&fixture.command(line)).await;
        let head = String::from_utf8(ran.head.clone()).unwrap();
        assert_eq!(
            (ran.exit, head, ran.bytes),
            (exit, text.clone(), text.len() as u64),
            "{line}"
        );
        assert_eq!((ran.spilled, ran.spill_note), (None, None), "{line}");
    }
    let ran = plain(&fixture.command("no-such-program-here")).await;
    let said = String::from_utf8_lossy(&ran.head).into_owned();
    assert_eq!(ran.exit, CommandExit::Code(127));
    assert!(
        said.contains("no-such-program-here") && said.contains("not found"),
        "{said}"
    );
}

#[tokio::test]
async fn the_folder_is_below_the_root_or_refused() {
    let fixture = Fixture::new();
    let mut command = fixture.command("pwd");
    command.folder = "sub".into();
    let said = String::from_utf8(plain(&command).await.head).unwrap();
    assert!(said.ends_with("/ws/sub\n"), "{said}");
    command.folder = "none".into();
    let error = run(&command, |_| {}, &CancellationToken::new()).await;
    assert_eq!(
        error,
        Err(FileError::NotFound {
            path: "none".into()
        })
    );
    command.folder = "..".into();
    let error = run(&command, |_| {}, &CancellationToken::new()).await;
    assert!(matches!(error, Err(FileError::Outside { .. })), "{error:?}");
}

/// S002-75, S002-68: the head, and the whole in the sidecar.
#[tokio::test]
async fn long_output_goes_to_the_spill_file_whole() {
    let fixture = Fixture::new();
    let mut command = fixture.command("for i in $(seq 1 5000); do echo line $i; done");
    command.output_bytes_max = 1_000;
    let whole: String = (1..=5_000).map(|i| format!("line {i}\n")).collect();
    let mut seen = String::new();
    let ran = run(
        &command,
        |text| seen.push_str(text),
        &CancellationToken::new(),
    )
    .await
    .unwrap();
    let path = ran.spilled.clone().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    assert_eq!(path.parent(), Some(fixture.folder.path()));
    assert_eq!(
        (ran.head.as_slice(), ran.bytes),
        (&whole.as_bytes()[..1_000], whole.len() as u64)
    );
    assert_eq!(seen, whole);
    command.spill = None;
    let ran = plain(&command).await;
    assert_eq!(
        (ran.spilled, ran.head.len(), ran.bytes),
        (None, 1_000, whole.len() as u64)
    );
}

#[tokio::test]
async fn output_that_is_not_utf8_stays_as_it_is() {
    let fixture = Fixture::new();
    let mut seen = String::new();
    let ran = run(
        &fixture.command(r"printf 'a\377\303\050z\342\202'"),
        |text| seen.push_str(text),
        &CancellationToken::new(),
    )
    .await
    .unwrap();
    assert_eq!(ran.head, b"a\xff\xc3\x28z\xe2\x82");
    assert_eq!(seen, "a\u{fffd}\u{fffd}(z\u{fffd}");
}

#[tokio::test]
async fn time_is_up_for_the_whole_group() {
    let fixture = Fixture::new();
    let pids = fixture.ws().join("pids");
    for stubborn in ["", "trap '' TERM; "] {
        let line =
            format!("{stubborn}sleep 300 & echo $! > pids; echo $$ >> pids; wait; sleep 300");
        let mut command = fixture.command(&line);
        command.timeout_ms = 300;
        let ran = plain(&command).await;
        assert_eq!(ran.exit, CommandExit::TimedOut, "{line}");
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            assert!(!runs(pid), "{line}: {pid} still runs");
        }
        fs::remove_file(&pids).unwrap();
    }
}

#[tokio::test]
async fn cancelled_in_the_middle_or_before() {
    let fixture = Fixture::new();
    let cancel = CancellationToken::new();
    let line = "echo begun; sleep 300 & echo $! > pids.new; mv pids.new pids; wait";
    let command = fixture.command(line);
    let ran = run(&command, |_| cancel.cancel(), &cancel).await.unwrap();
    assert_eq!(
        (ran.exit, ran.head.as_slice()),
        (CommandExit::Cancelled, b"begun\n".as_slice())
    );
    if let Ok(pid) = fs::read_to_string(fixture.ws().join("pids")) {
        assert!(!runs(&pid), "{pid} still runs");
    }
    let ran = run(&fixture.command("touch made"), |_| {}, &cancel)
        .await
        .unwrap();
    assert_eq!(ran.exit, CommandExit::Cancelled);
    assert!(!fixture.ws().join("made").exists(), "it was never started");
}

/// A child left behind ends with the call, whether it holds the output or not.
#[tokio::test]
async fn what_is_left_behind_ends() {
    let fixture = Fixture::new();
    for line in [
        "sleep 300 & echo $! > pids; echo done",
        "sleep 300 >/dev/null 2>&1 & echo $! > pids; echo done",
        "(trap '' TERM; sleep 300) & echo $! > pids; echo done",
    ] {
        let ran = plain(&fixture.command(line)).await;
        assert_eq!(
            (ran.exit, ran.head.as_slice()),
            (CommandExit::Code(0), b"done\n".as_slice()),
            "{line}"
        );
        let pid = fs::read_to_string(fixture.ws().join("pids")).unwrap();
        assert!(!runs(&pid), "{line}: {pid} still runs");
    }
    // One that leaves the group is out of reach of signals, but does not hold up the call.
    let ran = plain(&fixture.command("setsid sleep 5 & echo done")).await;
    assert_eq!(
        (ran.exit, ran.head.as_slice()),
        (CommandExit::Code(0), b"done\n".as_slice())
    );
}

#[tokio::test]
async fn a_dropped_run_ends_its_group() {
    let fixture = Fixture::new();
    let command = fixture.command("sleep 300 & echo $! $$ > pids.new; mv pids.new pids; wait");
    let pids = fixture.ws().join("pids");
    let task = tokio::spawn(async move { plain(&command).await });
    until(|| pids.exists()).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        until(|| !runs(pid)).await;
    }
}

/// The name of the test below, and the variable by which it knows that it runs within itself.
const KEYS: &str = "process::tests::keys_in_the_apps_environment_reach_no_command";
const WITHIN: &str = "COUNTERSIGN_WITHIN";

#[tokio::test]
async fn keys_in_the_apps_environment_reach_no_command() {
    if std::env::var_os(WITHIN).is_none() {
        // An environment is a process's own from its start.
        let itself = std::env::current_exe().unwrap();
        let mut within = std::process::Command::new(itself);
        within.args(["--exact", KEYS]).env(WITHIN, "yes");
        within.env("OPENAI_API_KEY", "held").env("RUST_LOG", "open");
        let ran = within.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        return;
    }
    let fixture = Fixture::new();
    // Variables that the caller gives are passed on.
    let command = ShellCommand {
        env: vec![("GIVEN_TOKEN".into(), "given".into())],
        ..fixture.command("echo ${OPENAI_API_KEY-none} $RUST_LOG $GIVEN_TOKEN")
    };
    assert_eq!(plain(&command).await.head, b"none open given\n");
}
