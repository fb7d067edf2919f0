//! Stage 10: the call stands on the desk until a person says what is to become of it.

pub(crate) mod card_grants;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use policy::{Consent, Judgement, QuestionAnswers};
use protocol::{CallState, Decision, EventBody, Plan, ToolCall, ToolError, UserError, Verdict};
use runtime::FileWatcher;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::engine::config::Host;
use crate::permissions::policy_input::PolicyInput;
use crate::permissions::{egress, grants};
use crate::pipeline::abort::Abort;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::{early_outcome, outcome};
use crate::session::Session;
use crate::session::pending_call::PendingCall;

/// What came of asking.
pub(crate) enum ApprovalAnswer {
    /// Go.
    Approved(Approval),
    /// A file changed while the call waited: it must be shown anew.
    Changed(String),
    /// Other rules decide it now.
    RulesChanged(String),
    /// The person wants to see first what it does, with a way to these hosts.
    DryRun { hosts: Vec<String> },
    /// The person wants other arguments.
    Edited(Map<String, Value>),
}

/// What is to go.
pub(crate) struct Approval {
    /// What was shown, or a part of it.
    pub plan: Plan,
    pub consent: Option<Consent>,
    pub feedback: UserFeedback,
    /// With a way to which hosts it is to run for real; none where that was not said.
    pub in_place: Option<Vec<String>>,
}

impl Approval {
    /// With a way to which hosts it runs for real: a person said so, or nothing better holds here; none where it does not.
    pub fn in_place_hosts(
        &mut self,
        session: &Session,
        ready: &PreparedCall,
        open: &[String],
    ) -> Result<Option<Vec<String>>, Abort> {
        let hosts = match self.in_place.take() {
            Some(hosts) if !hosts.is_empty() => hosts,
            said => return Ok(said.or_else(|| ready.in_place.then(|| open.to_vec()))),
        };
        let now = session.engine.config.clock.now();
        let named = egress::check_hosts(&hosts, &session.rules(), now);
        let refused = |fault: UserError| outcome::failed_outcome(&ToolError::Failed(fault.message));
        Ok(Some(named.map_err(refused)?))
    }
}

impl ApprovalAnswer {
    /// It is tried out first, with no way out.
    pub fn offline_dry_run() -> Self {
        Self::DryRun { hosts: Vec::new() }
    }

    /// Nobody had to be asked.
    pub fn without_asking(session: &Session, ready: &PreparedCall) -> Self {
        Self::Approved(Approval {
            plan: ready.plan.clone(),
            consent: None,
            feedback: UserFeedback::default(),
            in_place: session.engine.config.in_place.clone(),
        })
    }
}

/// What the person wants the agent to know.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserFeedback {
    /// The arguments that the person put in place of the agent's.
    pub edited: Option<Map<String, Value>>,
    /// A word for the agent; empty for none.
    pub note: String,
    /// Which parts were left out; none if none.
    pub left_out: Option<String>,
}

impl UserFeedback {
    /// What the agent is told after the result, one paragraph each.
    pub fn paragraphs(&self) -> impl Iterator<Item = String> {
        let edited = self.edited.as_ref().map(|arguments| {
            let arguments = Value::Object(arguments.clone());
            format!("The person changed the arguments first. What was done: {arguments}")
        });
        let note = self.note.trim();
        let note = (!note.is_empty()).then(|| format!("Note from the person: {note}"));
        [edited, self.left_out.clone(), note].into_iter().flatten()
    }
}

/// What stands on the desk.
pub(crate) struct ApprovalCard<'a> {
    judgement: &'a Judgement,
    prepared: &'a PreparedCall,
    input: Arc<PolicyInput>,
    /// What changed since it was shown before.
    refreshed: Option<String>,
}

impl<'a> ApprovalCard<'a> {
    /// The card of a call that is asked about.
    pub fn new(
        judgement: &'a Judgement,
        prepared: &'a PreparedCall,
        input: Arc<PolicyInput>,
        refreshed: Option<String>,
    ) -> Self {
        Self {
            judgement,
            prepared,
            input,
            refreshed,
        }
    }
}

