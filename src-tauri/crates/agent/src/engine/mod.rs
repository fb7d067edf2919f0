//! The engine: one over one data folder, with all sessions in it.

pub(crate) mod agent_elicitation;
pub(crate) mod agent_options;
pub(crate) mod agent_servers;
mod attachments;
pub mod attention;
pub(crate) mod attention_report;
pub(crate) mod backing_server;
pub(crate) mod commands;
pub(crate) mod decisions;
pub(crate) mod delegated_calls;
pub mod demo;
pub(crate) mod dry_run_command;
pub(crate) mod editors;
pub(crate) mod enclosed_turns;
pub(crate) mod external_agents;
pub(crate) mod external_client;
pub(crate) mod maintenance;
pub(crate) mod model_options;
mod ongoing_work;
mod posture;
pub(crate) mod queries;
pub(crate) mod request;
mod session_deletion;
pub mod session_export;
mod session_fork;
pub(crate) mod session_import;
pub mod settings;
pub(crate) mod since;
pub(crate) mod skipped_asks;
pub(crate) mod tool_trial;
pub(crate) mod turn_messages;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use lsp::{LanguageServers, LspTimeouts};
use parking_lot::{Mutex, RwLock};
use protocol::op::OpReceipt;
use protocol::query::{Answer, EngineView, Query};
use protocol::{At, Op, Settings, UserError};
use provider::{Provider, Providers, SystemKeyStore};
use record::Record;
use runtime::{DryRunEnvironment, History, InheritedEnv};
use tokio_util::sync::CancellationToken;
use tools::{LspRenameTool, LspTool, Registry};

use crate::engine::maintenance::folder_use::share_data_folder;
use crate::engine::maintenance::{record_check, record_watcher, recovery, retention};
use crate::host::config::{EngineConfig, Host};
use crate::rulebook::explain::{self, ExplainOptions, Explainer};
use crate::run::sub_agent_task;
use crate::session::engine_state::EngineState;
use crate::session::engine_state::current_errors::CurrentErrors;
use crate::session::engine_state::event_hub::{EventHub, EventStream};
use crate::session::manual_calls::TRIAL_PROVIDER;
use crate::toolset::apis::Apis;
use crate::toolset::engine_tools::EngineTools;
use crate::toolset::servers::{ServerSandboxes, Servers};
use crate::toolset::web_search;

/// One engine. Cheap to clone; dropping the last clone ends the runs.
#[derive(Clone)]
pub struct Engine {
    pub(crate) state: Arc<EngineState>,
}

impl Engine {
    /// Opens the data folder, recovers what an earlier end of the app left behind, and restores the calls that still
    /// wait for a decision.
    ///
    /// # Errors
    /// The folder cannot be used, or its database is damaged or from a newer version, in which case nothing is touched.
    /// A tool of the caller cannot be registered.
    pub async fn open(config: EngineConfig) -> Result<Self, UserError> {
        runtime::create_private_folder(&config.data_dir)?;
        let data_folder = share_data_folder(&config.data_dir)?;
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
        let sandbox_program = config.sandbox_program.clone();
        let sandboxes = config.data_dir.join("sandboxes");
        let environment =
            DryRunEnvironment::open(sandbox_program, &sandboxes, vec![config.data_dir.clone()])?;
        let mut registry = Registry::builtin();
        for tool in &config.tools {
            registry.register(tool.clone())?;
        }
        let faults = CurrentErrors::default();
        let inherited = InheritedEnv::default();
        settings::set_inherited_variables(&inherited, &settings);
        let sandbox_options = settings::sandbox_options(&settings);
        let languages = LanguageServers::new(inherited.clone(), LspTimeouts::default());
        let languages = Arc::new(languages);
        languages.apply_settings(&settings.language_servers);
        registry.replace_tool(Arc::new(LspTool::new(Some(languages.clone()))))?;
        registry.replace_tool(Arc::new(LspRenameTool::new(Some(languages.clone()))))?;
        let keys = config
            .keys
            .clone()
            .unwrap_or_else(|| Arc::new(SystemKeyStore::default()));
        let server_sandboxes = ServerSandboxes {
            environment: environment.clone(),
            options: sandbox_options.clone(),
            data_dir: config.data_dir.clone(),
            clock: config.clock.clone(),
        };
        let servers = Servers::from_config(&config, &inherited, server_sandboxes, &keys);
        let apis = Apis::from_config(&config, &keys);
        let (tools, mut tool_faults) = EngineTools::new(registry, &servers, &apis, &settings.tools);
        tool_faults.extend(web_search::check_settings(&settings.web_search));
        tool_faults.extend(lsp::settings::validate_settings(&settings.language_servers));
        faults.set_settings_errors(fault, tool_faults);
        let engine = Arc::new(EngineState {
            servers,
            apis,
            languages,
            tools,
            providers: RwLock::new(Arc::new(Providers::new(&settings.providers, keys.clone()))),
            settings: RwLock::new(Arc::new(settings)),
            built_in_provider,
            sub_agent_spawner: sub_agent_task::sub_agent_spawner,
            current_errors: faults,
            history: Arc::new(history),
            dry_run_environment: environment,
            inherited_variables: inherited,
            sandbox_options,
            closing: CancellationToken::new(),
            agent_runner: OnceLock::new(),
            _data_folder: data_folder,
            ask_skip: RwLock::default(),
            sessions: Mutex::default(),
            config,
            record,
            keys,
            hub,
        });
        let desk = Self { state: engine };
        if desk.state.config.watches_record
            && let Err(fault) = record_watcher::watch_record(&desk.state)
        {
            tracing::warn!(%fault, "what other processes record is reported late");
        }
        if !desk.state.config.recovers {
            recovery::recover_abandoned(&desk.state).await?;
            retention::sweep_outputs(&desk.state);
        } else {
            skipped_asks::end_earlier_skips(&desk.state).await?;
            recovery::run_recovery(&desk.state).await?;
            if let Err(fault) = session_deletion::finish_deletions(&desk.state).await {
                tracing::warn!(%fault, "something of a deleted session is still there");
            }
            let engine = desk.state.clone();
            tokio::spawn(async move {
                if let Err(fault) = retention::run_retention(&engine).await {
                    tracing::warn!(%fault, "old copies for undo are still there");
                }
            });
        }
        Ok(desk)
    }

