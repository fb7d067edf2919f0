//! Connections: an agent is connected by keys alone, the page alone changes nothing, and the old bytes come back.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::Rig;
use crate::support::tour::Tour;

/// The agent's configuration before anything is done to it.
const BEFORE: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"env\": { \"TZ\": \"UTC\" }\n}\n";

/// Disconnects the agent without a press, as a page that was taken over would.
const DISCONNECT: &str = "const { invoke } = window.__TAURI_INTERNALS__; const asked = { agent: 'claude-code', action: 'disconnect' }; \
    window.result = null; invoke('plan_connection', asked) \
        .then((plan) => invoke('change_connection', { ...asked, shown: plan.digest })) \
        .then(() => (window.result = 'done'), (refused) => (window.result = refused.message))";

async fn until_state(rig: &Rig, state: &str) {
    let script =
        "return document.querySelector('[data-testid=agent-claude-code]')?.dataset.state ?? null";
    rig.until(&format!("the agent to be {state}"), async |rig| {
        rig.ask(script, vec![]).await == json!(state)
    })
    .await;
}

/// Puts a configuration and a stand-in for the agent's program in place, and opens the screen with the keyboard.
async fn open_connections(rig: &Rig) -> PathBuf {
    let config = rig.home_dir().join(".claude/settings.json");
    std::fs::write(&config, BEFORE).unwrap();
    rig.program("claude", "exit 0");
    rig.press_with(Key::Control, 'k').await;
    rig.find("palette-input").await;
    rig.type_text("go to connections").await;
    rig.press(Key::Enter).await;
    rig.find("agent-claude-code").await;
    config
}

/// Looks at the change of an act, and makes it, with the keyboard.
async fn change_by_keyboard(rig: &Rig, act: &str) {
    rig.tab_to(act).await;
    rig.press(Key::Enter).await;
    rig.until("the change to have the focus", async |rig| {
        rig.focused().await.as_deref() == Some("connection-change")
    })
    .await;
    rig.tab_to("connection-make").await;
    rig.press(Key::Enter).await;
}

fn read(config: &Path) -> String {
    std::fs::read_to_string(config).unwrap()
}

#[tokio::test]
async fn an_agent_is_connected_and_disconnected() {
    let (rig, mut tour) = Tour::start("light").await;
    let config = open_connections(&rig).await;
    until_state(&rig, "not_connected").await;
    tour.look(&rig, "connections").await;
    rig.click("connect-claude-code").await;
    rig.find("connection-change").await;
    tour.look(&rig, "connections-connect").await;
    assert_eq!(read(&config), BEFORE, "it is only shown");
    rig.press(Key::Escape).await;
    rig.wait_until_gone("connection-change").await;

    change_by_keyboard(&rig, "connect-claude-code").await;
    until_state(&rig, "connected").await;
    let connected = read(&config);
    assert!(connected.contains("hook claude-code"), "{connected}");
    tour.look(&rig, "connections-connected").await;

    rig.ask(DISCONNECT, vec![]).await;
    rig.until("the app to ask by itself", async |rig| rig.is_asked().await)
        .await;
    rig.screenshot("connections-asked").await;
    rig.refuse().await;
    rig.until("the page to be refused", async |rig| {
        rig.ask("return window.result", vec![]).await == "You did not confirm this."
    })
    .await;
    assert_eq!(read(&config), connected);

    std::fs::set_permissions(&config, PermissionsExt::from_mode(0o400)).unwrap();
    change_by_keyboard(&rig, "disconnect-claude-code").await;
    rig.wait_for_text("connection-refusal", ".claude/settings.json")
        .await;
    tour.look(&rig, "connections-refused").await;
    assert_eq!(read(&config), connected);

    std::fs::set_permissions(&config, PermissionsExt::from_mode(0o600)).unwrap();
    rig.click("disconnect-claude-code").await;
    rig.find("connection-change").await;
    tour.look(&rig, "connections-disconnect").await;
    rig.press(Key::Escape).await;
    rig.wait_until_gone("connection-change").await;
    change_by_keyboard(&rig, "disconnect-claude-code").await;
    until_state(&rig, "not_connected").await;
    assert_eq!(read(&config), BEFORE);
    tour.end();
    rig.end().await;
}

/// The servers of the agent before anything is done to them.
const SERVERS: &str = "{\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\", \"env\": { \"TOKEN\": \"hidden\" } }\n  }\n}\n";

#[tokio::test]
async fn servers_of_an_agent_are_connected_and_put_back() {
    let (rig, mut tour) = Tour::start("dark").await;
    let config = rig.home_dir().join(".claude/.claude.json");
    std::fs::write(&config, SERVERS).unwrap();
    open_connections(&rig).await;
    rig.click("connect_servers-claude-code").await;
    let change = rig.find("connection-change").await.text().await.unwrap();
    assert!(
        change.contains("gateway") && !change.contains("hidden"),
        "{change}"
    );
    tour.look(&rig, "connections-servers").await;
    assert_eq!(read(&config), SERVERS, "it is only shown");
    rig.press(Key::Escape).await;
    rig.wait_until_gone("connection-change").await;

    change_by_keyboard(&rig, "connect_servers-claude-code").await;
    rig.find("restore_servers-claude-code").await;
    let connected = read(&config);
    assert!(connected.contains("\"--pass-env\""), "{connected}");
    until_state(&rig, "not_connected").await;
    change_by_keyboard(&rig, "restore_servers-claude-code").await;
    rig.find("connect_servers-claude-code").await;
    assert_eq!(read(&config), SERVERS);
    tour.end();
    rig.end().await;
}
