//! What a session's model is told before anybody says anything, as a person looks at it: the project's instructions, the
//! skills and the agents that it may turn to.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::UserError;
use crate::text::display_text::DisplaySpan;

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct Briefing {
    /// The project's instructions, the outermost folder first, as the model gets them.
    pub instructions: Vec<InstructionFile>,
    /// The skills, the first source first (`S002-40`).
    pub skills: Vec<SkillView>,
    /// Agents that work can be given to.
    pub agents: Vec<AgentView>,
    /// How long the whole text is that the model gets, in bytes.
    pub bytes: u64,
    /// About how many tokens that is.
    pub tokens: u64,
    /// What could not be read, and was left out.
    pub faults: Vec<UserError>,
}

/// A file of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct InstructionFile {
    /// Its path, absolute.
    pub file: String,
    /// How much of it the model gets, in bytes.
    pub bytes: u64,
    /// Whether the rest was left out, because all of them together are too long.
    pub cut: bool,
}

/// Where a skill or an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum BriefingSource {
    /// The project: whoever can write to it can change it.
    Project,
    /// The person's own folders.
    Person,
    /// A folder that the settings name.
    Configured,
    /// The house: it is always there.
    House,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkillView {
    /// By which it is loaded.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Where it comes from.
    pub source: BriefingSource,
    /// Its `SKILL.md`, absolute.
    pub file: String,
    /// Tools that its author would have allowed. They grant nothing.
    pub allowed_tools: Vec<String>,
    /// What it needs, in its author's words; empty if it does not say.
    pub compatibility: String,
}

/// An agent that work can be given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentView {
    /// By which it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub source: BriefingSource,
    /// Its manifest, absolute.
    pub file: String,
    /// The only tools that it may call; none for all of its caller's.
    pub tools: Option<Vec<String>>,
    /// Its model, as the manifest names it; empty for its caller's.
    pub model: String,
}

/// A part of it whose text a person asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BriefingPart {
    /// All that the model gets, from its first word to its last.
    Whole,
    /// A file of instructions, as far as the model gets it.
    Instructions {
        /// Its path, as the briefing told it.
        file: String,
    },
    /// A skill, as it is loaded.
    Skill {
        /// Its name.
        name: String,
    },
    /// What an agent is told before anything else.
    Agent {
        /// Its name.
        name: String,
    },
}

/// The text of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BriefingText {
    /// Letter for letter, hidden characters named.
    pub text: Vec<DisplaySpan>,
    /// Whether the rest was left out here because it is too long to be looked at.
    pub cut: bool,
    /// Files that lie beside a skill's text, by their paths in its folder; the first ones.
    pub files: Vec<String>,
}
