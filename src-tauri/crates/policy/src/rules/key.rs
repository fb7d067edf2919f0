//! Which of several matching rules speaks (M14).

use protocol::{Action, RuleScope};

use super::CompiledRule;
use crate::pattern::literal_prefix_chars;

/// How directly a rule's permission names a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// `*`
    Everything,
    /// `mode:local`
    Mode,
    /// `fs.write`
    Capability,
    /// `server__*`
    Family,
    /// `bash`
    Tool,
}

/// The prefix of a grant for one call, which is all of that call.
const EXACTLY: usize = usize::MAX;

/// How strong a matching rule is; the greatest speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    manifest_deny: bool,
    rank: Rank,
    prefix_chars: usize,
    scope: RuleScope,
    strictness: u8,
}

impl Key {
    pub(super) fn new(rank: Rank, compiled: &CompiledRule) -> Self {
        let rule = &compiled.rule;
        Self {
            manifest_deny: rule.scope == RuleScope::Manifest && rule.action == Action::Deny,
            rank,
            prefix_chars: match compiled.exactly() {
                Some(_) => EXACTLY,
                None => rule.pattern.as_deref().map_or(0, literal_prefix_chars),
            },
            scope: rule.scope,
            strictness: match rule.action {
                Action::Allow => 0,
                Action::Ask => 1,
                Action::Deny => 2,
            },
        }
    }

    /// Why this one speaks and not the next in strength.
    pub(super) fn over(self, next: Option<Self>) -> String {
        let Some(next) = next else {
            return "the only rule that matches".to_owned();
        };
        let why = match () {
            () if self.manifest_deny => "a deny of the agent's manifest is final",
            () if self.rank > next.rank => match self.rank {
                Rank::Tool => "most specific: it names the tool",
                Rank::Family => "most specific: it names the tool's family",
                Rank::Capability => "most specific: it names the capability",
                Rank::Mode | Rank::Everything => "most specific: it names the mode",
            },
            () if self.prefix_chars == EXACTLY && next.prefix_chars < EXACTLY => {
                "most specific: it is for exactly this call"
            }
            () if self.prefix_chars > next.prefix_chars => {
                "most specific: its pattern begins with the most letters"
            }
            () if self.scope > next.scope => "equally specific, and from the closest scope",
            () if self.strictness > next.strictness => "equally specific, and the strictest",
            () => "it says the same as the next one",
        };
        why.to_owned()
    }

    /// Why this one does not speak.
    pub(super) fn under(self, winner: Self) -> String {
        let why = match () {
            () if winner.manifest_deny && !self.manifest_deny => {
                "lost: a deny of the agent's manifest is final"
            }
            () if self.rank < winner.rank => match winner.rank {
                Rank::Tool => "lost: less specific than a rule that names the tool",
                Rank::Family => "lost: less specific than a rule that names the tool's family",
                Rank::Capability => "lost: less specific than a rule that names the capability",
                Rank::Mode | Rank::Everything => "lost: less specific than a rule for the mode",
            },
            () if winner.prefix_chars == EXACTLY && self.prefix_chars < EXACTLY => {
                "lost: another one is for exactly this call"
            }
            () if self.prefix_chars < winner.prefix_chars => {
                "lost: its pattern begins with fewer letters"
            }
            () if self.scope < winner.scope => "lost: equally specific, but from a wider scope",
            () if self.strictness < winner.strictness => "lost: equally specific, but less strict",
            () => "says the same again",
        };
        why.to_owned()
    }
}
