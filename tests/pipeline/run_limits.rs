//! Limits of a run: turns, calls, tokens, cost and time.

use std::sync::Arc;

use agent::Host;
use agent::config::RunLimitOverrides;
use async_trait::async_trait;
use futures::StreamExt;
use protocol::event::{CallChange, SessionEvent};
use protocol::{CallState, EventBody, Limit, SessionState, ToolError, ToolOutput, Usage};
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError};
use serde::Serialize;
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, name, probe_calls, probe_turn};
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_bash, call_read, call_tool, say_text, script_provider};
use tokio_util::sync::CancellationToken;

fn succeeding_probe() -> Probe {
    Probe::new(|arguments, _| async move { Ok(ToolOutput::new(name(&arguments), "ok")) })
}

async fn run_with_limits(
    given: RunLimitOverrides,
    turns: impl Serialize,
) -> (Fixture, Vec<(Limit, f64, f64)>) {
    let agent = RecordingProvider::new(turns);
    let mut desk = Fixture::with_config(agent, Host::Person, |config| {
        config.tools = succeeding_probe().into_tools();
        config.limits = given;
    })
    .await;
    desk.start("Go.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    let reached = desk
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Session(SessionEvent::LimitReached { limit, used, max }) => {
                Some((limit, used, max))
            }
            _ => None,
        });
    let reached = reached.collect();
    (desk, reached)
}

/// A run stops at its limit of turns and goes on when the person says something; the limit then counts anew.
#[tokio::test]
async fn a_run_stops_at_its_turns_and_goes_on() {
    let given = RunLimitOverrides {
        turns: Some(2),
        ..RunLimitOverrides::default()
    };
    let turn = |n: u32| probe_turn(json!({ "n": n }));
    let turns = [turn(1), turn(2), turn(3), say_text("Done.")];
    let (mut desk, reached) = run_with_limits(given, turns).await;
    assert_eq!(reached, [(Limit::Turns, 2.0, 2.0)]);
    desk.send_message("Go on.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.calls().await.len(), 3);
}

/// Of calls beyond the limit none runs, and each has its result.
#[tokio::test]
async fn a_run_stops_at_its_calls() {
    let given = RunLimitOverrides {
        calls: Some(2),
        ..RunLimitOverrides::default()
    };
    let calls: Vec<Value> = (0..4).map(|n| json!({ "name": n.to_string() })).collect();
    let (desk, reached) = run_with_limits(given, [probe_calls(&calls), say_text("Never.")]).await;
    assert_eq!(reached, [(Limit::Calls, 2.0, 2.0)]);
    let not_run = "Not run: the run reached its limit of 2 calls.";
    let expected = [
        (CallState::Done, "0"),
        (CallState::Done, "1"),
        (CallState::Skipped, not_run),
        (CallState::Skipped, not_run),
    ];
    assert_eq!(
        desk.call_outcomes().await,
        expected.map(|(state, text)| (state, text.to_owned()))
    );
}

/// Agents whose every turn uses as much as a test says.
struct CostlyProvider<P> {
    script: Arc<P>,
    usage: Usage,
}

#[async_trait]
impl<P: Provider> Provider for CostlyProvider<P> {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let usage = self.usage;
        let spent = move |chunk| match chunk {
            Ok(Chunk::End { opaque, stop, .. }) => Ok(Chunk::End {
                usage,
                opaque,
                stop,
            }),
            other => other,
        };
        let chunks = self.script.stream(request, cancel).await?;
        Ok(Box::pin(chunks.map(spent)))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// A sub-agent spends from the limit of its caller: it stops where both together have used it up, and so does its caller.
#[tokio::test]
async fn a_sub_agent_task_spends_what_its_caller_may() {
    let reviewer = "---\nname: reviewer\ndescription: Reviews.\ntools: [read]\n---\nYou review.\n";
    let task = json!({ "subagent_type": "reviewer", "prompt": "Look." });
    let cast = ScriptedAgents::new(
        [call_tool("task", task), say_text("Never.")],
        [(
            "You review.",
            json!([
                call_read("a.txt"),
                call_read("b.txt"),
                call_read("c.txt"),
                say_text("Never.")
            ]),
        )],
    );
    let usage = Usage {
        input_tokens: 60,
        output_tokens: 15,
        ..Usage::default()
    };
    let spender = Arc::new(CostlyProvider {
        script: cast,
        usage,
    });
    let mut desk = Fixture::with_config(spender, Host::Person, |config| {
        config.limits = RunLimitOverrides {
            tokens: Some(200),
            ..RunLimitOverrides::default()
        };
    })
    .await;
    desk.write_file(".countersign/agents/reviewer.md", reviewer);
    for name in ["a.txt", "b.txt", "c.txt"] {
        desk.write_file(name, "text");
    }
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    let reached: Vec<_> = desk
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Session(SessionEvent::LimitReached { limit, used, .. }) => {
                Some((event.session == desk.session, limit, used))
            }
            _ => None,
        })
        .collect();
    let (own, tasks) = ((true, Limit::Tokens, 225.0), (false, Limit::Tokens, 225.0));
    assert_eq!(reached, [tasks, own]);
}

