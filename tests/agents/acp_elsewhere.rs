//! Agents that answer from another machine: their calls are cards that say where they are made, and nothing of this machine
//! is in their reach.

use protocol::{CallState, Preview, SessionState};
use serde_json::json;
use support::rule_text;

use super::acp_agents::AgentDesk;

/// An agent that asks for a file, a terminal, and a write here, and then to run a command where it is.
const WIRE: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1}}
-> {"id": 2, "method": "session/new"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
<- {"id": 10, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "FOLDER/secret.txt"}}
-> {"id": 10}
<- {"id": 11, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "FOLDER/made.txt", "content": "x"}}
-> {"id": 11}
<- {"id": 12, "method": "terminal/create", "params": {"sessionId": "s", "command": "touch made.txt"}}
-> {"id": 12}
<- {"id": 13, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "Run make", "kind": "execute", "rawInput": {"command": "make"}, "content": [{"type": "content", "content": {"type": "text", "text": "changed out.txt"}}, {"type": "diff", "path": "/srv/app/out.txt", "oldText": "a", "newText": "b"}]}, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]}}
-> {"id": 13}
<- {"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": "built"}}}
<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;

#[tokio::test]
async fn a_machine_elsewhere_reaches_nothing_here_and_its_calls_are_cards_that_say_where() {
    for carrier in ["ssh", "docker"] {
        let mut place = AgentDesk::elsewhere(carrier, WIRE).await;
        place.desk.write_file("secret.txt", "of this machine\n");
        // Rules for commands of this machine say nothing of those of another one.
        place.desk.write_rules(rule_text("bash", "*", "allow"));
        place.start("Go.").await;
        let view = place.desk.wait_for_call().await;
        assert_eq!(view.call.name, format!("{carrier}__execute"));
        let arguments = &view.call.arguments;
        let leads = arguments["where"].as_str().unwrap();
        assert!(leads.starts_with(&format!("{carrier} /")), "{leads}");
        assert_eq!(arguments["title"], "Run make");
        assert_eq!(arguments["input"], json!({ "command": "make" }));
        let change = json!({ "path": "/srv/app/out.txt", "before": "a", "after": "b" });
        assert_eq!(arguments["shown"], json!(["changed out.txt", change]));
        assert!(
            !matches!(
                view.preview,
                Preview::Command(_) | Preview::Effects(_) | Preview::Diff { .. }
            ),
            "nothing was looked up or run here: {:?}",
            view.preview
        );
        place.desk.allow_call(&view).await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);

        let calls = place.desk.calls().await;
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert_eq!(calls[0].state, CallState::Done);
        assert_eq!(calls[0].outcome.as_ref().unwrap().text, "built");
        assert_eq!(place.desk.read_file("made.txt"), None);
        let answers = place.answers();
        assert!(!answers.contains("of this machine"), "{answers}");
        assert_eq!(answers.matches("-32601").count(), 3, "{answers}");
        for offer in [
            "\"readTextFile\":true",
            "\"writeTextFile\":true",
            "\"terminal\":true",
        ] {
            assert!(!answers.contains(offer), "{answers}");
        }
        let (_, notices) = place.texts().await;
        assert!(notices[0].contains("It works elsewhere: "), "{notices:?}");
    }
}
