//! The input of the verdict on a call, apart from the rules: used to judge the call again when the rules change.

use policy::rules::RuleSet;
use policy::watchdogs::Alarm;
use policy::{CallFacts, EvaluationRequest, Judgement, ToolClass};
use protocol::rule::evidence::{DryRunEvidence, Evidence};
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, Digest};

use crate::limits::EVIDENCE_BYTES_MAX;

/// Reason why a denied access was not resolved.
pub(crate) const UNRESOLVED_REASON: &str = "a rule denies what it names, so it was not looked at";

/// Input of the verdict on a call.
#[derive(Debug, Clone)]
pub(crate) struct PolicyInput {
    pub call: CallId,
    /// The tool's id.
    pub tool: String,
    pub classified: ToolClass,
    pub facts: CallFacts,
    pub undo: UndoAvailability,
    pub needs_person: bool,
    pub alarms: Vec<Alarm>,
    /// Reasons among the alarms that say what some program runs later on.
    pub later_runs: Vec<String>,
    /// Effects of the call's dry run; none if there was none.
    pub dry_run: Option<DryRunEvidence>,
    /// Whether the call runs in a dry run first if it asks.
    pub dry_run_first: bool,
    /// Whether the input is complete enough to be judged by other rules.
    pub is_complete: bool,
}

/// Context of a verdict, beyond the call and the rules.
#[derive(Clone, Copy)]
pub(crate) struct PolicyContext {
    pub ask_for_everything: bool,
    pub headless: Option<&'static str>,
    /// Whether the posture judges calls by their effects.
    pub judges_effects: bool,
    /// Whether the person skips asks for a while.
    pub skips_asks: bool,
    /// Whether every call is approved in advance, with nobody looking at it.
    pub approves_all: bool,
    pub now: At,
}

/// Reason why the effects of a call that was refused a secret are not approved in advance.
const UNSEEN_REASON: &str = "It was refused a secret, and nobody is there to see what came of that, so nothing of it is committed.";

impl PolicyInput {
    /// Returns the reason why the effects cannot be approved without having been seen, if there is one.
    fn unseen_reason(&self, context: PolicyContext) -> Option<&'static str> {
        let dry_run = self.dry_run.as_ref()?;
        let has_missed =
            !dry_run.secrets.is_empty() && !dry_run.effects.is_empty() && !dry_run.for_real;
        (context.approves_all && has_missed).then_some(UNSEEN_REASON)
    }

    /// Returns the policy request for this input.
    pub fn to_request<'a>(
        &'a self,
        rules: &'a RuleSet,
        context: PolicyContext,
        shown_digest: &'a dyn Fn() -> Digest,
    ) -> EvaluationRequest<'a> {
        EvaluationRequest {
            call: &self.call,
            tool: &self.tool,
            tool_class: &self.classified,
            facts: &self.facts,
            undo: &self.undo,
            needs_person: self.needs_person,
            rules,
            ask_for_everything: context.ask_for_everything,
            headless: context.headless.or(self.unseen_reason(context)),
            alarms: &self.alarms,
            dry_run: self.dry_run.as_ref(),
            dry_run_first: self.dry_run_first,
            judges_effects: context.judges_effects,
            skips_asks: context.skips_asks,
            now: context.now,
            rules_only: false,
            shown_digest,
        }
    }

    /// Returns the evidence to record with the verdict; none if an access was not resolved, or the evidence is too
    /// long.
    pub fn evidence(&self) -> Option<Box<Evidence>> {
        let unlooked =
            |fact: &protocol::ResolvedAccess| fact.unresolved.as_deref() == Some(UNRESOLVED_REASON);
        let bytes: usize = self.facts.all().iter().map(|fact| fact.target.len()).sum();
        if self.facts.all().iter().any(unlooked) || bytes > EVIDENCE_BYTES_MAX || !self.is_complete
        {
            return None;
        }
        let alarms = self.alarms.iter();
        Some(Box::new(Evidence {
            alarms: alarms
                .map(|one| (one.verdict, one.reason.clone()))
                .collect(),
            later_runs: self.later_runs.clone(),
            needs_person: self.needs_person,
            dry_run: self.dry_run.clone(),
            ..self.facts.to_evidence()
        }))
    }

    /// Judges the call by these rules, without a card.
    pub fn evaluate(&self, rules: &RuleSet, context: PolicyContext) -> Judgement {
        policy::evaluate(&self.to_request(rules, context, &empty_digest))
    }
}

/// Returns the digest to use if no card is shown.
pub(crate) fn empty_digest() -> Digest {
    Digest(String::new())
}
