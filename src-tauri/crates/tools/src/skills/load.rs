//! Loads skills from every configured folder: the first skill of a name wins, and invalid skills are reported.

use std::sync::OnceLock;

use protocol::UserError;
use protocol::view::briefing::{BriefingSource, SkillView};
use runtime::{FileError, Workspace};

use super::file::{self, SkillHeader};
use super::{Skill, SkillIndex};
use crate::folder_items::{ItemFolder, ItemKind, collect_items, display_path};
use crate::limits::{SKILL_BYTES_MAX, SKILLS_MAX};

/// A folder of skills, each in a folder of its own.
#[derive(Debug, Clone)]
pub struct SkillFolder {
    /// Workspace through which the folder is read.
    pub workspace: Workspace,
    /// Path of the folder in `workspace`.
    pub path: String,
    /// Owner of the skills.
    pub source: BriefingSource,
}

impl SkillIndex {
    /// Loads the skills of these folders, in this order; a folder may be missing. Also returns an error for each skill
    /// that is left out.
    pub fn load(shelves: &[SkillFolder]) -> (Self, Vec<UserError>) {
        let kind = ItemKind {
            one: "a skill",
            many: "skills",
            items_max: SKILLS_MAX,
        };
        let (skills, faults) = collect_items(&kind, shelves);
        (Self(skills), faults)
    }
}

impl ItemFolder for SkillFolder {
    type Item = Skill;

    fn folder(&self) -> (&Workspace, &str) {
        (&self.workspace, &self.path)
    }

    fn name_and_file(skill: &Skill) -> (&str, &str) {
        (&skill.view.name, &skill.view.file)
    }

    /// Reads the skill from the folder of this name; `None` if it contains no skill.
    fn read_item(&self, name: &str) -> Result<Option<Skill>, UserError> {
        let folder = format!("{}/{name}", self.path);
        let file = format!("{folder}/SKILL.md");
        let file_shown = display_path(self, &format!("{name}/SKILL.md"));
        let wrong = |line: usize, reason: &str| {
            UserError::new(
                format!(
                    "{file_shown}, line {line}: {}.",
                    reason.trim_end_matches('.')
                ),
                "Until it is corrected, this skill is left out.",
            )
        };
        let text = match self.workspace.read_whole(&file, SKILL_BYTES_MAX) {
            Ok(Some(bytes)) => {
                String::from_utf8(bytes).map_err(|_| wrong(1, "it is not UTF-8 text"))?
            }
            // Other things may lie beside skills.
            Ok(None) | Err(FileError::NotAFolder { .. }) => return Ok(None),
            Err(error) => return Err(wrong(1, &error.to_string())),
        };
        let (head, _) =
            file::parse_skill_file(&text, name).map_err(|it| wrong(it.line, &it.reason))?;
        let SkillHeader {
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
            from: self.workspace.clone(),
            folder,
            body: OnceLock::new(),
        }))
    }
}
