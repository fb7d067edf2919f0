//! Backtests: recorded calls, judged again by other rules.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::rule::rules_view::NewRule;
use crate::{At, CallId, RuleScope, SessionId, Verdict};

/// A change of the rules in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleChange {
    /// Adds one rule.
    Add {
        /// The rule.
        rule: NewRule,
        /// Scope of the new rule.
        scope: RuleScope,
    },
    /// Replaces the text of a whole file.
    Replace {
        /// Scope of the file.
        scope: RuleScope,
        /// The new text.
        text: String,
    },
    /// Replaces one rule.
    Change {
        /// Scope of the rule's file.
        scope: RuleScope,
        /// The line of its `[[rule]]` header, from 1.
        line: u32,
        /// The new rule.
        rule: NewRule,
    },
    /// Removes one rule.
    Remove {
        /// Scope of the rule's file.
        scope: RuleScope,
        /// The line of its `[[rule]]` header, from 1.
        line: u32,
    },
}

/// Effect that a change of the rules would have had on the recorded calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Backtest {
    /// Number of recorded calls that were judged again.
    pub calls: u64,
    /// Calls that would have got another verdict, grouped by the old and the new verdict.
    pub changed: Vec<BacktestGroup>,
    /// Examples of such calls: those that the person rejected first, then the newest.
    pub examples: Vec<BacktestCall>,
    /// Recorded calls that cannot be judged again.
    pub unclear: Vec<UnclearCalls>,
    /// Duration of the backtest, in microseconds.
    pub took_us: u64,
}

/// Calls whose verdict would have changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BacktestGroup {
    /// Verdict by the rules in force.
    pub from: Verdict,
    /// Verdict by the changed rules.
    pub to: Verdict,
    /// Number of calls in the group.
    pub calls: u64,
    /// Number of these calls that the person allowed.
    pub by_person_allowed: u64,
    /// Number of these calls that the person rejected.
    pub by_person_rejected: u64,
}

/// A recorded call whose verdict would have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BacktestCall {
    /// The call's session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When the call was judged.
    pub at: At,
    /// The call's tool.
    pub tool: String,
    /// The target that the call acts on.
    pub target: String,
    /// Verdict by the rules in force.
    pub from: Verdict,
    /// Verdict by the changed rules.
    pub to: Verdict,
    /// The person's decision on the call, if the person was asked.
    pub person: Option<RecordedDecision>,
}

/// A person's recorded decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RecordedDecision {
    /// The person let the call run.
    Allowed,
    /// The person rejected the call.
    Rejected,
}

/// Recorded calls that cannot be judged again, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UnclearCalls {
    /// Why the calls cannot be judged again, in a sentence.
    pub reason: String,
    /// Number of calls.
    pub calls: u64,
}

/// A suggested rule that would have spared the person answers that they gave repeatedly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleSuggestion {
    /// The rule.
    pub rule: NewRule,
    /// Number of calls covered by the rule that the person allowed.
    pub allowed: u64,
    /// Number of calls covered by the rule that the person rejected.
    pub rejected: u64,
    /// Examples of the calls that the person allowed, the newest first.
    pub examples: Vec<BacktestCall>,
    /// Examples of the calls that the person rejected, the newest first.
    pub counter_examples: Vec<BacktestCall>,
}
