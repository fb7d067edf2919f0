//! The contents of a rules file, once it is read.

use protocol::RuleAction;

use crate::rules::CompiledRule;

/// A warning about an entry that is hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesFileWarning {
    /// The file as a person writes it.
    pub file: String,
    /// The line of the rule, from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
}

/// The contents of a rules file.
#[derive(Debug, Clone, Default)]
pub struct RulesFile {
    /// The action where no rule matches. Beside the verdict of the mode it can only tighten.
    pub default: Option<RuleAction>,
    /// Its rules.
    pub rules: Vec<CompiledRule>,
    /// Warnings about entries that are valid but hardly meant.
    pub warnings: Vec<RulesFileWarning>,
}

impl RulesFile {
    /// Returns the file without anything that would loosen: the rules of an agent that works for another one, which can
    /// be given no more than the other agent has (`S002-104`).
    #[must_use]
    pub fn without_loosening(mut self) -> Self {
        let stricter = |action: RuleAction| match action {
            RuleAction::Deny | RuleAction::Ask => true,
            RuleAction::Allow => false,
        };
        self.default = self.default.filter(|action| stricter(*action));
        self.rules.retain(|rule| stricter(rule.rule.action));
        // One that asks may be the more specific beside another's deny.
        self.rules.iter_mut().for_each(|rule| rule.trusted = false);
        self
    }
}
