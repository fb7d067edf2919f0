//! What all sessions of an engine have in common.

mod admission;
pub(crate) mod current_errors;
pub(crate) mod event_hub;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lsp::LanguageServers;
use protocol::event::SessionOptions;
use protocol::{Event, SessionId, Settings, UserError};
use provider::{KeyStore, Provider, Providers};
use record::Record;
use runtime::{DryRunEnvironment, History, InheritedEnv, SandboxOptions, Workspace};
use tokio_util::sync::CancellationToken;
use tools::{Registry, SubAgentSpawner};

use crate::briefing::Briefing;
use crate::host::config::EngineConfig;
use crate::session::conversation::Conversation;
use crate::session::engine_state::current_errors::CurrentErrors;
use crate::session::engine_state::event_hub::{EventHub, EventStream};
use crate::session::manual_calls::{self, CLIENT_PROVIDER};
use crate::session::{Session, session_lock};
use crate::toolset::apis::Apis;
use crate::toolset::engine_tools::EngineTools;
use crate::toolset::servers::Servers;

/// Gives a provider that comes with the engine; none if there is none with this id.
pub(crate) type BuiltInProvider = fn(&str) -> Option<Result<Arc<dyn Provider>, UserError>>;

/// What all sessions have in common.
pub(crate) struct EngineState {
    pub config: EngineConfig,
    pub record: Record,
    pub history: Arc<History>,
    /// Where commands run for show.
    pub dry_run_environment: DryRunEnvironment,
    /// Which variables of ours whatever is started gets.
    pub inherited_variables: InheritedEnv,
    /// What holds in the rooms that commands run in.
    pub sandbox_options: SandboxOptions,
    /// Other people's servers of tools.
    pub servers: Servers,
    /// Services by their documents.
    pub apis: Apis,
    /// Programs that know languages.
    pub languages: Arc<LanguageServers>,
    /// The tools.
    pub tools: EngineTools,
    pub keys: Arc<dyn KeyStore>,
    /// Cancelled when the desk closes: runs end, what waits stays waiting on record.
    pub closing: CancellationToken,
    pub(crate) hub: EventHub,
    pub(crate) sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    pub(crate) settings: RwLock<Arc<Settings>>,
    pub(crate) providers: RwLock<Arc<Providers>>,
    /// The providers that come with the engine, by id: for the demo, and for sessions without a model.
    pub built_in_provider: BuiltInProvider,
    /// Makes what carries out the work that the calls of a session give away.
    pub sub_agent_spawner: fn(Arc<Session>) -> Arc<dyn SubAgentSpawner>,
    pub current_errors: CurrentErrors,
}

impl EngineState {
    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The tools as the person set them, with those of servers as they are now.
    pub fn tools(&self) -> Arc<Registry> {
        self.tools
            .current_tools(&self.servers, &self.apis, &self.settings().tools)
            .configured
    }

    /// The tools as they come, to check a setting with.
    pub fn default_tools(&self) -> Arc<Registry> {
        self.tools
            .current_tools(&self.servers, &self.apis, &self.settings().tools)
            .defaults
    }

    /// How often the person set the tools.
    pub fn tool_settings_version(&self) -> u64 {
        self.tools.registrations()
    }

    /// Puts other settings and the providers that they name in force.
    pub fn replace_settings(&self, settings: Settings, providers: Providers) {
        *self
            .providers
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(providers);
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// The configured providers.
    pub fn providers(&self) -> Arc<Providers> {
        self.providers
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A provider by its id: the caller's own, the demo, or a configured one.
    pub fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, UserError> {
        match &self.config.provider {
            Some(given) if given.id() == id => Ok(given.clone()),
            _ if id == CLIENT_PROVIDER => Err(manual_calls::no_model_error()),
            _ => match (self.built_in_provider)(id) {
                Some(built_in) => built_in,
                None => self.providers().get(id),
            },
        }
    }

    /// A session that is on record, opened in this process if it is not yet.
    pub fn session(self: &Arc<Self>, id: &SessionId) -> Result<Arc<Session>, UserError> {
        if let Some(session) = self
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
        {
            return Ok(session.clone());
        }
        let view = self.record.session(id)?.ok_or_else(|| {
            UserError::new(
                format!("There is no session {id}."),
                "Look at the list of sessions for its id.",
            )
        })?;
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

    /// Every event after `since`, then what comes.
    pub fn subscribe(&self, since: u64) -> EventStream {
        self.hub.subscribe(self.record.clone(), since)
    }

    /// What the model of a session is told first that is asked this.
    pub fn read_briefing(&self, workspace: &Workspace, asked: &SessionOptions) -> Briefing {
        if asked.alone {
            return Briefing::default();
        }
        let settings = self.settings();
        let (home, data) = (self.config.home.as_deref(), &self.config.data_dir);
        Briefing::read(workspace, home, data, &settings.skills.folders)
    }

    fn session_events(&self, id: &SessionId) -> Result<Vec<Event>, UserError> {
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

    /// Takes a session that was closed out of this process; it is opened again when somebody asks for it.
    pub fn remove_session(&self, id: &SessionId) {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id);
    }

    /// Reads the rules anew in every open session of a folder.
    pub fn reload_rules_in(&self, root: &Path) {
        self.reload_rules_matching(|session| session.tool_context.workspace.root() == root);
    }

    /// Reads the rules anew in the open sessions of a kind; calls that wait are judged by them at once.
    pub fn reload_rules_matching(&self, of_kind: impl Fn(&Session) -> bool) {
        let sessions: Vec<_> = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let of_kind = |session: &&Arc<Session>| of_kind(session.as_ref());
            sessions.values().filter(of_kind).cloned().collect()
        };
        for session in sessions {
            session.reload_rules();
        }
    }
}
