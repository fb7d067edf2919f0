//! Recorded calls, with the evidence for their verdicts, ready to be judged again by the same policy evaluation.

use policy::watchdogs::Alarm;
use policy::{CallFacts, EvaluationRequest, RuleSet, ToolClass};
use protocol::rule::backtest::{BacktestCall, RecordedDecision};
use protocol::rule::evidence::DryRunEvidence;
use protocol::text::redact;
use protocol::view::preview::UndoAvailability;
use protocol::{At, Capability, ToolKind, ToolMode, Verdict};
use record::CallVerdict;

use crate::permissions::policy_input::empty_digest;

/// The reason why a recorded call cannot be judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MissingEvidence {
    /// The evidence for the verdict was not recorded.
    NotRecorded,
    /// The evidence was recorded, and cannot be read.
    Damaged,
}

impl MissingEvidence {
    pub fn as_sentence(self) -> &'static str {
        match self {
            Self::NotRecorded => {
                "It was denied before it was looked at, or is too long to be kept."
            }
            Self::Damaged => "What its verdict was made from cannot be read.",
        }
    }
}

/// A recorded call with the evidence for its verdict.
pub(super) struct RecordedCall<'a> {
    pub call: &'a CallVerdict,
    classified: ToolClass,
    facts: CallFacts,
    undo: UndoAvailability,
    needs_person: bool,
    alarms: Vec<Alarm>,
    dry_run: Option<DryRunEvidence>,
}

impl<'a> RecordedCall<'a> {
    /// Reads the evidence of a call.
    pub fn from_call(call: &'a CallVerdict) -> Result<Self, MissingEvidence> {
        let (mut evidence, undo) = call
            .evidence()
            .map_err(|_| MissingEvidence::Damaged)?
            .ok_or(MissingEvidence::NotRecorded)?;
        let alarms = std::mem::take(&mut evidence.alarms).into_iter();
        let dry_run = evidence.dry_run.take();
        Ok(Self {
            call,
            classified: classify_mode(call.mode),
            undo,
            needs_person: evidence.needs_person,
            facts: CallFacts::from_evidence(evidence),
            dry_run,
            alarms: alarms
                .map(|(verdict, reason)| Alarm {
                    verdict,
                    reason,
                    each_time: true,
                })
                .collect(),
        })
    }

    /// Returns the policy request for the call, with these rules.
    fn to_request<'b>(
        &'b self,
        rules: &'b RuleSet,
        ask_for_everything: bool,
        now: At,
    ) -> EvaluationRequest<'b> {
        EvaluationRequest {
            call: &self.call.call,
            tool: &self.call.tool,
            tool_class: &self.classified,
            facts: &self.facts,
            undo: &self.undo,
            needs_person: self.needs_person,
            rules,
            ask_for_everything,
            headless: None,
            alarms: &self.alarms,
            dry_run: self.dry_run.as_ref(),
            dry_run_first: false,
            judges_effects: false,
            skips_asks: false,
            now,
            rules_only: false,
            shown_digest: &empty_digest,
        }
    }

    /// Returns the policy request for the question whether the call may run: where that was settled before a dry run, the
    /// effects of the run are no part of it.
    pub fn to_run_request<'b>(
        &'b self,
        rules: &'b RuleSet,
        ask_for_everything: bool,
        now: At,
    ) -> EvaluationRequest<'b> {
        let request = self.to_request(rules, ask_for_everything, now);
        EvaluationRequest {
            dry_run: request.dry_run.filter(|dry_run| !dry_run.agreed),
            ..request
        }
    }

    /// Evaluates the call with these rules: the stricter verdict of those on its run and on its effects.
    pub fn evaluate(&self, rules: &RuleSet, ask_for_everything: bool, now: At) -> Verdict {
        let verdict = |request| policy::evaluate(&request).verdict();
        let on_effects = verdict(self.to_request(rules, ask_for_everything, now));
        match self.dry_run.as_ref().is_some_and(|dry_run| dry_run.agreed) {
            true => on_effects.max(verdict(self.to_run_request(rules, ask_for_everything, now))),
            false => on_effects,
        }
    }

    /// Whether any of these rules matches the call. If none does, they change nothing for it.
    pub fn is_matched_by(&self, rules: &RuleSet, now: At) -> bool {
        let mut facts = self.facts.all().iter();
        // A rule that names a host may open it, beside what it says.
        facts.any(|fact| fact.capability == Capability::NetFetch)
            || rules.has_match_for(&self.call.tool, self.call.mode, &self.facts, now)
            || policy::effects::has_effect_rule(&self.to_request(rules, false, now))
    }

    /// Returns the call as an example of a changed verdict.
    pub fn to_example(&self, from: Verdict, to: Verdict) -> BacktestCall {
        BacktestCall {
            session: self.call.session.clone(),
            call: self.call.call.clone(),
            at: self.call.at,
            tool: self.call.tool.clone(),
            target: redact::text(&self.call.target).0.into_owned(),
            from,
            to,
            person: self.call.answer,
        }
    }

    pub fn was_rejected(&self) -> bool {
        self.call.answer == Some(RecordedDecision::Rejected)
    }
}

fn classify_mode(mode: Option<ToolMode>) -> ToolClass {
    ToolClass {
        mode,
        from: "on record".to_owned(),
        kind: ToolKind::Other,
        verb_permission: None,
    }
}
