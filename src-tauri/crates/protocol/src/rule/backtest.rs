//! What other rules would have said of the calls on record.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::rule::rules_view::NewRule;
use crate::{At, CallId, RuleScope, SessionId, Verdict};

/// A change of the rules in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RuleChange {
    /// One rule more.
    Add {
        /// The rule.
        rule: NewRule,
        /// Whose it would be.
        scope: RuleScope,
    },
    /// Another text in the place of a whole file.
    Replace {
        /// Which file.
        scope: RuleScope,
        /// The text.
        text: String,
    },
    /// Another rule in the place of one.
    Change {
        /// Of which file.
        scope: RuleScope,
        /// The line of its `[[rule]]` header, from 1.
        line: u32,
        /// The rule.
        rule: NewRule,
    },
    /// One rule less.
    Remove {
        /// Of which file.
        scope: RuleScope,
        /// The line of its `[[rule]]` header, from 1.
        line: u32,
    },
}

/// What a change would have made of the calls on record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Backtest {
    /// How many recorded calls were judged again.
    pub calls: u64,
    /// How many would have got another verdict, by what it was and would have been.
    pub changed: Vec<BacktestGroup>,
    /// Some of them: those that the person rejected first, then the newest.
    pub examples: Vec<BacktestCall>,
    /// Recorded calls that cannot be judged again.
    pub unclear: Vec<UnclearCalls>,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// Calls whose verdict would have changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BacktestGroup {
    /// What the rules in force say.
    pub from: Verdict,
    /// What they would say.
    pub to: Verdict,
    /// How many.
    pub calls: u64,
    /// How many of them the person allowed.
    pub by_person_allowed: u64,
    /// How many of them the person rejected.
    pub by_person_rejected: u64,
}

/// A recorded call whose verdict would have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BacktestCall {
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When it was judged.
    pub at: At,
    /// Its tool.
    pub tool: String,
    /// What it acts on.
    pub target: String,
    /// What the rules in force say.
    pub from: Verdict,
    /// What they would say.
    pub to: Verdict,
    /// What the person said of it, if they were asked.
    pub person: Option<RecordedDecision>,
}

/// What a person said of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RecordedDecision {
    /// They let it run.
    Allowed,
    /// They did not.
    Rejected,
}

/// Recorded calls that cannot be judged again, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UnclearCalls {
    /// Why, in a sentence.
    pub reason: String,
    /// How many.
    pub calls: u64,
}

/// A rule that would have spared the person answers that they gave again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleSuggestion {
    /// The rule.
    pub rule: NewRule,
    /// How many calls that it covers the person allowed.
    pub allowed: u64,
    /// How many calls that it covers the person rejected.
    pub rejected: u64,
    /// Some that they allowed, the newest first.
    pub examples: Vec<BacktestCall>,
    /// Some that they rejected, the newest first.
    pub counter_examples: Vec<BacktestCall>,
}
