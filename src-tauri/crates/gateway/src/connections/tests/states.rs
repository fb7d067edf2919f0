//! What is said of an agent after something happened to its configuration.

use super::*;

/// The text of a configuration that is connected, with something in it changed.
fn state_after(id: &str, change: impl Fn(&str) -> String) -> ConnectionState {
    let home = Home::new();
    home.write(agent(id), "");
    let text = home.connect(agent(id)).unwrap();
    assert_eq!(home.state(agent(id)), ConnectionState::Connected, "{id}");
    let changed = change(&text);
    assert_ne!(changed, text, "{id}");
    home.write(agent(id), &changed);
    home.state(agent(id))
}

#[test]
fn every_agent_is_connected_once_and_again_after_it_was_undone() {
    for agent in list_agents() {
        let home = Home::new();
        home.write(agent, "");
        assert_eq!(home.state(agent), ConnectionState::NotConnected);
        let connected = home.connect(agent);
        assert_eq!(
            home.state(agent),
            ConnectionState::Connected,
            "{}",
            agent.id
        );
        assert!(plan_connect(agent, &home.place()).unwrap().is_none());
        home.write(agent, "");
        assert_eq!(home.state(agent), ConnectionState::Removed, "{}", agent.id);
        assert_eq!(home.connect(agent), connected, "{}", agent.id);
        home.disconnect(agent);
        assert_eq!(home.state(agent), ConnectionState::NotConnected);
        assert!(plan_disconnect(agent, &home.place()).unwrap().is_none());
    }
}

#[test]
fn a_hook_that_was_changed_is_noticed() {
    for (id, from, to) in [
        ("claude-code", "\"block\"", "\"allow\""),
        ("claude-code", "\"matcher\": \"*\"", "\"matcher\": \"Read\""),
        ("claude-code", "SessionEnd", "SessionStart"),
        ("claude-code", "exit 2", "exit 0"),
        ("gemini-cli", "600000", "1"),
        ("codex", "|| sh", "; sh"),
        ("codex", "[[hooks.PostToolUse]]", "[[hooks.PreCompact]]"),
        ("cursor", "true", "false"),
        ("opencode", "!== \"allow\"", "=== \"deny\""),
    ] {
        let state = state_after(id, |text| text.replacen(from, to, 1));
        let is_noticed = matches!(state, ConnectionState::Changed);
        assert!(is_noticed, "{id}: {from} to {to}: {state:?}");
    }
    // As many as there should be, but one of them twice.
    let doubled = state_after("claude-code", |text| {
        let mut config: serde_json::Value = serde_json::from_str(text).unwrap();
        let failures = config["hooks"]["PostToolUseFailure"].take();
        let entries = config["hooks"]["PostToolUse"].as_array_mut().unwrap();
        entries.extend(failures.as_array().unwrap().clone());
        config.to_string()
    });
    assert_eq!(doubled, ConnectionState::Changed);
}

#[test]
fn another_program_and_a_switch_are_told() {
    for agent in list_agents() {
        let moved = state_after(&agent.id, |text| {
            text.replace("/opt/my apps/", "/opt/our apps/")
        });
        let program = "/opt/our apps/countersign".to_owned();
        assert_eq!(moved, ConnectionState::OtherProgram { program });
    }
    for (id, member, switch) in [
        (
            "claude-code",
            "\"disableAllHooks\": true",
            "/disableAllHooks",
        ),
        (
            "gemini-cli",
            "\"hooksConfig\": {\"enabled\": false}",
            "/hooksConfig/enabled",
        ),
        (
            "gemini-cli",
            "\"hooksConfig\": {\"disabled\": [\"x\", \"countersign\"]}",
            "/hooksConfig/disabled",
        ),
    ] {
        let off = state_after(id, |text| text.replacen('{', &format!("{{{member},"), 1));
        let switch = switch.to_owned();
        assert_eq!(off, ConnectionState::SwitchedOff { switch });
    }
    let off = state_after("codex", |text| format!("[features]\nhooks = false\n{text}"));
    assert!(
        matches!(off, ConnectionState::SwitchedOff { .. }),
        "{off:?}"
    );
}

/// What cannot be done leaves the file as it is, and its error names it.
#[test]
fn what_cannot_be_edited_is_not_touched() {
    for (id, text) in [
        ("claude-code", "{"),
        ("claude-code", "[]"),
        ("claude-code", "{\"hooks\": []}"),
        ("claude-code", "{\"hooks\": {\"PreToolUse\": {}}}"),
        ("claude-code", "{\"hooks\": {}, \"hooks\": {}}"),
        ("claude-code", "{'hooks': {}}"),
        ("claude-code", "{\"a\": 1 \"b\": 2}"),
        ("claude-code", "{\"disableAllHooks\": true}"),
        ("codex", "a = "),
        ("codex", "hooks = 1"),
        ("codex", "[hooks]\nPreToolUse = []\n"),
        ("opencode", "export const Mine = async () => ({})\n"),
    ] {
        let home = Home::new();
        home.write(agent(id), text);
        let error = plan_connect(agent(id), &home.place()).unwrap_err();
        let file = home.place().config_file(agent(id)).display().to_string();
        assert!(error.message.contains(&file), "{id} {text}: {error}");
        assert!(!error.message.contains('\n'), "{error}");
        assert!(error.hint.ends_with("Nothing was changed."), "{error}");
        assert_eq!(home.read(agent(id)).as_deref(), Some(text));
    }
}

#[test]
fn a_file_that_changed_since_the_look_is_not_touched() {
    let home = Home::new();
    let claude = agent("claude-code");
    home.write(claude, "{}");
    let change = plan_connect(claude, &home.place()).unwrap().unwrap();
    home.write(claude, "{\"a\": 1}");
    let error = change.apply().unwrap_err();
    assert!(error.message.contains("changed since"), "{error}");
    assert_eq!(home.read(claude).as_deref(), Some("{\"a\": 1}"));
    assert_eq!(home.state(claude), ConnectionState::NotConnected);
}

#[test]
fn an_agent_that_is_not_here_is_not_connected() {
    let home = Home(tempfile::tempdir().unwrap());
    let place = home.place();
    let elsewhere = list_agents()
        .iter()
        .filter(|agent| agent.find_program(&place.home).is_none());
    for agent in elsewhere {
        let error = plan_connect(agent, &place).unwrap_err();
        assert!(error.message.contains("was not found"), "{error}");
        assert_eq!(home.read(agent), None);
    }
}
