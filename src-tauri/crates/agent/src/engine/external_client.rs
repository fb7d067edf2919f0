//! An external program that makes a session's calls: each goes through the same pipeline, with no model turn in
//! between.
//!
//! The session is opened like any other and names its client. While its calls are open a run is active, which reloads
//! rules and tools when it begins; calls that are known to be safe in parallel run side by side, any other one alone,
//! in the order in which they arrived (M08). An answered call is on disk.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::event::{CallChange, CallProposal, ClientInfo, Notice, SessionEvent, SessionOptions};
use protocol::model::REASONING_MEMBER;
use protocol::server::mcp_servers::ServerId;
use protocol::text::cut::shorten_text;
use protocol::text::depth::is_too_deep;
use protocol::text::display_text::to_single_line;
use protocol::{
    CallId, CallState, Event, EventBody, MessageId, ModelChoice, NoticeLevel, Outcome, SessionId,
    SessionState, Strategy, ToolCall, Trail, UserError,
};
use runtime::{FileLock, TerminalEnv, Workspace};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::{ElicitationChannel, OfferedTool};

use crate::engine::Engine;
use crate::engine::delegated_calls::DelegatedCalls;
use crate::engine::turn_messages::TurnMessages;
use crate::limits::{CALLS_OPEN_MAX, CLIENT_CHARS_MAX, NAME_CHARS_MAX, PARALLEL_CALLS_MAX};
use crate::permissions::rules;
use crate::pipeline::call;
use crate::pipeline::{outcome, outgoing, resolve};
use crate::run;
use crate::session::Session;
use crate::session::conversation::{Conversation, OpenCall};
use crate::session::engine_state::EngineState;
use crate::session::manual_calls::CLIENT_PROVIDER;
use crate::session::toolbox::Toolbox;

/// Sender of a running call's updates: progress messages, and the end of its output.
pub type ProgressSender = mpsc::Sender<String>;

/// Result of a call.
#[derive(Debug, Clone)]
pub struct ClientOutcome {
    /// Id of the call on record.
    pub call: CallId,
    /// Outcome of the call.
    pub outcome: Outcome,
    /// Trail of the gates, if a gate denied the call.
    pub trail: Option<Arc<Trail>>,
}

impl ClientOutcome {
    /// Whether the text tells more than that a person rejected the call.
    pub fn gives_reason(&self) -> bool {
        self.outcome.text != outcome::PLAIN_REJECTION_TEXT
    }
}

/// A call of an external program.
pub struct ClientCall<'a> {
    /// Name of the tool.
    pub name: &'a str,
    /// Arguments of the call.
    pub arguments: Map<String, Value>,
    /// Receiver of the call's updates.
    pub heard: Option<ProgressSender>,
    /// Who is asked what servers ask during the call, where no person can be.
    pub questions: Option<Arc<dyn ElicitationChannel>>,
}

/// An external program, with the session of its calls. Dropping it ends its calls.
pub struct ExternalClient {
    pub(super) session: Arc<Session>,
    /// Holds the session for as long as the program may call.
    _lock: Arc<FileLock>,
    /// Permits for calls that run in parallel; a call that is not safe in parallel takes all of them.
    room: Semaphore,
    room_max: u32,
    /// Number of open calls.
    open: Mutex<usize>,
    pub(super) tasks: TaskTracker,
    /// Approved calls that the program runs itself.
    pub(super) delegated: DelegatedCalls,
    /// Messages of the agent that makes the calls, within a run of its session; none where each call is a message and
    /// the open calls are the run.
    messages: Option<Arc<TurnMessages>>,
}

impl Engine {
    /// Returns the tools that an external program would be offered in a folder.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn list_tools(&self, workspace: &Path) -> Result<Vec<OfferedTool>, UserError> {
        list_tools(&self.state, workspace, None)
    }

    /// Reads the rules of a folder, so that their errors are among the current errors before a session is opened there.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn check_rules(&self, workspace: &Path) -> Result<(), UserError> {
        let config = &self.state.config;
        let workspace = Workspace::open(workspace)?;
        let loaded = rules::load_rules(
            &config.data_dir,
            Some(&workspace),
            &[],
            config.rules.as_deref(),
        );
        let faults = loaded.errors.into_iter().chain(loaded.untrusted);
        self.state
            .set_rule_errors(workspace.root(), faults.collect());
        Ok(())
    }

    /// Opens a session in a folder for the calls of an external program.
    ///
    /// # Errors
    /// A folder that cannot be opened, and a record that cannot be written.
    pub async fn open_client(
        &self,
        workspace: &Path,
        client: ClientInfo,
    ) -> Result<Arc<ExternalClient>, UserError> {
        ExternalClient::open(&self.state, workspace, client, None).await
    }
}

