//! Connections in a home folder of the test's own.

mod edits;
mod round_trips;
mod servers_behind_gateway;
mod servers_shown;
mod shown;
mod states;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::connection::{ConnectionAction, ConnectionState};

use super::*;

/// A home folder with every agent's program in it, as far as one is looked for there.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for program in [
            ".local/bin/claude",
            ".opencode/bin/opencode",
            ".local/bin/cursor-agent",
        ] {
            home.write_file(&home.path(program), "");
        }
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn place(&self) -> ConnectionPlace {
        ConnectionPlace {
            home: self.0.path().to_owned(),
            variables: BTreeMap::new(),
            data_dir: self.path("data"),
            program: Some(PathBuf::from("/opt/my apps/countersign")),
        }
    }

    fn read(&self, agent: &ConnectableAgent) -> Option<String> {
        read_file(&self.place().config_file(agent))
    }

    fn write(&self, agent: &ConnectableAgent, text: &str) {
        self.write_file(&self.place().config_file(agent), text);
    }

    fn write_file(&self, file: &Path, text: &str) {
        runtime::write_atomic(file, text.as_bytes(), 0o755).unwrap();
    }

    fn connect(&self, agent: &'static ConnectableAgent) -> Option<String> {
        let change = plan_connect(agent, &self.place()).unwrap()?;
        change.apply().unwrap();
        self.read(agent)
    }

    fn disconnect(&self, agent: &'static ConnectableAgent) -> Option<String> {
        let change = plan_disconnect(agent, &self.place()).unwrap();
        change
            .expect("there is something to take back")
            .apply()
            .unwrap();
        self.read(agent)
    }

    fn state(&self, agent: &'static ConnectableAgent) -> ConnectionState {
        inspect_agent(agent, &self.place()).state
    }
}

fn read_file(file: &Path) -> Option<String> {
    runtime::read_text(file).unwrap()
}

fn agent(id: &str) -> &'static ConnectableAgent {
    find_agent(id).unwrap()
}

#[test]
fn the_table_of_agents_can_be_read() {
    let ids: Vec<&str> = list_agents()
        .iter()
        .map(|agent| agent.id.as_str())
        .collect();
    assert_eq!(
        ids,
        ["claude-code", "codex", "gemini-cli", "opencode", "cursor"]
    );
    for agent in list_agents() {
        let is_plugin = agent.format == agents::ConfigFormat::Plugin;
        assert_eq!(agent.hooks.is_empty(), is_plugin, "{}", agent.id);
        assert!(!agent.check.event_name().is_empty(), "{}", agent.id);
        let asks = agent.hooks.get(agent.check.event_name());
        assert_eq!(
            asks.is_some_and(|entry| entry.to_string().contains("HOOK || DENY")),
            !is_plugin,
            "{} is denied where the hook gives no answer",
            agent.id
        );
    }
    assert!(find_agent("other").is_err());
}

#[test]
fn variables_move_configurations() {
    let home = Path::new("/home/me");
    for (id, variable, at_home, moved) in [
        (
            "claude-code",
            "CLAUDE_CONFIG_DIR",
            ".claude/settings.json",
            "settings.json",
        ),
        ("codex", "CODEX_HOME", ".codex/config.toml", "config.toml"),
        (
            "gemini-cli",
            "GEMINI_CLI_HOME",
            ".gemini/settings.json",
            ".gemini/settings.json",
        ),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            ".config/opencode/plugins/countersign.js",
            "opencode/plugins/countersign.js",
        ),
    ] {
        for (name, value, expected) in [
            (variable, "/moved", Path::new("/moved").join(moved)),
            (variable, "relative", home.join(at_home)),
            ("OTHER", "/moved", home.join(at_home)),
        ] {
            let variables = BTreeMap::from([(name.to_owned(), PathBuf::from(value))]);
            let found = agent(id).config_file(home, &variables);
            assert_eq!(found, expected, "{id} {name} {value}");
        }
    }
}

#[test]
fn the_program_that_answers_in_sessions_is_told_with_what_installs_it() {
    let home = Home::new();
    let acp = |id: &str| inspect_agent(agent(id), &home.place()).acp;
    let claude = acp("claude-code").unwrap();
    assert_eq!(
        claude.install,
        "npm install -g @agentclientprotocol/claude-agent-acp"
    );
    assert_eq!(
        claude.program.is_some(),
        runtime::find_program("claude-agent-acp").is_some()
    );
    assert_eq!(acp("cursor"), None, "it has hooks alone");
}
