//! The demo, whole: every kind of call on a real workspace, told as a golden stream that the interface replays.

use std::sync::Arc;
use std::time::Duration;

use agent::engine::demo;
use agent::{Engine, EngineConfig, Host};
use protocol::{CallState, Decision, EntryBody, Op, Preview, Settings, Strategy};
use provider::ScriptedProvider;
use support::{Fixture, expect_variant};

/// Plays the demo with the answers that `demo::decision` gives, and compares what was told with the golden stream.
#[tokio::test]
async fn the_demo_plays_whole() {
    let mut script = demo::load_script().unwrap();
    // Without pauses nothing depends on the machine's speed.
    script.turns.iter_mut().for_each(|turn| turn.delay_ms = 0);
    let agent = Arc::new(ScriptedProvider::with_id(demo::DEMO_PROVIDER, script));
    let mut desk = Fixture::with_provider(agent, Host::Person).await;
    // One call after the other, so that the stream tells of them in one order only.
    desk.set_settings(Settings {
        strategy: Strategy::Sequential,
        ..Settings::default()
    })
    .await;
    desk.session = demo::run_demo(&desk.engine, Duration::ZERO).await.unwrap();
    let calls = desk.calls().await;
    let told: Vec<_> = calls
        .iter()
        .map(|view| (view.tool.as_str(), view.state))
        .collect();
    assert_eq!(
        told,
        [
            ("todo", CallState::Done),
            ("grep", CallState::Done),
            ("read", CallState::Done),
            ("write", CallState::Done),
            ("edit", CallState::Done),
            ("todo", CallState::Done),
            ("delete_path", CallState::Undone),
            ("bash", CallState::Done),
            ("question", CallState::Done),
            ("read", CallState::Denied),
            ("todo", CallState::Done),
        ]
    );
    let workspace = match &desk.snapshot().await.sessions[..] {
        [session] => session.workspace.clone(),
        many => panic!("{many:?}"),
    };
    let data = desk
        .data_dir()
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let events = desk.events().await;
    support::golden::check_events(
        "demo",
        &events,
        &[(workspace, "/home/you/tally"), (data, "/home/you/.data")],
    );
}

/// Every answer of the demo's person fits its card, and what was left out is said.
#[tokio::test]
async fn the_demo_shows_a_partial_acceptance() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Engine::open(EngineConfig::new(folder.path().to_owned(), Host::Person))
        .await
        .unwrap();
    desk.submit(Op::PlayDemo).await.unwrap();
    let mut events = desk.subscribe(0);
    let view = 'waiting: loop {
        for _event in events.next().await.unwrap().unwrap().iter() {
            if let Some(entry) = desk.snapshot().await.unwrap().desk.pop() {
                break 'waiting expect_variant!(entry.body, EntryBody::Call(view) => view);
            }
        }
    };
    let files = expect_variant!(&view.preview, Preview::Diff { files } => files);
    assert_eq!(files[0].hunks.len(), 3);
    let decision = demo::decision_for(&view);
    let hunks = expect_variant!(decision, Decision::Allow { hunks, .. } => hunks);
    assert_eq!(hunks, Some(vec![0, 1]));
}