/// Returns the tools that an external program would be offered in a folder: all, or those of a server behind a gateway.
pub(super) fn list_tools(
    engine: &Arc<EngineState>,
    workspace: &Path,
    server: Option<ServerId>,
) -> Result<Vec<OfferedTool>, UserError> {
    let options = SessionOptions {
        client: Some(ClientInfo {
            name: String::new(),
            version: String::new(),
            by: String::new(),
            session: String::new(),
            token: String::new(),
        }),
        server,
        ..SessionOptions::default()
    };
    Ok(Toolbox::for_options(engine, workspace, &options)?.offered_tools())
}

impl ExternalClient {
    /// Opens a session for the calls of an external program: of all tools, or of those of a server behind a gateway.
    pub(super) async fn open(
        engine: &Arc<EngineState>,
        workspace: &Path,
        client: ClientInfo,
        server: Option<ServerId>,
    ) -> Result<Arc<Self>, UserError> {
        let cleaned = |text: &str| to_single_line(text.trim(), CLIENT_CHARS_MAX);
        let name = match cleaned(&client.name) {
            name if name.is_empty() => "a client without a name".to_owned(),
            name => name,
        };
        let client = ClientInfo {
            name,
            version: cleaned(&client.version),
            by: client.by,
            session: client.session,
            token: cleaned(&client.token),
        };
        let options = SessionOptions {
            client: Some(client.clone()),
            server,
            ..SessionOptions::default()
        };
        let session = open_session(engine, workspace, &client, options).await?;
        Self::new(session, None).map(Arc::new)
    }

    /// Returns a client that makes calls in a session: by itself, or as part of these messages of a run.
    ///
    /// # Errors
    /// Another process works in the session.
    pub(super) fn new(
        session: Arc<Session>,
        messages: Option<Arc<TurnMessages>>,
    ) -> Result<Self, UserError> {
        let held = session.lock.acquire(&session.tool_context.folder)?;
        let room_max = match session.strategy {
            Strategy::Sequential => 1,
            Strategy::Parallel => PARALLEL_CALLS_MAX,
            Strategy::Batched { size } => PARALLEL_CALLS_MAX.min(size.get() as usize),
        };
        Ok(Self {
            session,
            _lock: held,
            room: Semaphore::new(room_max),
            room_max: u32::try_from(room_max).unwrap_or(1),
            open: Mutex::new(0),
            tasks: TaskTracker::new(),
            delegated: DelegatedCalls::default(),
            messages,
        })
    }
}

/// Opens the session, and records the name of its client.
async fn open_session(
    engine: &Arc<EngineState>,
    workspace: &Path,
    client: &ClientInfo,
    options: SessionOptions,
) -> Result<Arc<Session>, UserError> {
    let client_name = client.summary();
    let by = &client.by;
    let tools = match &options.server {
        None => String::new(),
        Some(server) => format!(" It has the tools of the MCP server {server} alone."),
    };
    let model = ModelChoice {
        provider: CLIENT_PROVIDER.to_owned(),
        model: client_name.clone(),
    };
    let id = SessionId(engine.config.ids.next_id("ses"));
    let conversation = Conversation::new(options.clone(), None);
    let session = engine.admit_session(id, workspace, model.clone(), conversation)?;
    let opened = EventBody::Session(SessionEvent::Opened {
        title: format!("Calls of {client_name}"),
        workspace: session.tool_context.workspace.root().display().to_string(),
        model,
        parent: None,
        options: Some(Box::new(options)),
    });
    session.journal.record(opened);
    let fault = UserError::new(
        format!(
            "{client_name} makes the calls of this session itself, by {by}. No model of ours asks.{tools}"
        ),
        match client.token.as_str() {
            "" => "Its name is what it says of itself.".to_owned(),
            token => format!(
                "It was let in by the token {token}; the rest of its name is what it says of itself."
            ),
        },
    );
    let level = NoticeLevel::Note;
    let notice = Notice { level, fault };
    session
        .journal
        .record_synced(EventBody::Session(SessionEvent::NoticeAdded { notice }))
        .await?;
    Ok(session)
}

