//! The desk: one engine over one data folder, with every session in it.

mod admission;
pub mod attention;
pub(crate) mod commands;
pub mod config;
pub(crate) mod current_errors;
pub(crate) mod decisions;
pub mod demo;
pub(crate) mod dry_run_command;
pub(crate) mod event_hub;
pub(crate) mod external_client;
pub(crate) mod maintenance;
pub(crate) mod queries;
pub(crate) mod request;
pub mod settings;
pub(crate) mod tool_trial;
pub(crate) mod undo;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lsp::{LanguageServers, LspTimeouts};
use protocol::event::SessionOptions;
use protocol::op::OpReceipt;
use protocol::query::{Answer, EngineView, Query};
use protocol::{Event, Op, SessionId, Settings, UserError};
use provider::{KeyStore, Provider, Providers, SystemKeyStore};
use record::Record;
use runtime::{DryRunEnvironment, History, InheritedEnv, SandboxOptions, Workspace};
use tokio_util::sync::CancellationToken;
use tools::{LspRenameTool, LspTool, Registry};

use crate::briefing::Briefing;
use crate::engine::config::EngineConfig;
use crate::engine::current_errors::CurrentErrors;
use crate::engine::event_hub::{EventHub, EventStream};
use crate::engine::maintenance::{record_check, record_watcher, recovery, retention};
use crate::pipeline::hooks;
use crate::session::Session;
use crate::session::conversation::Conversation;
use crate::session::session_lock;
use crate::toolset::apis::Apis;
use crate::toolset::engine_tools::EngineTools;
use crate::toolset::servers::{ServerSandboxes, Servers};
use crate::toolset::web_search;

/// One engine. Cheap to clone; the last clone that goes takes the runs with it.
#[derive(Clone)]
pub struct Engine {
    pub(crate) state: Arc<EngineState>,
}

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
    hub: EventHub,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    settings: RwLock<Arc<Settings>>,
    providers: RwLock<Arc<Providers>>,
    pub current_errors: CurrentErrors,
}

impl Engine {
    /// Opens the data folder, takes up what an earlier end left behind, and puts back on the desk what still waits.
    ///
    /// # Errors
    /// The folder cannot be used, or its database is damaged or from a newer version: nothing is touched then. A tool
    /// of the caller's cannot be registered.
    pub async fn open(config: EngineConfig) -> Result<Self, UserError> {
        runtime::create_private_folder(&config.data_dir)?;
        let hub = EventHub::new();
        let publisher = hub.clone();
        let publish = Box::new(move |events| publisher.publish(events));
        let record = match config.in_memory {
            false => {
                record_check::check_record_exists(&config.data_dir)?;
                Record::open(&record_check::record_path(&config.data_dir), publish)?
            }
            true => Record::in_memory(publish)?,
        };
        let (settings, fault) = settings::load_settings(&config.data_dir);
        let history = History::open(&config.data_dir.join("history"), settings.undo_bytes_max)?;
        let (room, rooms) = (config.room.clone(), config.data_dir.join("rooms"));
        let environment = DryRunEnvironment::open(room, &rooms, vec![config.data_dir.clone()])?;
        let mut registry = Registry::builtin();
        for tool in &config.tools {
            registry.register(tool.clone())?;
        }
        let faults = CurrentErrors::default();
        let inherited = InheritedEnv::default();
        settings::set_inherited_variables(&inherited, &settings);
        let room_options = settings::sandbox_options(&settings);
        let languages = LanguageServers::new(inherited.clone(), LspTimeouts::default());
        let languages = Arc::new(languages);
        languages.apply_settings(&settings.language_servers);
        registry.replace_tool(Arc::new(LspTool::new(Some(languages.clone()))))?;
        registry.replace_tool(Arc::new(LspRenameTool::new(Some(languages.clone()))))?;
        let keys = config
            .keys
            .clone()
            .unwrap_or_else(|| Arc::new(SystemKeyStore::default()));
        let server_rooms = ServerSandboxes {
            environment: environment.clone(),
            options: room_options.clone(),
            data_dir: config.data_dir.clone(),
            clock: config.clock.clone(),
        };
        let servers = Servers::from_config(&config, &inherited, server_rooms, &keys);
        let apis = Apis::from_config(&config, &keys);
        let (tools, mut tool_faults) =
            EngineTools::new(registry, (&servers, &apis), &settings.tools);
        tool_faults.extend(web_search::check_settings(&settings.web_search));
        tool_faults.extend(lsp::settings::validate_settings(&settings.language_servers));
        faults.set_settings_errors(fault, tool_faults);
        let shared = Arc::new(EngineState {
            servers,
            apis,
            languages,
            tools,
            providers: RwLock::new(Arc::new(Providers::new(&settings.providers, keys.clone()))),
            settings: RwLock::new(Arc::new(settings)),
            current_errors: faults,
            history: Arc::new(history),
            dry_run_environment: environment,
            inherited_variables: inherited,
            sandbox_options: room_options,
            closing: CancellationToken::new(),
            sessions: Mutex::default(),
            config,
            record,
            keys,
            hub,
        });
        let desk = Self { state: shared };
        if desk.state.config.watches_record
            && let Err(fault) = record_watcher::watch_record(&desk.state)
        {
            tracing::warn!(%fault, "what other processes record is told late");
        }
        if !desk.state.config.recovers {
            recovery::recover_abandoned(&desk.state).await?;
            retention::sweep_outputs(&desk.state);
        } else {
            recovery::run_recovery(&desk.state).await?;
            let shared = desk.state.clone();
            tokio::spawn(async move {
                if let Err(fault) = retention::run_retention(&shared).await {
                    tracing::warn!(%fault, "old copies for undo are still there");
                }
            });
        }
        Ok(desk)
    }

