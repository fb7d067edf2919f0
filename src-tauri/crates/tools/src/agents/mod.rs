//! Agents that work can be delegated to (`S002-19`), each described by a manifest and loaded once per session.

mod load;

use protocol::ToolError;
use protocol::event::AgentManifestFile;
use protocol::view::briefing::AgentView;

pub use self::load::AgentFolder;
use crate::limits::AGENT_NAME_CHARS_MAX;
use crate::name_suggestions::{find_close_names, format_suggestion};

/// The agents of a session, in the order of their sources.
#[derive(Debug, Default)]
pub struct AgentIndex(Vec<Agent>);

/// One agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Description of the agent shown to the person.
    pub view: AgentView,
    /// System prompt of the agent.
    pub prompt: String,
    /// Provider of the agent's model; the caller's if none is named.
    pub provider: Option<String>,
    /// Model of the agent; the caller's if none is named.
    pub model: Option<String>,
    /// Manifest of the agent, in TOML.
    pub manifest: AgentManifestFile,
}

impl AgentIndex {
    /// Returns the descriptions shown to the person, one per agent.
    pub fn views(&self) -> impl Iterator<Item = &AgentView> {
        self.0.iter().map(|agent| &agent.view)
    }

    /// Formats the list of agents for the model, one line per agent.
    pub fn summary(&self) -> String {
        let line = |agent: &Agent| format!("- {}: {}\n", agent.view.name, agent.view.description);
        self.0.iter().map(line).collect()
    }

    /// Finds an agent by name.
    ///
    /// # Errors
    /// If there is no agent of this name; the error suggests similar names.
    pub fn find(&self, name: &str) -> Result<&Agent, ToolError> {
        let agent = self.0.iter().find(|agent| agent.view.name == name);
        agent.ok_or_else(|| {
            let names = || self.0.iter().map(|agent| agent.view.name.as_str());
            let hint = match format_suggestion(&find_close_names(name, names())) {
                hint if hint.is_empty() => {
                    let all: Vec<&str> = names().collect();
                    format!(" The agents are {}.", all.join(", "))
                }
                hint => hint,
            };
            let name = protocol::text::display_text::to_single_line(name, AGENT_NAME_CHARS_MAX);
            ToolError::InvalidArgs(format!("there is no agent `{name}`.{hint}"))
        })
    }
}
