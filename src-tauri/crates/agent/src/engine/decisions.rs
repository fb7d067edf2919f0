//! A person's decision on a waiting call: accepted once, for exactly what was shown, and recorded before it takes
//! effect.

use std::sync::Arc;

use protocol::event::CallChange;
use protocol::op::{OpReceipt, ShownCall};
use protocol::text::depth::{DEPTH_MAX, is_too_deep};
use protocol::view::preview::CommandPreview;
use protocol::{CallId, CallState, Decision, Digest, EventBody, Preview, SessionId, UserError};

use crate::permissions::egress;
use crate::pipeline::outgoing;
use crate::session::engine_state::EngineState;
use crate::session::{Session, grants};

/// Applies a decision once, for exactly what was shown.
pub(crate) async fn apply_decision(
    engine: &Arc<EngineState>,
    session: &SessionId,
    call: &CallId,
    digest: &Digest,
    decision: Decision,
) -> Result<OpReceipt, UserError> {
    let session = engine.session(session)?;
    let Some(waiting) = session.take_pending_call(call) else {
        return Err(not_waiting_error(engine, &session, call)?);
    };
    let fits = match waiting.digest == *digest {
        true => validate_decision(&waiting.preview, &decision),
        false => Err(UserError::new(
            "What this call would do has changed since it was shown.",
            "Look again, then decide.",
        )),
    };
    let now = engine.now();
    let kept = fits.and_then(|()| egress::check_decision_hosts(decision, &session.rules(), now));
    let decided = kept.and_then(|decision| {
        let mask = session.journal.secret_mask(call);
        let decision = waiting.restore_secrets(&mask, decision)?;
        let granted = grants::create_grant(&session, call, &waiting.input, &decision)?;
        Ok((decision, granted))
    });
    let (decision, granted) = match decided {
        Ok(decided) => decided,
        Err(fault) => {
            session.add_pending_call(call.clone(), waiting);
            session.refresh_state();
            return Err(fault);
        }
    };
    let event = match &decision {
        Decision::Edit { arguments } => {
            outgoing::mask_secrets(&session, &waiting.call, arguments).await;
            EventBody::for_call(
                call,
                CallChange::Edited {
                    arguments: arguments.clone(),
                    is_masked: false,
                },
            )
        }
        _ => EventBody::for_call(
            call,
            CallChange::Decided {
                decision: decision.clone(),
                digest: digest.clone(),
            },
        ),
    };
    if let Err(fault) = session.journal.record_synced(event).await {
        if let Some(granted) = &granted {
            grants::withdraw_grant(&session, granted);
        }
        session.add_pending_call(call.clone(), waiting);
        session.refresh_state();
        return Err(fault);
    }
    if matches!(decision, Decision::Allow { .. }) {
        session.release_secrets(&waiting.releases);
    }
    // The run may have been stopped in this very moment; then the decision comes too late and changes nothing.
    let _ = waiting.answer.send(decision);
    if let Some(granted) = &granted {
        grants::reload_affected_rules(engine, granted);
    }
    Ok(OpReceipt::default())
}

/// Applies the same decision to calls that were shown on one card, to each for exactly what was shown of it.
///
/// # Errors
/// The decision is more than to allow or reject the calls as they are, or some of them cannot be decided on and keep waiting.
pub(crate) async fn apply_group_decision(
    engine: &Arc<EngineState>,
    calls: Vec<ShownCall>,
    decision: Decision,
) -> Result<OpReceipt, UserError> {
    let is_plain = matches!(
        decision,
        Decision::Allow {
            hunks: None,
            always: None,
            ..
        } | Decision::Reject { always: None, .. }
    );
    if !is_plain {
        return Err(UserError::new(
            "Calls on one card are only allowed or rejected, as they are.",
            "Answer them one by one.",
        ));
    }
    let all = calls.len();
    let mut refusals = Vec::new();
    for shown in calls {
        let ShownCall {
            session,
            call,
            digest,
        } = shown;
        let decided = apply_decision(engine, &session, &call, &digest, decision.clone()).await;
        refusals.extend(decided.err());
    }
    match refusals.first() {
        None => Ok(OpReceipt::default()),
        Some(first) => Err(UserError::new(
            format!(
                "{} of {all} calls were not answered. {}",
                refusals.len(),
                first.message
            ),
            first.hint.clone(),
        )),
    }
}

