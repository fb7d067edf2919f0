//! The conversation of a session, rebuilt from its events: the memory of a run is its record.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use protocol::event::{
    AnswerCheck, CallChange, CallProposal, MessageChange, ParentCall, SessionEvent, SessionOptions,
};
use protocol::session::agent_options::AgentOption;
use protocol::view::preview::TodoItem;
use protocol::{
    CallId, ContextUse, Event, EventBody, Message, MessageId, Outcome, Preview, ToolCall,
};
use serde_json::{Map, Value};
use tools::{PLAN, PLAN_EXIT, TOOL_SEARCH, WEB_SEARCH};

use crate::session::state_store::StateStore;
use crate::session::structured_output;
use crate::session::{background, planning};

/// Conversation of a session: the messages of the model, and the results that it has yet to receive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// Messages, ready to be sent, without results for the calls in `open`.
    pub messages: Vec<Message>,
    /// Calls without a result, in order, each with the person's arguments if the person changed them.
    pub open: Vec<OpenCall>,
    /// Number of model turns so far.
    pub turns: u32,
    /// To-do list, as the last call of a tool that shows one left it.
    pub todos: Vec<TodoItem>,
    /// To-do list that a call proposed and that is not set yet.
    pending_todos: Option<(CallId, Vec<TodoItem>)>,
    /// Options of the session beyond the person's words.
    pub options: SessionOptions,
    /// Call that opened the session, if a call did.
    pub parent: Option<ParentCall>,
    /// Whether the session is planning, so that nothing that could change anything is available.
    pub planning: bool,
    /// Options of the agent that answers in place of a model.
    pub agent_options: Vec<AgentOption>,
    /// How much of that agent's context is in use, as it told last.
    pub context: Option<ContextUse>,
    /// The session's state.
    pub state: StateStore,
    /// Last output of the run, in the schema that was asked for.
    pub output: Option<Value>,
    /// Ids of the tools that the model searched for and found.
    pub loaded: BTreeSet<String>,
    /// Number of web searches so far.
    pub searches: u32,
    /// All call ids so far.
    pub ids: HashSet<String>,
    /// Calls whose result the model has not received, in call order, each with its result if it has arrived already.
    pending_results: VecDeque<PendingResult>,
    /// Messages that arrived in the meantime.
    deferred: Vec<Message>,
}

/// A result that the model has yet to receive.
#[derive(Debug, Clone, PartialEq)]
struct PendingResult {
    call: CallId,
    name: String,
    result: Option<Message>,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub call: ToolCall,
    /// Arguments that the person wrote in place of the model's.
    pub edited: Option<Map<String, Value>>,
    /// Whether the call waits for a decision.
    pub waiting: bool,
    /// Whether the call began to run.
    pub started: bool,
    /// Whether the arguments come from the log, which masks a secret in them.
    pub is_masked: bool,
}

impl OpenCall {
    /// Returns the arguments as written by the person, or else by the model.
    pub fn arguments(&self) -> &Map<String, Value> {
        self.edited.as_ref().unwrap_or(&self.call.arguments)
    }
}

impl Conversation {
    /// Returns an empty conversation with these options; `parent` is the call that opened the session, if one did.
    pub fn new(options: SessionOptions, parent: Option<ParentCall>) -> Self {
        Self {
            state: StateStore::new(&options.instances),
            options,
            parent,
            ..Self::default()
        }
    }

    /// Rebuilds the conversation from events of one session, in order.
    pub fn from_events(events: &[Event]) -> Self {
        let mut conversation = Self::default();
        // Where in `messages` the message of each id stands.
        let mut places: HashMap<&str, usize> = HashMap::new();
        for event in events {
            conversation.apply_event(&event.body, &mut places);
        }
        conversation
    }

    /// Reserves a call id. `true` if no call of the session had it before.
    pub fn insert_id(&mut self, id: &str) -> bool {
        self.ids.insert(id.to_owned())
    }

    /// Adds a call whose result the model has to receive, after those of earlier calls.
    pub fn add_call(&mut self, call: &ToolCall) {
        self.pending_results.push_back(PendingResult {
            call: call.id.clone(),
            name: call.name.clone(),
            result: None,
        });
    }

