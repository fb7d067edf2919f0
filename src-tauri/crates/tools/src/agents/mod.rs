//! Agents that work can be given to (`S002-19`): each by its manifest, found once for a session.

mod load;

use protocol::ToolError;
use protocol::event::AgentManifestFile;
use protocol::view::briefing::AgentView;

pub use self::load::AgentFolder;
use crate::limits::AGENT_NAME_CHARS_MAX;
use crate::name_suggestions::{find_close_names, format_suggestion};

/// The agents of a session, the first source first.
#[derive(Debug, Default)]
pub struct AgentIndex(Vec<Agent>);

/// One agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// What a person sees.
    pub view: AgentView,
    /// What it is told before anything else.
    pub prompt: String,
    /// The provider that its model is of; its caller's if it names none.
    pub provider: Option<String>,
    /// Its model; its caller's if it names none.
    pub model: Option<String>,
    /// Its manifest, in TOML.
    pub manifest: AgentManifestFile,
}

impl AgentIndex {
    /// What a person sees.
    pub fn views(&self) -> impl Iterator<Item = &AgentView> {
        self.0.iter().map(|agent| &agent.view)
    }

    /// The lines that a model gets, one for each agent.
    pub fn summary(&self) -> String {
        let line = |agent: &Agent| format!("- {}: {}\n", agent.view.name, agent.view.description);
        self.0.iter().map(line).collect()
    }

    /// An agent by its name.
    ///
    /// # Errors
    /// There is none: names that are close are told.
    pub fn find(&self, name: &str) -> Result<&Agent, ToolError> {
        let found = self.0.iter().find(|agent| agent.view.name == name);
        found.ok_or_else(|| {
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
