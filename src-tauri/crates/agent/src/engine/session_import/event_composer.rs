//! The events of an imported session, without secrets and within the limits of live sessions.

use std::sync::Arc;

use policy::watchdogs::{KnownSecret, SecretMask, find_outgoing_secrets};
use protocol::call::outcome::Truncation;
use protocol::event::{
    CallChange, CallProposal, MessageChange, NoticeLevel, SessionEvent, SessionOptions,
};
use protocol::text::cut::{shorten_text, take_head};
use protocol::text::depth::is_too_deep;
use protocol::text::redact;
use protocol::{
    At, CallId, CallState, Event, EventBody, MessageId, ModelChoice, Outcome, SessionId, ToolCall,
    ToolError, ToolOutput, Usage, UserError,
};
use runtime::Workspace;
use serde_json::{Map, Value};
use tools::limits::OUTPUT_BYTES_MAX;

use super::kept_images::KeptImages;
use super::recorded_events::RecordedEvents;
use super::{
    ImportedBody, ImportedCall, ImportedEntry, ImportedResult, ImportedSession, derive_id,
};
use crate::engine::commands::title_from_prompt;
use crate::limits::{ARGUMENTS_BYTES_MAX, MESSAGE_BYTES_MAX, NAME_CHARS_MAX};
use crate::pipeline::outcome::{ended_outcome, mask_outcome, redact_outcome};
use crate::pipeline::outgoing::collect_known_secrets;
use crate::rulebook::simulation::PolicySimulation;
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::IMPORTED_PROVIDER;

/// What is said of a result that is empty.
const EMPTY_RESULT_TEXT: &str = "The agent's tool gave nothing back.";

/// What a turn of the agent consists of: a transcript has its parts one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnPart {
    Answer,
    Thought,
}

/// Composer of the events of one session that are not on record.
pub(super) struct EventComposer<'a> {
    session: &'a SessionId,
    recorded: &'a RecordedEvents,
    simulation: PolicySimulation,
    /// Secrets of the folder and of the app, which no event repeats.
    known: Vec<KnownSecret>,
    /// Number of the agent's messages so far.
    turns: u32,
    /// The agent's last message, which its calls belong to.
    message: MessageId,
}

impl<'a> EventComposer<'a> {
    pub fn new(
        engine: &Arc<EngineState>,
        id: &'a SessionId,
        session: &ImportedSession,
        recorded: &'a RecordedEvents,
    ) -> Self {
        let known = match Workspace::open(&session.folder) {
            Ok(workspace) => collect_known_secrets(&workspace, engine.keys.as_ref()),
            Err(_) => Vec::new(),
        };
        Self {
            session: id,
            recorded,
            simulation: PolicySimulation::in_folder(&session.folder, engine.tools(), engine.now()),
            known,
            turns: recorded.turn_count(),
            message: MessageId(derive_id("msg", &(id, "before the first message"))),
        }
    }

    /// Composes the events that begin the session; none if it is on record.
    pub fn compose_opening(&self, session: &ImportedSession) -> Vec<Event> {
        if !self.recorded.is_empty() {
            return Vec::new();
        }
        let at = session.entries.first().map_or(At::MIN, |entry| entry.at);
        let agent = &session.agent;
        let title = session.entries.iter().find_map(|entry| match &entry.body {
            ImportedBody::Prompt { text, .. } => Some(title_from_prompt(&redact::text(text).0)),
            ImportedBody::Answer(_) | ImportedBody::Thought(_) | ImportedBody::Call(_) => None,
        });
        let title = title.filter(|title| !title.is_empty());
        let opened = SessionEvent::Opened {
            title: title.unwrap_or_else(|| format!("Session of {}", agent.name)),
            workspace: session.folder.display().to_string(),
            model: ModelChoice {
                provider: IMPORTED_PROVIDER.to_owned(),
                model: agent.summary(),
            },
            parent: None,
            options: Some(Box::new(SessionOptions {
                client: Some(agent.clone()),
                ..SessionOptions::default()
            })),
        };
        let fault = UserError::new(
            format!(
                "This session was imported from a transcript of {}. Its calls were not judged here.",
                agent.summary()
            ),
            format!(
                "{} goes on with it, and not Countersign. Nothing in it can be undone here.",
                agent.name
            ),
        );
        let notice = EventBody::notice(NoticeLevel::Note, fault);
        vec![
            self.new_event(at, opened.into()),
            self.new_event(at, notice),
        ]
    }

