//! Step 6: showing a card for the call and waiting for a person's decision.

pub(crate) mod card_grants;

use std::future::pending;
use std::time::Duration;

use policy::{Consent, Judgement, QuestionAnswers};
use protocol::event::CallChange;
use protocol::rule::evidence::RemoteUseKind;
use protocol::{CallState, Decision, EventBody, Plan, ToolCall, Verdict};
use runtime::FileWatcher;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::host::config::Host;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::verdict::Assessment;
use crate::pipeline::{dry_run, early_outcome, outcome};
use crate::session::Session;
use crate::session::grants;
use crate::session::pending_call::PendingCall;

/// Result of asking the person.
pub(crate) enum ApprovalAnswer {
    /// The call may run.
    Approved(Approval),
    /// A file changed while the call waited: it must be shown anew.
    Changed(String),
    /// Changed rules now decide the call.
    RulesChanged(String),
    /// The person wants to see the effects of the call first, with network access to these hosts.
    DryRun { hosts: Vec<String> },
    /// The person replaced the arguments.
    Edited(Map<String, Value>),
}

/// Approval of a call: what may run, and how.
pub(crate) struct Approval {
    /// The plan that was shown, or a part of it.
    pub plan: Plan,
    pub consent: Option<Consent>,
    pub feedback: UserFeedback,
    /// Hosts that the call may reach when it runs in place; none if nobody chose to run it in place.
    pub in_place: Option<Vec<String>>,
}

impl ApprovalAnswer {
    /// Returns the answer to run the call in a dry run first, without network access.
    pub fn offline_dry_run() -> Self {
        Self::DryRun { hosts: Vec::new() }
    }

    /// Returns the approval of a call about which nobody had to be asked.
    pub fn without_asking(session: &Session, prepared: &PreparedCall) -> Self {
        Self::Approved(Approval {
            plan: prepared.plan.clone(),
            consent: None,
            feedback: UserFeedback::default(),
            in_place: session.engine.config.in_place.clone(),
        })
    }
}

/// Feedback of the person for the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserFeedback {
    /// Note for the agent; empty for none.
    pub note: String,
    /// Description of the parts that were left out; none if all were accepted.
    pub left_out: Option<String>,
}

impl UserFeedback {
    /// Adds the note of an earlier feedback if this one has none of its own.
    pub fn or_note_of(mut self, earlier: Option<&Self>) -> Self {
        if let Some(earlier) = earlier.filter(|_| self.note.is_empty()) {
            self.note.clone_from(&earlier.note);
        }
        self
    }

    /// Returns the paragraphs that the agent reads after the result. `edited` holds the arguments that the person put
    /// in place of the agent's.
    pub fn paragraphs(&self, edited: Option<&Map<String, Value>>) -> impl Iterator<Item = String> {
        let edited = edited.map(|arguments| {
            let arguments = Value::Object(arguments.clone());
            format!("The person changed the arguments first. What was done: {arguments}")
        });
        let note = self.note.trim();
        let note = (!note.is_empty()).then(|| format!("Note from the person: {note}"));
        [edited, self.left_out.clone(), note].into_iter().flatten()
    }
}

