//! A session in which an agent of somebody else answers: begun by keyboard with a command that speaks ACP.

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::tour::Tour;

/// A program that speaks the Agent Client Protocol: it asks before it runs its one command, and then runs it itself.
const HELPER: &str = r#"exec python3 -c "$(cat <<'EOF'
import json, subprocess, sys

COMMAND = "echo oats >> list.txt"
CALL = {"toolCallId": "call", "title": COMMAND, "kind": "execute", "rawInput": {"command": COMMAND}}
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def update(**update):
    send(method="session/update", params={"sessionId": "one", "update": update})

def say(text):
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        folder = message["params"]["cwd"]
        send(id=message["id"], result={"sessionId": "one"})
    elif method == "session/prompt":
        prompt = message["id"]
        say("Oats are missing on the list.")
        update(sessionUpdate="tool_call", status="pending", **CALL)
        send(id="ask", method="session/request_permission", params={"sessionId": "one", "toolCall": CALL, "options": OPTIONS})
    elif message.get("id") == "ask":
        allowed = message["result"]["outcome"].get("optionId") == "yes"
        if allowed:
            subprocess.run(COMMAND, shell=True, cwd=folder, check=True)
        update(sessionUpdate="tool_call_update", toolCallId="call", status="completed" if allowed else "failed")
        say("Oats stand on the list now." if allowed else "I leave the list as it is.")
        send(id=prompt, result={"stopReason": "end_turn"})
EOF
)""#;

/// Chooses a command as the one who answers, by keys: it is the last of the radio buttons, which one entry opens.
async fn choose_command(rig: &Rig) {
    rig.tab_to("more-answerers").await;
    rig.press(Key::Enter).await;
    rig.until("the command to be chosen", async |rig| {
        rig.press(Key::Down).await;
        rig.focused().await.as_deref() == Some("answerer-command")
    })
    .await;
    rig.tab_to("agent-command").await;
    rig.type_text("helper --acp").await;
}

#[tokio::test]
async fn an_agent_that_speaks_acp_answers_in_a_session() {
    let (rig, mut tour) =
        Tour::start_on("light", "posture = \"ask_about_effects\"\n", |_| ()).await;
    rig.program("helper", HELPER);
    let folder = rig.home_dir().canonicalize().unwrap().join("kitchen");
    std::fs::create_dir(&folder).unwrap();
    let list = folder.join("list.txt");
    std::fs::write(&list, "milk\n").unwrap();
    let open = json!({
        "type": "open_session",
        "workspace": folder,
        "model": { "provider": "demo", "model": "" },
    });
    rig.submit(open).await;

    rig.press_with(Key::Control, 'k').await;
    rig.find("palette-input").await;
    rig.type_text("new session").await;
    rig.press(Key::Enter).await;
    rig.find("folder-kitchen").await;
    choose_command(&rig).await;
    tour.look(&rig, "agent-start").await;
    rig.tab_to("first-message").await;
    rig.type_text("Look at the list.").await;
    rig.press(Key::Enter).await;

    let card = rig.card("echo oats").await;
    rig.wait_for_text("delegated", "The agent runs this command itself")
        .await;
    rig.shows("kitchen · helper").await;
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "milk\n");
    tour.look(&rig, "agent-card").await;
    rig.allow_by_key(&card).await;
    rig.shows("Oats stand on the list now.").await;
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "milk\noats\n");
    tour.look(&rig, "agent-answered").await;
    tour.end();
    rig.end().await;
}
