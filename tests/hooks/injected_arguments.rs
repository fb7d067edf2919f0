//! Arguments that a host's hooks are given of a call, and those that they put into it.

use std::sync::{Arc, Mutex};

use agent::Host;
use agent::hooks::{HookDecision, HookedCall, Hooks};
use async_trait::async_trait;
use protocol::{CallState, ToolOutput};
use serde_json::{Map, Value, json};
use support::probe::{Probe, RecordingProvider, probe_turn};
use support::{Fixture, HEADLESS_APPROVED, call_tool, say_text};

/// Hooks that put something in, and write down what they are asked with.
#[derive(Default)]
struct Filler {
    heard: Mutex<Vec<String>>,
    puts_in: Option<Value>,
}

#[async_trait]
impl Hooks for Filler {
    fn name(&self) -> &str {
        "the filler"
    }

    async fn extra_arguments(&self, call: &HookedCall) -> Map<String, Value> {
        let arguments = Value::from(call.arguments.clone());
        self.heard
            .lock()
            .unwrap()
            .push(format!("asked {arguments}"));
        let own = self.puts_in.as_ref().and_then(Value::as_object);
        own.cloned().unwrap_or_default()
    }

    async fn before_execution(&self, call: &HookedCall) -> HookDecision {
        let arguments = Value::from(call.arguments.clone());
        self.heard
            .lock()
            .unwrap()
            .push(format!("before {arguments}"));
        HookDecision::Continue
    }
}

/// A tool with a member that only hooks put in, and one that only the tool itself does.
fn with_injected_members() -> Probe {
    let probe = Probe::new(|arguments, _| async move {
        Ok(ToolOutput::new(Value::from(arguments).to_string(), "ok"))
    });
    let members = json!({ "name": { "type": "string" } });
    let mut whole = members.clone();
    whole["trace"] =
        json!({ "type": "string", "visibility": "internal", "mutation_source": "hook" });
    whole["account"] =
        json!({ "type": "string", "visibility": "internal", "mutation_source": "adapter" });
    let schema = |members: &Value, required: &[&str]| json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false });
    probe
        .with_injected_arguments(json!({ "account": "mine" }))
        .with_interface(|tool| {
            tool.model_input_schema(schema(&members, &["name"]))
                .runtime_input_schema(schema(&whole, &["name", "trace", "account"]))
        })
}

/// `S003-62` to `S003-66`: the model never sees nor gives the members that hook and tool put in; they are there when the
/// call is judged and when it runs. Where one is missing or wrong the call does not run.
#[tokio::test]
async fn what_the_host_puts_in_reaches_the_tool() {
    let turns = [
        probe_turn(json!({})),
        probe_turn(json!({ "trace": "forged" })),
        say_text("On."),
    ];
    let run = async |puts_in: Option<Value>| {
        let filler = Arc::new(Filler {
            puts_in,
            ..Filler::default()
        });
        let agent = RecordingProvider::new(turns.clone());
        let mut desk = Fixture::with_config(agent.clone(), Host::Person, |config| {
            config.tools = with_injected_members().into_tools();
            config.hooks = vec![filler.clone()];
        })
        .await;
        desk.play().await;
        let offered = agent.offered.lock().unwrap()[0].clone();
        let probe = offered.iter().find(|tool| tool.name == "probe").unwrap();
        let seen = probe.parameters.to_string();
        assert!(
            !seen.contains("trace") && !seen.contains("account"),
            "{seen}"
        );
        let heard = filler.heard.lock().unwrap().clone();
        (desk.call_outcomes().await, heard)
    };
    let (outcomes, heard) = run(Some(json!({ "trace": "t1" }))).await;
    let whole = r#"{"name":"a","account":"mine","trace":"t1"}"#;
    assert_eq!(outcomes[0], (CallState::Done, whole.to_owned()));
    assert_eq!(
        heard[..2],
        [
            r#"asked {"name":"a"}"#.to_owned(),
            format!("before {whole}")
        ]
    );
    assert_eq!(outcomes[1].0, CallState::Failed);
    assert!(
        outcomes[1]
            .1
            .contains("`trace` is put in by the host (hook) and cannot be given"),
        "{}",
        outcomes[1].1
    );
    for (puts_in, told) in [
        (None, r#""trace" is a required property"#),
        (Some(json!({ "trace": 3 })), "3 is not of type"),
        (Some(json!({ "name": "b" })), "The host put in `name`"),
        (
            Some(json!({ "account": "yours" })),
            "The host put in `account`",
        ),
    ] {
        let (outcomes, _) = run(puts_in).await;
        let (state, text) = &outcomes[0];
        assert_eq!(*state, CallState::Failed);
        assert!(text.contains(told), "{text}");
    }
}

/// `S003-32`, `S003-60`: a hook that classifies risk is given what the tool chose of its arguments for that; nothing of a
/// tool that touches nothing.
#[tokio::test]
async fn a_classifier_gets_its_input() {
    struct Classifier(Mutex<Vec<String>>);
    #[async_trait]
    impl Hooks for Classifier {
        fn name(&self) -> &str {
            "the classifier"
        }
        async fn before_execution(&self, call: &HookedCall) -> HookDecision {
            self.0.lock().unwrap().push(call.classifier_input.clone());
            HookDecision::Continue
        }
    }
    let classifier = Arc::new(Classifier(Mutex::default()));
    let agent = RecordingProvider::new([
        call_tool("read", json!({ "path": "a.txt", "limit": 3 })),
        call_tool(
            "bash",
            json!({ "command": "true", "description": "harmless, surely" }),
        ),
        call_tool("todo", json!({ "items": [] })),
        say_text("On."),
    ]);
    let mut desk = Fixture::with_config(agent, HEADLESS_APPROVED, |config| {
        config.hooks = vec![classifier.clone()];
    })
    .await;
    desk.write_file("a.txt", "alpha\n").play().await;
    let given = classifier.0.lock().unwrap().clone();
    assert_eq!(given, ["read a.txt", "true", ""]);
}