    /// Adds the result of a call. The model receives results in call order, whichever call ends first (`S001-35`, M08):
    /// a result is held back until all before it have arrived.
    pub fn add_outcome(&mut self, call: &CallId, outcome: &Outcome) {
        self.open.retain(|open| open.call.id != *call);
        let Some(owed) = self
            .pending_results
            .iter_mut()
            .find(|owed| owed.call == *call)
        else {
            return;
        };
        if owed.name == TOOL_SEARCH && outcome.is_success() {
            self.loaded.extend(loaded_tools(outcome));
        }
        match owed.name.as_str() {
            PLAN if outcome.is_success() => self.planning = true,
            PLAN_EXIT if outcome.is_success() => self.planning = false,
            _ => {}
        }
        owed.result = Some(Message::from_outcome(call, &owed.name, outcome));
        while let Some(result) = self
            .pending_results
            .front_mut()
            .and_then(|owed| owed.result.take())
        {
            self.pending_results.pop_front();
            self.messages.push(result);
        }
        if self.pending_results.is_empty() {
            self.messages.append(&mut self.deferred);
        }
    }

    /// Adds a message for the model: after the pending results, which must come directly after their calls.
    pub fn push_message(&mut self, message: Message) {
        match self.pending_results.is_empty() {
            true => self.messages.push(message),
            false => self.deferred.push(message),
        }
    }

    /// Stores the result of checking an answer against a schema: its output, and a report to the model if there was a
    /// problem.
    pub fn set_output(&mut self, answer: &AnswerCheck) {
        self.output.clone_from(&answer.output);
        let report = answer
            .problem
            .as_deref()
            .map(structured_output::report_problem);
        self.messages.extend(report);
    }

    /// Returns the calls without a result.
    pub fn unanswered_calls(&self) -> Vec<CallId> {
        let unanswered = self
            .pending_results
            .iter()
            .filter(|owed| owed.result.is_none());
        unanswered.map(|owed| owed.call.clone()).collect()
    }

