//! Step 10: making one outcome from the result of the call, masked and then cut (M01, M04).

use std::borrow::Cow;

use policy::Judgement;
use policy::approved::ApprovalError;
use policy::watchdogs::SecretMask;
use protocol::call::outcome::Truncation;
use protocol::interface::EmptyResultPolicy;
use protocol::text::redact;
use protocol::{
    CallState, Content, Digest, FailureClass, Outcome, ToolError, ToolOutput, UserError,
};
use serde_json::{Map, Value};
use tools::ToolContext;

use crate::limits::SIDECAR_SEARCH_BYTES_MAX;
use crate::pipeline::abort::Abort;
use crate::pipeline::approval::UserFeedback;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::execute::FinishedRun;
use crate::pipeline::resolve::ResolvedTool;

/// Text for the model when a tool returned nothing, if neither the tool nor its interface has words for it.
const EMPTY_RESULT_TEXT: &str = "It worked and gave nothing back.";

/// Text of a sidecar file that is too long to be searched for the secrets of its call.
const UNSEARCHED_OUTPUT_TEXT: &str =
    "The whole output is not kept: it may repeat a secret, and is too long to be searched for it.";

/// Returns the outcome of a call that ran.
pub(crate) fn build_outcome(
    cx: &CallContext<'_>,
    finished: FinishedRun,
    feedback: &UserFeedback,
) -> Outcome {
    let mut outcome = match finished.run.result {
        Ok(output) => Outcome::from_tool_output(output, &empty_result_text(&cx.tool)),
        Err(error) => Outcome::from_tool_error(&error),
    };
    outcome.duration_ms = finished.run.duration_ms;
    if let Some(entry) = finished.undo_entry {
        let history = &cx.session.engine.history;
        // After success the copy learns what stands there now, to notice later changes; after a failure whatever of the
        // effect stands is taken back.
        let settled = match outcome.is_success() {
            true => history.mark_applied(&entry.id).map_err(UserError::from),
            false => history.settle_failed(&entry.id).map(drop),
        };
        if let Err(fault) = settled {
            tracing::warn!(%fault, entry = %entry.id, "the undo entry could not be settled");
        }
    }
    let masked = match cx.tool.masks_output() {
        true => redact_outcome(outcome),
        false => outcome,
    };
    let mask = cx.session.journal.secret_mask(&cx.call.id);
    let masked = mask_outcome(&mask, masked);
    if !mask.is_empty() {
        mask_sidecar_file(cx, &mask, &masked);
    }
    let mut outcome = truncate_outcome(cx, masked);
    let words = feedback.paragraphs(cx.edited.as_ref());
    let words = words.map(|word| redact::text(&mask.mask_text(&word)).0.into_owned());
    outcome.notes.extend(words);
    outcome
}

/// Masks the secrets of the call that an outcome repeats. One that cannot be masked is withheld.
pub(crate) fn mask_outcome(mask: &SecretMask, outcome: Outcome) -> Outcome {
    if mask.is_empty() {
        return outcome;
    }
    let withheld = || {
        let text = "What came of it cannot be given without a secret.".to_owned();
        ended_outcome(outcome.state, text.clone(), text)
    };
    let mut masked = mask.mask_value(&outcome).unwrap_or_else(withheld);
    masked.digest = Digest::from_bytes(masked.text.as_bytes());
    masked
}

/// Masks the secrets of the call in the sidecar file that its tool wrote, if it wrote one.
fn mask_sidecar_file(cx: &CallContext<'_>, mask: &SecretMask, outcome: &Outcome) {
    let truncated = outcome.truncated.as_ref();
    let Some(path) = truncated.and_then(|cut| cut.output_path.as_deref()) else {
        return;
    };
    let ToolContext {
        workspace, folder, ..
    } = &cx.session.tool_context;
    let text = match workspace.read_whole(path, SIDECAR_SEARCH_BYTES_MAX) {
        Ok(Some(bytes)) => mask.mask_text(&String::from_utf8_lossy(&bytes)),
        Ok(None) | Err(_) => UNSEARCHED_OUTPUT_TEXT.to_owned(),
    };
    if let Err(error) = folder.save_output(&cx.call.id, text.as_bytes()) {
        tracing::warn!(%error, call = %cx.call.id, "the whole output is not kept");
    }
}

