//! Stage 13: one outcome, folded once, from whatever the call came to (M01, M04).

use policy::Judgement;
use policy::approved::Refused;
use protocol::outcome::Truncated;
use protocol::{CallState, Digest, Fault, Outcome, ToolCall, ToolError, ToolOutput, UndoEntry};

use super::Ended;
use super::consent::Said;
use super::found::Called;
use crate::session::Session;

/// The outcome of a call that ran.
pub(crate) fn fold(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    ran: Ran,
    copy: Option<UndoEntry>,
    said: &Said,
) -> Outcome {
    let mut outcome = match ran.result {
        Ok(output) => done(session, call, called, output),
        Err(error) => failed(state_of(&error), &error),
    };
    outcome.duration_ms = ran.duration_ms;
    if let Some(entry) = copy {
        let history = &session.shared.history;
        // After success the copy learns what stands there now, to notice later changes; after a failure whatever of the
        // effect stands is taken back.
        let settled = match outcome.is_success() {
            true => history.seal(&entry.id).map_err(Fault::from),
            false => history.settle(&entry.id).map(drop),
        };
        if let Err(fault) = settled {
            tracing::warn!(%fault, entry = %entry.id, "the undo entry could not be settled");
        }
    }
    for word in said.words() {
        outcome.text.push_str("\n\n");
        outcome.text.push_str(&word);
    }
    outcome
}

/// What a tool gave back, and how long it took.
pub(crate) struct Ran {
    pub result: Result<ToolOutput, ToolError>,
    pub duration_ms: u64,
}

/// The output, its head inline and the rest in a sidecar file where it is too long (`S002-68`).
fn done(session: &Session, call: &ToolCall, called: &Called<'_>, output: ToolOutput) -> Outcome {
    let bytes_max = usize::try_from(called.interface().output_bytes_max()).unwrap_or(usize::MAX);
    let digest = Digest::of(output.text.as_bytes());
    let too_long = output.text.len() > bytes_max;
    let (text, truncated) = match output.truncated {
        // The tool cut it by its own count, and the whole stands in a sidecar already.
        Some(truncated) => (output.text, Some(truncated)),
        None if too_long => spill(session, call, &output.text, bytes_max),
        None => (output.text, None),
    };
    Outcome {
        state: CallState::Done,
        text,
        message: output.message,
        data: output.data,
        duration_ms: 0,
        truncated,
        needs_followup: false,
        terminal: output.terminal,
        digest,
    }
}

fn spill(
    session: &Session,
    call: &ToolCall,
    text: &str,
    bytes_max: usize,
) -> (String, Option<Truncated>) {
    let mut cut = bytes_max;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let head = &text[..cut];
    match session.hands.folder.spill(&call.id, text.as_bytes()) {
        Ok(path) => {
            let path = path.display().to_string();
            let told = format!(
                "{head}\n\n[Cut after {cut} of {} bytes. The whole output is in {path}; read it in ranges.]",
                text.len()
            );
            (
                told,
                Some(Truncated {
                    output_path: path,
                    bytes: text.len() as u64,
                }),
            )
        }
        Err(error) => (
            format!(
                "{head}\n\n[Cut after {cut} of {} bytes. The rest is lost: {error}]",
                text.len()
            ),
            None,
        ),
    }
}

/// An outcome that is an error; the model hears the error's own words and may go on.
pub(crate) fn failed(state: CallState, error: &ToolError) -> Outcome {
    ended(state, error.to_string(), first_sentence(&error.to_string()))
}

/// No tool ran: the model hears why, the person reads a line.
pub(crate) fn ended(state: CallState, text: String, message: String) -> Outcome {
    let digest = Digest::of(text.as_bytes());
    Outcome {
        state,
        text,
        message,
        data: None,
        duration_ms: 0,
        truncated: None,
        needs_followup: true,
        terminal: false,
        digest,
    }
}

/// A gate said no.
pub(crate) fn denied(called: &Called<'_>, judgement: &Judgement) -> Ended {
    let lead = &judgement.trail().lead;
    let asked_nobody = judgement
        .trail()
        .steps
        .iter()
        .any(|step| step.gate == protocol::Gate::Headless);
    let text = match called.0.tool.headless_refusal() {
        Some(fixed) if asked_nobody => fixed.to_owned(),
        _ => {
            format!("{lead} Do not try it in another form; go on without it or say what you need.")
        }
    };
    ended(CallState::Denied, text, lead.clone()).into()
}

/// The tool needs a person's answer, and nobody is there (`S002-37`).
pub(crate) fn unanswered(called: &Called<'_>) -> Ended {
    let fixed = called.0.tool.headless_refusal();
    let text = fixed.unwrap_or("This needs a person's answer, and nobody is there.");
    let message = "Nobody is there to answer".to_owned();
    ended(CallState::Denied, text.to_owned(), message).into()
}

/// A consent that does not fit. Cannot happen while the desk checks digests; if it does, nothing runs.
pub(crate) fn refused(called: &Called<'_>, refused: &Refused) -> Ended {
    let why = match refused {
        Refused::Denied => "a gate denies it",
        Refused::NotAsked => "nobody agreed to it",
        Refused::Changed => "what was agreed to is not what would run",
    };
    let text = format!("{} was not run, because {why}.", called.id());
    ended(CallState::Denied, text.clone(), text).into()
}

/// A person said no.
pub(crate) fn rejected(note: &str, stop: bool) -> Ended {
    let note = note.trim();
    let text = match note.is_empty() {
        true => "The person rejected this call. Do not repeat it; go on in another way or ask."
            .to_owned(),
        false => format!("The person rejected this call: {note}"),
    };
    let message = if note.is_empty() {
        "Rejected".to_owned()
    } else {
        format!("“{note}”")
    };
    let mut outcome = ended(CallState::Rejected, text, message);
    (outcome.terminal, outcome.needs_followup) = (stop, !stop);
    outcome.into()
}

/// Nobody said anything in time.
pub(crate) fn expired(after_min: u32) -> Ended {
    let text = format!(
        "Nobody answered within {after_min} min, so the call expired. This is not a refusal."
    );
    ended(
        CallState::Expired,
        text,
        format!("Expired after {after_min} min"),
    )
    .into()
}

/// The person stopped the run, or steered it away from calls that had not begun (`S001-36`).
pub(crate) fn stopped_outcome(state: CallState) -> Outcome {
    let (text, message) = match state {
        CallState::Skipped => (
            "Skipped: the person said something first.",
            "Skipped, because you said something",
        ),
        _ => (
            "Stopped by the person before it was finished.",
            "Stopped before its end",
        ),
    };
    ended(state, text.to_owned(), message.to_owned())
}

fn state_of(error: &ToolError) -> CallState {
    match error {
        ToolError::Cancelled => CallState::Interrupted,
        ToolError::Failed(_)
        | ToolError::NotFound(_)
        | ToolError::InvalidArgs(_)
        | ToolError::Stale(_)
        | ToolError::TimedOut(_) => CallState::Failed,
    }
}

fn first_sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    line[..end].to_owned()
}
