//! From a session's events back to what the model was told: the whole memory of a run is its record.

use std::collections::{HashMap, HashSet};

use protocol::preview::TodoItem;
use protocol::{CallId, Event, EventBody, Message, Preview, ToolCall};
use serde_json::{Map, Value};

/// What the model knows, and what it is owed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The messages, ready to be sent, without results for the calls in `open`.
    pub messages: Vec<Message>,
    /// Calls without a result, in order, each with the person's arguments if they changed them.
    pub open: Vec<OpenCall>,
    /// How many model turns there were.
    pub turns: u32,
    /// The list of things to do, as the last call of a tool that shows one left it.
    pub todos: Vec<TodoItem>,
    /// Such a list that was asked for and is not set yet.
    todos_asked: Option<(CallId, Vec<TodoItem>)>,
    /// Every call id so far.
    pub ids: HashSet<String>,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub call: ToolCall,
    /// The person's arguments.
    pub edited: Option<Map<String, Value>>,
    /// Whether it stands on the desk.
    pub waiting: bool,
    /// Whether it began to run.
    pub started: bool,
}

impl Conversation {
    /// The conversation that some events of one session tell of, in order.
    pub fn from_events(events: &[Event]) -> Self {
        let mut conversation = Self::default();
        // Where in `messages` the message of each id stands.
        let mut places: HashMap<&str, usize> = HashMap::new();
        for event in events {
            conversation.apply(&event.body, &mut places);
        }
        conversation
    }

    /// Whether no call of the session has this id; from now on one has.
    pub fn is_new(&mut self, id: &str) -> bool {
        self.ids.insert(id.to_owned())
    }

    fn apply<'a>(&mut self, body: &'a EventBody, places: &mut HashMap<&'a str, usize>) {
        match body {
            EventBody::PersonSaid { text, .. } => {
                self.messages.push(Message::User { text: text.clone() })
            }
            EventBody::TurnStarted { turn, message } => {
                self.turns = *turn;
                places.insert(message.as_str(), self.messages.len());
                self.messages.push(Message::Assistant {
                    text: String::new(),
                    calls: Vec::new(),
                    opaque: Value::Null,
                });
            }
            EventBody::AgentSaid {
                message,
                text,
                reasoning: false,
            } => {
                if let Some(Message::Assistant { text: said, .. }) =
                    self.message(places, message.as_str())
                {
                    said.push_str(text);
                }
            }
            EventBody::TurnEnded {
                message,
                opaque: given,
                ..
            } => {
                if let Some(Message::Assistant { opaque, .. }) =
                    self.message(places, message.as_str())
                {
                    *opaque = given.clone();
                }
            }
            EventBody::CallProposed { call, message, .. } => {
                if let Some(Message::Assistant { calls, .. }) =
                    self.message(places, message.as_str())
                {
                    calls.push(call.clone());
                }
                self.ids.insert(call.id.0.clone());
                self.open.push(OpenCall {
                    call: call.clone(),
                    edited: None,
                    waiting: false,
                    started: false,
                });
            }
            EventBody::CallWaits { call, .. } => self.change(call, |open| open.waiting = true),
            EventBody::CallEdited { call, arguments } => {
                self.change(call, |open| open.edited = Some(arguments.clone()));
            }
            EventBody::CallStarted { call } => {
                self.change(call, |open| (open.waiting, open.started) = (false, true));
            }
            EventBody::CallJudged {
                call,
                preview: Preview::Todo { items },
                ..
            } => {
                self.todos_asked = Some((call.clone(), items.clone()));
            }
            EventBody::CallEnded { call, outcome } => {
                if let Some((_, items)) = self.todos_asked.take_if(|(asked, _)| asked == call) {
                    self.todos = if outcome.is_success() {
                        items
                    } else {
                        std::mem::take(&mut self.todos)
                    };
                }
                if let Some(at) = self.open.iter().position(|open| open.call.id == *call) {
                    let ended = self.open.remove(at).call;
                    self.messages.push(Message::Tool {
                        call: ended.id,
                        name: ended.name,
                        text: outcome.text.clone(),
                        is_error: !outcome.is_success(),
                    });
                }
            }
            EventBody::AgentSaid {
                reasoning: true, ..
            }
            | EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::CallJudged { .. }
            | EventBody::CallDecided { .. }
            | EventBody::UndoPrepared { .. }
            | EventBody::CallOutput { .. }
            | EventBody::UndoApplied { .. }
            | EventBody::RedoApplied { .. }
            | EventBody::Noted { .. } => {}
        }
    }

    fn message(&mut self, places: &HashMap<&str, usize>, id: &str) -> Option<&mut Message> {
        places.get(id).and_then(|at| self.messages.get_mut(*at))
    }

    fn change(&mut self, call: &CallId, change: impl FnOnce(&mut OpenCall)) {
        if let Some(open) = self.open.iter_mut().find(|open| open.call.id == *call) {
            change(open);
        }
    }
}