/// Returns the text for the model when a tool returned nothing and has no words of its own for it. Silence is not
/// accepted as an answer from a tool that claims never to return nothing (`S003-45`).
fn empty_result_text(tool: &ResolvedTool<'_>) -> Cow<'static, str> {
    match tool.interface().result.empty_result_policy {
        EmptyResultPolicy::Marker => EMPTY_RESULT_TEXT.into(),
        EmptyResultPolicy::NeverEmpty => {
            let id = tool.id();
            format!(
                "It gave nothing back, although `{id}` says that it always gives something. Do not take that for an answer."
            )
            .into()
        }
    }
}

/// The result of a tool, and its duration.
pub(crate) struct ToolRun<T = ToolOutput> {
    pub result: Result<T, ToolError>,
    pub duration_ms: u64,
}

/// Masks the secrets in an outcome, and appends their number as a note for the model.
pub(crate) fn redact_outcome(mut outcome: Outcome) -> Outcome {
    let mut read_by_model = outcome.secrets_masked;
    let text = redact_text;
    read_by_model += text(&mut outcome.text) + redact_items(&mut outcome.content);
    let mut elsewhere = text(&mut outcome.message);
    for words in [
        &mut outcome.error,
        &mut outcome.next_action,
        &mut outcome.empty,
    ] {
        elsewhere += words.as_mut().map_or(0, text);
    }
    for data in [&mut outcome.data, &mut outcome.details]
        .into_iter()
        .flatten()
    {
        elsewhere += redact_value(data);
    }
    let mut extra = Value::Object(std::mem::take(&mut outcome.extra));
    if !extra.as_object().is_none_or(Map::is_empty) {
        let (masked, count) = redact::mask_value(&extra);
        elsewhere += count;
        extra = masked.into_owned();
    }
    if let Value::Object(members) = extra {
        outcome.extra = members;
    }
    if read_by_model > 0 {
        outcome.notes.push(redact::summarize_count(read_by_model));
        outcome.digest = Digest::from_bytes(outcome.text.as_bytes());
    }
    // A secret that stands in the text stands in the person's line and the data as well: it counts once.
    outcome.secrets_masked = read_by_model.max(elsewhere);
    outcome
}

fn redact_text(text: &mut String) -> u32 {
    let (masked, count) = redact::text(text);
    if count > 0 {
        *text = masked.into_owned();
    }
    count
}

/// Masks the secrets in items, and returns how many there were.
pub(super) fn redact_items(items: &mut [Content]) -> u32 {
    let counts = items.iter_mut().map(|item| match item {
        Content::Text { text } => redact_text(text),
        Content::Resource { uri, title, .. } => redact_text(uri) + redact_text(title),
        Content::Image { .. } => 0,
    });
    counts.sum()
}

/// Masks the secrets in JSON, and returns how many there were.
pub(super) fn redact_value(value: &mut Value) -> u32 {
    let (masked, count) = redact::mask_value(value);
    if count > 0 {
        *value = masked.into_owned();
    }
    count
}

/// Cuts a text that is too long to its head, and saves the whole in a sidecar file (`S002-68`, `S002-103`). The text
/// says that it was cut even without such a file, which is missing if its tool returns the rest when called again, or
/// if writing failed.
fn truncate_outcome(cx: &CallContext<'_>, mut outcome: Outcome) -> Outcome {
    let bytes_max = usize::try_from(cx.tool.interface().output_bytes_max()).unwrap_or(usize::MAX);
    // Output that a tool cut by its own count is already whole in a sidecar file.
    if outcome.truncated.is_some() || outcome.text.len() <= bytes_max {
        return outcome;
    }
    let full_text = std::mem::take(&mut outcome.text);
    let head = protocol::text::cut::take_head(&full_text, bytes_max);
    let of = format!("Cut after {} of {} bytes.", head.len(), full_text.len());
    let is_kept = cx.tool.interface().result.persistence_policy_ref != "never";
    let spilled = is_kept.then(|| {
        cx.session
            .tool_context
            .folder
            .save_output(&cx.call.id, full_text.as_bytes())
    });
    let (output_path, note) = match spilled {
        Some(Ok(path)) => {
            let path = path.display().to_string();
            let note = format!("[{of} The whole output is in {path}; read it in ranges.]");
            (Some(path), note)
        }
        Some(Err(error)) => (None, format!("[{of} The rest is lost: {error}]")),
        None => (None, format!("[{of} Ask for the rest in ranges.]")),
    };
    outcome.truncated = Some(Truncation {
        output_path,
        bytes: full_text.len() as u64,
    });
    outcome.text = head.to_owned();
    outcome.notes.insert(0, note);
    outcome
}

/// Returns the outcome of a call that failed; the model reads the error's own message and may go on.
pub(crate) fn failed_outcome(error: &ToolError) -> Outcome {
    Outcome::from_tool_error(error)
}

/// Returns the outcome of a call for which no tool ran: `text` tells the model why, `message` is the line for the
/// person.
pub(crate) fn ended_outcome(state: CallState, text: String, message: String) -> Outcome {
    let class = match state {
        CallState::Denied => FailureClass::PermissionDenied,
        CallState::Rejected => FailureClass::ApprovalRejected,
        CallState::Expired => FailureClass::ApprovalExpired,
        CallState::Interrupted | CallState::Skipped => FailureClass::Canceled,
        CallState::Proposed
        | CallState::Waiting
        | CallState::Running
        | CallState::Done
        | CallState::Failed
        | CallState::Undone => FailureClass::ExecutionFailed,
    };
    Outcome::new(state, class, text, message)
}

/// Ends a call that a gate denied.
pub(crate) fn abort_denied(tool: &ResolvedTool<'_>, judgement: &Judgement) -> Abort {
    let lead = &judgement.trail().lead;
    let asked_nobody = judgement
        .trail()
        .steps
        .iter()
        .any(|step| step.gate == protocol::Gate::Headless);
    let text = match tool.0.tool.headless_refusal() {
        Some(fixed) if asked_nobody => fixed.to_owned(),
        _ => {
            format!("{lead} Do not try it in another form; go on without it or say what you need.")
        }
    };
    ended_outcome(CallState::Denied, text, lead.clone()).into()
}

/// Ends a call that needs a person's answer when nobody is there (`S002-37`).
pub(crate) fn abort_unanswered(tool: &ResolvedTool<'_>) -> Abort {
    let fixed = tool.0.tool.headless_refusal();
    let text = fixed.unwrap_or("This needs a person's answer, and nobody is there.");
    let message = "Nobody is there to answer".to_owned();
    ended_outcome(CallState::Denied, text.to_owned(), message).into()
}

/// Ends a call whose consent does not match. Cannot happen while the engine checks digests; if it does, nothing runs.
pub(crate) fn abort_refused(tool: &ResolvedTool<'_>, refused: &ApprovalError) -> Abort {
    let why = match refused {
        ApprovalError::Denied => "a gate denies it",
        ApprovalError::NotConsented => "nobody agreed to it",
        ApprovalError::Changed => "what was agreed to is not what would run",
    };
    let text = format!("{} was not run, because {why}.", tool.id());
    ended_outcome(CallState::Denied, text.clone(), text).into()
}

/// Text of a call that the person rejected without a word.
pub(crate) const PLAIN_REJECTION_TEXT: &str =
    "The person rejected this call. Do not repeat it; go on in another way or ask.";

/// Ends a call that the person rejected.
pub(crate) fn abort_rejected(note: &str, stop: bool) -> Abort {
    let note = note.trim();
    let text = match note.is_empty() {
        true => PLAIN_REJECTION_TEXT.to_owned(),
        false => format!("The person rejected this call: {note}"),
    };
    let message = if note.is_empty() {
        "Rejected".to_owned()
    } else {
        format!("“{note}”")
    };
    let mut outcome = ended_outcome(CallState::Rejected, text, message);
    (outcome.terminal, outcome.needs_followup) = (stop, !stop);
    outcome.into()
}

/// Ends a call that nobody answered in time.
pub(crate) fn abort_expired(after_min: u32) -> Abort {
    let text = format!(
        "Nobody answered within {after_min} min, so the call expired. This is not a refusal."
    );
    ended_outcome(
        CallState::Expired,
        text,
        format!("Expired after {after_min} min"),
    )
    .into()
}

/// Returns the outcome of a call that was ended because the person stopped the run, or steered it away from calls that
/// had not begun (`S001-36`).
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
    ended_outcome(state, text.to_owned(), message.to_owned())
}
