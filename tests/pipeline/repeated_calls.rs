//! Calls that repeat themselves: what counts as a loop, what follows from it, and that long work is not taken for one.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent::Host;
use agent::config::RunLimitOverrides;
use async_trait::async_trait;
use protocol::event::{CallChange, SessionEvent};
use protocol::{CallState, EventBody, Gate, SessionState, ToolMode, ToolOutput, Usage};
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Stop};
use serde::Serialize;
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, name, probe_turn};
use support::{Fixture, HEADLESS, call_read, call_tool, call_write, say_text};
use tokio_util::sync::CancellationToken;

/// A tool that may change something and that nobody is asked about.
fn writing_probe() -> Probe {
    Probe::new(|arguments, _| async move { Ok(ToolOutput::new(name(&arguments), "ok")) })
        .with_interface(|interface| interface.mode(ToolMode::External).is_read_only(false))
}

/// A tool that only reads.
fn reading_probe() -> Probe {
    Probe::new(|arguments, _| async move { Ok(ToolOutput::new(name(&arguments), "ok")) })
}

async fn open_desk(
    turns: impl Serialize,
    host: Host,
    probe: Probe,
) -> (Fixture, Arc<RecordingProvider>) {
    let agent = RecordingProvider::new(turns);
    let change = |config: &mut agent::EngineConfig| config.tools = probe.into_tools();
    let desk = Fixture::with_config(agent.clone(), host, change).await;
    (desk, agent)
}

/// A call that may change something is asked about after it came to the same three times over, whatever the order of its
/// arguments.
#[tokio::test]
async fn a_repeated_change_asks() {
    let same = probe_turn(json!({ "x": 1, "y": { "p": 1, "q": 2 } }));
    let turned = call_tool(
        "probe",
        json!({ "y": { "q": 2, "p": 1 }, "x": 1, "name": "a" }),
    );
    let turns = json!([same, turned, same, same, say_text("On.")]);
    let (mut desk, _) = open_desk(turns, Host::Person, writing_probe()).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    assert_eq!(
        desk.calls().await.len(),
        4,
        "three passed, the fourth waits"
    );
    let trail = view.trail.clone().unwrap();
    assert!(
        trail.steps.iter().any(|step| step.gate == Gate::Watchdog),
        "{trail:?}"
    );
    assert!(
        trail.lead.contains("made this very call 3 times in a row"),
        "{}",
        trail.lead
    );
    desk.allow_call(&view).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
}

/// A read is never refused: its model is told that nothing changed, with the result.
#[tokio::test]
async fn a_repeated_read_runs_and_the_model_is_told() {
    let same = probe_turn(json!({}));
    let turns = json!([same, same, same, same, same, say_text("On.")]);
    for host in [Host::Person, HEADLESS] {
        let (mut desk, agent) = open_desk(turns.clone(), host, reading_probe()).await;
        desk.play().await;
        let results = agent.tool_results();
        let told: Vec<bool> = results
            .iter()
            .map(|text| text.contains("times in a row"))
            .collect();
        assert_eq!(told, [false, false, false, true, true], "{results:?}");
        assert!(results[4].contains("5 times in a row"), "{results:?}");
        assert!(results.iter().all(|text| text.starts_with('a')));
        assert_eq!(desk.call_states().await, [CallState::Done; 5]);
    }
}

/// A model that polls gets something new to see, and a call after a change is a new one.
#[tokio::test]
async fn what_changes_between_is_no_loop() {
    let same = probe_turn(json!({}));
    let count = Arc::new(AtomicU32::new(0));
    let polled = Probe::new(move |_, _| {
        let now = count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(ToolOutput::new(now.to_string(), "ok")) }
    })
    .with_interface(|interface| interface.mode(ToolMode::External).is_read_only(false));
    let turns = json!([same, same, same, same, same, say_text("On.")]);
    let (mut desk, _) = open_desk(turns, HEADLESS, polled).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 5]);

    let other = probe_turn(json!({ "x": 1 }));
    let turns = json!([same, same, other, same, same, other, same, same]);
    let (mut desk, _) = open_desk(turns, HEADLESS, writing_probe()).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 8]);

    // A read changes nothing, so it does not end the count.
    let write = call_write("a.txt", "a");
    let read = call_read("a.txt");
    let turns = json!([write, read, write, read, write, read, write, read]);
    let mut desk = Fixture::with_host(turns, HEADLESS).await;
    desk.write_file("a.txt", "a");
    desk.play().await;
    let denied: Vec<usize> = desk
        .call_states()
        .await
        .iter()
        .enumerate()
        .filter_map(|(at, state)| (*state == CallState::Denied).then_some(at))
        .collect();
    assert_eq!(denied, [6], "the fourth of the same writes");
}

