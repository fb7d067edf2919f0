//! Skills: knowledge that a session finds by a one-line description and loads when needed (`S002-40`).
//!
//! A [`SkillIndex`] is read once for a session and stays as it is; a skill's body is read when it is first requested.
//! The tools that a skill claims it may use (`allowed-tools`) are shown to people and grant nothing.

mod file;
mod load;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use protocol::ToolError;
use protocol::text::display_text;
use protocol::view::briefing::{BriefingSource, SkillView};
use runtime::{PathKind, TreeLimits, Workspace};

pub(crate) use self::file::to_one_line;
pub use self::load::SkillFolder;
use crate::limits::{
    SKILL_BYTES_MAX, SKILL_INDEX_BYTES_MAX, SKILL_NAME_CHARS_MAX, SKILL_TREE_ITEMS_MAX,
};
use crate::name_suggestions::{find_close_names, format_suggestion};

/// The skills of a session, in the order of their sources.
#[derive(Debug, Default)]
pub struct SkillIndex(Vec<Skill>);

/// One skill.
#[derive(Debug)]
pub struct Skill {
    /// Description of the skill shown to the person.
    view: SkillView,
    /// Workspace through which the skill's folder is read.
    from: Workspace,
    /// Path of the skill's folder in `from`.
    folder: String,
    /// Body of the skill, once it was read.
    body: OnceLock<String>,
}

impl SkillIndex {
    /// Returns the descriptions shown to the person, one per skill.
    pub fn views(&self) -> impl Iterator<Item = &SkillView> {
        self.0.iter().map(|skill| &skill.view)
    }

    /// Returns the absolute paths of skill folders outside of the project: the files beside a `SKILL.md` belong to the
    /// skill.
    pub fn external_folders(&self) -> impl Iterator<Item = PathBuf> {
        let elsewhere = |skill: &&Skill| skill.view.source != BriefingSource::Project;
        let folder = |skill: &Skill| skill.from.root().join(&skill.folder);
        self.0.iter().filter(elsewhere).map(folder)
    }

    /// Formats the list of skills for the model, one line per skill; empty if there are none. Skills beyond the size
    /// limit are left out, and the list says so.
    pub fn summary(&self) -> String {
        let mut summary = String::new();
        for (at, skill) in self.0.iter().enumerate() {
            let line = format!("- {}: {}\n", skill.view.name, skill.view.description);
            if summary.len() + line.len() > SKILL_INDEX_BYTES_MAX {
                let more = self.0.len() - at;
                summary +=
                    &format!("- and {more} more that are not listed; ask the person for a name.\n");
                break;
            }
            summary += &line;
        }
        summary
    }

    /// Finds a skill by name.
    ///
    /// # Errors
    /// If there is no skill of this name; the error suggests similar names.
    pub fn find(&self, name: &str) -> Result<&Skill, ToolError> {
        let skill = self.0.iter().find(|skill| skill.view.name == name);
        skill.ok_or_else(|| {
            let names = self.0.iter().map(|skill| skill.view.name.as_str());
            let hint = match (
                format_suggestion(&find_close_names(name, names)),
                self.0.is_empty(),
            ) {
                (_, true) => " This session has no skills.".to_owned(),
                (hint, false) => hint,
            };
            let name = display_text::to_single_line(name, SKILL_NAME_CHARS_MAX);
            ToolError::Failed(format!("There is no skill `{name}`.{hint}"))
        })
    }
}

impl Skill {
    /// Returns the description shown to the person.
    pub fn view(&self) -> &SkillView {
        &self.view
    }

    /// Returns the text below the skill's front matter. Once read, the text does not change.
    ///
    /// # Errors
    /// If the file does not exist any more, is too long, or is not valid.
    pub fn body(&self) -> Result<&str, ToolError> {
        if let Some(body) = self.body.get() {
            return Ok(body);
        }
        let failed = |why: String| {
            ToolError::Failed(format!(
                "The skill `{}` cannot be read: {why}.",
                self.view.name
            ))
        };
        let file = format!("{}/SKILL.md", self.folder);
        let bytes = self.from.read_whole(&file, SKILL_BYTES_MAX);
        let bytes =
            bytes.map_err(|error| failed(error.to_string().trim_end_matches('.').to_owned()))?;
        let bytes = bytes.ok_or_else(|| failed("its file is gone".to_owned()))?;
        let text =
            String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
        let (_, body) =
            file::parse_skill_file(&text, &self.view.name).map_err(|fault| failed(fault.reason))?;
        Ok(self.body.get_or_init(|| body.to_owned()))
    }

    /// Returns the first `items_max` files beside the skill's text, by their paths in its folder; empty if they cannot
    /// be listed.
    pub fn files(&self, items_max: usize) -> Vec<String> {
        let limits = TreeLimits {
            items_max: SKILL_TREE_ITEMS_MAX,
            lines_bytes_max: 0,
        };
        let Ok(tree) = self.from.list_tree(&self.folder, limits) else {
            return Vec::new();
        };
        let files = tree.items.iter().filter(|item| item.kind == PathKind::File);
        let below = files.filter_map(|item| item.path.strip_prefix(&self.folder).ok());
        let others = below.filter(|path| *path != Path::new("SKILL.md"));
        others.take(items_max).map(display_text::name).collect()
    }

    /// Returns the absolute path of the skill's folder.
    pub fn folder(&self) -> PathBuf {
        self.from.root().join(&self.folder)
    }
}
