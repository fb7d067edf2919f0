//! 003: the `tool.*` events of every call, from its plan to its single end.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::permission::{list_changed_members, map_person_decision, map_policy_decision};
use crate::event::{CallChange, CallProposal};
use crate::rule::verdict::TrailStep;
use crate::text::timestamp::format_timestamp;
use crate::{
    CallId, CallState, Event, EventBody, Gate, Outcome, SessionId, ToolKind, ToolMode, Trail,
    Verdict,
};

/// The version of the records that these events follow.
const SCHEMA_VERSION: &str = "0.2.0";

/// One `tool.*` event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolEvent {
    /// The version of the record.
    pub schema_version: &'static str,
    /// The session, the recorded event's position, and the number of this event among those that the recorded event
    /// gives: the same each time.
    pub event_id: String,
    /// Class of the event: `tool.invocation.planned`.
    pub event_type: &'static str,
    /// Source of the event: the session.
    pub source: String,
    /// Time of the event, as RFC 3339.
    pub time: String,
    /// The call: one id from the plan to the end, also across a pause.
    pub invocation_id: CallId,
    /// The tool's id once it is known; until then the called name.
    pub tool_id: String,
    /// Further members, which depend on the class.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Maps a session's events to `tool.*` events.
///
/// Classes about the catalogue (`tool.declared`, `tool.surface.*`, `tool.deferred.*`) are no part of a session's log.
/// Nor are `queued` and `yielded`: a call that waits for its turn has not begun, and no call continues in the
/// background.
#[derive(Debug, Clone, Default)]
pub struct ToolEventMapper {
    calls: HashMap<CallId, ToolOpenCall>,
}

/// A call that has not ended.
#[derive(Debug, Clone)]
struct ToolOpenCall {
    tool: String,
    /// Arguments of the run: the model's, or the person's replacement.
    input: Map<String, Value>,
    selected: bool,
    asked: bool,
    started: bool,
    /// Number of pieces of live output so far.
    pieces: u64,
    /// Locations of the output in the session's state.
    resources: Vec<String>,
    /// The undo entry that can take the effect back.
    undo: Option<String>,
}

/// Builds the `tool.*` events of one recorded event.
struct ToolEventBuilder<'a> {
    event: &'a Event,
    call: &'a CallId,
    tool: String,
    events: Vec<ToolEvent>,
}

impl ToolEventBuilder<'_> {
    fn push(&mut self, event_type: &'static str, more: Value) {
        let Event {
            session: SessionId(session),
            seq,
            at,
            ..
        } = self.event;
        let number = self.events.len();
        self.events.push(ToolEvent {
            schema_version: SCHEMA_VERSION,
            event_id: format!("{session}.{seq}.{number}"),
            event_type,
            source: format!("countersign:session/{session}"),
            time: format_timestamp(*at),
            invocation_id: self.call.clone(),
            tool_id: self.tool.clone(),
            more: match more {
                Value::Object(more) => more,
                _ => Map::new(),
            },
        });
    }

    /// Adds the beginning and the end of one check before a call.
    fn push_hook(&mut self, hook_id: &str, source: &str, result: Value, message: &str) {
        let begun =
            json!({ "hook_id": hook_id, "hook_event": "pre_tool_use", "hook_source": source });
        let mut over = begun.clone();
        over["permission_result"] = result;
        over["message"] = message.into();
        self.push("tool.hook.pre.started", begun);
        self.push("tool.hook.pre.completed", over);
    }

    /// Adds one piece of a partial result.
    fn push_piece(&mut self, pieces: &mut u64, partial_result: Value) {
        let piece = json!({
            "status": "partial_result",
            "sequence": *pieces,
            "partial_result": partial_result,
        });
        *pieces += 1;
        self.push("tool.invocation.partial_result", piece);
    }

    /// Returns the id of the recorded event, by which a decision or a result refers to it.
    fn record_id(&self) -> String {
        format!("{}.{}", self.event.session, self.event.seq)
    }
}

