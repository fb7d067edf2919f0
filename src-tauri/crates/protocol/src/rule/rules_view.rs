//! Rules as a person looks at them and edits them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::GrantId;
use crate::rule::backtest::Backtest;
use crate::rule::grants::GrantView;
use crate::{At, Digest, Rule, RuleAction, RuleScope, Trust, UserError};

/// A rule that is written and not yet in any file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    /// A tool id, a capability, `mode:local`, or `*`.
    pub permission: String,
    /// What it applies to: a command, a path, a host, or `argument=value`; none: everything.
    #[serde(default)]
    pub pattern: Option<String>,
    /// What it says.
    #[serde(default)]
    pub action: RuleAction,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// What it must match.
    #[serde(default)]
    pub matches: Vec<String>,
    /// What it must not match.
    #[serde(default)]
    pub not_matches: Vec<String>,
    /// When it stops to hold, in milliseconds since the epoch.
    #[serde(default)]
    #[ts(type = "number | null")]
    pub expires_ms: Option<i64>,
    /// How many calls it may decide.
    #[serde(default)]
    pub max_uses: Option<u32>,
}

/// A rule of a file, where it stood when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RuleLocation {
    /// The person's or the project's.
    pub scope: RuleScope,
    /// The workspace root, absolute, for a project's.
    pub workspace: Option<String>,
    /// The line of its `[[rule]]` header, from 1.
    pub line: u32,
    /// Digest of the text that it was read from: whatever is asked about it is refused if the file changed since.
    pub base: Digest,
}

/// All rules that hold in a workspace, by where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesView {
    /// Built in first, then from the widest scope to the closest.
    pub sources: Vec<RuleSource>,
    /// Every grant, the newest first.
    pub grants: Vec<GrantView>,
    /// The person's own watchdog programs.
    pub watchdogs: Vec<WatchdogView>,
    /// The workspace that was asked about.
    pub workspace: Option<String>,
}

/// One place that rules come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleSource {
    /// Whose rules they are.
    pub scope: RuleScope,
    /// The file, as a person writes it; none: built in.
    pub file: Option<String>,
    /// Its text; empty if there is no file yet, none if it is not one that is edited here.
    pub text: Option<String>,
    /// What saving it must name; none if there is no file yet.
    pub digest: Option<Digest>,
    /// Whether it can be edited here.
    pub editable: bool,
    /// What it says where no rule matches.
    pub default: Option<RuleAction>,
    /// Its rules, in its order.
    pub rules: Vec<RuleView>,
    /// What is wrong with it; every call asks meanwhile.
    pub fault: Option<UserError>,
    /// What is hardly meant.
    pub warnings: Vec<RuleWarning>,
    /// Whether a project's file may loosen.
    pub trust: Option<Trust>,
}

/// A rule with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleView {
    /// The rule.
    pub rule: Rule,
    /// Its examples.
    pub matches: Vec<String>,
    /// Its counter-examples.
    pub not_matches: Vec<String>,
    /// How many verdicts on record it made.
    pub hits: u64,
    /// When it last did.
    pub last_used: Option<At>,
    /// How many uses are left, where they are limited.
    pub uses_left: Option<u32>,
    /// Whether it holds.
    pub state: RuleState,
    /// The grant that it is, if it was made on a card.
    pub grant: Option<GrantId>,
}

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleState {
    /// It does.
    Active,
    /// Its time is over.
    Expired,
    /// It was used as often as it may.
    Spent,
    /// It may only tighten until the person trusts its file.
    Untrusted,
}

/// Something in a rules file that is hardly meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleWarning {
    /// The line of the rule, from 1.
    pub line: u32,
    /// One sentence.
    pub text: String,
}

/// A watchdog program of the person's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WatchdogView {
    /// Its name.
    pub name: String,
    /// The program.
    pub program: String,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u32,
}

/// Whether a rule does what its example says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExampleCheck {
    /// The line of the example; none for a rule that stands in no file.
    pub line: Option<u32>,
    /// The line of its rule.
    pub rule_line: Option<u32>,
    /// The example.
    pub text: String,
    /// Whether it must match.
    pub should_match: bool,
    /// Whether it is as it must be.
    pub holds: bool,
    /// Why it is not, or what is remarkable.
    pub note: Option<String>,
}

/// A text of rules, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesCheck {
    /// What is wrong; none if it could be saved.
    pub fault: Option<UserError>,
    /// The rules, as far as the text can be read.
    pub rules: Vec<RuleView>,
    /// What is hardly meant.
    pub warnings: Vec<RuleWarning>,
    /// Every example.
    pub examples: Vec<ExampleCheck>,
}

/// One rule, checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleCheck {
    /// What is wrong; none if it could be saved.
    pub fault: Option<UserError>,
    /// What is hardly meant.
    pub warnings: Vec<RuleWarning>,
    /// Every example.
    pub examples: Vec<ExampleCheck>,
    /// What it means, in words.
    pub meaning: String,
    /// The rule as it would stand in a file.
    pub text: String,
}

/// One of two texts that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// Whose rules they would be.
    pub scope: RuleScope,
    /// The text; none: the file of that scope as it is.
    #[serde(default)]
    pub text: Option<String>,
}

/// What two texts of rules have in common, and what putting the second in the place of the first would change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RulesComparison {
    /// Rules of the first alone.
    pub only_a: Vec<Rule>,
    /// Rules of the second alone.
    pub only_b: Vec<Rule>,
    /// How many stand in both.
    pub both: u32,
    /// What would change for the calls on record.
    pub effect: Backtest,
}