/// Shows the card of the call and waits: for a decision, other rules that decide, a change of what is shown, the end of
/// the run, or expiry.
pub(crate) async fn ask_person(
    cx: &CallContext<'_>,
    assessed: &Assessment,
    attempt: &Attempt,
) -> Result<ApprovalAnswer, Abort> {
    let (session, call) = (cx.session, cx.call);
    let Assessment {
        prepared,
        input,
        judgement,
        releases,
        ..
    } = assessed;
    if session.engine.config.host == (Host::Headless { approve_all: true }) {
        return approve_in_advance(cx, judgement, prepared);
    }
    // Watch before showing: a change in between would go unseen.
    let mut watch = FileWatcher::new(&session.tool_context.workspace, &prepared.plan.paths()).ok();
    let (sender, mut decision) = oneshot::channel();
    let expires_after = session.engine.settings().expire_after_min;
    let expires_at =
        (expires_after > 0).then(|| session.engine.now() + i64::from(expires_after) * 60_000);
    session.add_pending_call(
        call.id.clone(),
        PendingCall {
            call: ToolCall {
                arguments: cx.given_arguments().clone(),
                ..call.clone()
            },
            digest: judgement.shown_digest().clone(),
            preview: prepared.preview.clone(),
            input: input.clone(),
            releases: releases.clone(),
            answer: sender,
        },
    );
    session.refresh_state();
    session
        .journal
        .record_synced(EventBody::for_call(
            &call.id,
            CallChange::Waiting {
                digest: judgement.shown_digest().clone(),
                grants: card_grants::describe_grants(
                    prepared,
                    &grants::offer_grants(session, input),
                    grants::find_verb_grant(session, input).as_deref(),
                ),
                refreshed: attempt.changed.clone(),
                expires_at,
            },
        ))
        .await?;

    let stop = session.call_cancellation(&call.id);
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
        let is_settled = || {
            let judgement = input.evaluate(&session.rules(), session.policy_context());
            let now_runs_first = !input.dry_run_first && dry_run::runs_first(cx, prepared);
            judgement.verdict() != Verdict::Ask || now_runs_first && prepared.dry_run.is_none()
        };
        while !is_settled() {
            if read.changed().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    let answer = tokio::select! {
        biased;
        decided = &mut decision => match decided {
            Ok(decided) if grants_remote(&decided) => {
                session.reload_rules();
                Ok(ApprovalAnswer::RulesChanged("You let it use the remote from now on.".to_owned()))
            }
            Ok(decided) => answer_from_decision(decided, judgement, prepared),
            Err(_) => Err(early_outcome::unfinished_outcome(session, CallState::Interrupted).into()),
        },
        () = session.engine.closing.cancelled() => return Err(Abort::Closing),
        () = stop.cancelled() => Err(early_outcome::unfinished_outcome(session, CallState::Interrupted).into()),
        () = ruled => Ok(ApprovalAnswer::RulesChanged("The rules changed.".to_owned())),
        () = session.tool_context.workspace.wait_until_readable(&prepared.new_roots) => {
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
        return answer_from_decision(decided, judgement, prepared);
    }
    answer
}

/// Whether a decision grants the use of a remote: the call is judged anew, since the rule also gives it network access.
fn grants_remote(decision: &Decision) -> bool {
    match decision {
        Decision::Allow { always, .. } => always
            .as_ref()
            .is_some_and(|always| RemoteUseKind::from_permission(&always.permission).is_some()),
        Decision::Reject { .. }
        | Decision::Answer { .. }
        | Decision::Skip
        | Decision::DryRun
        | Decision::WithNetwork { .. }
        | Decision::InPlace { .. }
        | Decision::Edit { .. } => false,
    }
}

fn answer_from_decision(
    decision: Decision,
    judgement: &Judgement,
    prepared: &PreparedCall,
) -> Result<ApprovalAnswer, Abort> {
    let consent = |answers| {
        Some(Consent {
            shown_digest: judgement.shown_digest().clone(),
            answers,
        })
    };
    let approve = |plan, consent, feedback| {
        Ok(ApprovalAnswer::Approved(Approval {
            plan,
            consent,
            feedback,
            in_place: None,
        }))
    };
    match decision {
        Decision::Allow {
            hunks: None, note, ..
        } => approve(
            prepared.plan.clone(),
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
            let plan = tools::diff::select_plan(&prepared.plan, &prepared.preview, &hunks)
                .map_err(|error| outcome::failed_outcome(&error))?;
            let left_out = tools::diff::describe_left_out(&prepared.preview, &hunks);
            approve(plan, consent(None), UserFeedback { note, left_out })
        }
        Decision::Answer { answers } => approve(
            prepared.plan.clone(),
            consent(Some(QuestionAnswers::Answered(answers))),
            UserFeedback::default(),
        ),
        Decision::Skip => approve(
            prepared.plan.clone(),
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

/// Approves a call that would ask, as the caller agreed to beforehand; a question stays unanswered, because answers are
/// never invented.
fn approve_in_advance(
    cx: &CallContext<'_>,
    judgement: &Judgement,
    prepared: &PreparedCall,
) -> Result<ApprovalAnswer, Abort> {
    if cx.tool.interface().safety.requires_user_interaction {
        return Err(outcome::abort_unanswered(&cx.tool));
    }
    Ok(ApprovalAnswer::Approved(Approval {
        plan: prepared.plan.clone(),
        consent: Some(Consent {
            shown_digest: judgement.shown_digest().clone(),
            answers: None,
        }),
        feedback: UserFeedback::default(),
        in_place: cx.session.engine.config.in_place.clone(),
    }))
}