    /// Composes the events of an entry that are not on record.
    pub fn compose_entry(&mut self, entry: &ImportedEntry) -> Vec<Event> {
        let events = match &entry.body {
            ImportedBody::Prompt {
                text,
                images,
                unread_images,
            } => {
                // An image that is gone at the next import does not make it another message.
                let message = self.derive_message_id(entry.at, "prompt", text);
                let kept = KeptImages::choose(images);
                let change = MessageChange::PersonSaid {
                    text: kept.add_note(name_images(shorten_message(text), unread_images)),
                    images: kept.images,
                    steering: false,
                };
                vec![self.new_event(entry.at, EventBody::for_message(&message, change))]
            }
            ImportedBody::Answer(text) => self.compose_turn(entry.at, text, TurnPart::Answer),
            ImportedBody::Thought(text) => self.compose_turn(entry.at, text, TurnPart::Thought),
            ImportedBody::Call(call) => self.compose_call(entry.at, call),
        };
        let is_new = |event: &Event| !self.recorded.has(event);
        events.into_iter().filter(is_new).collect()
    }

    fn compose_turn(&mut self, at: At, text: &str, part: TurnPart) -> Vec<Event> {
        let kind = match part {
            TurnPart::Answer => "answer",
            TurnPart::Thought => "thought",
        };
        self.message = self.derive_message_id(at, kind, text);
        let turn = match self.recorded.turn_of(self.message.as_str()) {
            Some(turn) => turn,
            None => {
                self.turns += 1;
                self.turns
            }
        };
        let changes = [
            MessageChange::TurnStarted { turn },
            MessageChange::AgentSaid {
                text: shorten_message(text),
                reasoning: part == TurnPart::Thought,
            },
            MessageChange::TurnEnded {
                turn,
                usage: Usage::default(),
                duration_ms: 0,
                error: None,
                opaque: Value::Null,
            },
        ];
        changes
            .map(|change| self.new_event(at, EventBody::for_message(&self.message, change)))
            .into()
    }

    fn compose_call(&self, at: At, call: &ImportedCall) -> Vec<Event> {
        let id = CallId(derive_id("call", &(self.session, at, &call.id)));
        if self.recorded.has_call(id.as_str(), call.result.is_some()) {
            return Vec::new();
        }
        let given = limit_arguments(&call.arguments);
        let found = find_outgoing_secrets(&given, &self.known);
        let mask = SecretMask::new(&found, &given);
        let masked = mask.mask_arguments(&given);
        let masked = redact::mask_object(&masked).0.into_owned();
        let name = shorten_text(&call.tool, NAME_CHARS_MAX);
        let examined = self.simulation.examine(&name, &masked);
        let proposal = EventBody::Proposal(CallProposal {
            is_masked: masked != call.arguments,
            call: ToolCall {
                id: id.clone(),
                name,
                arguments: masked,
            },
            message: self.message.clone(),
            reasoning: None,
        });
        let imported = CallChange::Imported {
            forked_from: None,
            tool: examined.tool,
            title: examined.title,
            target: examined.target,
            mode: examined.mode,
            kind: examined.kind,
            undo: examined.undo,
            evidence: examined.evidence,
        };
        let ended_at = call.result.as_ref().map_or(at, |result| result.at);
        let ended = CallChange::Ended {
            outcome: Box::new(build_outcome(call.result.as_ref(), at, &mask)),
            masked: None,
        };
        vec![
            self.new_event(at, proposal),
            self.new_event(at, EventBody::for_call(&id, imported)),
            self.new_event(ended_at, EventBody::for_call(&id, ended)),
        ]
    }

