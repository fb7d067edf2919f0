//! Settings and rules files with errors; databases that cannot be used; histories that cannot be taken up.

use agent::{Engine, EngineConfig, Host};
use protocol::history::RestoreRequest;
use protocol::{
    CallState, Decision, EntryBody, FileChange, ModelChoice, Op, Plan, Settings, Strategy,
};
use runtime::{History, RestoreMeta, UndoEntryMeta, Workspace};
use serde_json::json;
use support::{Fixture, call_bash, call_read, call_tool, expect_variant, rule_text, say_text};

/// A settings file with an error: file, line, what is wrong, what to do; the desk opens and asks for everything.
#[tokio::test]
async fn broken_settings_make_everything_ask() {
    let folder = tempfile::tempdir().unwrap();
    for (text, line, what) in [
        ("theme = \"purple\"\n", 1, "purple"),
        (
            "notify = true\nask_for_everthing = true\n",
            2,
            "ask_for_everthing",
        ),
        ("notify = \n", 1, ""),
        // `S001-33`: a batch of nothing would never come to its end.
        (
            "notify = true\nstrategy = { batched = { size = 0 } }\n",
            2,
            "nonzero",
        ),
        // An amount that is none must not pass for "no limit".
        ("[limits]\ncost_usd = -1.0\n", 2, "US dollars"),
        ("[limits]\ncost_usd = nan\n", 2, "US dollars"),
    ] {
        std::fs::write(folder.path().join("settings.toml"), text).unwrap();
        let desk = Engine::open(EngineConfig::new(folder.path().to_owned(), Host::Person))
            .await
            .unwrap();
        let snapshot = desk.snapshot().await.unwrap();
        assert!(snapshot.settings.ask_for_everything, "{text:?}");
        let fault = &snapshot.faults[0];
        assert!(
            fault
                .message
                .contains(&format!("settings.toml, line {line}")),
            "{fault}"
        );
        assert!(
            fault.message.contains(what) && !fault.hint.is_empty(),
            "{fault}"
        );
        let left = std::fs::read_to_string(folder.path().join("settings.toml")).unwrap();
        assert_eq!(left, text, "the file is left as it is");
    }
}

/// Settings are written whole and read back the same.
#[tokio::test]
async fn settings_survive() {
    let folder = tempfile::tempdir().unwrap();
    let config = EngineConfig::new(folder.path().to_owned(), Host::Person);
    let wanted = Settings {
        ask_for_everything: true,
        expire_after_min: 7,
        model: Some(ModelChoice {
            provider: "demo".into(),
            model: String::new(),
        }),
        strategy: Strategy::Batched {
            size: std::num::NonZeroU32::new(3).unwrap(),
        },
        ..Settings::default()
    };
    let desk = Engine::open(config.clone()).await.unwrap();
    desk.submit(Op::SetSettings {
        settings: Box::new(wanted.clone()),
    })
    .await
    .unwrap();
    drop(desk);
    assert_eq!(
        Engine::open(config)
            .await
            .unwrap()
            .snapshot()
            .await
            .unwrap()
            .settings,
        wanted
    );
}

/// A rules file with an error makes every call ask, and says where.
#[tokio::test]
async fn broken_rules_make_everything_ask() {
    let mut desk = Fixture::new([call_read("a")]).await;
    desk.write_file("a", "x").write_file(
        ".countersign/rules.toml",
        "[[rule]]\npermission = \"fs.raed\"\n",
    );
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let trail = view.trail.clone().unwrap();
    assert!(
        trail.lead.contains("rules cannot be read"),
        "{}",
        trail.lead
    );
    let fault = desk.snapshot().await.faults.remove(0);
    assert!(
        fault.message.contains("rules.toml, line 2") && fault.message.contains("fs.raed"),
        "{fault}"
    );
    desk.allow_call(&view).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Done]);
}

/// A file that is no database is refused, named, and left as it is.
#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let junk = "this is not a database, and long enough to be sure of that".repeat(100);
    std::fs::write(&file, &junk).unwrap();
    let refused = Engine::open(EngineConfig::new(folder.path().to_owned(), Host::Person)).await;
    let fault = refused.err().expect("it is refused");
    assert!(
        fault.message.contains("record.db") && !fault.hint.is_empty(),
        "{fault}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), junk);
}

