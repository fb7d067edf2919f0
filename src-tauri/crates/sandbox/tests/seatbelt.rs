//! Sandboxes on macOS, from outside: a command changes its workspace and nothing else, and reaches nobody.
#![cfg(target_os = "macos")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests end where they fail, and create what a sandbox is tried on"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use protocol::history::RestoreRequest;
use protocol::view::effects::Assurance;
use protocol::{CommandExit, UndoId};
use runtime::{
    DryRunEnvironment, History, NetworkClient, RestoreMeta, SandboxRequest, UndoEntryMeta,
    Workspace,
};
use sandbox::{CommandEnd, SandboxLimits, SandboxReport, SandboxSpec, WatchedReads, read_report};
use tokio_util::sync::CancellationToken;

struct Place {
    _home: tempfile::TempDir,
    home: PathBuf,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        for folder in [
            "workspace/.git/hooks",
            "workspace/keys",
            "temporary",
            "outside",
        ] {
            fs::create_dir_all(real.join(folder)).unwrap();
        }
        for file in ["workspace/keys/secret", "outside/file"] {
            fs::write(real.join(file), "words\n").unwrap();
        }
        Self {
            _home: home,
            home: real,
        }
    }

    fn spec(&self, command: &str, port: u16) -> SandboxSpec {
        let at = |path: &str| self.home.join(path);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let variable = |name: &str, value: String| (name.to_owned(), value);
        SandboxSpec {
            workspace: at("workspace"),
            folder: at("workspace"),
            layers: None,
            bare: Some(at("temporary")),
            private: Vec::new(),
            read_only: vec![at("workspace/.git/hooks")],
            masked: vec![at("workspace/keys/secret")],
            readable_by_git: Vec::new(),
            watched_reads: WatchedReads::default(),
            limits: SandboxLimits::default(),
            proxy: false,
            input: false,
            command: vec!["/bin/bash".into(), "-c".into(), command.into()],
            environment: vec![
                variable("PATH", "/usr/bin:/bin:/usr/sbin:/sbin".into()),
                variable("TMPDIR", text(&at("temporary"))),
                variable("OUT", text(&at("outside"))),
                variable("PORT", port.to_string()),
            ],
            told: at("told"),
        }
    }

    /// Runs it to its end: whether it succeeded.
    fn succeeds(&self, spec: &SandboxSpec) -> bool {
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-sandbox"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = serde_json::to_vec(spec).unwrap();
        line.push(b'\n');
        let mut wanted = child.stdin.take().unwrap();
        wanted.write_all(&line).unwrap();
        let mut said = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        child.wait().unwrap();
        drop(wanted);
        match read_report(&spec.told).unwrap().unwrap() {
            SandboxReport::Ended {
                end: CommandEnd::Exit(code),
                ..
            } => code == 0,
            told => panic!("{told:?}: {said}"),
        }
    }
}

/// Each attempt succeeds without the sandbox; in it, only those that stay in the workspace do.
#[test]
fn a_command_changes_its_workspace_and_nothing_else() {
    for (command, is_let) in [
        ("echo x > new && rm new", true),
        ("echo x > $TMPDIR/new", true),
        ("cat $OUT/file > /dev/null", true),
        ("bash -c 'bash -c true | cat'", true),
        ("echo x > $OUT/new", false),
        ("rm $OUT/file", false),
        ("echo x > .git/hooks/pre-commit", false),
        ("mv .git other", false),
        ("cat keys/secret", false),
        ("mv keys other && cat other/secret", false),
        ("exec 3<>/dev/tcp/127.0.0.1/$PORT", false),
        ("nc -U $OUT/heard < /dev/null", false),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let place = Place::new();
        let heard = UnixListener::bind(place.home.join("outside/heard")).unwrap();
        std::thread::spawn(move || drop(heard.accept()));
        let spec = place.spec(command, port);
        assert_eq!(place.succeeds(&spec), is_let, "{command}");

        let plain = Place::new();
        let heard = UnixListener::bind(plain.home.join("outside/heard")).unwrap();
        std::thread::spawn(move || drop(heard.accept()));
        let spec = plain.spec(command, port);
        let [program, arguments @ ..] = spec.command.as_slice() else {
            unreachable!()
        };
        let ended = Command::new(program)
            .args(arguments)
            .current_dir(&spec.folder)
            .envs(spec.environment.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::null())
            .status();
        assert!(ended.unwrap().success(), "{command}, without a sandbox");
    }
}