impl ExternalClient {
    /// Returns the session that records the program's calls.
    pub fn session(&self) -> &SessionId {
        &self.session.id
    }

    /// Sets the environment of the terminal that the program runs in, for the commands of its calls from then on.
    pub fn set_terminal_env(&self, terminal: TerminalEnv) {
        let workspace = &self.session.tool_context.workspace;
        workspace.inherited_env().set_terminal(terminal);
    }

    /// Takes over tools that were connected since the run began.
    pub fn reload_tools(&self) {
        self.session.reload_tools();
    }

    /// Makes a call as [`ExternalClient::make_call`], in which questions of servers are nobody's but the person's.
    ///
    /// # Errors
    /// As [`ExternalClient::make_call`].
    pub async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        heard: Option<ProgressSender>,
    ) -> Result<ClientOutcome, UserError> {
        let request = ClientCall {
            name,
            arguments,
            heard,
            questions: None,
        };
        self.make_call(request, cancel).await
    }

    /// Makes a call, and returns its result once that is on disk. `cancel` ends this call alone; so does dropping the
    /// future.
    ///
    /// # Errors
    /// The record cannot be written, too many calls are open, or the client was closed.
    pub async fn make_call(
        self: &Arc<Self>,
        request: ClientCall<'_>,
        cancel: &CancellationToken,
    ) -> Result<ClientOutcome, UserError> {
        let ClientCall {
            name,
            arguments,
            heard,
            questions,
        } = request;
        let entered = self.begin_call()?;
        let engine = &self.session.engine;
        let mut events = match &heard {
            Some(_) => Some(engine.subscribe(engine.record.last_seq()?)),
            None => None,
        };
        let stop = self.session.cancellation_token().child_token();
        let _stops = stop.clone().drop_guard();
        let open = self.propose_call(name, arguments).await;
        let id = open.call.id.clone();
        let _passed_on = questions.map(|client| self.session.elicitations.pass_on(&id, client));
        let mut ended = self.tasks.spawn(run_call(entered, open, stop.clone()));
        loop {
            let next = async {
                match &mut events {
                    Some(events) => events.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut ended => {
                    let outcome = outcome.map_err(|_| internal_error())??;
                    self.session.journal.sync().await?;
                    return self.build_answer(&id, outcome);
                }
                () = cancel.cancelled(), if !stop.is_cancelled() => stop.cancel(),
                batch = next => match batch {
                    Ok(Some(batch)) => batch.iter().filter_map(|event| progress_text(event, &self.session.id, &id)).for_each(|word| {
                        // Whoever does not keep up misses a word; the result has everything.
                        let _ = heard.as_ref().map(|heard| heard.try_send(word));
                    }),
                    Ok(None) | Err(_) => events = None,
                },
            }
        }
    }

    /// Builds the result of a call, with the trail of a denied one.
    pub(super) fn build_answer(
        &self,
        call: &CallId,
        outcome: Outcome,
    ) -> Result<ClientOutcome, UserError> {
        let view = match outcome.state {
            CallState::Denied => self.session.engine.call_view(&self.session.id, call)?,
            _ => None,
        };
        Ok(ClientOutcome {
            call: call.clone(),
            outcome,
            trail: view.and_then(|view| view.trail),
        })
    }

    /// Ends the open calls.
    pub fn stop(&self) {
        self.session.stop();
    }

    /// Ends the open calls, and waits until everything is on disk. No further call begins.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn close(&self) -> Result<(), UserError> {
        {
            let _nobody_enters = self.open.lock();
            self.tasks.close();
            self.stop();
        }
        self.tasks.wait().await;
        self.session.journal.sync().await
    }

    /// Waits until the open calls of a run are over. No further call begins.
    pub(super) async fn wait_for_calls(&self) {
        self.tasks.close();
        self.abandon_approved_calls();
        self.tasks.wait().await;
    }

    /// Counts an open call; the first one starts a run.
    pub(super) fn begin_call(self: &Arc<Self>) -> Result<ActiveCall, UserError> {
        let mut open = self.open.lock();
        if self.tasks.is_closed() {
            return Err(UserError::new(
                "The connection was closed.",
                "Connect again.",
            ));
        }
        if *open >= CALLS_OPEN_MAX {
            return Err(UserError::new(
                format!("{CALLS_OPEN_MAX} calls are open already."),
                "Wait until some of them are over.",
            ));
        }
        if let Some(messages) = &self.messages {
            messages.admit_call()?;
        } else if *open == 0 {
            self.session.begin_run();
            self.session.reload_rules();
            self.session.reload_tools();
            self.session.set_state(SessionState::Running);
        }
        *open += 1;
        Ok(ActiveCall(self.clone()))
    }

    /// Records a proposed call.
    pub(super) async fn propose_call(
        &self,
        name: &str,
        mut arguments: Map<String, Value>,
    ) -> OpenCall {
        let ids = &self.session.engine.config.ids;
        // No tool has so long a name; of what is none the beginning says enough.
        let name = shorten_text(name, NAME_CHARS_MAX);
        if is_too_deep(&arguments) {
            let written = Value::Object(arguments).to_string();
            arguments = Map::from_iter([("nested_too_deeply".to_owned(), written.into())]);
        }
        let reasoning = arguments.get(REASONING_MEMBER).and_then(Value::as_str);
        let reasoning = reasoning.map(str::to_owned);
        let call = ToolCall {
            id: CallId(ids.next_id("call")),
            name,
            arguments,
        };
        outgoing::mask_secrets(&self.session, &call, &call.arguments).await;
        let message = match &self.messages {
            Some(messages) => messages.message_of_call(),
            None => MessageId(ids.next_id("msg")),
        };
        self.session
            .journal
            .record(EventBody::Proposal(CallProposal {
                call: call.clone(),
                message,
                reasoning,
                is_masked: false,
            }));
        OpenCall {
            call,
            edited: None,
            waiting: false,
            started: false,
            is_masked: false,
        }
    }
}

