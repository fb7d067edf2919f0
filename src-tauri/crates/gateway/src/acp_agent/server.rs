//! The requests of an editor, and the sessions that it has open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use agent::Engine;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    self, AgentCapabilities, ClientCapabilities, Implementation, InitializeRequest,
    InitializeResponse, NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest,
    PromptResponse, SessionCapabilities, SessionCloseCapabilities, SessionListCapabilities,
    SessionModeState, SessionNotification, SessionResumeCapabilities, SessionUpdate,
    SetSessionModeRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};
use parking_lot::Mutex;
use protocol::text::display_text::{format_count, to_single_line};
use protocol::{Event, Notice, NoticeLevel, Op, SessionId, UserError};

use super::errors::{failed_request, invalid_request, unknown_session};
use super::modes::Mode;
use super::prompt::Prompt;
use super::prompt_turn::PromptTurn;
use super::updates::update_from_notice;
use super::{AgentOptions, Answers};
use crate::limits::TITLE_CHARS_MAX;

/// One connection with an editor.
pub(super) struct AgentServer {
    pub desk: Engine,
    pub options: AgentOptions,
    capabilities: Mutex<ClientCapabilities>,
    sessions: Mutex<HashMap<SessionId, OpenSession>>,
}

/// A session that an editor has open.
struct OpenSession {
    /// Root of its workspace.
    root: PathBuf,
    /// Position in the log when it was opened; the editor is told of later events.
    since: u64,
    prompt: Option<PromptTurn>,
}

impl AgentServer {
    pub fn new(desk: Engine, options: AgentOptions) -> Self {
        Self {
            desk,
            options,
            capabilities: Mutex::default(),
            sessions: Mutex::default(),
        }
    }

    /// Answers with what we are and can do.
    pub fn initialize(&self, request: InitializeRequest) -> InitializeResponse {
        *self.capabilities.lock() = request.client_capabilities;
        let prompts = PromptCapabilities::new().image(true).embedded_context(true);
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(prompts)
            .session_capabilities(sessions);
        let own = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .agent_info(own.title("Countersign".to_owned()))
    }

    /// Returns what the editor can do.
    pub fn capabilities(&self) -> ClientCapabilities {
        self.capabilities.lock().clone()
    }

    /// Opens a new session in a folder.
    pub async fn open_session(
        &self,
        request: &NewSessionRequest,
    ) -> Result<NewSessionResponse, Error> {
        let folder = self.options.workspace.as_ref().unwrap_or(&request.cwd);
        let opened = self.open_engine_session(folder).await;
        let id = opened.map_err(|fault| invalid_request(&fault))?;
        let id = schema::SessionId::new(id.as_str());
        let modes = self.attach_session(&id).await?;
        Ok(NewSessionResponse::new(id).modes(modes))
    }

    async fn open_engine_session(&self, folder: &Path) -> Result<SessionId, UserError> {
        let chosen = self.options.model.clone();
        let model = chosen.or_else(|| self.desk.settings().model.clone());
        let model = model.ok_or_else(|| {
            UserError::new(
                "No provider is named, and the settings have none.",
                "Choose one in the app, or name one in the editor's settings, with --provider and --model.",
            )
        })?;
        let workspace = folder.to_str().ok_or_else(|| {
            UserError::new("The folder's name is not UTF-8.", "Name another folder.")
        })?;
        let op = Op::OpenSession {
            workspace: workspace.to_owned(),
            model,
            prompt: None,
            output_schema: None,
            temperature: None,
            agent: None,
            planning: false,
            enclosure: None,
            servers: None,
            former: None,
        };
        let opened = self.desk.submit(op).await?.session;
        opened.ok_or_else(|| UserError::new("The session was not opened.", "Try again."))
    }