/// Puts the call on the desk and waits: for a decision, other rules that decide, a change of what is shown, the end of the
/// run, or expiry.
pub(crate) async fn ask_person(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    card: ApprovalCard<'_>,
) -> Result<ApprovalAnswer, Abort> {
    let ApprovalCard {
        judgement,
        prepared: ready,
        input: weighed,
        refreshed,
    } = card;
    if session.engine.config.host == (Host::Headless { approve_all: true }) {
        return approve_in_advance(session, called, judgement, ready);
    }
    // Watch before showing: a change in between would go unseen.
    let mut watch = FileWatcher::new(&session.tool_context.workspace, &ready.plan.paths()).ok();
    let (sender, mut decision) = oneshot::channel();
    let expires_after = session.engine.settings().expire_after_min;
    let expires_at = (expires_after > 0)
        .then(|| session.engine.config.clock.now() + i64::from(expires_after) * 60_000);
    session.add_pending_call(
        call.id.clone(),
        PendingCall {
            digest: judgement.shown_digest().clone(),
            preview: ready.preview.clone(),
            input: weighed.clone(),
            answer: sender,
        },
    );
    session.refresh_state();
    session
        .journal
        .record_synced(EventBody::CallWaits {
            call: call.id.clone(),
            digest: judgement.shown_digest().clone(),
            grants: crate::pipeline::approval::card_grants::describe_grants(
                ready,
                &grants::offer_grants(session, &weighed),
            ),
            refreshed,
            expires_at,
        })
        .await?;

    let stop = session.cancellation_token();
    let change = async {
        match &mut watch {
            Some(watch) => watch.wait_for_change().await,
            None => pending().await,
        }
    };
    let expiry = async {
        match expires_after {
            0 => pending().await,
            minutes => tokio::time::sleep(Duration::from_secs(u64::from(minutes) * 60)).await,
        }
    };
    let mut read = session.watch_rules();
    let ruled = async {
        while weighed.evaluate(session).verdict() == Verdict::Ask {
            if read.changed().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    let answer = tokio::select! {
        biased;
        decided = &mut decision => match decided {
            Ok(decided) => answer_from_decision(decided, judgement, ready),
            Err(_) => Err(early_outcome::unfinished_outcome(session, CallState::Interrupted).into()),
        },
        () = session.engine.closing.cancelled() => return Err(Abort::Closing),
        () = stop.cancelled() => Err(early_outcome::unfinished_outcome(session, CallState::Interrupted).into()),
        () = ruled => Ok(ApprovalAnswer::RulesChanged("The rules changed.".to_owned())),
        () = session.tool_context.workspace.wait_until_readable(&ready.new_roots) => {
            Ok(ApprovalAnswer::RulesChanged("A place that it needs was opened.".to_owned()))
        }
        () = change => Ok(ApprovalAnswer::Changed("The file changed, so what is shown is new.".to_owned())),
        () = expiry => Err(outcome::abort_expired(expires_after)),
    };
    // Whoever decides takes the call from the desk first. If somebody did just now, that decision holds.
    let decided = session.take_pending_call(&call.id).is_none();
    session.refresh_state();
    if decided
        && !matches!(
            answer,
            Ok(ApprovalAnswer::Approved(_)
                | ApprovalAnswer::DryRun { .. }
                | ApprovalAnswer::Edited(_))
        )
        && let Ok(decided) = decision.try_recv()
    {
        return answer_from_decision(decided, judgement, ready);
    }
    answer
}

fn answer_from_decision(
    decision: Decision,
    judgement: &Judgement,
    ready: &PreparedCall,
) -> Result<ApprovalAnswer, Abort> {
    let consent = |answers| {
        Some(Consent {
            shown_digest: judgement.shown_digest().clone(),
            answers,
        })
    };
    let go = |plan, consent, said| {
        Ok(ApprovalAnswer::Approved(Approval {
            plan,
            consent,
            feedback: said,
            in_place: None,
        }))
    };
    match decision {
        Decision::Allow {
            hunks: None, note, ..
        } => go(
            ready.plan.clone(),
            consent(None),
            UserFeedback {
                note,
                ..UserFeedback::default()
            },
        ),
        Decision::Allow {
            hunks: Some(hunks),
            note,
            ..
        } => {
            let plan = tools::diff::select_plan(&ready.plan, &ready.preview, &hunks)
                .map_err(|error| outcome::failed_outcome(&error))?;
            let left_out = tools::diff::describe_left_out(&ready.preview, &hunks);
            go(
                plan,
                consent(None),
                UserFeedback {
                    note,
                    left_out,
                    ..UserFeedback::default()
                },
            )
        }
        Decision::Answer { answers } => go(
            ready.plan.clone(),
            consent(Some(QuestionAnswers::Answered(answers))),
            UserFeedback::default(),
        ),
        Decision::Skip => go(
            ready.plan.clone(),
            consent(Some(QuestionAnswers::Declined)),
            UserFeedback::default(),
        ),
        Decision::DryRun => Ok(ApprovalAnswer::offline_dry_run()),
        Decision::WithNetwork { hosts } => Ok(ApprovalAnswer::DryRun { hosts }),
        Decision::InPlace { hosts } => Ok(ApprovalAnswer::Approved(Approval {
            plan: Plan::None,
            consent: consent(None),
            feedback: UserFeedback::default(),
            in_place: Some(hosts),
        })),
        Decision::Edit { arguments } => Ok(ApprovalAnswer::Edited(arguments)),
        Decision::Reject { note, stop, .. } => Err(outcome::abort_rejected(&note, stop)),
    }
}

/// The caller approved beforehand whatever would ask; a question stays unanswered, for nobody invents answers.
fn approve_in_advance(
    session: &Session,
    called: &ResolvedTool<'_>,
    judgement: &Judgement,
    ready: &PreparedCall,
) -> Result<ApprovalAnswer, Abort> {
    if called.interface().safety.requires_user_interaction {
        return Err(outcome::abort_unanswered(called));
    }
    Ok(ApprovalAnswer::Approved(Approval {
        plan: ready.plan.clone(),
        consent: Some(Consent {
            shown_digest: judgement.shown_digest().clone(),
            answers: None,
        }),
        feedback: UserFeedback::default(),
        in_place: session.engine.config.in_place.clone(),
    }))
}
