//! Rules as a person looks at them, edits them and tries them out. Nothing here decides a call.

pub(crate) mod asked;
mod backtest;
mod check;
mod compare;
mod edit;
pub mod imports;
mod recorded;
mod suggest;
mod view;

use std::path::{Path, PathBuf};

use policy::rules_file::{self, Source};
use protocol::backtest::RuleChange;
use protocol::{Fault, RuleScope};
use runtime::Workspace;

use crate::rules::{self, Draft, Loaded};
use crate::trust::PROJECT_FILE;

pub use backtest::{Tested, backtest};
pub use edit::{add, change, save};

/// A workspace, or what holds everywhere.
pub struct Place(Option<Workspace>);

impl Place {
    /// The workspace in this folder; everywhere if none is named.
    ///
    /// # Errors
    /// It is no folder that can be opened.
    pub fn of(folder: Option<&str>) -> Result<Self, Fault> {
        let workspace = folder.map(|folder| Workspace::open(Path::new(folder)));
        Ok(Self(workspace.transpose()?))
    }

    fn root(&self) -> Option<String> {
        let workspace = self.0.as_ref();
        workspace.map(|workspace| workspace.root().display().to_string())
    }

    fn load(&self, data_dir: &Path, draft: &Draft<'_>) -> Loaded {
        rules::load_with(data_dir, self.0.as_ref(), &[], None, draft)
    }

    /// The rules as they would be after a change.
    fn changed(&self, data_dir: &Path, change: &RuleChange) -> Result<Loaded, Fault> {
        Ok(match change {
            RuleChange::Add { rule, scope } => {
                let source = Source {
                    trusted: true,
                    ..Source::new("", *scope)
                };
                let added = rules_file::read_new(rule, &source)?;
                let mut loaded = self.load(data_dir, &Draft::Nothing);
                loaded.rules.extend(added.rules);
                loaded
            }
            RuleChange::Replace { scope, text } => {
                let draft = Draft::Instead(*scope, text);
                let source = Source::new("The draft", *scope);
                rules_file::read(text, &source)?;
                self.load(data_dir, &draft)
            }
            RuleChange::Change { scope, line, rule } => {
                let text = self.text(data_dir, *scope)?.unwrap_or_default();
                let text = rules_file::with_changed(&text, *line, rule)?;
                rules_file::read(&text, &Source::new("The draft", *scope))?;
                self.load(data_dir, &Draft::Instead(*scope, &text))
            }
            RuleChange::Remove { scope, line } => {
                self.load(data_dir, &Draft::Without(*scope, *line))
            }
        })
    }

    /// The file that the rules of a scope are kept in.
    fn file(&self, data_dir: &Path, scope: RuleScope) -> Result<PathBuf, Fault> {
        match (scope, &self.0) {
            (RuleScope::User, _) => Ok(data_dir.join("rules.toml")),
            (RuleScope::Project, Some(workspace)) => Ok(workspace.root().join(PROJECT_FILE)),
            (RuleScope::Project, None) => Err(Fault::new(
                "A project's rules need its folder.",
                "Name the workspace.",
            )),
            (RuleScope::Builtin | RuleScope::Manifest | RuleScope::Session, _) => Err(Fault::new(
                "Only your own rules and a project's are kept in a file that is edited here.",
                "Choose one of these two.",
            )),
        }
    }

    /// The text of that file; none if there is none.
    fn text(&self, data_dir: &Path, scope: RuleScope) -> Result<Option<String>, Fault> {
        match (scope, &self.0) {
            (RuleScope::Project, Some(workspace)) => crate::trust::project(workspace),
            _ => Ok(runtime::read_text(&self.file(data_dir, scope)?)?),
        }
    }

    /// The file as a person writes it.
    fn file_shown(&self, data_dir: &Path, scope: RuleScope) -> String {
        match scope {
            RuleScope::Project => PROJECT_FILE.to_owned(),
            _ => data_dir.join("rules.toml").display().to_string(),
        }
    }
}
