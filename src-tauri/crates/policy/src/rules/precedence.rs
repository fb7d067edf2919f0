//! Precedence of several matching rules: the rule that decides (M14).

use protocol::{RuleAction, RuleScope, Verdict};

use super::CompiledRule;
use crate::patterns::count_literal_prefix;

/// How directly a rule's permission names a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PermissionRank {
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

/// The prefix length of a grant for one call: the greatest, since the grant covers nothing but that call.
const EXACT_CALL_PREFIX: usize = usize::MAX;

/// Strength of a matching rule; the greatest decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Precedence {
    manifest_deny: bool,
    rank: PermissionRank,
    prefix_chars: usize,
    scope: RuleScope,
    strictness: Verdict,
}

impl Precedence {
    pub(super) fn new(rank: PermissionRank, compiled: &CompiledRule) -> Self {
        let rule = &compiled.rule;
        Self {
            manifest_deny: rule.scope == RuleScope::Manifest && rule.action == RuleAction::Deny,
            rank,
            prefix_chars: match compiled.exact_digest() {
                Some(_) => EXACT_CALL_PREFIX,
                // An address and the words of a command are not to be compared: the rule about commands decides.
                None if compiled.remote_address().is_some() => 0,
                None => rule.pattern.as_deref().map_or(0, count_literal_prefix),
            },
            scope: rule.scope,
            strictness: Verdict::from(rule.action),
        }
    }

    /// Explains why this rule decides and not the next in strength.
    pub(super) fn explain_win(self, next: Option<Self>) -> String {
        let Some(next) = next else {
            return "the only rule that matches".to_owned();
        };
        let why = match () {
            () if self.manifest_deny => "a deny of the agent's manifest is final",
            () if self.rank > next.rank => match self.rank {
                PermissionRank::Tool => "most specific: it names the tool",
                PermissionRank::Family => "most specific: it names the tool's family",
                PermissionRank::Capability => "most specific: it names the capability",
                PermissionRank::Mode | PermissionRank::Everything => {
                    "most specific: it names the mode"
                }
            },
            () if self.prefix_chars == EXACT_CALL_PREFIX
                && next.prefix_chars < EXACT_CALL_PREFIX =>
            {
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

    /// Explains why this rule does not decide.
    pub(super) fn explain_loss(self, winner: Self) -> String {
        let why = match () {
            () if winner.manifest_deny && !self.manifest_deny => {
                "lost: a deny of the agent's manifest is final"
            }
            () if self.rank < winner.rank => match winner.rank {
                PermissionRank::Tool => "lost: less specific than a rule that names the tool",
                PermissionRank::Family => {
                    "lost: less specific than a rule that names the tool's family"
                }
                PermissionRank::Capability => {
                    "lost: less specific than a rule that names the capability"
                }
                PermissionRank::Mode | PermissionRank::Everything => {
                    "lost: less specific than a rule for the mode"
                }
            },
            () if winner.prefix_chars == EXACT_CALL_PREFIX
                && self.prefix_chars < EXACT_CALL_PREFIX =>
            {
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