/// Guard of an open call; dropping the last one ends the run.
pub(super) struct ActiveCall(Arc<ExternalClient>);

impl Drop for ActiveCall {
    fn drop(&mut self) {
        let mut open = self.0.open.lock();
        *open = open.saturating_sub(1);
        if *open == 0 && self.0.messages.is_none() {
            let session = &self.0.session;
            let state = match session.cancellation_token().is_cancelled() {
                true => SessionState::Interrupted,
                false => SessionState::Done,
            };
            session.end_run(state);
        }
    }
}

/// Waits for permits, and runs the call through the pipeline.
pub(super) async fn run_call(
    entered: ActiveCall,
    open: OpenCall,
    stop: CancellationToken,
) -> Result<Outcome, UserError> {
    let (caller, session) = (&entered.0, &entered.0.session);
    // In which order delegated calls run is their program's matter.
    let is_delegated = session.delegates.get(&open.call.id).is_some();
    let permits = match is_delegated || resolve::is_parallel_safe(session, &open) {
        true => 1,
        false => caller.room_max,
    };
    let room = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        room = caller.room.acquire_many(permits) => room.ok(),
    };
    let id = &open.call.id;
    let outcome = match room {
        Some(_room) => {
            session.cancellations.insert(id.clone(), stop);
            let outcome = call::run_call(session, &open).await;
            session.cancellations.remove(id);
            session.delegates.remove(id);
            outcome?
        }
        None => {
            let text = "Cancelled by whoever asked for it, before it began.".to_owned();
            let outcome = outcome::ended_outcome(CallState::Skipped, text.clone(), text);
            run::end_call(session, id, outcome.clone());
            session.delegates.remove(id);
            outcome
        }
    };
    Ok(outcome)
}

/// Returns the update about a running call for its client; none if the event is none.
fn progress_text(event: &Event, session: &SessionId, of: &CallId) -> Option<String> {
    let last_line = |text: &str| {
        let mut lines = text.lines().rev().map(str::trim);
        let line = lines.find(|line| !line.is_empty())?;
        Some(to_single_line(line, CLIENT_CHARS_MAX))
    };
    match &event.body {
        EventBody::Call { call, change } if event.session == *session && call == of => match change
        {
            CallChange::Progress { text, .. } | CallChange::Output { text } => last_line(text),
            CallChange::Update { partial } => last_line(&partial.to_text()),
            CallChange::Waiting { .. } => Some("Waits for the person's answer.".to_owned()),
            CallChange::Decided { .. } => Some("The person answered.".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn internal_error() -> UserError {
    UserError::new(
        "The call broke off by a fault of ours.",
        "Look at the session for what it did.",
    )
}
