//! The rules that hold for a session: read, replaced, and taken out of force.

use std::sync::{Arc, PoisonError};

use policy::{Judgement, RuleSet};
use protocol::Rule;
use tokio::sync::watch;

use crate::host::config::Host;
use crate::permissions::policy_input::PolicyContext;
use crate::permissions::rule_uses;
use crate::session::Session;

impl Session {
    /// The rules in force.
    pub(crate) fn rules(&self) -> Arc<RuleSet> {
        self.rules
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Hears when the rules are read anew.
    pub(crate) fn watch_rules(&self) -> watch::Receiver<u64> {
        self.rules_changed.subscribe()
    }

    /// What a verdict depends on at this moment, beyond the call and the rules.
    pub(crate) fn policy_context(&self) -> PolicyContext {
        let config = &self.engine.config;
        PolicyContext {
            ask_for_everything: self.engine.settings().ask_for_everything,
            headless: match config.host {
                Host::Person | Host::Headless { approve_all: true } => None,
                Host::Headless { approve_all: false } => {
                    Some("Nobody is there to ask, so asking means denying.")
                }
            },
            approves_all: config.host == (Host::Headless { approve_all: true }),
            now: config.clock.now(),
        }
    }

    /// Counts a verdict as a use of the rules that made it; of one that was let through before and is judged `again`, only of
    /// those that speak of its effects. False if one of them had no use left: the call has to be judged anew.
    pub(crate) fn take_rule_uses(&self, judgement: &Judgement, again: bool) -> bool {
        let spent = rule_uses::take_uses(&self.engine.config.data_dir, judgement, again);
        self.remove_used_up_rules(&spent);
        spent.is_empty()
    }

    /// Takes rules out of force that were used as often as they may.
    fn remove_used_up_rules(&self, spent: &[Rule]) {
        if spent.is_empty() {
            return;
        }
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let changed = Arc::make_mut(&mut rules);
        spent.iter().for_each(|rule| changed.mark_spent(rule));
    }

    /// Puts other rules in force, until they are read anew.
    pub(crate) fn set_rules(&self, rules: RuleSet) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Reads the rules anew; says what is wrong with them.
    pub(crate) fn reload_rules(&self) {
        let config = &self.engine.config;
        let mut loaded = self.rule_files.load(
            &config.data_dir,
            Some(&self.tool_context.workspace),
            &self.lineage(),
            config.rules.as_deref(),
        );
        let mut agents = self.bounds.manifest_rules().peekable();
        if agents.peek().is_some() {
            agents.for_each(|rules| loaded.rules.add(rules));
            rule_uses::remove_used_up(&config.data_dir, &mut loaded.rules);
        }
        self.set_rules(loaded.rules);
        self.rules_changed.send_modify(|times| *times += 1);
        let faults = loaded.errors.into_iter().chain(loaded.untrusted);
        self.engine
            .set_rule_errors(self.tool_context.workspace.root(), faults.collect());
    }
}