    /// Carries out a request of the person.
    pub async fn submit(&self, op: Op) -> Result<OpReceipt, UserError> {
        commands::run_op(&self.state, op).await
    }

    /// Answers a question; changes nothing.
    pub async fn query(&self, query: Query) -> Result<Answer, UserError> {
        queries::answer_query(&self.state, query).await
    }

    /// Returns the whole state that an interface needs to start from.
    pub async fn snapshot(&self) -> Result<EngineView, UserError> {
        queries::build_snapshot(&self.state).await
    }

    /// Returns a stream of every event after `since`, including future ones.
    pub fn subscribe(&self, since: u64) -> EventStream {
        self.state.subscribe(since)
    }

    /// Returns the position of the last recorded event.
    pub fn last_seq(&self) -> Result<u64, UserError> {
        Ok(self.state.record.last_seq()?)
    }

    /// Returns the time by the engine's clock.
    pub fn now(&self) -> At {
        self.state.now()
    }

    /// Limits the record to this number of pages, so that tests can simulate a full disk.
    #[doc(hidden)]
    pub fn limit_record_pages(&self, pages: u32) {
        self.state.record.limit_database_pages(pages);
    }

    /// Waits until the record has completed its deferred work, for measurements.
    #[doc(hidden)]
    pub fn wait_for_record(&self) {
        self.state.record.flush_deferred();
    }

    /// Opens an explainer in a folder.
    ///
    /// # Errors
    /// A folder that cannot be opened, a rules file or a manifest that is missing or malformed.
    pub fn open_explainer(&self, options: ExplainOptions) -> Result<Explainer, UserError> {
        explain::open_explainer(&self.state, options)
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.state.settings()
    }

    /// Returns the data folder.
    pub fn data_dir(&self) -> &Path {
        &self.state.config.data_dir
    }

    /// Whether a person, or a program in a person's place, can be asked about a call.
    pub fn can_ask(&self) -> bool {
        self.state.config.host == Host::Person
    }

    /// Waits until the engine is closed.
    pub async fn wait_until_closed(&self) {
        self.state.closing.cancelled().await;
    }

    /// Ends all runs. Waiting calls stay on record as waiting.
    pub fn close(&self) {
        self.state.closing.cancel();
        self.state.servers.close();
        self.state.languages.close();
        if let Some(runner) = self.state.agent_runner.get() {
            runner.close();
        }
    }
}

/// Returns a built-in provider; none if there is none with this id.
fn built_in_provider(id: &str) -> Option<Result<Arc<dyn Provider>, UserError>> {
    match id {
        demo::DEMO_PROVIDER => Some(demo::demo_provider()),
        TRIAL_PROVIDER => Some(Ok(tool_trial::trial_provider())),
        _ => None,
    }
}
