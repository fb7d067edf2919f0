//! The briefing of a session's model, read once when the session is opened: the project's instructions, the skills and
//! the agents that the model may use.

mod instructions;
mod sources;
pub(crate) mod system_prompt;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::UserError;
use protocol::view::briefing;
use protocol::view::briefing::{BriefingPart, BriefingText};
use runtime::Workspace;
use tools::agents::AgentIndex;
use tools::skills::SkillIndex;
use tools::{Registry, SkillTool, TaskTool};

use self::instructions::Instructions;
use self::sources::BriefingSources;
use crate::limits::{BRIEFING_TEXT_BYTES_MAX, SKILL_FILES_SHOWN_MAX};

/// Approximate number of bytes per token of text.
const BYTES_PER_TOKEN: u64 = 4;

/// Briefing of a session.
#[derive(Debug, Default)]
pub(crate) struct Briefing {
    instructions: Instructions,
    skills: Arc<SkillIndex>,
    agents: Arc<AgentIndex>,
    /// Errors of the files that could not be read and were left out.
    pub errors: Vec<UserError>,
}

impl Briefing {
    /// Reads the briefing for a workspace: the files of the workspace, the person's below `home` and in `data`, and the
    /// folders of skills that the settings name.
    pub fn read(
        workspace: &Workspace,
        home: Option<&Path>,
        data: &Path,
        folders: &[String],
    ) -> Self {
        let places = BriefingSources::new(workspace, home, data, folders);
        let (instructions, mut errors) = Instructions::read_folders(&places.ancestors);
        let (skills, wrong) = SkillIndex::load(&places.skill_folders());
        errors.extend(wrong);
        let (agents, wrong) = AgentIndex::load(&places.agent_folders());
        errors.extend(wrong);
        Self {
            instructions,
            skills: Arc::new(skills),
            agents: Arc::new(agents),
            errors,
        }
    }

    /// Registers the tools that read the briefing.
    ///
    /// # Errors
    /// An internal fault: an invalid schema of a built-in tool.
    pub fn register_tools(&self, registry: &mut Registry) -> Result<(), UserError> {
        registry.replace_tool(Arc::new(SkillTool::new(self.skills.clone())))?;
        registry.replace_tool(Arc::new(TaskTool::new(self.agents.clone())))
    }

    /// Returns the folders of skills outside the project, by absolute path.
    pub fn external_folders(&self) -> impl Iterator<Item = PathBuf> {
        self.skills.external_folders()
    }

    /// Returns the workspace with read access to those folders.
    pub fn with_readable_folders(&self, workspace: Workspace) -> Workspace {
        self.external_folders().fold(workspace, |so_far, folder| {
            // A folder that cannot be opened any more cannot be read either.
            so_far.with_readable(&folder).unwrap_or(so_far)
        })
    }

    /// Returns the system prompt: the environment, the agent's instructions, the project's instructions, the skills.
    pub fn system_prompt(&self, workspace: &Path, agent: &str) -> String {
        let mut prompt = system_prompt::system_prompt(&workspace.display().to_string());
        for part in [
            agent,
            &self.instructions.prompt_text(),
            &self.skills_prompt(),
        ] {
            if !part.is_empty() {
                prompt.push_str("\n\n");
                prompt.push_str(part.trim_end());
            }
        }
        prompt
    }

    fn skills_prompt(&self) -> String {
        match self.skills.summary() {
            lines if lines.is_empty() => lines,
            lines => format!(
                "Skills, each for one kind of work. Load one with the skill tool before you do such work:\n{lines}"
            ),
        }
    }

    /// Returns the text of a part of the briefing, for a person.
    ///
    /// # Errors
    /// The part no longer exists, or cannot be read.
    pub fn text(&self, workspace: &Path, of: &BriefingPart) -> Result<BriefingText, UserError> {
        let gone = |why: String| UserError::new(why, "Look at the list again.");
        let (text, files) = match of {
            BriefingPart::Whole => (self.system_prompt(workspace, ""), Vec::new()),
            BriefingPart::Instructions { file } => {
                let text = self.instructions.text(file);
                let none = || gone("No such file is among the instructions.".to_owned());
                (text.ok_or_else(none)?.to_owned(), Vec::new())
            }
            BriefingPart::Skill { name } => {
                let skill = self.skills.find(name);
                let skill = skill.map_err(|error| gone(error.to_string()))?;
                let body = skill.body().map_err(|error| gone(error.to_string()))?;
                (body.to_owned(), skill.files(SKILL_FILES_SHOWN_MAX))
            }
            BriefingPart::Agent { name } => {
                let agent = self.agents.find(name);
                let agent = agent.map_err(|error| gone(error.to_string()))?;
                (agent.prompt.clone(), Vec::new())
            }
        };
        let shown = protocol::text::cut::take_head(&text, BRIEFING_TEXT_BYTES_MAX);
        Ok(BriefingText {
            cut: shown.len() < text.len(),
            text: protocol::text::display_text::to_spans(shown),
            files,
        })
    }

    /// Returns the briefing as shown to a person.
    pub fn view(&self, workspace: &Path) -> briefing::Briefing {
        let bytes = self.system_prompt(workspace, "").len() as u64;
        briefing::Briefing {
            instructions: self.instructions.views(),
            skills: self.skills.views().cloned().collect(),
            agents: self.agents.views().cloned().collect(),
            bytes,
            tokens: bytes.div_ceil(BYTES_PER_TOKEN),
            faults: self.errors.clone(),
        }
    }
}
