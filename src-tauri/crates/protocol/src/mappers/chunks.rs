//! 002: the stream of chunks, in which no part continues that did not begin.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use crate::{CallId, CallState, Decision, Event, EventBody, MessageId, Outcome, PartialResult};

/// One chunk, by its name in the specification; members in camel case, as on the wire.
///
/// The files and sources of a result are in its envelope; the log does not stream arguments, so a call's input begins
/// and is available at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[expect(missing_docs, reason = "the fields are the chunks' own names")]
pub enum Chunk {
    /// A part of the answer begins.
    TextStart { id: String },
    /// A piece of the part of the answer.
    TextDelta { id: String, delta: String },
    /// The part of the answer is complete.
    TextEnd { id: String },
    /// A part of the reasoning begins.
    ReasoningStart { id: String },
    /// A piece of the part of the reasoning.
    ReasoningDelta { id: String, delta: String },
    /// The part of the reasoning is complete.
    ReasoningEnd { id: String },
    /// The model asks for a call.
    ToolInputStart {
        tool_call_id: CallId,
        tool_name: String,
    },
    /// The call's arguments are complete.
    ToolInputAvailable {
        tool_call_id: CallId,
        tool_name: String,
        input: Map<String, Value>,
    },
    /// The call succeeded; the output is the 002 envelope.
    ToolOutputAvailable { tool_call_id: CallId, output: Value },
    /// The call ended in any other way; its 002 envelope came before, as `data-envelope`.
    ToolOutputError {
        tool_call_id: CallId,
        error_text: String,
    },
    /// The turn and its calls have ended.
    FinishStep,
    /// The run has ended.
    Finish,
    /// A chunk beyond the specification: approvals, live output, undo, notices. Its name is `data-` and its kind.
    #[serde(untagged)]
    Data(DataChunk),
}

/// A chunk of a kind beyond the specification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataChunk {
    /// `data-approval-requested` and the like.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Content of the chunk; for a chunk about a call, `toolCallId` is a member.
    pub data: Value,
    /// Whether the chunk is transient, and no part of the message that is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

/// Maps a session's events to chunks.
#[derive(Debug, Clone, Default)]
pub struct ChunkMapper {
    /// The part that is being written.
    part: Option<OpenPart>,
    /// Number of parts begun so far, which makes their ids unique.
    parts: u32,
    step: bool,
    running: bool,
    /// Calls without an output.
    open: HashSet<CallId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenPart {
    message: MessageId,
    id: String,
    reasoning: bool,
}

impl ChunkMapper {
    /// Maps an event to chunks.
    pub fn map(&mut self, event: &Event) -> Vec<Chunk> {
        let mut out = Vec::new();
        match &event.body {
            EventBody::Session(event) => self.map_session_event(event, &mut out),
            EventBody::Message { message, change } => {
                self.map_message_change(message, change, &mut out);
            }
            EventBody::Proposal(CallProposal { call, .. }) => {
                if self.open.insert(call.id.clone()) {
                    out.push(Chunk::ToolInputStart {
                        tool_call_id: call.id.clone(),
                        tool_name: call.name.clone(),
                    });
                    out.push(Chunk::ToolInputAvailable {
                        tool_call_id: call.id.clone(),
                        tool_name: call.name.clone(),
                        input: call.arguments.clone(),
                    });
                }
            }
            EventBody::Call {
                call,
                change: CallChange::Ended { outcome, .. },
            } => {
                if self.open.remove(call) {
                    push_call_end(call, outcome, &mut out);
                }
            }
            EventBody::Call { call, change } => {
                out.extend(map_restore(call, change));
                if self.open.contains(call) {
                    out.extend(map_open_call(call, change));
                }
            }
        }
        out
    }