impl ToolEventMapper {
    /// Maps an event to `tool.*` events.
    pub fn map(&mut self, event: &Event) -> Vec<ToolEvent> {
        match &event.body {
            EventBody::Proposal(CallProposal {
                call, reasoning, ..
            }) => {
                if self.calls.contains_key(&call.id) {
                    return Vec::new();
                }
                let mut builder = new_event_builder(event, &call.id, &call.name);
                let planned = json!({
                    "status": "planned",
                    "native_call_id": call.id,
                    "model_input": call.arguments,
                    "reasoning": reasoning,
                });
                builder.push("tool.invocation.planned", planned);
                let open = ToolOpenCall {
                    tool: call.name.clone(),
                    input: call.arguments.clone(),
                    selected: false,
                    asked: false,
                    started: false,
                    pieces: 0,
                    resources: Vec::new(),
                    undo: None,
                };
                self.calls.insert(call.id.clone(), open);
                builder.events
            }
            EventBody::Call {
                call,
                change: CallChange::Ended { outcome, .. },
            } => {
                let Some(open) = self.calls.remove(call) else {
                    return Vec::new();
                };
                let mut builder = new_event_builder(event, call, &open.tool);
                push_end_events(&mut builder, &open, outcome);
                builder.events
            }
            EventBody::Call { call, change } => {
                let Some(open) = self.calls.get_mut(call) else {
                    return Vec::new();
                };
                let mut builder = new_event_builder(event, call, &open.tool);
                push_running_events(&mut builder, open, change);
                builder.events
            }
            EventBody::Session(_) | EventBody::Message { .. } => Vec::new(),
        }
    }
}

fn new_event_builder<'a>(event: &'a Event, call: &'a CallId, tool: &str) -> ToolEventBuilder<'a> {
    ToolEventBuilder {
        event,
        call,
        tool: tool.to_owned(),
        events: Vec::new(),
    }
}

/// Adds the events of a call between its beginning and its end.
fn push_running_events(
    builder: &mut ToolEventBuilder<'_>,
    open: &mut ToolOpenCall,
    change: &CallChange,
) {
    let id = builder.record_id();
    match change {
        CallChange::Judged {
            tool,
            mode,
            kind,
            trail,
            ..
        } => {
            push_selection(builder, open, tool, *mode, *kind);
            push_watchdog_events(builder, trail);
            // A request for approval is reported once the call waits, with the members that an answer must name.
            if trail.verdict != Verdict::Ask {
                let decision = json!({ "decision": map_policy_decision(&id, trail) });
                builder.push("tool.permission.decided", decision);
            }
        }
        CallChange::Imported {
            tool, mode, kind, ..
        } => push_selection(builder, open, tool, *mode, *kind),
        CallChange::Waiting {
            digest,
            refreshed,
            expires_at,
            ..
        } => {
            open.asked = true;
            let approval = json!({
                "status": "awaiting_approval",
                "behavior": "ask",
                "digest": digest,
                "refreshed": refreshed,
                "expires_at": expires_at.map(format_timestamp),
            });
            builder.push("tool.permission.requested", approval);
        }
        CallChange::Decided { decision, .. } => {
            if let Some(decision) = map_person_decision(&id, decision) {
                builder.push("tool.permission.decided", json!({ "decision": decision }));
            }
        }
        CallChange::Edited { arguments, .. } => {
            let changed: Vec<_> = list_changed_members(&open.input, arguments);
            open.input.clone_from(arguments);
            let mutation = json!({
                "mutation_id": id,
                "source_type": "permission_prompt",
                "changed_fields": changed,
            });
            let edited = json!({
                "status": "arguments_ready",
                "permission_input": arguments,
                "mutation": mutation,
            });
            builder.push("tool.invocation.arguments_ready", edited);
        }
        CallChange::HookAnswered { hook, refused } => {
            let (result, message) = match refused {
                // A hook's *go* does not override anything (M12).
                None => ("passthrough", String::new()),
                Some(why) => ("deny", why.clone()),
            };
            builder.push_hook(&id, hook, json!(result), &message);
        }
        CallChange::UndoPrepared { entry } => open.undo = Some(entry.id.0.clone()),
        // A call whose file changed at the last moment is shown again and begins a second time: both are one execution.
        CallChange::Started if !open.started => {
            open.started = true;
            let started = json!({ "status": "running", "call_input": open.input });
            builder.push("tool.invocation.started", started);
        }
        CallChange::Output { text } if open.started => {
            builder.push_piece(&mut open.pieces, json!(text));
        }
        CallChange::Update { partial } if open.started => {
            builder.push_piece(&mut open.pieces, json!(partial));
        }
        CallChange::Progress { text, .. } if open.started => {
            let word = json!({ "status": "running", "message": text });
            builder.push("tool.invocation.progress", word);
        }
        CallChange::StateWritten { place, .. } => {
            let instance = place.instance.as_deref().unwrap_or_default();
            let resource = format!("state:{}#{instance}", place.path);
            open.resources
                .push(resource.trim_end_matches('#').to_owned());
        }
        CallChange::Started
        | CallChange::Output { .. }
        | CallChange::Update { .. }
        | CallChange::Progress { .. }
        | CallChange::ServerRequestReceived { .. }
        | CallChange::ServerRequestAnswered { .. }
        | CallChange::SamplingFinished { .. }
        | CallChange::Ended { .. }
        | CallChange::UndoApplied { .. }
        | CallChange::RedoApplied { .. } => {}
    }
}

