//! Reads the skills of every place that has some: the first of a name wins, and what is wrong is told.

use std::sync::OnceLock;

use protocol::Fault;
use protocol::briefing::{SkillView, Source};
use runtime::{FileError, Workspace};

use super::file::{self, Head};
use super::{Index, Skill};
use crate::gathered::{Kind, Place, gather, shown};
use crate::limits::{SKILL_BYTES_MAX, SKILLS_MAX};

/// A folder of skills, each in a folder of its own.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Where it can be read.
    pub from: Workspace,
    /// Its path there.
    pub path: String,
    /// Whose it is.
    pub source: Source,
}

impl Index {
    /// Reads the skills of these folders, in this order; none of them has to be there. Gives what is wrong with those that
    /// are left out.
    pub fn read(shelves: &[Shelf]) -> (Self, Vec<Fault>) {
        let kind = Kind {
            one: "a skill",
            many: "skills",
            items_max: SKILLS_MAX,
        };
        let (skills, faults) = gather(&kind, shelves);
        (Self(skills), faults)
    }
}

impl Place for Shelf {
    type Item = Skill;

    fn folder(&self) -> (&Workspace, &str) {
        (&self.from, &self.path)
    }

    fn named(skill: &Skill) -> (&str, &str) {
        (&skill.view.name, &skill.view.file)
    }

    /// The skill in a folder of this name; none if it holds none.
    fn read(&self, name: &str) -> Result<Option<Skill>, Fault> {
        let folder = format!("{}/{name}", self.path);
        let file = format!("{folder}/SKILL.md");
        let file_shown = shown(self, &format!("{name}/SKILL.md"));
        let wrong = |line: usize, reason: &str| {
            Fault::new(
                format!(
                    "{file_shown}, line {line}: {}.",
                    reason.trim_end_matches('.')
                ),
                "Until it is corrected, this skill is left out.",
            )
        };
        let text = match self.from.read_whole(&file, SKILL_BYTES_MAX) {
            Ok(Some(bytes)) => {
                String::from_utf8(bytes).map_err(|_| wrong(1, "it is not UTF-8 text"))?
            }
            // Other things may lie beside skills.
            Ok(None) | Err(FileError::NotAFolder { .. }) => return Ok(None),
            Err(error) => return Err(wrong(1, &error.to_string())),
        };
        let (head, _) = file::read(&text, name).map_err(|it| wrong(it.line, &it.reason))?;
        let Head {
            name,
            description,
            compatibility,
            allowed_tools,
        } = head;
        Ok(Some(Skill {
            view: SkillView {
                name,
                description,
                source: self.source,
                file: file_shown,
                allowed_tools,
                compatibility,
            },
            from: self.from.clone(),
            folder,
            body: OnceLock::new(),
        }))
    }
}