/// A folder that is gone, and a provider that is not there, are told before anything is recorded.
#[tokio::test]
async fn a_session_needs_its_folder_and_its_provider() {
    let desk = Fixture::new(json!([])).await;
    for (workspace, provider, what) in [
        ("/nowhere/at/all", "script", "/nowhere/at/all"),
        (desk.workspace_root().to_str().unwrap(), "nobody", "nobody"),
    ] {
        let op = Op::OpenSession {
            workspace: workspace.into(),
            model: protocol::ModelChoice {
                provider: provider.into(),
                model: String::new(),
            },
            prompt: Some("Go.".into()),
            output_schema: None,
            temperature: None,
            agent: None,
            planning: false,
            enclosure: None,
            servers: None,
            former: None,
        };
        let fault = desk.engine.submit(op).await.unwrap_err();
        assert!(fault.message.contains(what), "{fault}");
    }
    assert!(desk.snapshot().await.sessions.is_empty());
}

/// A full disk: the decision is not taken, the fault says so, nothing acknowledged is lost; with room again it goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing() {
    let mut desk = Fixture::new([call_bash("echo hi > made.txt"), say_text("Done.")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let before = desk.events().await;
    limit(&desk, 1);
    let allow = Decision::Allow {
        hunks: None,
        note: "x".repeat(64 * 1024),
        always: None,
    };
    let fault = desk.decide_call(&view, allow).await.unwrap_err();
    assert!(
        fault.message.contains("full") && !fault.hint.is_empty(),
        "{fault}"
    );
    assert_eq!(
        desk.read_file("made.txt"),
        None,
        "what was not recorded did not happen"
    );
    assert_eq!(desk.events().await, before);

    limit(&desk, 1_000_000);
    desk.allow_call(&view).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("made.txt").unwrap(), "hi\n");
    let events = desk.events().await;
    assert_eq!(events[..before.len()], before[..]);
    assert!(
        events.iter().zip(1..).all(|(event, seq)| event.seq == seq),
        "without gaps"
    );
}

/// A disk that fills up while a command runs stops the turn and says so; the call is not taken for ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_up_stops_the_turn() {
    let command = "while [ ! -e go ]; do sleep 0.02; done; seq 1 20000";
    let mut desk = Fixture::new([call_bash(command), say_text("Never said.")]).await;
    desk.start_until_running().await;
    limit(&desk, 1);
    desk.write_file("go", "");
    let mut faults = Vec::new();
    while faults.is_empty() {
        faults = desk.snapshot().await.faults;
        tokio::task::yield_now().await;
    }
    assert!(
        faults[0].message.contains("full") && !faults[0].hint.is_empty(),
        "{}",
        faults[0]
    );
    limit(&desk, 1_000_000);
    let entries = desk.transcript().await;
    let turns = entries
        .iter()
        .filter(|entry| matches!(entry.body, EntryBody::Agent { .. }))
        .count();
    assert_eq!(turns, 1, "the agent had no further turn");
    // Its end is told all the same, and arrives if there is room again by then.
    let state = desk.calls().await[0].state;
    assert!(
        matches!(state, CallState::Running | CallState::Interrupted),
        "{state:?}"
    );
}

/// Takes the record for full at so many pages.
fn limit(desk: &Fixture, pages: u32) {
    tokio::task::block_in_place(|| desk.engine.limit_record_pages(pages));
}

