//! Verdicts with their reasons: the outcome of every gate for a call, and which gate decided.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Rule, RuleAction};

/// Verdict on a call. Ordered: the strictest of several is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The call runs.
    Allow,
    /// A person decides.
    Ask,
    /// The call does not run.
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

/// One of the policy gates that a call passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The mode of the tool and its origin.
    Mode,
    /// Whether everything that the call touches lies in a granted root.
    Capability,
    /// Checks of the arguments that rules cannot express.
    Watchdog,
    /// The person's rules.
    Rules,
    /// Effects of the call in a dry run.
    Effects,
    /// Whether the effects of the call could be undone.
    Undo,
    /// Whether the tool itself needs a person's answer.
    Interaction,
    /// Whether the person skips asks for a while.
    SkippedAsks,
    /// Whether no person is present to ask.
    Headless,
    /// The person's decision.
    Consent,
}

/// Outcome of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrailStep {
    /// The gate.
    pub gate: Gate,
    /// The gate's verdict; none if the gate only explains.
    pub verdict: Option<Verdict>,
    /// One or two plain sentences.
    pub text: String,
    /// The rules that matched, the winner first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleTrace>,
}

impl TrailStep {
    /// Returns the outcome of a gate in which no rule matched.
    pub fn new(gate: Gate, verdict: impl Into<Option<Verdict>>, text: impl Into<String>) -> Self {
        Self {
            gate,
            verdict: verdict.into(),
            text: text.into(),
            rules: Vec::new(),
        }
    }
}

/// A rule that matched a call, with the reason why it won or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleTrace {
    /// The rule.
    pub rule: Rule,
    /// Whether this rule decided.
    pub won: bool,
    /// Why the rule won or lost: "longest prefix", "less specific", "overruled by a stricter fact".
    pub why: String,
}

/// All gates in the order in which the call passed them, and their joint verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Trail {
    /// The verdict: the strictest of the steps, where a rule replaces the mode's verdict.
    pub verdict: Verdict,
    /// The reason of the verdict in one sentence: "Needs approval: …".
    pub lead: String,
    /// Explanation of what would have happened without the deciding rule or gate; may be empty.
    pub otherwise: String,
    /// The outcomes of the gates, in order.
    pub steps: Vec<TrailStep>,
}
