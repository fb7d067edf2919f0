//! 001: agent events, in the order start, updates, end, each with its call's id (`S001-09`, `S001-68`).

use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub use super::agent_words::{AgentEvent, Delta, Message, Part, Partial};
use super::time;
use crate::{At, CallId, Event, EventBody, LoopId, MessageId, Outcome, Usage};

/// Maps a session's events to agent events.
#[derive(Debug, Clone, Default)]
pub struct AgentEvents {
    runs: u32,
    run: Option<Run>,
    calls: HashMap<CallId, Open>,
}

#[derive(Debug, Clone)]
struct Run {
    id: String,
    turns: u32,
    usage: Usage,
    turn: Option<Turn>,
}

/// A turn whose calls may still be at work.
#[derive(Debug, Clone)]
struct Turn {
    index: u32,
    message: MessageId,
    said: Vec<Part>,
    /// The message is being written, or is told as complete with the next event that is no call of its.
    writing: Writing,
    usage: Usage,
    error: Option<String>,
    results: Vec<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    Now,
    Over,
    Told,
}

/// A call without a result.
#[derive(Debug, Clone)]
struct Open {
    name: String,
    arguments: Map<String, Value>,
    started: bool,
}

impl AgentEvents {
    /// The agent events that an event gives.
    pub fn map(&mut self, event: &Event) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        match &event.body {
            EventBody::CallProposed { .. } | EventBody::TurnEnded { .. } => {}
            _ => self.complete(&mut out),
        }
        match &event.body {
            EventBody::PersonSaid { message, text, .. } => {
                let loop_id = self.begin(event, &mut out);
                let said = Message::User {
                    id: message.clone(),
                    content: vec![Part::Text { text: text.clone() }],
                };
                whole(&loop_id, said, &mut out);
            }
            EventBody::ErrandEnded { message, text, .. } => {
                let loop_id = self.begin(event, &mut out);
                let said = Message::User {
                    id: message.clone(),
                    content: vec![Part::Text { text: text.clone() }],
                };
                whole(&loop_id, said, &mut out);
            }
            EventBody::SessionChanged { state } if state.ends_run() => {
                self.end(*state, event.at, &mut out);
            }
            EventBody::SessionChanged {
                state: crate::SessionState::Running,
            } => drop(self.begin(event, &mut out)),
            EventBody::TurnStarted { message, .. } => self.turn(message, event, &mut out),
            EventBody::AgentSaid {
                message,
                text,
                reasoning,
            } => self.said(message, text, *reasoning, &mut out),
            EventBody::TurnEnded { usage, error, .. } => {
                if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
                    turn.usage = *usage;
                    turn.error = error.as_ref().map(ToString::to_string);
                    turn.writing = Writing::Over;
                }
            }
            EventBody::CallProposed { call, .. } => {
                let part = Part::ToolCall {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                };
                if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
                    turn.said.push(part);
                }
                let open = Open {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                    started: false,
                };
                self.calls.insert(call.id.clone(), open);
            }
            EventBody::CallEdited { call, arguments } => {
                if let Some(open) = self.calls.get_mut(call) {
                    open.arguments.clone_from(arguments);
                }
            }
            EventBody::CallStarted { call } => self.started(call, &mut out),
            EventBody::CallOutput { call, text } => {
                let content = vec![Part::Text { text: text.clone() }];
                self.update(call, content, Value::Null, &mut out);
            }
            EventBody::CallUpdate { call, partial } => {
                let content = partial.content.iter().map(Part::from).collect();
                let details = partial.details.clone().unwrap_or_default();
                self.update(call, content, details, &mut out);
            }
            EventBody::CallProgress { call, message, .. } => {
                self.progress(call, message, &mut out);
            }
            EventBody::CallEnded { call, outcome, .. } => {
                self.ended(call, outcome, event.at, &mut out)
            }
            EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::CallJudged { .. }
            | EventBody::CallWaits { .. }
            | EventBody::CallDecided { .. }
            | EventBody::CallHooked { .. }
            | EventBody::UndoPrepared { .. }
            | EventBody::AnswerChecked { .. }
            | EventBody::CallAsked { .. }
            | EventBody::CallAnswered { .. }
            | EventBody::CallLent { .. }
            | EventBody::StateWritten { .. }
            | EventBody::LimitReached { .. }
            | EventBody::PlanningSet { .. }
            | EventBody::UndoApplied { .. }
            | EventBody::RedoApplied { .. }
            | EventBody::Noted { .. } => {}
        }
        out
    }

    fn loop_id(&self) -> String {
        let run = self.run.as_ref();
        run.map(|run| run.id.clone()).unwrap_or_default()
    }

    /// The run's id; a run begins if none is at work.
    fn begin(&mut self, event: &Event, out: &mut Vec<AgentEvent>) -> String {
        if let Some(run) = &self.run {
            return run.id.clone();
        }
        self.runs += 1;
        let id = LoopId::new(&event.session, self.runs).0;
        self.run = Some(Run {
            id: id.clone(),
            turns: 0,
            usage: Usage::default(),
            turn: None,
        });
        out.push(AgentEvent::AgentStart {
            session_id: event.session.0.clone(),
            loop_id: id.clone(),
            timestamp: time(event.at),
        });
        id
    }

    fn turn(&mut self, message: &MessageId, event: &Event, out: &mut Vec<AgentEvent>) {
        self.end_turn(event.at, out);
        let loop_id = self.begin(event, out);
        let Some(run) = &mut self.run else { return };
        let index = run.turns;
        run.turns += 1;
        run.turn = Some(Turn {
            index,
            message: message.clone(),
            said: Vec::new(),
            writing: Writing::Now,
            usage: Usage::default(),
            error: None,
            results: Vec::new(),
        });
        out.push(AgentEvent::TurnStart {
            loop_id: loop_id.clone(),
            turn_index: index,
            timestamp: time(event.at),
        });
        let message = Message::Assistant {
            id: message.clone(),
            content: Vec::new(),
        };
        out.push(AgentEvent::MessageStart { loop_id, message });
    }

    fn said(&mut self, id: &MessageId, text: &str, reasoning: bool, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        let turn = self.run.as_mut().and_then(|run| run.turn.as_mut());
        let Some(turn) = turn.filter(|turn| turn.message == *id && turn.writing == Writing::Now)
        else {
            return;
        };
        match (turn.said.last_mut(), reasoning) {
            (Some(Part::Text { text: said }), false) => said.push_str(text),
            (Some(Part::Thinking { thinking }), true) => thinking.push_str(text),
            (_, false) => turn.said.push(Part::Text { text: text.into() }),
            (_, true) => turn.said.push(Part::Thinking {
                thinking: text.into(),
            }),
        }
        let (id, delta) = (id.clone(), text.to_owned());
        let delta = match reasoning {
            true => Delta::Thinking { id, delta },
            false => Delta::Text { id, delta },
        };
        out.push(AgentEvent::MessageUpdate { loop_id, delta });
    }

    /// Tells the agent's message as complete, once its calls are known.
    fn complete(&mut self, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        let turn = self.run.as_mut().and_then(|run| run.turn.as_mut());
        if let Some(turn) = turn.filter(|turn| turn.writing == Writing::Over) {
            turn.writing = Writing::Told;
            let message = turn.told();
            out.push(AgentEvent::MessageEnd { loop_id, message });
        }
    }

    fn started(&mut self, call: &CallId, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        // A call whose file changed at the last moment is shown anew and begins a second time: it is one run.
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

    fn update(
        &mut self,
        call: &CallId,
        content: Vec<Part>,
        details: Value,
        out: &mut Vec<AgentEvent>,
    ) {
        if let Some(open) = self.calls.get(call).filter(|open| open.started) {
            out.push(AgentEvent::ToolExecutionUpdate {
                loop_id: self.loop_id(),
                tool_call_id: call.clone(),
                tool_name: open.name.clone(),
                partial_result: Partial { content, details },
            });
        }
    }

    fn progress(&mut self, call: &CallId, text: &str, out: &mut Vec<AgentEvent>) {
        if let Some(open) = self.calls.get(call).filter(|open| open.started) {
            out.push(AgentEvent::ProgressMessage {
                loop_id: self.loop_id(),
                tool_call_id: call.clone(),
                tool_name: open.name.clone(),
                text: text.to_owned(),
            });
        }
    }

    fn ended(&mut self, call: &CallId, outcome: &Outcome, at: At, out: &mut Vec<AgentEvent>) {
        let loop_id = self.loop_id();
        let Some(open) = self.calls.remove(call) else {
            return;
        };
        let content = vec![Part::Text {
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
        let result = Message::ToolResult {
            tool_call_id: call.clone(),
            tool_name: open.name,
            content,
            is_error,
            timestamp: time(at),
        };
        whole(&loop_id, result.clone(), out);
        if let Some(turn) = self.run.as_mut().and_then(|run| run.turn.as_mut()) {
            turn.results.push(result);
        }
    }

    fn end_turn(&mut self, at: At, out: &mut Vec<AgentEvent>) {
        let Some(run) = &mut self.run else { return };
        let Some(turn) = run.turn.take() else { return };
        if turn.writing != Writing::Told {
            out.push(AgentEvent::MessageEnd {
                loop_id: run.id.clone(),
                message: turn.told(),
            });
        }
        run.usage = run.usage.plus(turn.usage);
        out.push(AgentEvent::TurnEnd {
            loop_id: run.id.clone(),
            turn_index: turn.index,
            message: turn.told(),
            usage: turn.usage,
            tool_results: turn.results,
            error: turn.error,
            timestamp: time(at),
        });
    }

    fn end(&mut self, state: crate::SessionState, at: At, out: &mut Vec<AgentEvent>) {
        self.end_turn(at, out);
        if let Some(run) = self.run.take() {
            out.push(AgentEvent::AgentEnd {
                loop_id: run.id,
                usage: run.usage,
                state,
                timestamp: time(at),
            });
        }
    }
}

impl Turn {
    fn told(&self) -> Message {
        Message::Assistant {
            id: self.message.clone(),
            content: self.said.clone(),
        }
    }
}

/// A message that is complete when it begins.
fn whole(loop_id: &str, message: Message, out: &mut Vec<AgentEvent>) {
    let loop_id = loop_id.to_owned();
    out.push(AgentEvent::MessageStart {
        loop_id: loop_id.clone(),
        message: message.clone(),
    });
    out.push(AgentEvent::MessageEnd { loop_id, message });
}