    /// Takes a request of the person.
    pub async fn submit(&self, op: Op) -> Result<OpReceipt, UserError> {
        commands::run_op(&self.state, op).await
    }

    /// Answers a question; changes nothing.
    pub async fn query(&self, query: Query) -> Result<Answer, UserError> {
        queries::answer_query(&self.state, query).await
    }

    /// Everything that an interface needs to be whole again.
    pub async fn snapshot(&self) -> Result<EngineView, UserError> {
        queries::build_snapshot(&self.state).await
    }

    /// Every event after `since`, then what comes.
    pub fn subscribe(&self, since: u64) -> EventStream {
        self.state.subscribe(since)
    }

    /// The position of the last recorded event.
    pub fn last_seq(&self) -> Result<u64, UserError> {
        Ok(self.state.record.last_seq()?)
    }

    /// Takes the record for full at so many pages, so that tests can meet a full disk.
    #[doc(hidden)]
    pub fn limit_record_pages(&self, pages: u32) {
        self.state.record.limit_database_pages(pages);
    }

    /// Waits until the record has done what it left for later, so that measurements can tell.
    #[doc(hidden)]
    pub fn wait_for_record(&self) {
        self.state.record.flush_deferred();
    }

    /// The settings as they hold now.
    pub fn settings(&self) -> Arc<Settings> {
        self.state.settings()
    }

    /// Ends all runs. Waiting calls stay waiting, on record.
    pub fn close(&self) {
        self.state.closing.cancel();
        self.state.servers.close();
        self.state.languages.close();
    }
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
            .current_tools((&self.servers, &self.apis), &self.settings().tools)
            .configured
    }

    /// The tools as they come, to check a setting with.
    pub fn default_tools(&self) -> Arc<Registry> {
        self.tools
            .current_tools((&self.servers, &self.apis), &self.settings().tools)
            .defaults
    }

    /// How often the person set the tools.
    pub fn tool_settings_version(&self) -> u64 {
        self.tools.registrations()
    }

    /// Puts other settings in force and on disk.
    pub fn set_settings(&self, settings: Settings) -> Result<(), UserError> {
        let (tools, mut tool_faults) = self.default_tools().with_settings(&settings.tools);
        if !tool_faults.is_empty() {
            return Err(tool_faults.remove(0));
        }
        let mut wrong = web_search::check_settings(&settings.web_search);
        wrong.extend(lsp::settings::validate_settings(&settings.language_servers));
        wrong.extend(hooks::check_hooks(&settings.hooks));
        if let Some(fault) = wrong.into_iter().next() {
            return Err(fault);
        }
        settings::save_settings(&self.config.data_dir, &settings)?;
        settings::set_inherited_variables(&self.inherited_variables, &settings);
        settings::apply_sandbox_options(&self.sandbox_options, &settings);
        self.languages.apply_settings(&settings.language_servers);
        self.tools.set_builtin(tools);
        let providers = Providers::new(&settings.providers, self.keys.clone());
        *self
            .providers
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(providers);
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.current_errors.set_settings_errors(None, Vec::new());
        Ok(())
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
            _ if id == crate::engine::demo::DEMO_PROVIDER => crate::engine::demo::demo_provider(),
            _ if id == crate::engine::tool_trial::TRIAL_PROVIDER => {
                Ok(crate::engine::tool_trial::trial_provider())
            }
            _ if id == crate::engine::external_client::CLIENT_PROVIDER => {
                Err(crate::engine::external_client::no_model_error())
            }
            _ => self.providers().get(id),
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
