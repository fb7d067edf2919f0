//! The desk: one engine over one data folder, with every session in it.

mod admit;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lsp::{LanguageServers, Patience};
use protocol::event::Asked;
use protocol::op::Receipt;
use protocol::query::{Answer, Query, Snapshot};
use protocol::{Event, Fault, Op, SessionId, Settings};
use provider::{Keys, Provider, Providers, SystemKeys};
use record::Record;
use runtime::{Environment, History, Inherited, RoomOptions, Workspace};
use tokio_util::sync::CancellationToken;
use tools::{Lsp, LspRename, Registry};

use crate::apis::Apis;
use crate::briefing::Briefing;
use crate::config::DeskConfig;
use crate::conversation::Conversation;
use crate::desk_tools::DeskTools;
use crate::faults::Faults;
use crate::held;
use crate::hub::{Events, Hub};
use crate::seeks;
use crate::servers::{ServerRooms, Servers};
use crate::session::Session;
use crate::{beside, hooks, lost_record, ops, queries, recover, retention, settings};

/// One engine. Cheap to clone; the last clone that goes takes the runs with it.
#[derive(Clone)]
pub struct Desk {
    pub(crate) shared: Arc<Shared>,
}

/// What all sessions have in common.
pub(crate) struct Shared {
    pub config: DeskConfig,
    pub record: Record,
    pub history: Arc<History>,
    /// Where commands run for show.
    pub environment: Environment,
    /// Which variables of ours whatever is started gets.
    pub inherited: Inherited,
    /// What holds in the rooms that commands run in.
    pub rooms: RoomOptions,
    /// Other people's servers of tools.
    pub servers: Servers,
    /// Services by their documents.
    pub apis: Apis,
    /// Programs that know languages.
    pub languages: Arc<LanguageServers>,
    /// The tools.
    pub tools: DeskTools,
    pub keys: Arc<dyn Keys>,
    /// Cancelled when the desk closes: runs end, what waits stays waiting on record.
    pub closing: CancellationToken,
    hub: Hub,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    settings: RwLock<Arc<Settings>>,
    providers: RwLock<Arc<Providers>>,
    pub faults: Faults,
}

impl Desk {
    /// Opens the data folder, takes up what an earlier end left behind, and puts back on the desk what still waits.
    ///
    /// # Errors
    /// The folder cannot be used, or its database is damaged or from a newer version: nothing is touched then. A tool
    /// of the caller's cannot be registered.
    pub async fn open(config: DeskConfig) -> Result<Self, Fault> {
        runtime::private_folder(&config.data_dir)?;
        let hub = Hub::new();
        let publisher = hub.clone();
        let publish = Box::new(move |events| publisher.publish(events));
        let record = match config.throwaway {
            false => {
                lost_record::refuse(&config.data_dir)?;
                Record::open(&lost_record::file(&config.data_dir), publish)?
            }
            true => Record::in_memory(publish)?,
        };
        let (settings, fault) = settings::load(&config.data_dir);
        let history = History::open(&config.data_dir.join("history"), settings.undo_bytes_max)?;
        let (room, rooms) = (config.room.clone(), config.data_dir.join("rooms"));
        let environment = Environment::open(room, &rooms, vec![config.data_dir.clone()])?;
        let mut registry = Registry::builtin();
        for tool in &config.tools {
            registry.register(tool.clone())?;
        }
        let faults = Faults::default();
        let inherited = Inherited::default();
        settings::inherit(&inherited, &settings);
        let room_options = settings::room_options(&settings);
        let languages = LanguageServers::new(inherited.clone(), Patience::default());
        let languages = Arc::new(languages);
        languages.set(&settings.language_servers);
        registry.put(Arc::new(Lsp::new(Some(languages.clone()))))?;
        registry.put(Arc::new(LspRename::new(Some(languages.clone()))))?;
        let keys = config
            .keys
            .clone()
            .unwrap_or_else(|| Arc::new(SystemKeys::default()));
        let server_rooms = ServerRooms {
            environment: environment.clone(),
            options: room_options.clone(),
            data_dir: config.data_dir.clone(),
            clock: config.clock.clone(),
        };
        let servers = Servers::of_desk(&config, &inherited, server_rooms, &keys);
        let apis = Apis::of_desk(&config, &keys);
        let (tools, mut tool_faults) = DeskTools::new(registry, (&servers, &apis), &settings.tools);
        tool_faults.extend(seeks::wrong(&settings.web_search));
        tool_faults.extend(lsp::settings::wrong(&settings.language_servers));
        faults.set_settings(fault, tool_faults);
        let shared = Arc::new(Shared {
            servers,
            apis,
            languages,
            tools,
            providers: RwLock::new(Arc::new(Providers::new(&settings.providers, keys.clone()))),
            settings: RwLock::new(Arc::new(settings)),
            faults,
            history: Arc::new(history),
            environment,
            inherited,
            rooms: room_options,
            closing: CancellationToken::new(),
            sessions: Mutex::default(),
            config,
            record,
            keys,
            hub,
        });
        let desk = Self { shared };
        if desk.shared.config.follows
            && let Err(fault) = beside::follow(&desk.shared)
        {
            tracing::warn!(%fault, "what other processes record is told late");
        }
        if !desk.shared.config.takes_up {
            recover::beside(&desk.shared).await?;
            retention::sweep_outputs(&desk.shared);
        } else {
            recover::run(&desk.shared).await?;
            let shared = desk.shared.clone();
            tokio::spawn(async move {
                if let Err(fault) = retention::run(&shared).await {
                    tracing::warn!(%fault, "old copies for undo are still there");
                }
            });
        }
        Ok(desk)
    }