/// A run stops when its turns together have used as many tokens, or cost as much, as it may: the calls of the turn that
/// reached it do not run, and it goes on, counted anew, when the person says something. Exactly what was used is told.
#[tokio::test]
async fn a_run_stops_at_its_tokens_and_its_cost() {
    let usage = Usage {
        input_tokens: 60,
        cached_tokens: 10,
        output_tokens: 15,
        cost_usd: Some(0.25),
    };
    let tokens = RunLimitOverrides {
        tokens: Some(150),
        ..RunLimitOverrides::default()
    };
    let cost = RunLimitOverrides {
        cost_usd: Some(0.5),
        ..RunLimitOverrides::default()
    };
    for (given, reached, words) in [
        (tokens, (Limit::Tokens, 150.0, 150.0), "150 tokens"),
        (cost, (Limit::Cost, 0.5, 0.5), "0.50 US dollars"),
    ] {
        let turn = |n: u32| probe_turn(json!({ "n": n }));
        let turns = [turn(1), turn(2), turn(3), say_text("Done.")];
        let spender = Arc::new(CostlyProvider {
            script: Arc::new(script_provider(turns)),
            usage,
        });
        let mut desk = Fixture::with_config(spender, Host::Person, |config| {
            config.tools = succeeding_probe().into_tools();
            config.limits = given;
        })
        .await;
        desk.start("Go.").await;
        assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
        let told = desk
            .events()
            .await
            .into_iter()
            .find_map(|event| match event.body {
                EventBody::Session(SessionEvent::LimitReached { limit, used, max }) => {
                    Some((limit, used, max))
                }
                _ => None,
            });
        assert_eq!(told, Some(reached));
        let not_run = format!("Not run: the run reached its limit of {words}.");
        let expected = [
            (CallState::Done, "a".to_owned()),
            (CallState::Skipped, not_run),
        ];
        assert_eq!(desk.call_outcomes().await, expected);
        desk.send_message("Go on.").await;
        assert_eq!(
            desk.wait_until_ended().await,
            SessionState::Done,
            "counted anew"
        );
        assert_eq!(desk.call_outcomes().await[2].0, CallState::Done);
    }
}

/// Lets the clock run while nothing else does.
async fn advance_minutes(minutes: u64) {
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(60 * minutes)).await;
    tokio::time::resume();
}

/// A run stops when it was at work for as long as it may, in the middle of a call, which ends with it; the time that it
/// waited for the person does not count.
#[tokio::test]
async fn a_run_stops_at_its_time_at_work() {
    let probe = Probe::new(|_, cx| async move {
        cx.cancel.cancelled().await;
        Err(ToolError::Cancelled)
    })
    .with_interface(|interface| interface.timeout_ms(3_600_000_u64));
    let command = call_bash("true");
    let agent = RecordingProvider::new([command, probe_turn(json!({})), say_text("Never.")]);
    let mut desk = Fixture::with_config(agent, Host::Person, |config| {
        config.tools = probe.into_tools();
        config.limits.minutes = Some(5);
    })
    .await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    advance_minutes(30).await;
    desk.allow_call(&view).await;
    desk.wait_for_event("the second call", |body| match body {
        EventBody::Call {
            call,
            change: CallChange::Started,
        } => *call != view.call.id,
        _ => false,
    })
    .await;
    advance_minutes(6).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Interrupted]);
    let events = desk.events().await;
    let reached = events.iter().find_map(|event| match event.body {
        EventBody::Session(SessionEvent::LimitReached { limit, used, max }) => {
            Some((limit, used.round(), max))
        }
        _ => None,
    });
    assert_eq!(reached, Some((Limit::Time, 6.0, 5.0)));
}
