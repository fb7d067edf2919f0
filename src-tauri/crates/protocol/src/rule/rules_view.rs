//! Rules as a person looks at them and edits them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::GrantId;
use crate::rule::backtest::Backtest;
use crate::rule::grants::GrantView;
use crate::{At, Digest, Rule, RuleAction, RuleScope, Trust, UserError};

/// A rule that is written but not yet in any file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    /// A tool id, a capability, `mode:local`, or `*`.
    pub permission: String,
    /// Pattern of the subjects that the rule applies to: a command, a path, a host, or `argument=value`; none:
    /// everything.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Action of the rule.
    #[serde(default)]
    pub action: RuleAction,
    /// The reason for the rule.
    #[serde(default)]
    pub reason: Option<String>,
    /// Examples that the rule must match.
    #[serde(default)]
    pub matches: Vec<String>,
    /// Counter-examples that the rule must not match.
    #[serde(default)]
    pub not_matches: Vec<String>,
    /// When the rule expires, in milliseconds since the epoch.
    #[serde(default)]
    #[ts(type = "number | null")]
    pub expires_ms: Option<i64>,
    /// Number of calls that the rule may decide.
    #[serde(default)]
    pub max_uses: Option<u32>,
}

/// Location of a rule in a file, as of when the file was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RuleLocation {
    /// Scope of the file: the person's or the project's.
    pub scope: RuleScope,
    /// The workspace root, absolute, for a project's.
    pub workspace: Option<String>,
    /// The line of the rule's `[[rule]]` header, from 1.
    pub line: u32,
    /// Digest of the text that the rule was read from: any request about the rule is refused if the file changed since.
    pub base: Digest,
}

/// All rules that hold in a workspace, by their origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesView {
    /// The sources: built-in rules first, then from the widest scope to the closest.
    pub sources: Vec<RuleSource>,
    /// Every grant, the newest first.
    pub grants: Vec<GrantView>,
    /// The person's own watchdog programs.
    pub watchdogs: Vec<WatchdogView>,
    /// The workspace that the query named.
    pub workspace: Option<String>,
}

/// One source of rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleSource {
    /// Scope of the rules.
    pub scope: RuleScope,
    /// The source's file, as a person writes it; none: built in.
    pub file: Option<String>,
    /// The text of the file; empty if there is no file yet, none if it cannot be edited here.
    pub text: Option<String>,
    /// Digest that saving the file must name; none if there is no file yet.
    pub digest: Option<Digest>,
    /// Whether the source can be edited here.
    pub editable: bool,
    /// Default action where no rule matches.
    pub default: Option<RuleAction>,
    /// The rules of the source, in its order.
    pub rules: Vec<RuleView>,
    /// Error in the source; while there is one, every call asks.
    pub fault: Option<UserError>,
    /// Warnings about rules that are probably not intended.
    pub warnings: Vec<RuleWarning>,
    /// Whether a project's file may loosen.
    pub trust: Option<Trust>,
}

/// A rule with its use and state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleView {
    /// The rule.
    pub rule: Rule,
    /// The rule's examples.
    pub matches: Vec<String>,
    /// The rule's counter-examples.
    pub not_matches: Vec<String>,
    /// Number of recorded verdicts that the rule decided.
    pub hits: u64,
    /// When the rule last decided a verdict.
    pub last_used: Option<At>,
    /// Number of uses left, where the uses are limited.
    pub uses_left: Option<u32>,
    /// Whether the rule is in force.
    pub state: RuleState,
    /// The grant that made the rule, if it was made on a card.
    pub grant: Option<GrantId>,
}

/// Whether a rule is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleState {
    /// The rule is in force.
    Active,
    /// The rule has expired.
    Expired,
    /// The rule was used as often as it may be.
    Spent,
    /// The rule may only tighten until the person trusts its file.
    Untrusted,
}

/// A warning about a rule that is probably not intended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleWarning {
    /// The line of the rule, from 1.
    pub line: u32,
    /// The warning, in one sentence.
    pub text: String,
}

/// A watchdog program of the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WatchdogView {
    /// The watchdog's name.
    pub name: String,
    /// The program.
    pub program: String,
    /// Time limit of the watchdog, in milliseconds.
    pub timeout_ms: u32,
}

/// Check of one example of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExampleCheck {
    /// The line of the example; none for a rule that stands in no file.
    pub line: Option<u32>,
    /// The line of the example's rule.
    pub rule_line: Option<u32>,
    /// The example.
    pub text: String,
    /// Whether the rule must match the example.
    pub should_match: bool,
    /// Whether the check passed.
    pub holds: bool,
    /// Why the check failed, or a remark on it.
    pub note: Option<String>,
}

/// Check of a text of rules.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesCheck {
    /// Error in the text; none if the text could be saved.
    pub fault: Option<UserError>,
    /// The rules, as far as the text can be read.
    pub rules: Vec<RuleView>,
    /// Warnings about rules that are probably not intended.
    pub warnings: Vec<RuleWarning>,
    /// Checks of all examples.
    pub examples: Vec<ExampleCheck>,
}

/// Check of one rule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleCheck {
    /// Error in the rule; none if the rule could be saved.
    pub fault: Option<UserError>,
    /// Warnings about the rule if it is probably not intended.
    pub warnings: Vec<RuleWarning>,
    /// Checks of all examples.
    pub examples: Vec<ExampleCheck>,
    /// Meaning of the rule, in words.
    pub meaning: String,
    /// The rule as it would stand in a file.
    pub text: String,
}

/// One of two texts that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// Scope of the rules.
    pub scope: RuleScope,
    /// The text; none: the current file of the scope.
    #[serde(default)]
    pub text: Option<String>,
}

/// Comparison of two texts of rules, and the effect of replacing the first by the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesComparison {
    /// Rules that only the first text has.
    pub only_a: Vec<Rule>,
    /// Rules that only the second text has.
    pub only_b: Vec<Rule>,
    /// Number of rules that both texts have.
    pub both: u32,
    /// Effect of the replacement on the recorded calls.
    pub effect: Backtest,
}
