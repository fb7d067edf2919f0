//! What is wrong at the moment, by where it comes from, so that what was corrected disappears.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::Fault;

use crate::desk::Shared;

/// All of it.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    settings: Option<Fault>,
    tools: Vec<Fault>,
    rules: HashMap<PathBuf, Vec<Fault>>,
    files: HashMap<PathBuf, Vec<Fault>>,
    raised: Option<Fault>,
}

impl Faults {
    /// What the settings are wrong in, and what they say of tools.
    pub fn set_settings(&self, settings: Option<Fault>, tools: Vec<Fault>) {
        let mut kept = self.kept();
        (kept.settings, kept.tools) = (settings, tools);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// What is wrong at the moment.
    pub fn faults(&self) -> Vec<Fault> {
        let providers = self.providers();
        let kept = self.faults.kept();
        let rules = kept.rules.values().chain(kept.files.values()).flatten();
        let all = kept
            .settings
            .iter()
            .chain(&kept.tools)
            .chain(rules)
            .chain(providers.faults())
            .chain(&kept.raised);
        let mut all: Vec<Fault> = all.cloned().collect();
        all.extend(self.servers.shelf().faults());
        all.extend(self.apis.faults());
        all.extend(self.tools.faults());
        all.dedup();
        all
    }

    /// What is wrong with a workspace's rules; nothing if they are right.
    pub fn set_rule_faults(&self, root: &Path, faults: Vec<Fault>) {
        self.faults.kept().rules.insert(root.to_owned(), faults);
    }

    /// What is wrong with a workspace's files of tools, skills, agents and instructions; nothing if they are right.
    pub fn set_tool_faults(&self, root: &Path, faults: Vec<Fault>) {
        self.faults.kept().files.insert(root.to_owned(), faults);
    }

    /// Something went wrong that may keep even the record from telling it.
    pub fn raise(&self, fault: &Fault) {
        self.faults.kept().raised = Some(fault.clone());
    }
}
