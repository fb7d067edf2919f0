//! The state that all sessions of an engine share.

mod admission;
pub(crate) mod current_errors;
pub(crate) mod event_hub;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use lsp::LanguageServers;
use parking_lot::{Mutex, RwLock};
use protocol::event::SessionOptions;
use protocol::{
    At, CallId, CallView, EntryBody, Event, ModelChoice, SessionId, Settings, UserError,
};
use provider::{KeyStore, Provider, Providers};
use record::Record;
use runtime::{DryRunEnvironment, FileLock, History, InheritedEnv, SandboxOptions, Workspace};
use tokio_util::sync::CancellationToken;
use tools::{Registry, SubAgentSpawner};

use crate::briefing::Briefing;
use crate::host::config::EngineConfig;
use crate::session::agent_runner::{self, AGENT_PROVIDER, AgentRunner};
use crate::session::conversation::Conversation;
use crate::session::engine_state::current_errors::CurrentErrors;
use crate::session::engine_state::event_hub::{EventHub, EventStream};
use crate::session::manual_calls::{self, CLIENT_PROVIDER, IMPORTED_PROVIDER};
use crate::session::skipped_asks::AskSkip;
use crate::session::{Session, session_lock};
use crate::toolset::apis::Apis;
use crate::toolset::engine_tools::EngineTools;
use crate::toolset::servers::Servers;

/// Returns a built-in provider; none if there is none with this id.
pub(crate) type BuiltInProvider = fn(&str) -> Option<Result<Arc<dyn Provider>, UserError>>;

/// State that all sessions of an engine share.
pub(crate) struct EngineState {
    pub config: EngineConfig,
    pub record: Record,
    pub history: Arc<History>,
    /// Environment for dry runs of commands.
    pub dry_run_environment: DryRunEnvironment,
    /// Environment variables of the app that started programs inherit.
    pub inherited_variables: InheritedEnv,
    /// Options of the sandboxes that commands run in.
    pub sandbox_options: SandboxOptions,
    /// MCP servers.
    pub servers: Servers,
    /// Services that are set up by their OpenAPI documents.
    pub apis: Apis,
    /// Language servers.
    pub languages: Arc<LanguageServers>,
    /// The tools.
    pub tools: EngineTools,
    pub keys: Arc<dyn KeyStore>,
    /// Cancelled when the engine closes: runs end, and waiting calls stay on record as waiting.
    pub closing: CancellationToken,
    pub(crate) hub: EventHub,
    /// Time for which every session skips asks that begins to work.
    pub ask_skip: RwLock<Option<AskSkip>>,
    pub(crate) sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    pub(crate) settings: RwLock<Arc<Settings>>,
    pub(crate) providers: RwLock<Arc<Providers>>,
    /// Lookup of built-in providers by id: for the demo, and for sessions without a model.
    pub built_in_provider: BuiltInProvider,
    /// Creates the spawner of sub-agent tasks for the calls of a session.
    pub sub_agent_spawner: fn(Arc<Session>) -> Arc<dyn SubAgentSpawner>,
    pub current_errors: CurrentErrors,
    /// Runs the turns of other people's agents; empty while the host has given none.
    pub agent_runner: OnceLock<Arc<dyn AgentRunner>>,
    /// The engine's part of the data folder.
    pub(crate) _data_folder: FileLock,
}

