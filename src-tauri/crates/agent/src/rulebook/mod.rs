//! Viewing, editing and testing of rules by a person. Nothing in this module decides a call.

mod backtest;
mod check;
mod compare;
mod edit;
pub mod explain;
pub mod imports;
pub(crate) mod queries;
mod recorded_call;
pub mod simulation;
mod suggestions;
mod view;

use std::path::{Path, PathBuf};

use policy::rules_file::{self, RulesFileSource};
use protocol::rule::backtest::RuleChange;
use protocol::{RuleScope, UserError};
use runtime::Workspace;

use crate::permissions::rules;
use crate::permissions::rules::{LoadedRules, RuleDraft};
use crate::permissions::trust::PROJECT_FILE;

pub use backtest::{BacktestOptions, run_backtest};
pub use edit::{add_rules, change_rule, save_rules};

/// Scope of a rulebook: one workspace, or everywhere.
pub struct RulebookScope(Option<Workspace>);

impl RulebookScope {
    /// Returns the workspace in this folder; everywhere if no folder is given.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn from_folder(folder: Option<&str>) -> Result<Self, UserError> {
        let workspace = folder.map(|folder| Workspace::open(Path::new(folder)));
        Ok(Self(workspace.transpose()?))
    }

    fn root(&self) -> Option<String> {
        let workspace = self.0.as_ref();
        workspace.map(|workspace| workspace.root().display().to_string())
    }

    fn load_draft(&self, data_dir: &Path, draft: &RuleDraft<'_>) -> LoadedRules {
        rules::load_draft_rules(data_dir, self.0.as_ref(), &[], None, draft)
    }

    /// Loads the rules as they would be after a change.
    fn load_changed(&self, data_dir: &Path, change: &RuleChange) -> Result<LoadedRules, UserError> {
        Ok(match change {
            RuleChange::Add { rule, scope } => {
                let source = RulesFileSource {
                    trusted: true,
                    ..RulesFileSource::new("", *scope)
                };
                let added = rules_file::parse_new_rule(rule, &source)?;
                let mut loaded = self.load_draft(data_dir, &RuleDraft::Unchanged);
                loaded.rules.extend(added.rules);
                loaded
            }
            RuleChange::Replace { scope, text } => {
                let draft = RuleDraft::Replace(*scope, text);
                let source = RulesFileSource::new("The draft", *scope);
                rules_file::parse_rules_file(text, &source)?;
                self.load_draft(data_dir, &draft)
            }
            RuleChange::Change { scope, line, rule } => {
                let text = self.read_text(data_dir, *scope)?.unwrap_or_default();
                let text = rules_file::replace_rule(&text, *line, rule)?;
                rules_file::parse_rules_file(&text, &RulesFileSource::new("The draft", *scope))?;
                self.load_draft(data_dir, &RuleDraft::Replace(*scope, &text))
            }
            RuleChange::Remove { scope, line } => {
                self.load_draft(data_dir, &RuleDraft::Without(*scope, *line))
            }
        })
    }

    /// Returns the path of the file that holds the rules of a scope.
    fn file_path(&self, data_dir: &Path, scope: RuleScope) -> Result<PathBuf, UserError> {
        match (scope, &self.0) {
            (RuleScope::User, _) => Ok(data_dir.join("rules.toml")),
            (RuleScope::Project, Some(workspace)) => Ok(workspace.root().join(PROJECT_FILE)),
            (RuleScope::Project, None) => Err(UserError::new(
                "A project's rules need its folder.",
                "Name the workspace.",
            )),
            (RuleScope::Builtin | RuleScope::Manifest | RuleScope::Session, _) => {
                Err(UserError::new(
                    "Only your own rules and a project's are kept in a file that is edited here.",
                    "Choose one of these two.",
                ))
            }
        }
    }

    /// Returns the text of the rules file of a scope; none if there is no file.
    fn read_text(&self, data_dir: &Path, scope: RuleScope) -> Result<Option<String>, UserError> {
        match (scope, &self.0) {
            (RuleScope::Project, Some(workspace)) => {
                crate::permissions::trust::read_project_rules(workspace)
            }
            _ => Ok(runtime::read_text(&self.file_path(data_dir, scope)?)?),
        }
    }

    /// Returns the path of the rules file of a scope as a person writes it.
    fn display_path(&self, data_dir: &Path, scope: RuleScope) -> String {
        match scope {
            RuleScope::Project => PROJECT_FILE.to_owned(),
            _ => data_dir.join("rules.toml").display().to_string(),
        }
    }
}