    /// Opens a session that is on record, and returns its modes.
    pub async fn attach_session(&self, id: &schema::SessionId) -> Result<SessionModeState, Error> {
        let view = self.find_session(id).await?;
        let attached = async {
            let is_open = self.sessions.lock().contains_key(&view.id);
            if let Some(posture) = self.options.posture.filter(|_| !is_open) {
                self.desk.choose_posture(&view.id, posture).await?;
            }
            let open = OpenSession {
                root: PathBuf::from(&view.workspace),
                since: self.desk.last_seq()?,
                prompt: None,
            };
            self.sessions.lock().entry(view.id.clone()).or_insert(open);
            let mode = self.current_mode(&view.id, view.planning)?;
            Ok(mode.to_state())
        };
        attached
            .await
            .map_err(|fault: UserError| failed_request(&fault))
    }

    /// Tells the editor that its servers of tools are not used.
    pub fn tell_ignored_servers(
        &self,
        client: &ConnectionTo<Client>,
        session: &schema::SessionId,
        servers: usize,
    ) -> Result<(), Error> {
        if servers == 0 || self.open_session_id(session).is_err() {
            return Ok(());
        }
        let fault = UserError::new(
            format!(
                "{} of the editor's settings cannot be used here.",
                format_count(servers as u64, "server")
            ),
            "Set up the servers in Countersign, where you approve what they may do.",
        );
        let level = NoticeLevel::Warning;
        match self.update_from_notice(&Notice { level, fault }) {
            Some(update) => send_update(client, &SessionId::from(&*session.0), update),
            None => Ok(()),
        }
    }

    /// Returns the update for a notice, if the editor shows it.
    pub fn update_from_notice(&self, notice: &Notice) -> Option<SessionUpdate> {
        let capabilities = self.capabilities.lock();
        let session = capabilities.session.as_ref();
        update_from_notice(notice, session.is_some_and(|can| can.notices.is_some()))
    }

    /// Changes the mode of a session.
    pub async fn set_mode(&self, request: &SetSessionModeRequest) -> Result<(), Error> {
        let session = self.open_session_id(&request.session_id)?;
        let mode = Mode::parse(&request.mode_id).ok_or_else(Error::invalid_params)?;
        let changed = async {
            if let Mode::Work(posture) = mode {
                self.desk.choose_posture(&session, posture).await?;
            }
            let on = mode == Mode::Plan;
            self.desk.submit(Op::SetPlanning { session, on }).await
        };
        changed.await.map_err(|fault| failed_request(&fault))?;
        Ok(())
    }

    /// Returns the mode of a session that plans, or does not.
    pub fn current_mode(&self, session: &SessionId, plans: bool) -> Result<Mode, UserError> {
        match plans {
            true => Ok(Mode::Plan),
            false => self.desk.posture(session).map(Mode::Work),
        }
    }

