//! The rules that hold for a session: read, replaced, and taken out of force.

use std::sync::{Arc, PoisonError};

use policy::RuleSet;
use protocol::Rule;
use tokio::sync::watch;

use super::Session;
use crate::delegate;

impl Session {
    /// The rules in force.
    pub(crate) fn rules(&self) -> Arc<RuleSet> {
        self.rules
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Hears when the rules are read anew.
    pub(crate) fn rules_read(&self) -> watch::Receiver<u64> {
        self.rules_changed.subscribe()
    }

    /// Takes rules out of force that were used as often as they may.
    pub(crate) fn spend(&self, spent: &[Rule]) {
        if spent.is_empty() {
            return;
        }
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let changed = Arc::make_mut(&mut rules);
        spent.iter().for_each(|rule| changed.spend(rule));
    }

    /// Puts other rules in force, until they are read anew.
    pub(crate) fn use_rules(&self, rules: RuleSet) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Reads the rules anew; says what is wrong with them.
    pub(crate) fn reload_rules(&self) {
        let config = &self.shared.config;
        let mut loaded = self.rules_known.load(
            &config.data_dir,
            Some(&self.hands.workspace),
            &delegate::lineage(self),
            config.rules.as_deref(),
        );
        let mut agents = self.bounds.rules().peekable();
        if agents.peek().is_some() {
            agents.for_each(|rules| loaded.rules.add(rules));
            crate::uses::spend(&config.data_dir, &mut loaded.rules);
        }
        self.use_rules(loaded.rules);
        self.rules_changed.send_modify(|times| *times += 1);
        let faults = loaded.faults.into_iter().chain(loaded.untrusted);
        self.shared
            .set_rule_faults(self.hands.workspace.root(), faults.collect());
    }
}