    fn apply_event<'a>(&mut self, body: &'a EventBody, places: &mut HashMap<&'a str, usize>) {
        match body {
            EventBody::Session(event) => self.apply_session_event(event),
            EventBody::Message { message, change } => {
                if let MessageChange::TurnStarted { .. } = change {
                    places.insert(message.as_str(), self.messages.len());
                }
                self.apply_message_change(message, change, places);
            }
            EventBody::Proposal(CallProposal {
                call,
                message,
                is_masked,
                ..
            }) => {
                if let Some(Message::Assistant { calls, .. }) = self.message_mut(places, message) {
                    calls.push(call.clone());
                }
                self.ids.insert(call.id.0.clone());
                self.add_call(call);
                self.open.push(OpenCall {
                    call: call.clone(),
                    edited: None,
                    waiting: false,
                    started: false,
                    is_masked: *is_masked,
                });
            }
            EventBody::Call { call, change } => self.apply_call_change(call, change),
        }
    }

    fn apply_session_event(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Opened {
                parent, options, ..
            } => {
                self.parent.clone_from(parent);
                self.options = options.as_deref().cloned().unwrap_or_default();
                self.state = StateStore::new(&self.options.instances);
            }
            SessionEvent::PlanningSet { on, by } => {
                self.planning = *on;
                if let Some(notice) = planning::planning_notice(*on, *by) {
                    self.push_message(Message::user(notice));
                }
            }
            SessionEvent::AgentOptionsChanged { options } => {
                self.agent_options.clone_from(options);
            }
            SessionEvent::AgentContextChanged { context } => self.context = Some(*context),
            SessionEvent::ModelChanged { effort, .. } => self.options.effort = *effort,
            SessionEvent::Renamed { .. }
            | SessionEvent::Placed { .. }
            | SessionEvent::Deleted { .. }
            | SessionEvent::AsksSkipped { .. }
            | SessionEvent::AsksResumed { .. }
            | SessionEvent::Changed { .. }
            | SessionEvent::LimitReached { .. }
            | SessionEvent::NoticeAdded { .. } => {}
        }
    }

    fn apply_message_change(
        &mut self,
        message: &MessageId,
        change: &MessageChange,
        places: &HashMap<&str, usize>,
    ) {
        match change {
            MessageChange::PersonSaid { text, images, .. } => self.push_message(Message::User {
                text: text.clone(),
                images: images.clone(),
            }),
            MessageChange::SubAgentFinished {
                title,
                text,
                failed,
                ..
            } => self.push_message(Message::user(background::format_result(
                title, text, *failed,
            ))),
            MessageChange::TurnStarted { turn } => {
                self.turns = *turn;
                self.messages.push(Message::Assistant {
                    text: String::new(),
                    calls: Vec::new(),
                    opaque: Value::Null,
                });
            }
            MessageChange::AgentSaid {
                text: piece,
                reasoning: false,
            } => {
                if let Some(Message::Assistant { text, .. }) = self.message_mut(places, message) {
                    text.push_str(piece);
                }
            }
            MessageChange::AgentSaid {
                reasoning: true, ..
            } => {}
            MessageChange::AnswerChecked { answer } => self.set_output(answer),
            MessageChange::TurnEnded { opaque: given, .. } => {
                if let Some(Message::Assistant { opaque, .. }) = self.message_mut(places, message) {
                    *opaque = given.clone();
                }
            }
        }
    }

    fn apply_call_change(&mut self, call: &CallId, change: &CallChange) {
        match change {
            CallChange::Judged {
                preview: Preview::Todo { items },
                ..
            } => self.pending_todos = Some((call.clone(), items.clone())),
            CallChange::Waiting { .. } => self.update_call(call, |open| open.waiting = true),
            CallChange::Edited {
                arguments,
                is_masked,
            } => self.update_call(call, |open| {
                open.edited = Some(arguments.clone());
                open.is_masked = *is_masked;
            }),
            CallChange::Started => {
                let searches = |open: &&OpenCall| {
                    open.call.id == *call && open.call.name == WEB_SEARCH && !open.started
                };
                self.searches += u32::from(self.open.iter().any(|open| searches(&open)));
                self.update_call(call, |open| (open.waiting, open.started) = (false, true));
            }
            CallChange::StateWritten { place, value } => self.state.write(place, value.clone()),
            CallChange::Ended { outcome, .. } => {
                if let Some((_, items)) = self.pending_todos.take_if(|(asked, _)| asked == call) {
                    self.todos = if outcome.is_success() {
                        items
                    } else {
                        std::mem::take(&mut self.todos)
                    };
                }
                self.add_outcome(call, outcome);
            }
            CallChange::Judged { .. }
            | CallChange::Imported { .. }
            | CallChange::Decided { .. }
            | CallChange::HookAnswered { .. }
            | CallChange::UndoPrepared { .. }
            | CallChange::Output { .. }
            | CallChange::Update { .. }
            | CallChange::Progress { .. }
            | CallChange::ServerRequestReceived { .. }
            | CallChange::ServerRequestAnswered { .. }
            | CallChange::SamplingFinished { .. }
            | CallChange::UndoApplied { .. }
            | CallChange::RedoApplied { .. } => {}
        }
    }

    fn message_mut(
        &mut self,
        places: &HashMap<&str, usize>,
        id: &MessageId,
    ) -> Option<&mut Message> {
        places
            .get(id.as_str())
            .and_then(|at| self.messages.get_mut(*at))
    }

    fn update_call(&mut self, call: &CallId, change: impl FnOnce(&mut OpenCall)) {
        if let Some(open) = self.open.iter_mut().find(|open| open.call.id == *call) {
            change(open);
        }
    }
}

/// Returns the ids of the tools that a search found.
fn loaded_tools(outcome: &Outcome) -> impl Iterator<Item = String> {
    let matches = outcome.data.as_ref().and_then(|data| data.get("matches"));
    let matches = matches.and_then(Value::as_array).into_iter().flatten();
    matches.filter_map(|one| Some(one.get("id")?.as_str()?.to_owned()))
}
