//! Everything that a verdict depends on.

use protocol::rule::evidence::DryRunEvidence;
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, Digest};

use crate::classify::ToolClass;
use crate::facts::CallFacts;
use crate::rules::RuleSet;
use crate::watchdogs::Alarm;

/// Everything that a verdict depends on.
#[derive(Clone, Copy)]
pub struct EvaluationRequest<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool's id.
    pub tool: &'a str,
    /// The tool's mode, and where the mode comes from.
    pub tool_class: &'a ToolClass,
    /// The resolved facts of the call.
    pub facts: &'a CallFacts,
    /// Whether the effect of the call could be undone.
    pub undo: &'a UndoAvailability,
    /// Whether the tool needs a person's answer to run at all.
    pub needs_person: bool,
    /// The rules in force.
    pub rules: &'a RuleSet,
    /// Whether the person wants to be asked about everything.
    pub ask_for_everything: bool,
    /// The sentence with which a headless host turns ask into deny (`S002-85`); none where a person can be asked.
    pub headless: Option<&'a str>,
    /// Alarms of the watchdogs (`S002-86`): each can only make the verdict stricter.
    pub alarms: &'a [Alarm],
    /// The effects of a dry run; none if there was none.
    pub dry_run: Option<&'a DryRunEvidence>,
    /// Whether a call that asks runs in a dry run first, because its effects may settle the question (M24).
    pub dry_run_first: bool,
    /// Whether the person's posture judges calls by their effects (M24): then a first yes to a reading verb of a server
    /// counts (M26).
    pub judges_effects: bool,
    /// Whether the person skips asks for a while (M32): then an ask about what can be taken back lets the call through.
    pub skips_asks: bool,
    /// Time of the judgement: rules expire.
    pub now: At,
    /// Whether the rules are judged by themselves: neither the mode nor copies for undo count, and where no rule
    /// matches, the defaults of the rules files decide.
    pub rules_only: bool,
    /// Returns the digest of exactly what the card shows, which a consent must name. Called only if the verdict is to
    /// ask.
    pub shown_digest: &'a dyn Fn() -> Digest,
}
