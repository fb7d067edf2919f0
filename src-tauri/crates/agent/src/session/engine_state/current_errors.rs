//! The current errors by source, so that a corrected error disappears.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use protocol::UserError;

use crate::session::engine_state::EngineState;

/// All current errors.
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
    /// Replaces the errors of the settings, and of the settings of tools.
    pub fn set_settings_errors(&self, settings: Option<UserError>, tools: Vec<UserError>) {
        let mut kept = self.0.lock();
        (kept.settings, kept.tools) = (settings, tools);
    }
}

impl EngineState {
    /// Returns all current errors.
    pub fn current_errors(&self) -> Vec<UserError> {
        let providers = self.providers();
        let kept = self.current_errors.0.lock();
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

    /// Replaces the errors of a workspace's rules; empty if the rules are correct.
    pub fn set_rule_errors(&self, root: &Path, faults: Vec<UserError>) {
        self.current_errors
            .0
            .lock()
            .rules
            .insert(root.to_owned(), faults);
    }

    /// Replaces the errors of a workspace's files of tools, skills, agents and instructions; empty if the files are
    /// correct.
    pub fn set_tool_errors(&self, root: &Path, faults: Vec<UserError>) {
        self.current_errors
            .0
            .lock()
            .files
            .insert(root.to_owned(), faults);
    }

    /// Sets an error that may prevent even the record from reporting it.
    pub fn raise_error(&self, fault: &UserError) {
        self.current_errors.0.lock().raised = Some(fault.clone());
    }
}