    /// Takes a request of the person.
    pub async fn submit(&self, op: Op) -> Result<Receipt, Fault> {
        ops::submit(&self.shared, op).await
    }

    /// Answers a question; changes nothing.
    pub async fn query(&self, query: Query) -> Result<Answer, Fault> {
        queries::answer(&self.shared, query).await
    }

    /// Everything that an interface needs to be whole again.
    pub async fn snapshot(&self) -> Result<Snapshot, Fault> {
        queries::snapshot(&self.shared).await
    }

    /// Every event after `since`, then what comes.
    pub fn subscribe(&self, since: u64) -> Events {
        self.shared.listen(since)
    }

    /// The position of the last recorded event.
    pub fn last_seq(&self) -> Result<u64, Fault> {
        Ok(self.shared.record.last_seq()?)
    }

    /// Takes the record for full at so many pages, so that tests can meet a full disk.
    #[doc(hidden)]
    pub fn limit_record(&self, pages: u32) {
        self.shared.record.limit_pages(pages);
    }

    /// Waits until the record has done what it left for later, so that measurements can tell.
    #[doc(hidden)]
    pub fn rest_record(&self) {
        self.shared.record.rest();
    }

    /// The settings as they hold now.
    pub fn settings(&self) -> Arc<Settings> {
        self.shared.settings()
    }

    /// Ends all runs. Waiting calls stay waiting, on record.
    pub fn close(&self) {
        self.shared.closing.cancel();
        self.shared.servers.close();
        self.shared.languages.close();
    }
}

impl Shared {
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
            .now((&self.servers, &self.apis), &self.settings().tools)
            .set
    }

    /// The tools as they come, to check a setting with.
    pub fn tools_unset(&self) -> Arc<Registry> {
        self.tools
            .now((&self.servers, &self.apis), &self.settings().tools)
            .all
    }

    /// How often the person set the tools.
    pub fn tools_set(&self) -> u64 {
        self.tools.times_set()
    }

    /// Puts other settings in force and on disk.
    pub fn set_settings(&self, settings: Settings) -> Result<(), Fault> {
        let (tools, mut tool_faults) = self.tools_unset().as_set(&settings.tools);
        if !tool_faults.is_empty() {
            return Err(tool_faults.remove(0));
        }
        let mut wrong = seeks::wrong(&settings.web_search);
        wrong.extend(lsp::settings::wrong(&settings.language_servers));
        wrong.extend(hooks::wrong(&settings.hooks));
        if let Some(fault) = wrong.into_iter().next() {
            return Err(fault);
        }
        settings::save(&self.config.data_dir, &settings)?;
        settings::inherit(&self.inherited, &settings);
        settings::furnish(&self.rooms, &settings);
        self.languages.set(&settings.language_servers);
        self.tools.set(tools);
        let providers = Providers::new(&settings.providers, self.keys.clone());
        *self
            .providers
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(providers);
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.faults.set_settings(None, Vec::new());
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
    pub fn provider(&self, id: &str) -> Result<Arc<dyn Provider>, Fault> {
        match &self.config.provider {
            Some(given) if given.id() == id => Ok(given.clone()),
            _ if id == crate::demo::PROVIDER => crate::demo::provider(),
            _ if id == crate::try_tool::PROVIDER => Ok(crate::try_tool::provider()),
            _ if id == crate::caller::PROVIDER => Err(crate::caller::no_model()),
            _ => self.providers().get(id),
        }
    }

    /// A session that is on record, opened in this process if it is not yet.
    pub fn session(self: &Arc<Self>, id: &SessionId) -> Result<Arc<Session>, Fault> {
        if let Some(session) = self
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
        {
            return Ok(session.clone());
        }
        let view = self.record.session(id)?.ok_or_else(|| {
            Fault::new(
                format!("There is no session {id}."),
                "Look at the list of sessions for its id.",
            )
        })?;
        let elsewhere = held::is_held(&self.config.data_dir, id)?;
        let conversation = Conversation::from_events(&self.events_of(id)?);
        let root = Path::new(&view.workspace);
        let session = self.admit(id.clone(), root, view.model, conversation)?;
        if elsewhere {
            // Whoever goes on with it here later must read what the other process did until then.
            self.forget(id);
        }
        Ok(session)
    }

    /// Every event after `since`, then what comes.
    pub fn listen(&self, since: u64) -> Events {
        self.hub.subscribe(self.record.clone(), since)
    }

    /// What the model of a session is told first that is asked this.
    pub fn briefing(&self, workspace: &Workspace, asked: &Asked) -> Briefing {
        if asked.alone {
            return Briefing::default();
        }
        let settings = self.settings();
        let (home, data) = (self.config.home.as_deref(), &self.config.data_dir);
        Briefing::read(workspace, home, data, &settings.skills.folders)
    }

    fn events_of(&self, id: &SessionId) -> Result<Vec<Event>, Fault> {
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
    pub fn forget(&self, id: &SessionId) {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id);
    }

    /// Reads the rules anew in every open session of a folder.
    pub fn reload_rules_in(&self, root: &Path) {
        self.reload_rules_where(|session| session.hands.workspace.root() == root);
    }

    /// Reads the rules anew in the open sessions of a kind; calls that wait are judged by them at once.
    pub fn reload_rules_where(&self, of_kind: impl Fn(&Session) -> bool) {
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
