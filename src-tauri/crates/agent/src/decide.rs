//! Takes a person's decision on a waiting call: once, for exactly what was shown, on record before it counts.

use std::sync::Arc;

use protocol::depth::{DEPTH_MAX, is_too_deep};
use protocol::op::Receipt;
use protocol::preview::CommandPreview;
use protocol::{
    CallId, CallState, Decision, Digest, EntryBody, EventBody, Fault, Preview, SessionId,
};

use crate::desk::Shared;
use crate::session::Session;
use crate::{grant, way_out};

/// A decision holds once, for exactly what was shown.
pub(crate) async fn decide(
    shared: &Arc<Shared>,
    session: &SessionId,
    call: &CallId,
    digest: &Digest,
    decision: Decision,
) -> Result<Receipt, Fault> {
    let session = shared.session(session)?;
    let Some(waiting) = session.take_from_desk(call) else {
        return Err(not_here(shared, &session, call)?);
    };
    let fits = match waiting.shown == *digest {
        true => fits(&waiting.preview, &decision),
        false => Err(Fault::new(
            "What this call would do has changed since it was shown.",
            "Look again, then decide.",
        )),
    };
    let kept = fits.and_then(|()| way_out::kept(&session, decision));
    let decided = kept.and_then(|decision| {
        let granted = grant::make(&session, call, &waiting.weighed, &decision)?;
        Ok((decision, granted))
    });
    let (decision, granted) = match decided {
        Ok(decided) => decided,
        Err(fault) => {
            session.put_on_desk(call.clone(), waiting);
            session.at_work();
            return Err(fault);
        }
    };
    let event = match &decision {
        Decision::Edit { arguments } => EventBody::CallEdited {
            call: call.clone(),
            arguments: arguments.clone(),
        },
        _ => EventBody::CallDecided {
            call: call.clone(),
            decision: decision.clone(),
            digest: digest.clone(),
        },
    };
    if let Err(fault) = session.journal.keep(event).await {
        if let Some(granted) = &granted {
            grant::unmake(&session, granted);
        }
        session.put_on_desk(call.clone(), waiting);
        session.at_work();
        return Err(fault);
    }
    // The run may have been stopped in this very moment; then the decision comes too late and changes nothing.
    let _ = waiting.answer.send(decision);
    if let Some(granted) = &granted {
        grant::in_force(shared, granted);
    }
    Ok(Receipt::default())
}

/// Why a call is not there to be decided on: it was decided, or it waits for somebody else.
fn not_here(shared: &Shared, session: &Session, call: &CallId) -> Result<Fault, Fault> {
    let entry = shared.record.entry(&session.id, call.as_str())?;
    let waits = match entry.map(|entry| entry.body) {
        Some(EntryBody::Call(view)) => view.state == CallState::Waiting,
        _ => false,
    };
    if !waits || session.is_running() {
        return Ok(Fault::new(
            "This call no longer waits; it was decided already.",
            "Look at its card for what became of it.",
        ));
    }
    Ok(match session.held.here(&session.hands.folder) {
        Err(_) => Fault::new(
            "This call waits for an answer elsewhere: in a terminal, or in another window of Countersign.",
            "Answer it there.",
        ),
        Ok(_) => Fault::new(
            "The Countersign that asked about this call has ended, so nobody waits for the answer.",
            "Go on with the session: its agent can ask again.",
        ),
    })
}

/// Whether a decision is one for this kind of card.
fn fits(preview: &Preview, decision: &Decision) -> Result<(), Fault> {
    let hint = "Decide with what the card offers.";
    match (preview, decision) {
        (Preview::Form { questions }, Decision::Answer { answers }) => {
            let single = |(question, given): (&protocol::preview::Question, &Vec<String>)| {
                !given.is_empty() && (question.multi_select || given.len() == 1)
            };
            match answers.len() == questions.len() && questions.iter().zip(answers).all(single) {
                true => Ok(()),
                false => Err(Fault::new(
                    "Not every question has its answer.",
                    "Answer each, or skip all.",
                )),
            }
        }
        (Preview::Form { .. }, Decision::Allow { .. }) => {
            Err(Fault::new("A question is answered, not allowed.", hint))
        }
        (Preview::Form { .. }, Decision::Skip) => Ok(()),
        (_, Decision::Answer { .. } | Decision::Skip) => {
            Err(Fault::new("This call asks no question.", hint))
        }
        (
            Preview::Effects(shown),
            Decision::Allow {
                hunks: Some(chosen),
                ..
            },
        ) => {
            let changes = &shown.effects.changes;
            let known = |id: &u32| changes.iter().any(|change| change.id == *id);
            match (chosen.is_empty(), chosen.iter().all(known)) {
                (true, _) => Err(Fault::new(
                    "No change is checked, so there is nothing to allow.",
                    "Check one, or reject.",
                )),
                (_, false) => Err(Fault::new("A change was named that is not shown.", hint)),
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
            let known = |id: &u32| {
                files
                    .iter()
                    .any(|file| file.hunks.iter().any(|hunk| hunk.id == *id))
            };
            match (chosen.is_empty(), chosen.iter().all(known)) {
                (true, _) => Err(Fault::new(
                    "No hunk is checked, so there is nothing to allow.",
                    "Check one, or reject.",
                )),
                (_, false) => Err(Fault::new("A hunk was named that is not shown.", hint)),
                (false, true) => Ok(()),
            }
        }
        (_, Decision::Allow { hunks: Some(_), .. }) => {
            Err(Fault::new("This call has no hunks to choose.", hint))
        }
        (_, Decision::Edit { arguments }) if is_too_deep(arguments) => Err(Fault::new(
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
        (_, Decision::InPlace { .. }) => Err(Fault::new(
            "This call cannot be run for real in a way that can be undone.",
            hint,
        )),
        (_, Decision::DryRun | Decision::WithNetwork { .. }) => Err(Fault::new(
            "Only a command can run in a sealed copy first.",
            hint,
        )),
        (_, Decision::Allow { .. } | Decision::Reject { .. } | Decision::Edit { .. }) => Ok(()),
    }
}