    fn map_session_event(&mut self, event: &SessionEvent, out: &mut Vec<Chunk>) {
        match event {
            SessionEvent::Changed { state } if state.ends_run() => self.finish_message(out),
            SessionEvent::Changed { .. } => self.running = true,
            SessionEvent::PlanningSet { on, .. } => {
                out.push(new_data_chunk("data-planning", json!({ "on": on })));
            }
            SessionEvent::LimitReached { limit, used, max } => {
                let data = json!({ "limit": limit, "used": used, "max": max });
                out.push(new_data_chunk("data-limit", data));
            }
            SessionEvent::NoticeAdded { notice } => {
                out.push(new_data_chunk("data-notice", json!(notice)));
            }
            SessionEvent::Opened { .. }
            | SessionEvent::Renamed { .. }
            | SessionEvent::Placed { .. }
            | SessionEvent::Deleted { .. }
            | SessionEvent::ModelChanged { .. }
            | SessionEvent::AsksSkipped { .. }
            | SessionEvent::AsksResumed { .. }
            | SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentContextChanged { .. } => {}
        }
    }

    fn map_message_change(
        &mut self,
        message: &MessageId,
        change: &MessageChange,
        out: &mut Vec<Chunk>,
    ) {
        match change {
            MessageChange::PersonSaid { text, .. } => {
                self.running = true;
                let said = json!({ "messageId": message, "text": text });
                out.push(new_data_chunk("data-person", said));
            }
            MessageChange::SubAgentFinished {
                child,
                text,
                failed,
                ..
            } => {
                let task = json!({ "messageId": message, "sessionId": child, "text": text, "failed": failed });
                out.push(new_data_chunk("data-sub-agent-task", task));
            }
            MessageChange::TurnStarted { .. } => {
                self.finish_step(out);
                (self.step, self.running) = (true, true);
            }
            MessageChange::AgentSaid { text, reasoning } => {
                self.append_text(message, text, *reasoning, out);
            }
            MessageChange::AnswerChecked { answer } => {
                let data = json!({ "messageId": message, "checked": answer });
                out.push(new_data_chunk("data-answer-checked", data));
            }
            MessageChange::TurnEnded { error, .. } => {
                self.end_part(out);
                if let Some(fault) = error {
                    out.push(new_data_chunk("data-error", json!(fault)));
                }
            }
        }
    }

    fn append_text(
        &mut self,
        message: &MessageId,
        text: &str,
        reasoning: bool,
        out: &mut Vec<Chunk>,
    ) {
        let goes_on = |part: &OpenPart| part.message == *message && part.reasoning == reasoning;
        let part = match self.part.take() {
            Some(part) if goes_on(&part) => part,
            other => {
                self.part = other;
                self.end_part(out);
                let id = format!("{message}.{}", self.parts);
                self.parts += 1;
                out.push(match reasoning {
                    true => Chunk::ReasoningStart { id: id.clone() },
                    false => Chunk::TextStart { id: id.clone() },
                });
                OpenPart {
                    message: message.clone(),
                    id,
                    reasoning,
                }
            }
        };
        let (id, delta) = (part.id.clone(), text.to_owned());
        out.push(match reasoning {
            true => Chunk::ReasoningDelta { id, delta },
            false => Chunk::TextDelta { id, delta },
        });
        self.part = Some(part);
    }

    fn end_part(&mut self, out: &mut Vec<Chunk>) {
        if let Some(OpenPart { id, reasoning, .. }) = self.part.take() {
            out.push(match reasoning {
                true => Chunk::ReasoningEnd { id },
                false => Chunk::TextEnd { id },
            });
        }
    }

    fn finish_step(&mut self, out: &mut Vec<Chunk>) {
        self.end_part(out);
        if std::mem::take(&mut self.step) {
            out.push(Chunk::FinishStep);
        }
    }

