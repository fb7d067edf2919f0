//! 001: agent events, in the order start, updates, end, each with its call's id (`S001-09`, `S001-68`).

use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub use super::agent_event_types::{
    AgentEvent, AgentMessage, AgentMessagePart, AgentPartialResult, MessageDelta,
};
use crate::event::{CallChange, CallProposal, MessageChange, SessionEvent};
use crate::text::timestamp::format_timestamp;
use crate::{At, CallId, Event, EventBody, LoopId, MessageId, Outcome, Usage};

/// Maps a session's events to agent events.
#[derive(Debug, Clone, Default)]
pub struct AgentEventMapper {
    runs: u32,
    run: Option<OpenRun>,
    calls: HashMap<CallId, AgentOpenCall>,
}

#[derive(Debug, Clone)]
struct OpenRun {
    id: String,
    turns: u32,
    usage: Usage,
    turn: Option<OpenTurn>,
}

/// A turn whose calls may still be running.
#[derive(Debug, Clone)]
struct OpenTurn {
    index: u32,
    message: MessageId,
    said: Vec<AgentMessagePart>,
    /// Progress of the agent's message. A complete message is reported with the next event that is not one of its
    /// calls.
    writing: MessageProgress,
    usage: Usage,
    error: Option<String>,
    results: Vec<AgentMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageProgress {
    Now,
    Over,
    Told,
}

/// A call without a result.
#[derive(Debug, Clone)]
struct AgentOpenCall {
    name: String,
    arguments: Map<String, Value>,
    started: bool,
}

impl AgentEventMapper {
    /// Maps an event to agent events.
    pub fn map(&mut self, event: &Event) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        match &event.body {
            EventBody::Proposal(_)
            | EventBody::Message {
                change: MessageChange::TurnEnded { .. },
                ..
            } => {}
            _ => self.complete_message(&mut out),
        }
        match &event.body {
            EventBody::Session(SessionEvent::Changed { state }) if state.ends_run() => {
                self.end_run(*state, event.at, &mut out);
            }
            EventBody::Session(SessionEvent::Changed {
                state: crate::SessionState::Running,
            }) => drop(self.begin_run(event, &mut out)),
            EventBody::Session(_) => {}
            EventBody::Message { message, change } => {
                self.map_message_change(message, change, event, &mut out);
            }
            EventBody::Proposal(CallProposal { call, .. }) => {
                let part = AgentMessagePart::ToolCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                };
                if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
                    turn.said.push(part);
                }
                let open = AgentOpenCall {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                    started: false,
                };
                self.calls.insert(call.id.clone(), open);
            }
            EventBody::Call { call, change } => {
                self.map_call_change(call, change, event.at, &mut out);
            }
        }
        out
    }

    fn map_message_change(
        &mut self,
        message: &MessageId,
        change: &MessageChange,
        event: &Event,
        out: &mut Vec<AgentEvent>,
    ) {
        match change {
            MessageChange::PersonSaid { text, .. }
            | MessageChange::SubAgentFinished { text, .. } => {
                let loop_id = self.begin_run(event, out);
                let user = AgentMessage::User {
                    id: message.clone(),
                    content: vec![AgentMessagePart::Text { text: text.clone() }],
                };
                push_whole_message(&loop_id, user, out);
            }
            MessageChange::TurnStarted { .. } => self.begin_turn(message, event, out),
            MessageChange::AgentSaid { text, reasoning } => {
                self.append_text(message, text, *reasoning, out);
            }
            MessageChange::AnswerChecked { .. } => {}
            MessageChange::TurnEnded { usage, error, .. } => {
                if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
                    turn.usage = *usage;
                    turn.error = error.as_ref().map(ToString::to_string);
                    turn.writing = MessageProgress::Over;
                }
            }
        }
    }

    fn map_call_change(
        &mut self,
        call: &CallId,
        change: &CallChange,
        at: At,
        out: &mut Vec<AgentEvent>,
    ) {
        match change {
            CallChange::Edited { arguments, .. } => {
                if let Some(open) = self.calls.get_mut(call) {
                    open.arguments.clone_from(arguments);
                }
            }
            CallChange::Started => self.start_call(call, out),
            CallChange::Output { text } => {
                let content = vec![AgentMessagePart::Text { text: text.clone() }];
                self.update_call(call, content, Value::Null, out);
            }
            CallChange::Update { partial } => {
                let content = partial.content.iter().map(AgentMessagePart::from).collect();
                let details = partial.details.clone().unwrap_or_default();
                self.update_call(call, content, details, out);
            }
            CallChange::Progress { text, .. } => self.report_progress(call, text, out),
            CallChange::Ended { outcome, .. } => self.end_call(call, outcome, at, out),
            CallChange::Judged { .. }
            | CallChange::Imported { .. }
            | CallChange::Waiting { .. }
            | CallChange::Decided { .. }
            | CallChange::HookAnswered { .. }
            | CallChange::UndoPrepared { .. }
            | CallChange::ServerRequestReceived { .. }
            | CallChange::ServerRequestAnswered { .. }
            | CallChange::SamplingFinished { .. }
            | CallChange::StateWritten { .. }
            | CallChange::UndoApplied { .. }
            | CallChange::RedoApplied { .. } => {}
        }
    }

    fn loop_id(&self) -> String {
        let run = self.run.as_ref();
        run.map(|run| run.id.clone()).unwrap_or_default()
    }

    /// Returns the run's id; begins a run if none is open.
    fn begin_run(&mut self, event: &Event, out: &mut Vec<AgentEvent>) -> String {
        if let Some(run) = &self.run {
            return run.id.clone();
        }
        self.runs += 1;
        let id = LoopId::new(&event.session, self.runs).0;
        self.run = Some(OpenRun {
            id: id.clone(),
            turns: 0,
            usage: Usage::default(),
            turn: None,
        });
        out.push(AgentEvent::AgentStart {
            session_id: event.session.0.clone(),
            loop_id: id.clone(),
            timestamp: format_timestamp(event.at),
        });
        id
    }

    fn begin_turn(&mut self, message: &MessageId, event: &Event, out: &mut Vec<AgentEvent>) {
        self.end_turn(event.at, out);
        let loop_id = self.begin_run(event, out);
        let Some(run) = &mut self.run else { return };
        let index = run.turns;
        run.turns += 1;
        run.turn = Some(OpenTurn {
            index,
            message: message.clone(),
            said: Vec::new(),
            writing: MessageProgress::Now,
            usage: Usage::default(),
            error: None,
            results: Vec::new(),
        });
        out.push(AgentEvent::TurnStart {
            loop_id: loop_id.clone(),
            turn_index: index,
            timestamp: format_timestamp(event.at),
        });
        let message = AgentMessage::Assistant {
            id: message.clone(),
            content: Vec::new(),
        };
        out.push(AgentEvent::MessageStart { loop_id, message });
    }

    fn append_text(
        &mut self,
        id: &MessageId,
        text: &str,
        reasoning: bool,
        out: &mut Vec<AgentEvent>,
    ) {
        let loop_id = self.loop_id();
        let turn = self.run.as_mut().and_then(|run| run.turn.as_mut());
        let Some(turn) =
            turn.filter(|turn| turn.message == *id && turn.writing == MessageProgress::Now)
        else {
            return;
        };
        match (turn.said.last_mut(), reasoning) {
            (Some(AgentMessagePart::Text { text: said }), false) => said.push_str(text),
            (Some(AgentMessagePart::Thinking { thinking }), true) => thinking.push_str(text),
            (_, false) => turn.said.push(AgentMessagePart::Text { text: text.into() }),
            (_, true) => turn.said.push(AgentMessagePart::Thinking {
                thinking: text.into(),
            }),
        }
        let (id, delta) = (id.clone(), text.to_owned());
        let delta = match reasoning {
            true => MessageDelta::Thinking { id, delta },
            false => MessageDelta::Text { id, delta },
        };
        out.push(AgentEvent::MessageUpdate { loop_id, delta });
    }

    /// Reports the agent's message as complete, once its calls are known.
    fn complete_message(&mut self, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        let turn = self.run.as_mut().and_then(|run| run.turn.as_mut());
        if let Some(turn) = turn.filter(|turn| turn.writing == MessageProgress::Over) {
            turn.writing = MessageProgress::Told;
            let message = turn.to_message();
            out.push(AgentEvent::MessageEnd { loop_id, message });
        }
    }

    fn start_call(&mut self, call: &CallId, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        // A call whose file changed at the last moment is shown again and begins a second time: both are one execution.
        let Some(open) = self.calls.get_mut(call).filter(|open| !open.started) else {
            return;
        };
        open.started = true;
        out.push(AgentEvent::ToolExecutionStart {
            loop_id,
            tool_call_id: call.clone(),
            tool_name: open.name.clone(),
            args: open.arguments.clone(),
        });
    }

    fn update_call(
        &mut self,
        call: &CallId,
        content: Vec<AgentMessagePart>,
        details: Value,
        out: &mut Vec<AgentEvent>,
    ) {
        if let Some(open) = self.calls.get(call).filter(|open| open.started) {
            out.push(AgentEvent::ToolExecutionUpdate {
                loop_id: self.loop_id(),
                tool_call_id: call.clone(),
                tool_name: open.name.clone(),
                partial_result: AgentPartialResult { content, details },
            });
        }
    }

    fn report_progress(&mut self, call: &CallId, text: &str, out: &mut Vec<AgentEvent>) {
        if let Some(open) = self.calls.get(call).filter(|open| open.started) {
            out.push(AgentEvent::ProgressMessage {
                loop_id: self.loop_id(),
                tool_call_id: call.clone(),
                tool_name: open.name.clone(),
                text: text.to_owned(),
            });
        }
    }

    fn end_call(&mut self, call: &CallId, outcome: &Outcome, at: At, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        let Some(open) = self.calls.remove(call) else {
            return;
        };
        let content = vec![AgentMessagePart::Text {
            text: outcome.model_text(),
        }];
        let is_error = !outcome.is_success();
        if open.started {
            out.push(AgentEvent::ToolExecutionEnd {
                loop_id: loop_id.clone(),
                tool_call_id: call.clone(),
                tool_name: open.name.clone(),
                result: json!({ "content": content, "details": outcome.details }),
                is_error,
                // A sub-agent's session has one run (`S001-45`).
                child_loop_id: outcome.child.as_ref().map(|child| LoopId::new(child, 1).0),
            });
        }
        let result = AgentMessage::ToolResult {
            tool_call_id: call.clone(),
            tool_name: open.name,
            content,
            is_error,
            timestamp: format_timestamp(at),
        };
        push_whole_message(&loop_id, result.clone(), out);
        if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
            turn.results.push(result);
        }
    }

    fn end_turn(&mut self, at: At, out: &mut Vec<AgentEvent>) {
        let Some(run) = &mut self.run else { return };
        let Some(turn) = run.turn.take() else { return };
        if turn.writing != MessageProgress::Told {
            out.push(AgentEvent::MessageEnd {
                loop_id: run.id.clone(),
                message: turn.to_message(),
            });
        }
        run.usage = run.usage.plus(turn.usage);
        out.push(AgentEvent::TurnEnd {
            loop_id: run.id.clone(),
            turn_index: turn.index,
            message: turn.to_message(),
            usage: turn.usage,
            tool_results: turn.results,
            error: turn.error,
            timestamp: format_timestamp(at),
        });
    }

    fn end_run(&mut self, state: crate::SessionState, at: At, out: &mut Vec<AgentEvent>) {
        self.end_turn(at, out);
        if let Some(run) = self.run.take() {
            out.push(AgentEvent::AgentEnd {
                loop_id: run.id,
                usage: run.usage,
                state,
                timestamp: format_timestamp(at),
            });
        }
    }
}

impl OpenTurn {
    fn to_message(&self) -> AgentMessage {
        AgentMessage::Assistant {
            id: self.message.clone(),
            content: self.said.clone(),
        }
    }
}

/// Reports a message that is complete when it begins.
fn push_whole_message(loop_id: &str, message: AgentMessage, out: &mut Vec<AgentEvent>) {
    let loop_id = loop_id.to_owned();
    out.push(AgentEvent::MessageStart {
        loop_id: loop_id.clone(),
        message: message.clone(),
    });
    out.push(AgentEvent::MessageEnd { loop_id, message });
}
