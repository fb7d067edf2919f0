//! Skills: knowledge that a session finds by a line of description and loads when it needs it (`S002-40`).
//!
//! An [`SkillIndex`] is read once for a session and stays as it is; a skill's body is read when it is first asked for. What a
//! skill says that it may use (`allowed-tools`) is shown to people and grants nothing.

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

/// The skills of a session, the first source first.
#[derive(Debug, Default)]
pub struct SkillIndex(Vec<Skill>);

/// One skill.
#[derive(Debug)]
pub struct Skill {
    /// What a person sees of it.
    view: SkillView,
    /// Where its folder can be read.
    from: Workspace,
    /// Its folder, as a path there.
    folder: String,
    /// Its text, once it was asked for.
    body: OnceLock<String>,
}

impl SkillIndex {
    /// What a person sees.
    pub fn views(&self) -> impl Iterator<Item = &SkillView> {
        self.0.iter().map(|skill| &skill.view)
    }

    /// Folders of skills outside of the project, by absolute path: what lies beside a `SKILL.md` belongs to the skill.
    pub fn external_folders(&self) -> impl Iterator<Item = PathBuf> {
        let elsewhere = |skill: &&Skill| skill.view.source != BriefingSource::Project;
        let folder = |skill: &Skill| skill.from.root().join(&skill.folder);
        self.0.iter().filter(elsewhere).map(folder)
    }

    /// The lines that a model gets, one for each skill; nothing if there is none. What is too much is left out, and that is
    /// said.
    pub fn summary(&self) -> String {
        let mut told = String::new();
        for (at, skill) in self.0.iter().enumerate() {
            let line = format!("- {}: {}\n", skill.view.name, skill.view.description);
            if told.len() + line.len() > SKILL_INDEX_BYTES_MAX {
                let more = self.0.len() - at;
                told +=
                    &format!("- and {more} more that are not listed; ask the person for a name.\n");
                break;
            }
            told += &line;
        }
        told
    }

    /// A skill by its name.
    ///
    /// # Errors
    /// There is none: names that are close are told.
    pub fn find(&self, name: &str) -> Result<&Skill, ToolError> {
        let found = self.0.iter().find(|skill| skill.view.name == name);
        found.ok_or_else(|| {
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
    /// What a person sees.
    pub fn view(&self) -> &SkillView {
        &self.view
    }

    /// The text below its front matter. Once it was read it stays as it was.
    ///
    /// # Errors
    /// The file is not there any more, too long, or not as it must be.
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
            file::parse_skill_file(&text, &self.view.name).map_err(|wrong| failed(wrong.reason))?;
        Ok(self.body.get_or_init(|| body.to_owned()))
    }

    /// The first so many files that lie beside its text, by their paths in its folder; nothing where they cannot be listed.
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

    /// Its folder, absolute.
    pub fn folder(&self) -> PathBuf {
        self.from.root().join(&self.folder)
    }
}
