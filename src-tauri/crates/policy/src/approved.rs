//! The right to run: made from a verdict, or from a verdict and a person's consent to exactly what the card showed.

use protocol::{CallId, Digest, Plan, Verdict};
use serde_json::{Map, Value};

use crate::evaluate::Judgement;

/// A call that may run. It cannot be made but by [`Judgement::approve`].
#[derive(Debug)]
pub struct Approved {
    call: CallId,
    tool: String,
    arguments: Map<String, Value>,
    plan: Plan,
    answers: Option<QuestionAnswers>,
}

impl Approved {
    /// The call.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// The tool's id.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments, validated.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.arguments
    }

    /// Changes that the call may make, and no others.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Answers of the person, if the tool asked questions.
    pub fn answers(&self) -> Option<&QuestionAnswers> {
        self.answers.as_ref()
    }
}

/// A person's response to the questions of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionAnswers {
    /// One list for each question, in order.
    Answered(Vec<Vec<String>>),
    /// The person chose not to answer.
    Declined,
}

/// A person's yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Digest of the card as shown when the consent was given.
    pub shown_digest: Digest,
    /// Answers to the tool's questions.
    pub answers: Option<QuestionAnswers>,
}

/// Why there is no approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalError {
    /// The verdict is deny; no consent lifts that.
    Denied,
    /// The verdict is ask, and nobody consented.
    NotConsented,
    /// The consent is to something else than the call that would run now.
    Changed,
}

impl Judgement {
    /// Makes the call ready to run: when the verdict is allow, or when it is ask and the consent names exactly the
    /// judged card. `plan` may be a part of the plan that was shown, never more.
    pub fn approve(
        self,
        arguments: Map<String, Value>,
        plan: Plan,
        consent: Option<Consent>,
    ) -> Result<Approved, ApprovalError> {
        let answers = match (self.verdict(), consent) {
            (Verdict::Deny, _) => return Err(ApprovalError::Denied),
            (Verdict::Ask, None) => return Err(ApprovalError::NotConsented),
            (_, Some(consent)) if consent.shown_digest != self.shown_digest => {
                return Err(ApprovalError::Changed);
            }
            (Verdict::Allow | Verdict::Ask, consent) => consent.and_then(|consent| consent.answers),
        };
        Ok(Approved {
            call: self.call,
            tool: self.tool,
            arguments,
            plan,
            answers,
        })
    }
}
