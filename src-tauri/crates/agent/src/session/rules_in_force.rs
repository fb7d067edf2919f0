//! The rules that hold for a session: read, replaced, and taken out of force.

use std::sync::Arc;

use policy::{Judgement, RuleSet};
use protocol::Rule;
use protocol::settings::Posture;
use tokio::sync::watch;

use crate::host::config::Host;
use crate::permissions::policy_input::PolicyContext;
use crate::permissions::rule_uses;
use crate::session::Session;

/// Sentences with which an ask becomes a deny: where nobody is there, where nobody is but commands are judged by their
/// effects, and where somebody is who chose not to be asked.
const HEADLESS_SENTENCE: &str = "Nobody is there to ask, so asking means denying.";
const HEADLESS_EFFECTS_SENTENCE: &str = "Nobody is there to ask, so asking means denying. A command passes that changes only files of the workspace and can be undone.";
const UNATTENDED_SENTENCE: &str = "Nobody is asked in an unattended session, so asking means denying. A command passes that changes only files of the workspace and can be undone.";

impl Session {
    /// Returns the posture in force: the one chosen for this session, else the one that the host was started with, else
    /// that of the settings for this folder.
    pub(crate) fn posture(&self) -> Posture {
        let chosen = self.chosen_posture().or(self.engine.config.posture);
        let root = self.tool_context.workspace.root();
        chosen.unwrap_or_else(|| self.engine.settings().posture_for(root))
    }

    /// Returns the posture that was chosen for this session, or for the one that it works for.
    fn chosen_posture(&self) -> Option<Posture> {
        match self.parent() {
            Some(parent) => self.engine.session(&parent.session).ok()?.chosen_posture(),
            None => *self.posture.read(),
        }
    }

    /// Chooses the posture of this session while it is open. Calls that wait are judged again.
    pub(crate) fn choose_posture(&self, posture: Posture) {
        *self.posture.write() = Some(posture);
        self.reload_rules();
    }

    /// Returns the rules in force.
    pub(crate) fn rules(&self) -> Arc<RuleSet> {
        self.rules.read().clone()
    }

    /// Returns a receiver that is notified when the rules are reloaded.
    pub(crate) fn watch_rules(&self) -> watch::Receiver<u64> {
        self.rules_changed.subscribe()
    }

    /// Returns the current context of a verdict, beyond the call and the rules.
    pub(crate) fn policy_context(&self) -> PolicyContext {
        let config = &self.engine.config;
        PolicyContext {
            ask_for_everything: self.engine.settings().ask_for_everything,
            headless: match (config.host, self.posture()) {
                (Host::Person, Posture::Unattended) => Some(UNATTENDED_SENTENCE),
                (Host::Person, Posture::AskFirst | Posture::AskAboutEffects)
                | (Host::Headless { approve_all: true }, _) => None,
                (Host::Headless { approve_all: false }, Posture::AskFirst) => {
                    Some(HEADLESS_SENTENCE)
                }
                (
                    Host::Headless { approve_all: false },
                    Posture::AskAboutEffects | Posture::Unattended,
                ) => Some(HEADLESS_EFFECTS_SENTENCE),
            },
            judges_effects: self.judges_effects(),
            skips_asks: self.skips_asks(),
            approves_all: config.host == (Host::Headless { approve_all: true }),
            now: config.clock.now(),
        }
    }

    /// Counts a verdict as a use of the rules that made it; if the call was allowed before and is judged `again`, only
    /// of the rules about its effects. `false` if one of the rules had no use left: the call has to be judged again.
    pub(crate) fn take_rule_uses(&self, judgement: &Judgement, again: bool) -> bool {
        let spent = rule_uses::take_uses(&self.engine.config.data_dir, judgement, again);
        self.remove_used_up_rules(&spent);
        spent.is_empty()
    }

    /// Takes rules out of force that have no uses left.
    fn remove_used_up_rules(&self, spent: &[Rule]) {
        if spent.is_empty() {
            return;
        }
        let mut rules = self.rules.write();
        let changed = Arc::make_mut(&mut rules);
        spent.iter().for_each(|rule| changed.mark_spent(rule));
    }

    /// Puts other rules in force, until the rules are reloaded.
    pub(crate) fn set_rules(&self, rules: RuleSet) {
        *self.rules.write() = Arc::new(rules);
    }

    /// Reloads the rules, and reports their errors.
    pub(crate) fn reload_rules(&self) {
        let config = &self.engine.config;
        let workspace = &self.tool_context.workspace;
        let mut loaded = self.rule_files.load(config, workspace, &self.lineage());
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