/// A project's rules that want to loosen say so on the desk, and hold from the moment they are trusted, no longer than that.
#[tokio::test]
async fn a_project_s_rules_are_trusted_on_the_desk() {
    use protocol::query::{Answer, Query};
    use protocol::{ProjectRules, Trust};

    let ls = || call_bash("ls");
    let mut desk = Fixture::new([ls(), ls(), ls()]).await;
    let rules = rule_text("bash", "ls*", "allow");
    desk.write_file(".countersign/rules.toml", &rules)
        .start("go")
        .await;
    let workspace = desk.workspace_root().display().to_string();
    let view = async |desk: &Fixture| -> ProjectRules {
        let query = Query::ProjectRules {
            workspace: workspace.clone(),
        };
        expect_variant!(desk.query(query).await, Answer::ProjectRules { rules: Some(rules) } => rules)
    };
    // Untrusted, it asks, and the desk says why.
    desk.wait_for_call().await;
    let faults = desk.snapshot().await.faults;
    assert!(faults[0].message.contains("have not trusted"), "{faults:?}");
    let seen = view(&desk).await;
    assert_eq!(seen.trust, Trust::Unknown);
    let trust = Op::TrustRules {
        workspace: workspace.clone(),
        digest: seen.digest.clone(),
    };
    desk.submit(trust).await;
    assert_eq!(desk.snapshot().await.faults, []);
    // The call that waits goes ahead, and the others run by themselves; a change of the file ends that with the next run.
    desk.wait_until_ended().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done; 3]);
    desk.write_file(".countersign/rules.toml", format!("{rules}\n# more\n"));
    let changed = view(&desk).await;
    assert_eq!(changed.trust, Trust::Changed);
    assert!(
        changed
            .changes
            .iter()
            .any(|span| span.text.contains("+# more"))
    );
    let stale = Op::TrustRules {
        workspace: workspace.clone(),
        digest: seen.digest,
    };
    let refused = desk.engine.submit(stale).await.unwrap_err();
    assert!(
        refused.message.contains("changed since you looked"),
        "{refused}"
    );
    let revoke = Op::DistrustRules {
        workspace: workspace.clone(),
    };
    desk.submit(revoke).await;
    assert_eq!(view(&desk).await.trust, Trust::Unknown);
}

/// An effect that stopped half-way and cannot be taken back keeps nothing else from opening; a later start takes it back.
#[tokio::test]
async fn what_cannot_be_finished_keeps_nothing_from_opening() {
    let mut desk = Fixture::new([say_text("Hello.")]).await;
    desk.write_file("a", "one")
        .write_file("b", "two")
        .start("Go.")
        .await;
    desk.wait_until_ended().await;
    desk.close_session().await;
    let history = desk.data_dir().join("history");
    let change = |path: &str, before: &str| FileChange {
        path: path.to_owned(),
        before: Some(before.into()),
        after: Some(b"changed".to_vec()),
        from: None,
    };
    let plan = Plan::Write(vec![change("a", "one"), change("b", "two")]);
    let meta = UndoEntryMeta {
        id: "und_1".into(),
        session: desk.session.clone(),
        call: "call_1".into(),
        at: 0,
        title: "Changed a and b".to_owned(),
    };
    let workspace = Workspace::open(&desk.workspace_root()).unwrap();
    let prepared = History::open(&history, 1 << 30).unwrap();
    prepared.prepare_entry(&workspace, &plan, meta).unwrap();
    drop(prepared);
    desk.write_file("a", "changed");
    std::fs::rename(history.join("copies"), history.join("elsewhere")).unwrap();

    let mut desk = desk.restart().await;
    let snapshot = desk.snapshot().await;
    assert_eq!(snapshot.sessions.len(), 1);
    assert_eq!(snapshot.faults.len(), 1, "{:?}", snapshot.faults);
    assert_eq!(desk.read_file("a").unwrap(), "changed");

    std::fs::remove_dir_all(history.join("copies")).unwrap();
    std::fs::rename(history.join("elsewhere"), history.join("copies")).unwrap();
    desk = desk.restart().await;
    assert_eq!(desk.snapshot().await.faults, []);
    assert_eq!(desk.read_file("a").unwrap(), "one");
}

/// The same for what the history took back when the record was not told of it any more, and whose workspace is gone since.
#[tokio::test]
async fn an_undo_whose_workspace_is_gone_keeps_nothing_from_opening() {
    let turns = [
        call_tool("delete_path", json!({ "path": "a" })),
        say_text("Gone."),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_file("a", "one").start("Go.").await;
    desk.wait_until_ended().await;
    desk.close_session().await;
    let undo = desk.only_call().await.undo.unwrap();
    let history = History::open(&desk.data_dir().join("history"), 1 << 30).unwrap();
    let meta = RestoreMeta {
        id: "und_act".into(),
        at: undo.at + 1,
    };
    let restore = RestoreRequest::Undo {
        entries: vec![undo.id],
    };
    history.restore(&restore, &[], meta).unwrap();
    drop(history);
    assert_eq!(desk.read_file("a").unwrap(), "one");
    std::fs::remove_dir_all(desk.workspace_root()).unwrap();

    let desk = desk.restart().await;
    let snapshot = desk.snapshot().await;
    assert_eq!(snapshot.sessions.len(), 1);
    assert_eq!(snapshot.faults.len(), 1, "{:?}", snapshot.faults);
}