/// Returns the reason why a call cannot be decided on: it was decided already, or it waits in another process.
fn not_waiting_error(
    engine: &EngineState,
    session: &Session,
    call: &CallId,
) -> Result<UserError, UserError> {
    let view = engine.call_view(&session.id, call)?;
    let waits = view.is_some_and(|view| view.state == CallState::Waiting);
    if !waits || session.is_running() {
        return Ok(UserError::new(
            "This call no longer waits; it was decided already.",
            "Look at its card for what became of it.",
        ));
    }
    Ok(match session.lock.acquire(&session.tool_context.folder) {
        Err(_) => UserError::new(
            "This call waits for an answer elsewhere: in a terminal, or in another window of Countersign.",
            "Answer it there.",
        ),
        Ok(_) => UserError::new(
            "The Countersign that asked about this call has ended, so nobody waits for the answer.",
            "Go on with the session: its agent can ask again.",
        ),
    })
}

/// Checks that a decision is possible for this kind of card.
fn validate_decision(preview: &Preview, decision: &Decision) -> Result<(), UserError> {
    let hint = "Decide with what the card offers.";
    match (preview, decision) {
        (Preview::Form { questions }, Decision::Answer { answers }) => {
            let single = |(question, given): (&protocol::view::preview::Question, &Vec<String>)| {
                !given.is_empty() && (question.multi_select || given.len() == 1)
            };
            match answers.len() == questions.len() && questions.iter().zip(answers).all(single) {
                true => Ok(()),
                false => Err(UserError::new(
                    "Not every question has its answer.",
                    "Answer each, or skip all.",
                )),
            }
        }
        (Preview::Form { .. }, Decision::Allow { .. }) => {
            Err(UserError::new("A question is answered, not allowed.", hint))
        }
        (Preview::Form { .. }, Decision::Skip) => Ok(()),
        (_, Decision::Answer { .. } | Decision::Skip) => {
            Err(UserError::new("This call asks no question.", hint))
        }
        (shown, Decision::Allow { hunks: Some(_), .. }) if shown.is_delegated() => {
            Err(UserError::new(
                "The agent runs the command itself, so none of its changes can be left out.",
                "Allow it as a whole, edit it, or reject it.",
            ))
        }
        (
            Preview::Effects(shown),
            Decision::Allow {
                hunks: Some(chosen),
                ..
            },
        ) => {
            let changes = &shown.effects.changes;
            let is_known = |id: &u32| changes.iter().any(|change| change.id == *id);
            match (chosen.is_empty(), chosen.iter().all(is_known)) {
                (true, _) => Err(UserError::new(
                    "No change is checked, so there is nothing to allow.",
                    "Check one, or reject.",
                )),
                (_, false) => Err(UserError::new(
                    "A change was named that is not shown.",
                    hint,
                )),
                (false, true) => Ok(()),
            }
        }
        (
            Preview::Diff { files },
            Decision::Allow {
                hunks: Some(chosen),
                ..
            },
        ) => {
            let is_known = |id: &u32| {
                files
                    .iter()
                    .any(|file| file.hunks.iter().any(|hunk| hunk.id == *id))
            };
            match (chosen.is_empty(), chosen.iter().all(is_known)) {
                (true, _) => Err(UserError::new(
                    "No hunk is checked, so there is nothing to allow.",
                    "Check one, or reject.",
                )),
                (_, false) => Err(UserError::new("A hunk was named that is not shown.", hint)),
                (false, true) => Ok(()),
            }
        }
        (_, Decision::Allow { hunks: Some(_), .. }) => {
            Err(UserError::new("This call has no hunks to choose.", hint))
        }
        (_, Decision::Edit { arguments }) if is_too_deep(arguments) => Err(UserError::new(
            format!("These arguments are nested more than {DEPTH_MAX} levels deep."),
            "Write them flatter.",
        )),
        (
            Preview::Command(_) | Preview::Effects(_),
            Decision::DryRun | Decision::WithNetwork { .. },
        ) => Ok(()),
        (Preview::Command(CommandPreview { in_place: true, .. }), Decision::InPlace { .. }) => {
            Ok(())
        }
        (Preview::Effects(shown), Decision::InPlace { .. }) if shown.command.in_place => Ok(()),
        (_, Decision::InPlace { .. }) => Err(UserError::new(
            "This call cannot be run for real in a way that can be undone.",
            hint,
        )),
        (_, Decision::DryRun | Decision::WithNetwork { .. }) => {
            Err(UserError::new("Only a command can have a dry run.", hint))
        }
        (_, Decision::Allow { .. } | Decision::Reject { .. } | Decision::Edit { .. }) => Ok(()),
    }
}
