//! What a session's model is told before anybody says anything, read once when the session is opened: the project's
//! instructions, the skills and the agents that it may turn to.

mod instructions;
mod places;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Fault, briefing};
use runtime::Workspace;
use tools::agents::Roster;
use tools::skills::Index;
use tools::{LoadSkill, Registry, Task};

use self::instructions::Instructions;
use self::places::Places;
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
