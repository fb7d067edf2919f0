//! What the verdict on a call is made from, apart from the rules: to judge it again when they change.

use policy::rules::RuleSet;
use policy::watchdogs::Alarm;
use policy::{CallFacts, EvaluationRequest, Judgement, ToolClass};
use protocol::rule::evidence::{DryRunEvidence, Evidence};
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, Digest};

use crate::limits::EVIDENCE_BYTES_MAX;

/// Why nothing is known of where a denied access leads.
pub(crate) const UNRESOLVED_REASON: &str = "a rule denies what it names, so it was not looked at";

/// A call as it is judged.
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
    /// What it did when it ran for show; none if it did not.
    pub tried: Option<DryRunEvidence>,
    /// Whether all is known that other rules would have to know.
    pub is_complete: bool,
}

/// What a verdict depends on beyond the call and the rules.
#[derive(Clone, Copy)]
pub(crate) struct PolicyContext {
    pub ask_for_everything: bool,
    pub headless: Option<&'static str>,
    /// Whether everything is approved that nobody looks at.
    pub approves_all: bool,
    pub now: At,
}

/// Why what came of a refused secret is not approved beforehand.
const UNSEEN_REASON: &str = "It was refused a secret, and nobody is there to see what came of that, so nothing of it is carried out.";

impl PolicyInput {
    /// What nobody approves without having seen it.
    fn unseen_reason(&self, context: PolicyContext) -> Option<&'static str> {
        let tried = self.tried.as_ref()?;
        let has_missed = !tried.secrets.is_empty() && !tried.effects.is_empty() && !tried.for_real;
        (context.approves_all && has_missed).then_some(UNSEEN_REASON)
    }

    /// What the judge is asked.
    pub fn to_request<'a>(
        &'a self,
        rules: &'a RuleSet,
        context: PolicyContext,
        shown: &'a dyn Fn() -> Digest,
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
            dry_run: self.tried.as_ref(),
            now: context.now,
            rules_only: false,
            shown_digest: shown,
        }
    }

    /// As it is kept with its verdict; none if it was not looked at, or is too long to be kept.
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
            needs_person: self.needs_person,
            tried: self.tried.clone(),
            ..self.facts.to_evidence()
        }))
    }

    /// The verdict by these rules, for nobody to be shown.
    pub fn evaluate(&self, rules: &RuleSet, context: PolicyContext) -> Judgement {
        policy::evaluate(&self.to_request(rules, context, &empty_digest))
    }
}

/// Where no card is shown.
pub(crate) fn empty_digest() -> Digest {
    Digest(String::new())
}
