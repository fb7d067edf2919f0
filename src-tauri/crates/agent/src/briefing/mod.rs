//! What a session's model is told before anybody says anything, read once when the session is opened: the project's
//! instructions, the skills and the agents that it may turn to.

mod instructions;
mod places;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::briefing::{BriefingPart, BriefingText};
use protocol::{Fault, briefing};
use runtime::Workspace;
use tools::agents::Roster;
use tools::skills::Index;
use tools::{LoadSkill, Registry, Task};

use self::instructions::Instructions;
use self::places::Places;
use crate::limits::{BRIEFING_TEXT_BYTES_MAX, SKILL_FILES_SHOWN_MAX};
use crate::prompt;

/// Bytes of a text that are about one token.
const BYTES_PER_TOKEN: u64 = 4;

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Briefing {
    instructions: Instructions,
    skills: Arc<Index>,
    agents: Arc<Roster>,
    /// What could not be read, and was left out.
    pub faults: Vec<Fault>,
}

impl Briefing {
    /// Reads what holds in a workspace: its own, the person's below `home` and in `data`, and the folders of skills that the
    /// settings name.
    pub fn read(
        workspace: &Workspace,
        home: Option<&Path>,
        data: &Path,
        folders: &[String],
    ) -> Self {
        let places = Places::of(workspace, home, data, folders);
        let (instructions, mut faults) = Instructions::read(&places.up);
        let (skills, wrong) = Index::read(&places.skills());
        faults.extend(wrong);
        let (agents, wrong) = Roster::read(&places.agents());
        faults.extend(wrong);
        Self {
            instructions,
            skills: Arc::new(skills),
            agents: Arc::new(agents),
            faults,
        }
    }

    /// Puts the tools over it in their places.
    ///
    /// # Errors
    /// A fault of ours: a schema of the house that is none.
    pub fn put_into(&self, registry: &mut Registry) -> Result<(), Fault> {
        registry.put(Arc::new(LoadSkill::new(self.skills.clone())))?;
        registry.put(Arc::new(Task::new(self.agents.clone())))
    }

    /// Folders of skills outside of the project, by absolute path.
    pub fn folders_elsewhere(&self) -> impl Iterator<Item = PathBuf> {
        self.skills.folders_elsewhere()
    }

    /// The workspace with those, to be read.
    pub fn readable(&self, workspace: Workspace) -> Workspace {
        self.folders_elsewhere().fold(workspace, |so_far, folder| {
            // A folder that cannot be opened any more cannot be read either.
            so_far.with_readable(&folder).unwrap_or(so_far)
        })
    }

    /// What a model is told first: how things are here, what its agent is told, the project's instructions, the skills.
    pub fn system(&self, workspace: &Path, agent: &str) -> String {
        let mut told = prompt::system(&workspace.display().to_string());
        for part in [agent, &self.instructions.told(), &self.skills_told()] {
            if !part.is_empty() {
                told.push_str("\n\n");
                told.push_str(part.trim_end());
            }
        }
        told
    }

    fn skills_told(&self) -> String {
        match self.skills.told() {
            lines if lines.is_empty() => lines,
            lines => format!(
                "Skills, each for one kind of work. Load one with the skill tool before you do such work:\n{lines}"
            ),
        }
    }

    /// The text of a part, for a person.
    ///
    /// # Errors
    /// There is no such part any more, or it cannot be read.
    pub fn text(&self, workspace: &Path, of: &BriefingPart) -> Result<BriefingText, Fault> {
        let gone = |why: String| Fault::new(why, "Look at the list again.");
        let (text, files) = match of {
            BriefingPart::Whole => (self.system(workspace, ""), Vec::new()),
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
        let shown = protocol::cut::head(&text, BRIEFING_TEXT_BYTES_MAX);
        Ok(BriefingText {
            cut: shown.len() < text.len(),
            text: protocol::shown::shown(shown),
            files,
        })
    }

    /// As a person looks at it.
    pub fn view(&self, workspace: &Path) -> briefing::Briefing {
        let bytes = self.system(workspace, "").len() as u64;
        briefing::Briefing {
            instructions: self.instructions.views(),
            skills: self.skills.views().cloned().collect(),
            agents: self.agents.views().cloned().collect(),
            bytes,
            tokens: bytes.div_ceil(BYTES_PER_TOKEN),
            faults: self.faults.clone(),
        }
    }
}
