//! Follows the log, and tells the editor what happens in its sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use agent::EventStream;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CurrentModeUpdate, SessionUpdate, ToolCall, ToolCallLocation, ToolCallUpdate,
};
use agent_client_protocol::{Client, Error};
use protocol::event::{CallChange, SessionEvent, fold};
use protocol::{CallId, CallView, Entry, Event, EventBody, SessionId, UserError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Answers;
use super::asking::OpenQuestion;
use super::errors::failed_request;
use super::server::{AgentServer, send_update};
use super::tool_calls::{describe_call, find_judged_places, tool_call_id};
use super::updates::{update_from_message, update_from_todo, update_title};
use crate::limits::RUN_END_TIMEOUT;

/// Follower of the sessions of one editor.
pub(super) struct Follower {
    server: Arc<AgentServer>,
    events: EventStream,
    /// Sessions of sub-agents, each with the session that it works for and that the editor knows.
    delegates: HashMap<SessionId, SessionId>,
    /// Calls that have not ended.
    calls: HashMap<CallKey, OpenCall>,
}

/// Session and id of a call.
type CallKey = (SessionId, CallId);

/// A call that has not ended.
struct OpenCall {
    entry: Entry,
    /// The session that the editor knows.
    known: SessionId,
    root: PathBuf,
    places: Vec<ToolCallLocation>,
    /// Whether the editor knows of it.
    is_told: bool,
    /// Whether it has output that the editor was not sent.
    has_output: bool,
    /// Withdraws the question about it when dropped.
    question: Option<DropGuard>,
}

impl OpenCall {
    fn view(&self) -> Option<&CallView> {
        self.entry.body.call()
    }

    /// Returns the call as the editor shows it.
    fn describe(&self) -> Option<ToolCall> {
        let view = self.view()?;
        let id = tool_call_id(&self.known, &self.entry.session, &view.call.id);
        let call = describe_call(id, view, &self.root);
        Some(match call.locations.is_empty() {
            true => call.locations(self.places.clone()),
            false => call,
        })
    }
}

impl Follower {
    /// Returns a follower of these events.
    pub fn new(server: Arc<AgentServer>, events: EventStream) -> Self {
        Self {
            server,
            events,
            delegates: HashMap::new(),
            calls: HashMap::new(),
        }
    }

    /// Tells the editor what happens, until the engine is closed.
    pub async fn run(&mut self, client: &ConnectionTo<Client>) -> Result<(), Error> {
        while let Some(batch) = self
            .events
            .next()
            .await
            .map_err(|fault| failed_request(&fault))?
        {
            for event in batch.iter() {
                self.follow_event(event, client)?;
            }
            self.send_output(client)?;
        }
        Ok(())
    }

    /// Stops the editor's runs, and waits until their ends are on record.
    pub async fn stop_runs(mut self) -> Result<(), UserError> {
        let mut running = self.server.stop_runs().await;
        let ended = async {
            while !running.is_empty() {
                let Some(batch) = self.events.next().await? else {
                    return Ok(());
                };
                for event in batch.iter().filter(|event| ends_run(&event.body)) {
                    running.retain(|session| *session != event.session);
                }
            }
            Ok(())
        };
        // What takes longer ends with the program.
        tokio::time::timeout(RUN_END_TIMEOUT, ended)
            .await
            .unwrap_or(Ok(()))
    }

    fn follow_event(&mut self, event: &Event, client: &ConnectionTo<Client>) -> Result<(), Error> {
        let mut parent = None;
        if let EventBody::Session(SessionEvent::Opened { parent: opener, .. }) = &event.body {
            parent = opener.as_ref();
        }
        let session = parent.map_or(&event.session, |parent| &parent.session);
        let known = self.delegates.get(session).unwrap_or(session).clone();
        let Some(root) = self.server.root_for_event(&known, event.seq) else {
            // The editor left it, so nobody there is asked any more.
            self.calls.retain(|_, call| call.known != known);
            return Ok(());
        };
        if parent.is_some() {
            let child = event.session.clone();
            self.delegates.insert(child, known.clone());
        }
        let update = match &event.body {
            EventBody::Proposal(_) | EventBody::Call { .. } => {
                return self.follow_call(event, &known, root, client);
            }
            // Of a sub-agent only the calls are told, and they ask.
            _ if known != event.session => None,
            EventBody::Message { message, change } => update_from_message(message, change),
            EventBody::Session(change) => self.update_from_session(&known, change)?,
        };
        if let Some(update) = update {
            send_update(client, &known, update)?;
        }
        self.server.note_event(event)
    }

    fn update_from_session(
        &self,
        session: &SessionId,
        change: &SessionEvent,
    ) -> Result<Option<SessionUpdate>, Error> {
        Ok(match change {
            SessionEvent::Renamed { title } => Some(update_title(title)),
            SessionEvent::PlanningSet { on, .. } => {
                let mode = self.server.current_mode(session, *on);
                let mode = mode.map_err(|fault| failed_request(&fault))?;
                Some(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(
                    mode.id(),
                )))
            }
            SessionEvent::NoticeAdded { notice } => self.server.update_from_notice(notice),
            SessionEvent::Opened { .. }
            | SessionEvent::Placed { .. }
            | SessionEvent::Deleted { .. }
            | SessionEvent::Changed { .. }
            | SessionEvent::ModelChanged { .. }
            | SessionEvent::AsksSkipped { .. }
            | SessionEvent::AsksResumed { .. }
            | SessionEvent::AgentOptionsChanged { .. }
            | SessionEvent::AgentContextChanged { .. }
            | SessionEvent::LimitReached { .. } => None,
        })
    }

    fn follow_call(
        &mut self,
        event: &Event,
        known: &SessionId,
        root: PathBuf,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let Some(id) = fold::entry_id(event) else {
            return Ok(());
        };
        let key = (event.session.clone(), CallId::from(&*id));
        let call = match (self.calls.remove(&key), fold::begin_entry(event)) {
            (Some(mut open), _) => {
                fold::apply_event(&mut open.entry, event);
                open
            }
            (None, Some(entry)) => OpenCall {
                entry,
                known: known.clone(),
                root,
                places: Vec::new(),
                is_told: false,
                has_output: false,
                question: None,
            },
            // It began before the session was opened here.
            (None, None) => return Ok(()),
        };
        let EventBody::Call { change, .. } = &event.body else {
            self.calls.insert(key, call);
            return Ok(());
        };
        if let Some(open) = self.apply_change(call, change, client)? {
            self.calls.insert(key, open);
        }
        Ok(())
    }

    /// Tells the editor of a change, and asks where the call waits. Returns the call unless it ended.
    fn apply_change(
        &self,
        mut call: OpenCall,
        change: &CallChange,
        client: &ConnectionTo<Client>,
    ) -> Result<Option<OpenCall>, Error> {
        match change {
            CallChange::Judged { evidence, .. } => {
                call.question = None;
                if let Some(evidence) = evidence {
                    call.places = find_judged_places(evidence, &call.root);
                }
                call.tell(client)?;
            }
            CallChange::Waiting { .. } | CallChange::ServerRequestReceived { .. } => {
                call.tell(client)?;
                match self.server.options.answers {
                    Answers::Editor => self.ask(&mut call, client)?,
                    Answers::Desk => {}
                }
            }
            CallChange::Decided { .. }
            | CallChange::Edited { .. }
            | CallChange::ServerRequestAnswered { .. } => call.question = None,
            CallChange::Started => call.tell(client)?,
            CallChange::Output { .. } => call.has_output = true,
            CallChange::Ended { .. } => {
                call.question = None;
                call.tell(client)?;
                let plan = call.view().and_then(update_from_todo);
                if let Some(plan) = plan.filter(|_| call.known == call.entry.session) {
                    send_update(client, &call.known, plan)?;
                }
                return Ok(None);
            }
            CallChange::Imported { .. }
            | CallChange::HookAnswered { .. }
            | CallChange::UndoPrepared { .. }
            | CallChange::Update { .. }
            | CallChange::Progress { .. }
            | CallChange::SamplingFinished { .. }
            | CallChange::StateWritten { .. }
            | CallChange::UndoApplied { .. }
            | CallChange::RedoApplied { .. } => {}
        }
        Ok(Some(call))
    }

    fn ask(&self, call: &mut OpenCall, client: &ConnectionTo<Client>) -> Result<(), Error> {
        let (Some(view), Some(shown)) = (call.view(), call.describe()) else {
            return Ok(());
        };
        let withdrawn = CancellationToken::new();
        let question = OpenQuestion {
            desk: self.server.desk.clone(),
            client: client.clone(),
            capabilities: self.server.capabilities(),
            known: call.known.clone(),
            session: call.entry.session.clone(),
            view: view.clone(),
            shown: ToolCallUpdate::from(shown),
            withdrawn: withdrawn.clone(),
        };
        client.spawn(question.ask())?;
        call.question = Some(withdrawn.drop_guard());
        Ok(())
    }

    /// Sends the output of running calls, once for each batch of events.
    fn send_output(&mut self, client: &ConnectionTo<Client>) -> Result<(), Error> {
        for call in self.calls.values_mut().filter(|call| call.has_output) {
            call.tell(client)?;
        }
        Ok(())
    }
}

impl OpenCall {
    /// Tells the editor all that is known of the call.
    fn tell(&mut self, client: &ConnectionTo<Client>) -> Result<(), Error> {
        let Some(call) = self.describe() else {
            return Ok(());
        };
        self.has_output = false;
        let update = match std::mem::replace(&mut self.is_told, true) {
            true => {
                let mut update = ToolCallUpdate::from(call);
                // The arguments were told, and stay.
                update.fields.raw_input = None;
                SessionUpdate::ToolCallUpdate(update)
            }
            false => SessionUpdate::ToolCall(call),
        };
        send_update(client, &self.known, update)
    }
}

fn ends_run(event: &EventBody) -> bool {
    matches!(event, EventBody::Session(SessionEvent::Changed { state }) if state.ends_run())
}
