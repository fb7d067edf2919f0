//! Reads the skills of every place that has some: the first of a name wins, and what is wrong is told.

use std::collections::HashMap;
use std::sync::OnceLock;

use protocol::Fault;
use protocol::briefing::{SkillView, Source};
use runtime::{FileError, Workspace};

use super::file::{self, Head};
use super::{Index, Skill};
use crate::limits::{FOLDERS_LOOKED_MAX, SKILL_BYTES_MAX, SKILLS_MAX};

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
        let mut index = Self::default();
        let mut known: HashMap<String, String> = HashMap::new();
        let mut faults = Vec::new();
        for shelf in shelves {
            let names = match shelf.from.names(&shelf.path, FOLDERS_LOOKED_MAX) {
                Ok(names) => names,
                // A file in its place is somebody else's.
                Err(FileError::NotAFolder { .. }) => continue,
                Err(error) => {
                    faults.push(Fault::new(
                        format!("The skills in {} cannot be read: {error}", shelf.named("")),
                        "Until they can, none of them is there.",
                    ));
                    continue;
                }
            };
            for name in names {
                let skill = match shelf.skill(&name) {
                    Ok(Some(skill)) => skill,
                    Ok(None) => continue,
                    Err(fault) => {
                        faults.push(fault);
                        continue;
                    }
                };
                let file = skill.view.file.clone();
                if let Some(first) = known.get(&name) {
                    faults.push(Fault::new(
                        format!("{file}: there is a skill `{name}` already, in {first}."),
                        "The first one is used. Rename or remove one of them.",
                    ));
                    continue;
                }
                if index.0.len() == SKILLS_MAX {
                    faults.push(Fault::new(
                        format!("There are more than {SKILLS_MAX} skills; those from {file} on are left out."),
                        "Keep those that this work needs.",
                    ));
                    return (index, faults);
                }
                known.insert(name, file);
                index.0.push(skill);
            }
        }
        (index, faults)
    }
}

impl Shelf {
    /// A path in it as people read it.
    fn named(&self, path: &str) -> String {
        let whole = self.from.root().join(&self.path).join(path);
        protocol::shown::name(&whole)
    }

    /// The skill in a folder of this name; none if it holds none.
    fn skill(&self, name: &str) -> Result<Option<Skill>, Fault> {
        let folder = format!("{}/{name}", self.path);
        let file = format!("{folder}/SKILL.md");
        let shown = self.named(&format!("{name}/SKILL.md"));
        let wrong = |line: usize, reason: &str| {
            Fault::new(
                format!("{shown}, line {line}: {}.", reason.trim_end_matches('.')),
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
                file: shown,
                allowed_tools,
                compatibility,
            },
            from: self.from.clone(),
            folder,
            body: OnceLock::new(),
        }))
    }
}
