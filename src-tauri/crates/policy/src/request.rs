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
    /// Its mode, and where that comes from.
    pub tool_class: &'a ToolClass,
    /// What it touches, resolved.
    pub facts: &'a CallFacts,
    /// Whether its effect could be taken back.
    pub undo: &'a UndoAvailability,
    /// Whether the tool needs a person's answer to run at all.
    pub needs_person: bool,
    /// The rules in force.
    pub rules: &'a RuleSet,
    /// The person wants to be asked about everything.
    pub ask_for_everything: bool,
    /// The sentence with which asking becomes denying, where no person is there (`S002-85`).
    pub headless: Option<&'a str>,
    /// What the watchdogs say (`S002-86`): each can only make the verdict stricter.
    pub alarms: &'a [Alarm],
    /// What it did when it ran for show; none if it did not.
    pub dry_run: Option<&'a DryRunEvidence>,
    /// When it is judged: rules expire.
    pub now: At,
    /// The rules are judged by themselves: neither mode nor copies for undo speak, and where no rule matches the rules
    /// files do.
    pub rules_only: bool,
    /// Gives the digest of exactly what is shown: what a consent must name. Asked for where a person is.
    pub shown_digest: &'a dyn Fn() -> Digest,
}
