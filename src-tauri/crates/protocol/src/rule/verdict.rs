//! Verdicts with their reasons: what the gates said of a call, and which one decided.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Rule, RuleAction};

/// What may happen to a call. Ordered: the strictest of several is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl From<RuleAction> for Verdict {
    fn from(action: RuleAction) -> Self {
        match action {
            RuleAction::Allow => Self::Allow,
            RuleAction::Ask => Self::Ask,
            RuleAction::Deny => Self::Deny,
        }
    }
}

/// One of the places that a call passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The mode and where it comes from.
    Mode,
    /// Whether everything it touches lies in a granted root.
    Capability,
    /// Checks of the arguments that rules cannot express.
    Watchdog,
    /// The person's rules.
    Rules,
    /// What it did when it ran for show.
    Effects,
    /// Whether it could be taken back.
    Undo,
    /// Whether the tool itself needs a person's answer.
    Interaction,
    /// No person is there to ask.
    Headless,
    /// What the person said.
    Consent,
}

/// What one gate said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrailStep {
    /// Which gate.
    pub gate: Gate,
    /// Its verdict; none if it only explains.
    pub verdict: Option<Verdict>,
    /// One or two plain sentences.
    pub text: String,
    /// The rules that matched, the winner first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleTrace>,
}

/// A rule that matched a call, and why it won or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleTrace {
    /// The rule.
    pub rule: Rule,
    /// Whether this rule decided.
    pub won: bool,
    /// Why it won or lost: "longest prefix", "less specific", "overruled by a stricter fact".
    pub why: String,
}

/// Every gate in the order it was passed, and the verdict they came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Trail {
    /// The verdict: the strictest of the steps, where a rule replaces what the mode said.
    pub verdict: Verdict,
    /// "Asked, because …": the answer to *why* in one sentence.
    pub lead: String,
    /// What would have happened without the thing that decided; may be empty.
    pub otherwise: String,
    /// The gates in order.
    pub steps: Vec<TrailStep>,
}
