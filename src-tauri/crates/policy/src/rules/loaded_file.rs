//! What a rules file holds, once it was read.

use protocol::RuleAction;

use crate::rules::CompiledRule;

/// Something that is hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesFileWarning {
    /// The file as a person writes it.
    pub file: String,
    /// The line of the rule, from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
}

/// What a rules file holds.
#[derive(Debug, Clone, Default)]
pub struct RulesFile {
    /// What it says where no rule matches. Beside the mode's word this can only tighten.
    pub default: Option<RuleAction>,
    /// Its rules.
    pub rules: Vec<CompiledRule>,
    /// What is allowed to stand there but is hardly meant.
    pub warnings: Vec<RulesFileWarning>,
}

impl RulesFile {
    /// The same without what would loosen anything: of an agent that works for another one, which can be given no more than
    /// that has (`S002-104`).
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
