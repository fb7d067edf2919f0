//! An agent that answers in a session and has our hooks: its calls are judged once, and its commands are held to their
//! effects.

use std::path::PathBuf;

use gateway::agent_hooks::client::open_agent_folder;
use gateway::endpoint::{EndpointAnswer, HookRequest, RequestBody, send_request};
use protocol::{CallId, CallState, Decision, Digest, SessionState};
use serde_json::{Value, json};
use support::{expect_variant, rule_text};

use super::acp_agents::AgentDesk;

/// A turn that waits until its call is over, which the agent asks about after its hook was asked.
const WIRE: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
#await hooked
<- {"id": 0, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "t1", "name": "Bash", "kind": "execute", "rawInput": {"command": "echo more >> a"}}, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]}}
-> {"id": 0}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}}}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;

/// The agent's hook.
pub(super) struct Hook {
    endpoint: PathBuf,
    workspace: PathBuf,
}

impl Hook {
    pub(super) fn of(place: &AgentDesk) -> Self {
        let folder = open_agent_folder(place.desk.data_dir(), &place.desk.session).unwrap();
        Self {
            endpoint: folder.path().to_owned(),
            workspace: place.desk.workspace_root(),
        }
    }

    /// Asks about a command.
    async fn ask(&self, event: &str, id: &str) -> Value {
        let command = json!({ "command": "echo more >> a" });
        self.ask_about(event, "Bash", command, id).await
    }

    /// Asks about a use of a tool.
    pub(super) async fn ask_about(&self, event: &str, tool: &str, input: Value, id: &str) -> Value {
        let request = RequestBody::Hook(HookRequest {
            agent: "claude-code".to_owned(),
            input: json!({
                "hook_event_name": event,
                "session_id": "another id",
                "cwd": self.workspace,
                "tool_name": tool,
                "tool_input": input,
                "tool_use_id": id,
            }),
            project: String::new(),
            program: vec!["countersign".to_owned()],
            terminal: runtime::TerminalEnv::current(),
            wait_ms: 60_000,
        });
        let answer = send_request(&self.endpoint, request).await.unwrap();
        let output = expect_variant!(answer, EndpointAnswer::Hook(output) => output);
        let text = match output.exit_code {
            0 => output.stdout,
            code => panic!("{code}: {}", output.stderr),
        };
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_is_replaced_by_its_approved_effects_and_asked_about_once() {
    const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");
    let mut place = AgentDesk::with_sandbox("claude-code", WIRE, Some(SANDBOX)).await;
    place.desk.write_file("a", "one\n");
    place.desk.write_rules(rule_text("bash", "*", "ask"));
    place.start("Go.").await;
    place.wait_until_awaited("hooked").await;

    let hook = Hook::of(&place);
    let asking = hook.ask("PreToolUse", "t1");
    let answering = async {
        let asked = place.desk.wait_for_call().await;
        place
            .desk
            .decide_call(&asked, Decision::DryRun)
            .await
            .unwrap();
        place.desk.allow_next().await
    };
    let (answer, _) = tokio::join!(asking, answering);
    let command = answer["hookSpecificOutput"]["updatedInput"]["command"]
        .as_str()
        .unwrap();
    let words: Vec<&str> = command.split_whitespace().collect();
    let ["countersign", "commit", call, "--expect", digest] = words[..] else {
        panic!("{command}");
    };
    assert_eq!(
        place.desk.read_file("a").as_deref(),
        Some("one\n"),
        "nothing ran yet"
    );

    // A second hook about the same call gets the same answer, and nobody is asked again.
    assert_eq!(hook.ask("PreToolUse", "t1").await, answer);

    let fetch = RequestBody::Fetch {
        call: CallId::from(call),
        digest: Digest(digest.to_owned()),
    };
    let fetched = send_request(&hook.endpoint, fetch).await.unwrap();
    expect_variant!(fetched, EndpointAnswer::Streams(_) => ());
    assert_eq!(place.desk.read_file("a").as_deref(), Some("one\nmore\n"));

    place.signal("hooked");
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert!(
        place.answers().contains("\"optionId\":\"yes\""),
        "{}",
        place.answers()
    );
    let calls = place.desk.calls().await;
    let states: Vec<CallState> = calls.iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::Done], "one call, on record once");
    let (_, notices) = place.texts().await;
    assert!(
        !notices.iter().any(|text| text.contains("without asking")),
        "{notices:?}"
    );
    place.desk.undo_call(&calls[0]).await;
    assert_eq!(place.desk.read_file("a").as_deref(), Some("one\n"));

    // Between turns nothing is let through.
    let late = hook.ask("PreToolUse", "t2").await;
    assert_eq!(late["hookSpecificOutput"]["permissionDecision"], "deny");
}
