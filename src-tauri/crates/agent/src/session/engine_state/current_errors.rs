//! What is wrong at the moment, by where it comes from, so that what was corrected disappears.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::UserError;

use crate::session::engine_state::EngineState;

/// All of it.
#[derive(Default)]
pub(crate) struct CurrentErrors(Mutex<ErrorsBySource>);

#[derive(Default)]
struct ErrorsBySource {
    settings: Option<UserError>,
    tools: Vec<UserError>,
    rules: HashMap<PathBuf, Vec<UserError>>,
    files: HashMap<PathBuf, Vec<UserError>>,
    raised: Option<UserError>,
}

impl CurrentErrors {
    /// What the settings are wrong in, and what they say of tools.
    pub fn set_settings_errors(&self, settings: Option<UserError>, tools: Vec<UserError>) {
        let mut kept = self.lock_errors();
        (kept.settings, kept.tools) = (settings, tools);
    }

    fn lock_errors(&self) -> MutexGuard<'_, ErrorsBySource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EngineState {
    /// What is wrong at the moment.
    pub fn current_errors(&self) -> Vec<UserError> {
        let providers = self.providers();
        let kept = self.current_errors.lock_errors();
        let rules = kept.rules.values().chain(kept.files.values()).flatten();
        let all = kept
            .settings
            .iter()
            .chain(&kept.tools)
            .chain(rules)
            .chain(providers.errors())
            .chain(&kept.raised);
        let mut all: Vec<UserError> = all.cloned().collect();
        all.extend(self.servers.store().errors());
        all.extend(self.apis.errors());
        all.extend(self.tools.errors());
        all.dedup();
        all
    }

    /// What is wrong with a workspace's rules; nothing if they are right.
    pub fn set_rule_errors(&self, root: &Path, faults: Vec<UserError>) {
        self.current_errors
            .lock_errors()
            .rules
            .insert(root.to_owned(), faults);
    }

    /// What is wrong with a workspace's files of tools, skills, agents and instructions; nothing if they are right.
    pub fn set_tool_errors(&self, root: &Path, faults: Vec<UserError>) {
        self.current_errors
            .lock_errors()
            .files
            .insert(root.to_owned(), faults);
    }

    /// Something went wrong that may keep even the record from telling it.
    pub fn raise_error(&self, fault: &UserError) {
        self.current_errors.lock_errors().raised = Some(fault.clone());
    }
}
