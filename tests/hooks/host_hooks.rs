//! Hooks of a host: the order in which they hear of a call, and the calls and updates that they keep back.

use std::sync::{Arc, Mutex, OnceLock};

use agent::hooks::{CallUpdate, HookDecision, HookedCall, Hooks};
use agent::{Engine, Host};
use async_trait::async_trait;
use protocol::event::{CallChange, SessionEvent};
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::{CallState, Event, EventBody, Op, SessionState, ToolOutput};
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, lifecycle_events, probe_turn};
use support::{Fixture, call_read, call_tool, say_text};

/// Hooks that write down what they hear, and say what a test wants.
#[derive(Default)]
struct RecordingHook {
    heard: Arc<Mutex<Vec<String>>>,
    /// The engine in whose log each hook leaves a mark, by naming its session: so hooks and events stand in one order.
    engine: Arc<OnceLock<Engine>>,
    skip: bool,
    suppress: bool,
    broken: bool,
}

#[async_trait]
impl Hooks for RecordingHook {
    fn name(&self) -> &str {
        "the witness"
    }

    async fn before_execution(&self, call: &HookedCall) -> HookDecision {
        assert!(!self.broken, "a hook's own fault");
        let arguments = Value::from(call.arguments.clone());
        let what = format!("before {} {} {arguments}", call.tool, call.call);
        self.hear(call, what).await;
        match self.skip {
            true => HookDecision::Skip {
                reason: "not on a Sunday".into(),
            },
            false => HookDecision::Continue,
        }
    }

    async fn before_update(&self, call: &HookedCall, update: &CallUpdate) -> bool {
        let what = format!("before {} {} {update:?}", call.tool, call.call);
        self.hear(call, what).await;
        !self.suppress
    }

    async fn after_update(&self, call: &HookedCall, update: &CallUpdate) {
        let what = format!("after {} {} {update:?}", call.tool, call.call);
        self.hear(call, what).await;
    }

    async fn after_execution(&self, call: &HookedCall, is_error: bool) {
        let what = format!("after {} {} {is_error}", call.tool, call.call);
        self.hear(call, what).await;
    }
}

impl RecordingHook {
    async fn hear(&self, call: &HookedCall, what: String) {
        self.heard.lock().unwrap().push(what.clone());
        let rename = Op::RenameSession {
            session: call.session.clone(),
            title: what,
        };
        self.engine.get().unwrap().submit(rename).await.unwrap();
    }
}

/// The life of the calls, and the marks of the hooks where they stand in it.
fn life_with_marks(events: &[Event]) -> Vec<String> {
    let lines = |event: &Event| match &event.body {
        EventBody::Session(SessionEvent::Renamed { title }) => vec![title.clone()],
        _ => lifecycle_events(std::slice::from_ref(event)),
    };
    events.iter().flat_map(lines).collect()
}

async fn witnessed(witness: RecordingHook, call: Value) -> (Fixture, Vec<String>) {
    let (heard, known) = (witness.heard.clone(), witness.engine.clone());
    let probe = Probe::new(|_, cx| async move {
        cx.on_output.unwrap()("half");
        Ok(ToolOutput::new("the result", "ok"))
    });
    let agent = RecordingProvider::new([call, say_text("On.")]);
    let mut desk = Fixture::with_config(agent, Host::Person, |config| {
        config.tools = probe.into_tools();
        config.hooks = vec![Arc::new(witness)];
    })
    .await;
    known.set(desk.engine.clone()).ok().unwrap();
    desk.play().await;
    let heard = heard.lock().unwrap().clone();
    (desk, heard)
}

/// `S001-60`, `S001-63`, `S001-64`, `S001-66`, `S001-68`: the hooks of one call and its events in one order, each
/// hook with the call's id and tool.
#[tokio::test]
async fn hooks_stand_around_the_events() {
    let (desk, _) = witnessed(RecordingHook::default(), probe_turn(json!({}))).await;
    assert_eq!(
        life_with_marks(&desk.events().await),
        [
            "before probe call_4 {\"name\":\"a\"}",
            "start call_4",
            "before probe call_4 Output(\"half\")",
            "output call_4 half",
            "after probe call_4 Output(\"half\")",
            "end call_4",
            "after probe call_4 false",
        ]
    );
}

/// `S001-65`, `S001-66`: an update that is kept back is no event and has no after-hook; the result is the same.
#[tokio::test]
async fn a_suppressed_update_changes_nothing_else() {
    let witness = RecordingHook {
        suppress: true,
        ..RecordingHook::default()
    };
    let (desk, heard) = witnessed(witness, probe_turn(json!({}))).await;
    assert_eq!(
        lifecycle_events(&desk.events().await),
        ["start call_4", "end call_4"]
    );
    assert_eq!(
        heard[1..],
        [
            "before probe call_4 Output(\"half\")",
            "after probe call_4 false"
        ]
    );
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Done, "the result".to_owned())]
    );
}