/// Without a person to ask, the repeated call is denied and the model hears why; the denial itself keeps nothing denied.
#[tokio::test]
async fn a_denied_repetition_does_not_deny_the_next_call() {
    let (same, other) = (probe_turn(json!({})), probe_turn(json!({ "x": 1 })));
    let turns = json!([
        same, same, same, same, same, same, other, same, same, same, same,
    ]);
    let (mut desk, agent) = open_desk(turns, HEADLESS, writing_probe()).await;
    desk.play().await;
    let (done, denied) = (CallState::Done, CallState::Denied);
    assert_eq!(
        desk.call_states().await,
        [
            done, done, done, denied, done, done, done, done, done, done, denied
        ]
    );
    let results = agent.tool_results();
    assert!(
        results[3].contains("made this very call 3 times in a row"),
        "{}",
        results[3]
    );
}

/// A message of the person begins the count anew: they may have changed something.
#[tokio::test]
async fn the_persons_word_ends_the_count() {
    let same = probe_turn(json!({}));
    let turns = json!([same, same, same, say_text("Done."), same, say_text("Done.")]);
    let (mut desk, _) = open_desk(turns, HEADLESS, writing_probe()).await;
    desk.play().await;
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 4]);
}

/// A setting of 0 takes nothing for a loop.
#[tokio::test]
async fn nothing_is_a_loop_where_the_setting_says_so() {
    let same = probe_turn(json!({}));
    let turns = json!([same, same, same, same, same, say_text("On.")]);
    let (mut desk, _) = open_desk(turns, HEADLESS, writing_probe()).await;
    let mut settings = protocol::Settings::default();
    settings.limits.repeats = 0;
    desk.set_settings(settings).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 5]);
}

/// An agent that works for very long: each turn reads the same files again, and changes one of them.
struct LongWorkProvider {
    turns: u32,
    turn: AtomicU32,
}

/// Calls of one of its turns.
const CALLS_PER_TURN: u32 = 25;

impl LongWorkProvider {
    fn calls(turn: u32) -> Vec<Chunk> {
        let call = |name: &str, arguments: Value| Chunk::Call {
            id: None,
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let reads = (1..CALLS_PER_TURN).map(|file| match file {
            1..=3 => call("read", json!({ "path": format!("f{file}.txt") })),
            _ => call("probe", json!({ "name": format!("f{file}") })),
        });
        // The same two contents in turn: as a test is made to fail and to pass.
        let change = call(
            "write",
            json!({ "path": "f1.txt", "content": (turn % 2).to_string() }),
        );
        reads.chain([change]).collect()
    }
}

#[async_trait]
impl Provider for LongWorkProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        _: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let turn = self.turn.fetch_add(1, Ordering::SeqCst);
        let mut chunks = match turn < self.turns {
            true => Self::calls(turn),
            false => vec![Chunk::Text("Done.".to_owned())],
        };
        chunks.push(Chunk::End {
            usage: Usage::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        });
        Ok(Box::pin(futures::stream::iter(chunks.into_iter().map(Ok))))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// A run that reads the same files over and over while it works has no call denied, however long it is. The whole of
/// 100,000 calls takes minutes where nothing is optimised: `COUNTERSIGN_TEST_CALLS=100000` makes it so long.
#[tokio::test]
async fn long_work_is_not_taken_for_a_loop() {
    let calls = std::env::var("COUNTERSIGN_TEST_CALLS");
    let calls: u32 = calls.map_or(5_000, |calls| calls.parse().unwrap());
    let agent = Arc::new(LongWorkProvider {
        turns: calls / CALLS_PER_TURN,
        turn: AtomicU32::new(0),
    });
    let mut desk = Fixture::with_config(agent, HEADLESS, |config| {
        config.tools = reading_probe().into_tools();
        config.in_memory = true;
        config.limits = RunLimitOverrides {
            turns: Some(0),
            calls: Some(0),
            minutes: Some(0),
            ..RunLimitOverrides::default()
        };
    })
    .await;
    for file in 1..=3 {
        desk.write_file(&format!("f{file}.txt"), "content");
    }
    desk.start("Work.").await;
    let (done, other) = (Cell::new(0), Cell::new(0));
    desk.wait_for_event("the end of the work", |body| match body {
        EventBody::Call {
            change: CallChange::Ended { outcome, .. },
            ..
        } => {
            let count = match outcome.state {
                CallState::Done => &done,
                _ => &other,
            };
            count.set(count.get() + 1);
            false
        }
        EventBody::Session(SessionEvent::Changed { state }) => state.ends_run(),
        _ => false,
    })
    .await;
    let calls = calls / CALLS_PER_TURN * CALLS_PER_TURN;
    assert_eq!((done.get(), other.get()), (calls, 0));
}