impl EngineState {
    /// Returns the settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().clone()
    }

    /// Returns the tools as the person configured them, with the current ones of servers.
    pub fn tools(&self) -> Arc<Registry> {
        self.tools
            .current_tools(&self.servers, &self.apis, &self.settings().tools)
            .configured
    }

    /// Returns the tools without the person's settings, to check a setting against.
    pub fn default_tools(&self) -> Arc<Registry> {
        self.tools
            .current_tools(&self.servers, &self.apis, &self.settings().tools)
            .defaults
    }

    /// Returns how often the person has configured the tools.
    pub fn tool_settings_version(&self) -> u64 {
        self.tools.registrations()
    }

    /// Puts new settings and their providers in force.
    pub fn replace_settings(&self, settings: Settings, providers: Providers) {
        *self.providers.write() = Arc::new(providers);
        *self.settings.write() = Arc::new(settings);
    }

    /// Returns the configured providers.
    pub fn providers(&self) -> Arc<Providers> {
        self.providers.read().clone()
    }

    /// Returns a provider by its id: the caller's own, the demo, or a configured one.
    pub fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, UserError> {
        match &self.config.provider {
            Some(given) if given.id() == id => Ok(given.clone()),
            _ if id == CLIENT_PROVIDER => Err(manual_calls::no_model_error()),
            _ if id == IMPORTED_PROVIDER => {
                Err(manual_calls::imported_session_error("another agent"))
            }
            _ => match (self.built_in_provider)(id) {
                Some(built_in) => built_in,
                None => self.providers().get(id),
            },
        }
    }

    /// Returns an error if nobody answers in a session of this model: there is no such provider, or no such agent.
    pub fn check_model(&self, model: &ModelChoice) -> Result<(), UserError> {
        match model.provider == AGENT_PROVIDER {
            true => self.agent_runner()?.check_agent(&model.model),
            false => self.provider(&model.provider).map(|_| ()),
        }
    }

    /// Returns what runs the turns of other people's agents.
    pub fn agent_runner(&self) -> Result<Arc<dyn AgentRunner>, UserError> {
        let runner = self.agent_runner.get().cloned();
        runner.ok_or_else(agent_runner::no_agents_error)
    }

    /// Returns a recorded session, and opens it in this process if it is not open yet.
    pub fn session(self: &Arc<Self>, id: &SessionId) -> Result<Arc<Session>, UserError> {
        let open = self.sessions.lock().get(id).cloned();
        if let Some(session) = open {
            // Another process may have deleted it since.
            if !self.record.is_deleted(id)? {
                return Ok(session);
            }
            self.remove_session(id);
        }
        let view = self.record.session(id)?;
        let view = view.ok_or_else(|| missing_session_error(id))?;
        let elsewhere = session_lock::is_locked(&self.config.data_dir, id)?;
        let conversation = Conversation::from_events(&self.session_events(id)?);
        let root = Path::new(&view.workspace);
        let session = self.admit_session(id.clone(), root, view.model, conversation)?;
        if elsewhere {
            // Whoever goes on with it here later must read what the other process did until then.
            self.remove_session(id);
        }
        Ok(session)
    }

    /// Returns the time by the engine's clock.
    pub fn now(&self) -> At {
        self.config.clock.now()
    }

    /// Returns the view of a call; none if there is no such call on record.
    pub fn call_view(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<Option<Box<CallView>>, UserError> {
        let entry = self.record.entry(session, call.as_str())?;
        Ok(match entry.map(|entry| entry.body) {
            Some(EntryBody::Call(view)) => Some(view),
            _ => None,
        })
    }

    /// Returns a stream of every event after `since`, including future ones.
    pub fn subscribe(&self, since: u64) -> EventStream {
        self.hub.subscribe(self.record.clone(), since)
    }

    /// Reads the briefing of a session with these options.
    pub fn read_briefing(&self, workspace: &Workspace, options: &SessionOptions) -> Briefing {
        if options.alone {
            return Briefing::default();
        }
        let settings = self.settings();
        let (home, data) = (self.config.home.as_deref(), &self.config.data_dir);
        Briefing::read(workspace, home, data, &settings.skills.folders)
    }

    /// Returns all events of a session, in order; none if there is no such session.
    pub fn session_events(&self, id: &SessionId) -> Result<Vec<Event>, UserError> {
        let mut all: Vec<Event> = Vec::new();
        loop {
            let since = all.last().map_or(0, |event| event.seq);
            let page = self.record.events(since, Some(id), u32::MAX)?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }

    /// Removes a closed session from this process; it is opened again on the next request.
    pub fn remove_session(&self, id: &SessionId) {
        self.sessions.lock().remove(id);
    }

    /// Reloads the rules in every open session of a folder.
    pub fn reload_rules_in(&self, root: &Path) {
        self.reload_rules_matching(|session| session.tool_context.workspace.root() == root);
    }

    /// Reloads the rules in the open sessions of a kind; waiting calls are judged by the new rules at once.
    pub fn reload_rules_matching(&self, of_kind: impl Fn(&Session) -> bool) {
        let sessions: Vec<_> = {
            let sessions = self.sessions.lock();
            let of_kind = |session: &&Arc<Session>| of_kind(session.as_ref());
            sessions.values().filter(of_kind).cloned().collect()
        };
        for session in sessions {
            session.reload_rules();
        }
    }
}

/// Returns the error of a session that is not on record.
pub(crate) fn missing_session_error(id: &SessionId) -> UserError {
    UserError::new(
        format!("There is no session {id}."),
        "Look at the list of sessions for its id.",
    )
}