/// `S001-61`, `S001-62`: a refused call does not start, and the model is told that it was skipped. A hook that breaks
/// refuses too.
#[tokio::test]
async fn a_hook_can_refuse() {
    for (witness, expected) in [
        (
            RecordingHook {
                skip: true,
                ..RecordingHook::default()
            },
            (
                CallState::Skipped,
                "Skipped by the witness: not on a Sunday",
            ),
        ),
        (
            RecordingHook {
                broken: true,
                ..RecordingHook::default()
            },
            (
                CallState::Failed,
                "Not run, because the witness broke off when it was asked.",
            ),
        ),
    ] {
        let (desk, heard) = witnessed(witness, probe_turn(json!({}))).await;
        assert_eq!(
            desk.call_outcomes().await,
            [(expected.0, expected.1.to_owned())]
        );
        let events = desk.events().await;
        let started = events.iter().any(|event| {
            matches!(
                event.body,
                EventBody::Call {
                    change: CallChange::Started,
                    ..
                }
            )
        });
        let mut teller = SessionMapper::new(Vocabulary::Agent, desk.session.clone());
        let told: Vec<Value> = events.iter().flat_map(|event| teller.map(event)).collect();
        assert!(
            !told.is_empty() && !json!(told).to_string().contains("ToolExecution"),
            "{told:?}"
        );
        assert!(
            !started && heard.iter().all(|heard| !heard.starts_with("after")),
            "{heard:?}"
        );
    }
}

/// M19: what a hook said of a call stands in the record, and is told as an event of its own before the call begins.
#[tokio::test]
async fn what_a_hook_said_is_on_record() {
    let calls = || probe_turn(json!({}));
    let classes = |desk: &Fixture, events: &[protocol::Event]| {
        let mut teller = SessionMapper::new(Vocabulary::ToolEvents, desk.session.clone());
        let told = events.iter().flat_map(|event| teller.map(event));
        let told = told.filter(|told| {
            let class = told["event_type"].as_str().unwrap();
            class.starts_with("tool.hook") || class.ends_with("started")
        });
        let words = |told: Value| {
            let member = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
            let words = ["event_type", "hook_source", "permission_result", "message"].map(member);
            words.join(" ").trim().to_owned()
        };
        told.map(words).collect::<Vec<_>>()
    };
    let (desk, _) = witnessed(RecordingHook::default(), calls()).await;
    let events = desk.events().await;
    assert_eq!(
        classes(&desk, &events),
        [
            "tool.hook.pre.started the witness",
            "tool.hook.pre.completed the witness passthrough",
            "tool.invocation.started",
        ]
    );
    let refuses = RecordingHook {
        skip: true,
        ..RecordingHook::default()
    };
    let (desk, _) = witnessed(refuses, calls()).await;
    let events = desk.events().await;
    assert_eq!(
        classes(&desk, &events),
        [
            "tool.hook.pre.started the witness",
            "tool.hook.pre.completed the witness deny Skipped by the witness: not on a Sunday",
        ]
    );
    let said = events.iter().find_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::HookAnswered { hook, refused },
            ..
        } => Some((hook.as_str(), refused.as_deref())),
        _ => None,
    });
    let why = Some("Skipped by the witness: not on a Sunday");
    assert_eq!(said, Some(("the witness", why)));
}

/// A hook hears of a call of a tool that does not exist; a denied call never reaches a hook, so that its *go* lifts
/// nothing (M12).
#[tokio::test]
async fn hooks_come_after_the_rules() {
    let unknown = call_tool("no_such", json!({}));
    let (_, heard) = witnessed(RecordingHook::default(), unknown).await;
    assert_eq!(
        heard,
        ["before no_such call_4 {}", "after no_such call_4 true"]
    );
    let outside = call_read("/etc/passwd");
    let (desk, heard) = witnessed(RecordingHook::default(), outside).await;
    assert_eq!(
        (desk.call_outcomes().await[0].0, heard),
        (CallState::Denied, Vec::new())
    );
}

/// A host that only has a name.
struct NoopHook;

#[async_trait]
impl Hooks for NoopHook {
    fn name(&self) -> &str {
        "nobody"
    }
}

/// `S001-67`: without hooks, and with hooks that say nothing, the same events are told and the same result is read.
#[tokio::test]
async fn hooks_are_optional() {
    let mut told = Vec::new();
    for hooks in [Vec::new(), vec![Arc::new(NoopHook) as Arc<dyn Hooks>]] {
        let probe = Probe::new(|_, cx| async move {
            cx.on_output.unwrap()("half");
            Ok(ToolOutput::new("the result", "ok"))
        });
        let agent = RecordingProvider::new([probe_turn(json!({})), say_text("On.")]);
        let mut desk = Fixture::with_config(agent.clone(), Host::Person, |config| {
            config.tools = probe.into_tools();
            config.hooks = hooks;
        })
        .await;
        desk.play().await;
        told.push((lifecycle_events(&desk.events().await), agent.tool_results()));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].0.len(), 3);
}

/// A host that never answers.
struct SilentHook(Arc<tokio::sync::Notify>);

#[async_trait]
impl Hooks for SilentHook {
    fn name(&self) -> &str {
        "the mute"
    }

    async fn before_execution(&self, _: &HookedCall) -> HookDecision {
        self.0.notify_one();
        std::future::pending().await
    }
}

/// `S001-61`: a hook that does not answer within its ten seconds keeps the call from running, and the run goes on.
#[tokio::test]
async fn a_hook_that_hangs_refuses() {
    let asked = Arc::new(tokio::sync::Notify::new());
    let mute = SilentHook(asked.clone());
    let probe = Probe::new(|_, _| async { Ok(ToolOutput::new("ran", "ok")) });
    let agent = RecordingProvider::new([probe_turn(json!({})), say_text("On.")]);
    let mut desk = Fixture::with_config(agent, Host::Person, |config| {
        config.tools = probe.into_tools();
        config.hooks = vec![Arc::new(mute)];
    })
    .await;
    desk.start("Go.").await;
    asked.notified().await;
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(11)).await;
    tokio::time::resume();
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let text = "Not run, because the mute did not answer in time when it was asked.";
    let expected = [(CallState::Failed, text.to_owned())];
    assert_eq!(desk.call_outcomes().await, expected);
}