    fn finish_message(&mut self, out: &mut Vec<Chunk>) {
        self.finish_step(out);
        if std::mem::take(&mut self.running) {
            out.push(Chunk::Finish);
        }
    }
}

/// Maps what was undone or redone of a call, which may have ended.
fn map_restore(call: &CallId, change: &CallChange) -> Option<Chunk> {
    let (kind, entry, paths) = match change {
        CallChange::UndoApplied { entry, paths, .. } => ("data-undone", entry, paths),
        CallChange::RedoApplied { entry, paths, .. } => ("data-redone", entry, paths),
        _ => return None,
    };
    let data = json!({ "toolCallId": call, "entry": entry, "paths": paths });
    Some(new_data_chunk(kind, data))
}

/// Maps a change of a call between its input and its output.
fn map_open_call(call: &CallId, change: &CallChange) -> Option<Chunk> {
    let chunk = match change {
        CallChange::Waiting {
            digest, expires_at, ..
        } => {
            let data = json!({ "toolCallId": call, "digest": digest, "expiresAt": expires_at });
            new_data_chunk("data-approval-requested", data)
        }
        CallChange::Decided { decision, .. } => {
            let approved = match decision {
                Decision::Allow { .. } | Decision::Answer { .. } | Decision::InPlace { .. } => {
                    Some(true)
                }
                Decision::Reject { .. } | Decision::Skip => Some(false),
                // The call is shown again, with the effects of its dry run or with other arguments.
                Decision::DryRun | Decision::WithNetwork { .. } | Decision::Edit { .. } => None,
            };
            let data = json!({ "toolCallId": call, "approved": approved });
            new_data_chunk("data-approval-responded", data)
        }
        CallChange::Edited { arguments, .. } => {
            let data = json!({ "toolCallId": call, "input": arguments });
            new_data_chunk("data-input-edited", data)
        }
        CallChange::HookAnswered { hook, refused } => {
            let data = json!({ "toolCallId": call, "hook": hook, "refused": refused });
            new_data_chunk("data-hook", data)
        }
        CallChange::Started => new_transient_chunk("data-running", json!({ "toolCallId": call })),
        CallChange::Output { text } => {
            let data = json!({ "toolCallId": call, "text": text });
            new_transient_chunk("data-output", data)
        }
        CallChange::Update { partial } => {
            let PartialResult { content, details } = partial;
            let data = json!({ "toolCallId": call, "content": content, "details": details });
            new_transient_chunk("data-partial-result", data)
        }
        CallChange::Progress { text, .. } => {
            let data = json!({ "toolCallId": call, "message": text });
            new_transient_chunk("data-progress", data)
        }
        CallChange::ServerRequestReceived {
            request_id,
            request,
            ..
        } => {
            let data = json!({ "toolCallId": call, "askId": request_id, "asked": request });
            new_data_chunk("data-server-asked", data)
        }
        CallChange::ServerRequestAnswered {
            request_id, answer, ..
        } => {
            let data = json!({ "toolCallId": call, "askId": request_id, "answer": answer });
            new_data_chunk("data-server-answered", data)
        }
        CallChange::SamplingFinished { request_id, result } => {
            let data = json!({ "toolCallId": call, "askId": request_id, "said": result });
            new_data_chunk("data-server-lent", data)
        }
        CallChange::StateWritten { place, value } => {
            let data = json!({ "toolCallId": call, "place": place, "value": value });
            new_data_chunk("data-state", data)
        }
        CallChange::Judged { .. }
        | CallChange::Imported { .. }
        | CallChange::UndoPrepared { .. }
        | CallChange::Ended { .. }
        | CallChange::UndoApplied { .. }
        | CallChange::RedoApplied { .. } => return None,
    };
    Some(chunk)
}

/// Reports the end of a call, with its envelope. The chunk of an error has room for the text alone, so its envelope
/// comes before it.
fn push_call_end(call: &CallId, outcome: &Outcome, out: &mut Vec<Chunk>) {
    let tool_call_id = call.clone();
    let output = serde_json::to_value(outcome.to_envelope()).unwrap_or_default();
    match outcome.state {
        CallState::Done => out.push(Chunk::ToolOutputAvailable {
            tool_call_id,
            output,
        }),
        _ => {
            let data = json!({ "toolCallId": call, "output": output });
            out.push(new_data_chunk("data-envelope", data));
            out.push(Chunk::ToolOutputError {
                tool_call_id,
                error_text: outcome.text.clone(),
            });
        }
    }
}

fn new_data_chunk(kind: &'static str, data: Value) -> Chunk {
    Chunk::Data(DataChunk {
        kind,
        data,
        transient: false,
    })
}

fn new_transient_chunk(kind: &'static str, data: Value) -> Chunk {
    Chunk::Data(DataChunk {
        kind,
        data,
        transient: true,
    })
}