    /// Sends a prompt. It is answered when its run ends.
    pub async fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        let prompt = self.open_session_id(&request.session_id).and_then(|id| {
            let prompt = Prompt::parse(request.prompt).map_err(|fault| invalid_request(&fault))?;
            Ok((id, prompt))
        });
        let (session, prompt) = match prompt {
            Ok(prompt) => prompt,
            Err(error) => return responder.respond_with_error(error),
        };
        if self.has_prompt(&session) {
            let fault =
                UserError::new("A prompt of this session is worked on.", "Cancel it first.");
            return responder.respond_with_error(invalid_request(&fault));
        }
        self.put_prompt(&session, PromptTurn::new(responder));
        let title = to_single_line(prompt.text.trim(), TITLE_CHARS_MAX);
        match self.send_prompt(&session, prompt, title).await {
            Ok(()) => Ok(()),
            Err(fault) => match self.take_prompt(&session) {
                Some(turn) => turn.refuse(invalid_request(&fault)),
                None => Ok(()),
            },
        }
    }

    /// Submits a prompt. The first one names its session.
    async fn send_prompt(
        &self,
        session: &SessionId,
        prompt: Prompt,
        title: String,
    ) -> Result<(), UserError> {
        let state = self.desk.snapshot().await?;
        let view = state.sessions.into_iter().find(|view| view.id == *session);
        let is_first = view.is_some_and(|view| view.turns == 0);
        self.desk.submit(prompt.into_op(session.clone())).await?;
        if is_first && !title.is_empty() {
            let session = session.clone();
            let renamed = self.desk.submit(Op::RenameSession { session, title }).await;
            if let Err(fault) = renamed {
                tracing::warn!(%fault, "a session of an editor has no title of its own");
            }
        }
        Ok(())
    }

    /// Stops the work of a session, if it does any.
    pub async fn cancel(&self, session: &schema::SessionId) {
        if let Ok(session) = self.open_session_id(session) {
            let _nothing_to_stop = self.desk.submit(Op::Interrupt { session }).await;
        }
    }

    /// Stops the work of a session, and leaves it.
    pub async fn close_session(&self, id: &schema::SessionId) -> Result<(), Error> {
        let session = self.open_session_id(id)?;
        self.cancel(id).await;
        let open = self.sessions.lock().remove(&session);
        match open.and_then(|open| open.prompt) {
            Some(turn) => turn.finish(protocol::SessionState::Interrupted),
            None => Ok(()),
        }
    }

    /// Stops the editor's runs, and returns their sessions. In the app, only those runs are the editor's that it began.
    pub async fn stop_runs(&self) -> Vec<SessionId> {
        let mut own: Vec<SessionId> = self.sessions.lock().keys().cloned().collect();
        own.retain(|id| self.options.answers == Answers::Editor || self.has_prompt(id));
        let mut stopped = Vec::new();
        for session in own {
            let op = Op::Interrupt {
                session: session.clone(),
            };
            if self.desk.submit(op).await.is_ok() {
                stopped.push(session);
            }
        }
        stopped
    }

    /// Notes an event of an open session, and answers its prompt if that ended.
    pub fn note_event(&self, event: &Event) -> Result<(), Error> {
        let ended = {
            let mut sessions = self.sessions.lock();
            let Some(open) = sessions.get_mut(&event.session) else {
                return Ok(());
            };
            let state = open
                .prompt
                .as_mut()
                .and_then(|turn| turn.note_event(&event.body));
            state.and_then(|state| open.prompt.take().map(|turn| (turn, state)))
        };
        match ended {
            Some((turn, state)) => turn.finish(state),
            None => Ok(()),
        }
    }

    /// Returns the workspace root of an open session of which the editor is told this event.
    pub fn root_for_event(&self, session: &SessionId, seq: u64) -> Option<PathBuf> {
        let sessions = self.sessions.lock();
        let open = sessions.get(session).filter(|open| seq > open.since);
        open.map(|open| open.root.clone())
    }

    fn open_session_id(&self, id: &schema::SessionId) -> Result<SessionId, Error> {
        let session = SessionId::from(&*id.0);
        match self.sessions.lock().contains_key(&session) {
            true => Ok(session),
            false => Err(unknown_session(id)),
        }
    }

    fn has_prompt(&self, session: &SessionId) -> bool {
        let sessions = self.sessions.lock();
        sessions
            .get(session)
            .is_some_and(|open| open.prompt.is_some())
    }

    fn put_prompt(&self, session: &SessionId, turn: PromptTurn) {
        if let Some(open) = self.sessions.lock().get_mut(session) {
            open.prompt = Some(turn);
        }
    }

    fn take_prompt(&self, session: &SessionId) -> Option<PromptTurn> {
        self.sessions.lock().get_mut(session)?.prompt.take()
    }
}

/// Sends an update about a session.
pub(super) fn send_update(
    client: &ConnectionTo<Client>,
    session: &SessionId,
    update: SessionUpdate,
) -> Result<(), Error> {
    client.send_notification(SessionNotification::new(
        session.as_str().to_owned(),
        update,
    ))
}