/// Adds the events that the tool is known, and that its arguments are ready: once, however often the call is judged.
fn push_selection(
    builder: &mut ToolEventBuilder<'_>,
    open: &mut ToolOpenCall,
    tool: &str,
    mode: Option<ToolMode>,
    kind: ToolKind,
) {
    tool.clone_into(&mut builder.tool);
    tool.clone_into(&mut open.tool);
    if !std::mem::replace(&mut open.selected, true) {
        let facts = json!({ "status": "selected", "mode": mode, "kind": kind });
        builder.push("tool.invocation.selected", facts);
        let input = json!({ "status": "arguments_ready", "permission_input": open.input });
        builder.push("tool.invocation.arguments_ready", input);
    }
}

/// Adds the watchdog's outcome, which precedes the request for permission.
fn push_watchdog_events(builder: &mut ToolEventBuilder<'_>, trail: &Trail) {
    let steps = trail.steps.iter();
    for (number, TrailStep { verdict, text, .. }) in
        steps.filter(|step| step.gate == Gate::Watchdog).enumerate()
    {
        let hook_id = format!("{}.hook{number}", builder.record_id());
        builder.push_hook(&hook_id, "watchdog", json!(verdict), text);
    }
}

/// Adds the result, mapped once, and then the single end.
fn push_end_events(builder: &mut ToolEventBuilder<'_>, open: &ToolOpenCall, outcome: &Outcome) {
    let id = builder.record_id();
    if !open.selected && outcome.state == CallState::Failed {
        let refused = json!({ "status": "validation_failed", "message": outcome.text });
        builder.push("tool.invocation.validation_failed", refused);
    }
    let (class, status, error) = classify_end(outcome.state);
    let error = error.map(|class| json!({ "error_class": class, "message": outcome.text }));
    let result = json!({
        "result_id": id,
        "status": status,
        "is_error": !outcome.is_success(),
        "model_facing_content": outcome.model_text(),
        "ui_facing_summary": outcome.ui_summary(),
        "structured_content": outcome.data,
        "resource_refs": open.resources,
        "evidence_refs": open.undo.iter().collect::<Vec<_>>(),
        "digest": outcome.digest,
        "error": error,
    });
    builder.push("tool.result.created", result);
    if let Some(truncated) = &outcome.truncated
        && let Some(path) = &truncated.output_path
    {
        let persisted = json!({
            "result_id": id,
            "strategy": "preview_and_persist",
            "persisted_ref": {
                "uri": path,
                "type": "text/plain",
                "digest": outcome.digest,
                "bytes": truncated.bytes,
            },
            "preview_bytes": outcome.text.len(),
            "reason": "result_too_large",
        });
        builder.push("tool.result.persisted", persisted);
    }
    let terminal = json!({
        "status": status,
        "result_id": id,
        "started": open.started,
        "asked": open.asked,
        "duration_ms": outcome.duration_ms,
        "error": error,
    });
    builder.push(class, terminal);
}

/// Returns the class of the end, the result's status, and the class of the error.
fn classify_end(state: CallState) -> (&'static str, &'static str, Option<&'static str>) {
    match state {
        CallState::Done | CallState::Undone => ("tool.invocation.succeeded", "succeeded", None),
        CallState::Denied => (
            "tool.invocation.failed",
            "denied",
            Some("permission_denied"),
        ),
        CallState::Rejected => (
            "tool.invocation.failed",
            "rejected",
            Some("approval_rejected"),
        ),
        CallState::Expired => ("tool.invocation.timed_out", "timed_out", Some("timeout")),
        CallState::Interrupted => ("tool.invocation.canceled", "canceled", Some("canceled")),
        CallState::Skipped => ("tool.invocation.canceled", "discarded", Some("canceled")),
        CallState::Failed | CallState::Proposed | CallState::Waiting | CallState::Running => {
            ("tool.invocation.failed", "failed", Some("execution_failed"))
        }
    }
}