    fn derive_message_id(&self, at: At, kind: &str, text: &str) -> MessageId {
        MessageId(derive_id("msg", &(self.session, at, kind, text)))
    }

    fn new_event(&self, at: At, body: EventBody) -> Event {
        Event {
            seq: 0,
            session: self.session.clone(),
            at,
            body,
        }
    }
}

/// Returns a message as it is recorded: without what looks like a secret, and cut where it is too long.
fn shorten_message(text: &str) -> String {
    let text = redact::text(text).0;
    let head = take_head(&text, MESSAGE_BYTES_MAX);
    match head.len() == text.len() {
        true => text.into_owned(),
        false => format!("{head}\n\n{}", describe_cut(head.len(), text.len())),
    }
}

/// Adds the paths of images that cannot be read any more to a message.
fn name_images(text: String, paths: &[String]) -> String {
    let named = paths.iter().map(|path| format!("[Image: {path}]"));
    let text = Some(text).filter(|text| !text.is_empty());
    text.into_iter().chain(named).collect::<Vec<_>>().join("\n")
}

fn describe_cut(kept: usize, whole: usize) -> String {
    format!("[Cut after {kept} of {whole} bytes. The rest is in the transcript of the agent.]")
}

/// Returns arguments as they can be kept. Those that are nested too deeply or too long become one text.
fn limit_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    let member = |name: &str, text: String| Map::from_iter([(name.to_owned(), text.into())]);
    let is_deep = is_too_deep(arguments);
    let written = serde_json::to_string(arguments).unwrap_or_default();
    match written.len() > ARGUMENTS_BYTES_MAX {
        true => {
            let head = take_head(&written, MESSAGE_BYTES_MAX);
            let cut = describe_cut(head.len(), written.len());
            member("too_long", format!("{head}{cut}"))
        }
        false if is_deep => member("nested_too_deeply", written),
        false => arguments.clone(),
    }
}

/// Returns the outcome of a call: masked, then cut.
fn build_outcome(result: Option<&ImportedResult>, began: At, mask: &SecretMask) -> Outcome {
    let Some(result) = result else {
        let text = "The transcript has no result of this call.".to_owned();
        return ended_outcome(CallState::Interrupted, text.clone(), text);
    };
    let outcome = match result.failed {
        true => Outcome::from_tool_error(&ToolError::Failed(result.text.clone())),
        false => {
            let kept = KeptImages::choose(&result.images);
            let text = kept.add_note(result.text.clone());
            let mut output = ToolOutput::new(text, "Done by the agent");
            output.content = kept.images;
            Outcome::from_tool_output(output, EMPTY_RESULT_TEXT)
        }
    };
    let mut outcome = mask_outcome(mask, redact_outcome(outcome));
    outcome.duration_ms = u64::try_from(result.at.saturating_sub(began)).unwrap_or(0);
    outcome.ended_at = result.at;
    // The line of a failure is its first sentence, and a result may be one sentence.
    outcome.message = shorten_text(&outcome.message, NAME_CHARS_MAX);
    let bytes_max = usize::try_from(OUTPUT_BYTES_MAX).unwrap_or(usize::MAX);
    if outcome.text.len() > bytes_max {
        let whole = std::mem::take(&mut outcome.text);
        outcome.text = take_head(&whole, bytes_max).to_owned();
        let cut = describe_cut(outcome.text.len(), whole.len());
        outcome.notes.insert(0, cut);
        outcome.truncated = Some(Truncation {
            output_path: None,
            bytes: whole.len() as u64,
        });
    }
    outcome
}