/// A sandbox that nobody wants any more ends, with what it started.
#[test]
fn a_sandbox_that_nobody_wants_ends() {
    let place = Place::new();
    let spec = place.spec("sleep 600 & echo began; wait", 0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign-sandbox"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = serde_json::to_vec(&spec).unwrap();
    line.push(b'\n');
    let mut wanted = child.stdin.take().unwrap();
    wanted.write_all(&line).unwrap();
    let mut said = child.stdout.take().unwrap();
    said.read_exact(&mut [0; 6]).unwrap();
    drop(wanted);
    // The end of what it says is the end of everything that could say something.
    said.read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    let told = read_report(&spec.told).unwrap();
    assert!(
        matches!(
            told,
            Some(SandboxReport::Ended {
                end: CommandEnd::Stopped,
                ..
            })
        ),
        "{told:?}"
    );
}

/// By the runtime, over a picture: told, recorded, taken back; what lies outside and what is ours stays closed.
#[tokio::test]
async fn what_a_command_did_is_told_and_taken_back() {
    let place = Place::new();
    let root = place.home.join("workspace");
    let ours = place.home.join("data");
    let workspace = Workspace::open(&root).unwrap();
    let history = History::open(&ours.join("history"), 1 << 30).unwrap();
    let program = env!("CARGO_BIN_EXE_countersign-sandbox").into();
    let environment =
        DryRunEnvironment::open(Some(program), &ours.join("sandboxes"), vec![ours.clone()])
            .unwrap();
    let probe = environment.probe(&workspace).await;
    assert_eq!(probe.assurance, Assurance::Snapshot, "{probe:?}");
    assert!(probe.in_place && probe.net_off && probe.unix_sockets_off && !probe.kill_tree);
    let meta = UndoEntryMeta {
        id: "und_1".into(),
        session: "ses_1".into(),
        call: "call_1".into(),
        at: 1_000,
        title: "a command".into(),
    };
    let line = "echo x > new; echo x > $TMPDIR/mine && echo kept; \
        echo x > ../outside/new || ls ../data || rm keys/secret";
    let command = runtime::ShellCommand {
        line: line.into(),
        workspace: workspace.clone(),
        folder: String::new(),
        env: Vec::new(),
        timeout_ms: 60_000,
        output_bytes_max: 100_000,
        spill: None,
        errors: None,
        mask_secrets: true,
    };
    let (net, never) = (NetworkClient::offline(), CancellationToken::new());
    let picture = environment.take_snapshot(&workspace, &history, meta).await;
    let picture = picture.unwrap();
    let request = SandboxRequest {
        command: &command,
        net: &net,
        cancel: &never,
    };
    let ran = environment.run_in_place(request, &picture, |_: &str| {});
    let ran = ran.await.unwrap().command;
    assert_eq!(ran.exit, CommandExit::Code(0));
    assert!(String::from_utf8_lossy(&ran.head).contains("kept"));
    let done = DryRunEnvironment::record_changes(picture).unwrap();
    let told: Vec<String> = done
        .effects
        .changes
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(told, ["deleted keys/secret", "added new"]);
    drop(done);
    let undo = RestoreRequest::Undo {
        entries: vec![UndoId("und_1".into())],
    };
    let act = RestoreMeta {
        id: UndoId("und_2".into()),
        at: 2_000,
    };
    history.restore(&undo, &[], act).unwrap();
    assert_eq!(fs::read(root.join("keys/secret")).unwrap(), b"words\n");
    assert!(!root.join("new").exists() && !place.home.join("outside/new").exists());
}
