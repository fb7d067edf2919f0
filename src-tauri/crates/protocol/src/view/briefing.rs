//! Briefing of a session's model, as the person inspects it: the text that the model gets before the first message,
//! which holds the project's instructions, the skills and the agents that the model may use.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UserError;
use crate::text::display_text::DisplaySpan;

/// A session's briefing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct Briefing {
    /// The project's instructions, the outermost folder first, as the model gets them.
    pub instructions: Vec<InstructionFile>,
    /// The skills, the first source first (`S002-40`).
    pub skills: Vec<SkillView>,
    /// Agents that work can be given to.
    pub agents: Vec<AgentView>,
    /// Length of the whole text that the model gets, in bytes.
    pub bytes: u64,
    /// Approximate length of the whole text in tokens.
    pub tokens: u64,
    /// Errors of sources that could not be read and were left out.
    pub faults: Vec<UserError>,
}

/// A file of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct InstructionFile {
    /// Absolute path of the file.
    pub file: String,
    /// Length of the part that the model gets, in bytes.
    pub bytes: u64,
    /// Whether the rest of the file was left out because all instruction files together are too long.
    pub cut: bool,
}

/// Origin of a skill or an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum BriefingSource {
    /// The project: anybody who can write to the project can change the skill or agent.
    Project,
    /// The person's own folders.
    Person,
    /// A folder that the settings name.
    Configured,
    /// Built into the app; always available.
    House,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkillView {
    /// Name by which the skill is loaded.
    pub name: String,
    /// When to use the skill.
    pub description: String,
    /// Where the skill comes from.
    pub source: BriefingSource,
    /// Absolute path of the skill's `SKILL.md`.
    pub file: String,
    /// Tools that the skill's author would have allowed. They grant nothing.
    pub allowed_tools: Vec<String>,
    /// Requirements of the skill, in its author's words; empty if the author states none.
    pub compatibility: String,
}

/// An agent that work can be given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentView {
    /// Name by which the agent is called.
    pub name: String,
    /// Purpose of the agent.
    pub description: String,
    /// Where the agent comes from.
    pub source: BriefingSource,
    /// Absolute path of the agent's manifest.
    pub file: String,
    /// The only tools that the agent may call; none if it may call all of its caller's.
    pub tools: Option<Vec<String>>,
    /// The agent's model, as the manifest names it; empty for its caller's model.
    pub model: String,
}

/// A part of the briefing whose text a person asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BriefingPart {
    /// The whole text that the model gets.
    Whole,
    /// A file of instructions, as far as the model gets it.
    Instructions {
        /// Path of the file, as given in the briefing.
        file: String,
    },
    /// A skill, as it is loaded.
    Skill {
        /// Name of the skill.
        name: String,
    },
    /// The instructions that an agent gets before anything else.
    Agent {
        /// Name of the agent.
        name: String,
    },
}

/// The text of a part of the briefing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BriefingText {
    /// The text verbatim, hidden characters named.
    pub text: Vec<DisplaySpan>,
    /// Whether the rest of the text was left out because it is too long to display.
    pub cut: bool,
    /// The first of the files that lie beside a skill's text, by their paths in the skill's folder.
    pub files: Vec<String>,
}
