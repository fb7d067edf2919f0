//! The tools of one session: built in, of its workspace and of its person, as the person configured them; and the
//! schema that they are composed to if an output is asked for.

use std::path::Path;
use std::sync::Arc;

use mcp::McpServer;
use protocol::event::SessionOptions;
use protocol::settings::Settings;
use protocol::{Digest, UserError};
use runtime::Workspace;
use tools::custom::{self, ComposedSchema};
use tools::{Registry, TOOL_SEARCH, ToolSearchTool, WEB_SEARCH};

use crate::briefing::Briefing;
use crate::session::engine_state::EngineState;
use crate::toolset::web_search::WebSearchFactory;

/// Tools that the calls of a session can use.
pub(crate) struct Toolbox {
    /// The tools.
    pub registry: Arc<Registry>,
    /// Schema that the model answers in; none if plain text is accepted.
    pub composed: Option<Arc<ComposedSchema>>,
    /// Errors of the files and settings that the toolbox was built from.
    pub errors: Vec<UserError>,
    /// Factory of the session's web search tool.
    web_search: WebSearchFactory,
    sources: ToolboxSources,
}

/// The workspace, briefing and options that the tools of a session come from.
pub(crate) struct ToolboxRequest<'a> {
    pub workspace: &'a Workspace,
    pub briefing: &'a Briefing,
    pub options: &'a SessionOptions,
}

/// Sources of a toolbox, beside the options of its session. They are compared to notice changes, because compiling the
/// schemas of many tools is slow.
struct ToolboxSources {
    tools: ToolSource,
    settings: Arc<Settings>,
    /// Number of times that the person had configured the tools.
    registrations: u64,
    /// Digest of the tool files.
    file_digest: Digest,
}

/// What the tools of a session are taken from.
enum ToolSource {
    /// The tools of the engine.
    Engine(Arc<Registry>),
    /// The server behind a gateway, and the version of its tools; none if it is gone.
    Server(Option<(Arc<McpServer>, u64)>),
}

impl ToolSource {
    fn current(engine: &EngineState, request: &ToolboxRequest<'_>) -> Self {
        match &request.options.server {
            None => Self::Engine(engine.default_tools()),
            Some(id) => {
                let server = engine.servers.find_backing(id, request.workspace.root());
                Self::Server(server.map(|server| (server.clone(), server.version())))
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Engine(one), Self::Engine(other)) => Arc::ptr_eq(one, other),
            (Self::Server(one), Self::Server(other)) => match (one, other) {
                (Some((one, version)), Some((other, seen))) => {
                    Arc::ptr_eq(one, other) && version == seen
                }
                (one, other) => one.is_none() && other.is_none(),
            },
            (Self::Engine(_), Self::Server(_)) | (Self::Server(_), Self::Engine(_)) => false,
        }
    }
}

impl ToolboxSources {
    /// Returns the current sources, with the person's own folder.
    ///
    /// # Errors
    /// A data folder that cannot be opened.
    fn current(
        engine: &EngineState,
        request: &ToolboxRequest<'_>,
    ) -> Result<(Self, Workspace), UserError> {
        let workspace = request.workspace;
        // A server hears of the folder before it says what tools it has.
        engine.servers.add_root(workspace.root());
        let set = engine.tool_settings_version();
        let person = Workspace::open(&engine.config.data_dir)?;
        let sources = Self {
            tools: ToolSource::current(engine, request),
            settings: engine.settings(),
            registrations: set,
            file_digest: custom::digest_sources(workspace, &person),
        };
        Ok((sources, person))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.tools.is_same(&other.tools)
            && Arc::ptr_eq(&self.settings, &other.settings)
            && (self.registrations, &self.file_digest) == (other.registrations, &other.file_digest)
    }
}

impl Toolbox {
    /// Builds the toolbox from the files of tools.
    ///
    /// # Errors
    /// An invalid output schema, or a data folder that cannot be opened.
    pub fn load(
        engine: &EngineState,
        request: &ToolboxRequest<'_>,
        seeks: &WebSearchFactory,
    ) -> Result<Self, UserError> {
        let (sources, person) = ToolboxSources::current(engine, request)?;
        Self::from_sources(sources, &person, engine, request, seeks)
    }

    /// Returns the current toolbox of the same session: this one if none of its sources changed.
    ///
    /// # Errors
    /// The errors of [`Toolbox::load`].
    pub fn reload(
        self: &Arc<Self>,
        engine: &EngineState,
        request: &ToolboxRequest<'_>,
    ) -> Result<Arc<Self>, UserError> {
        let (sources, person) = ToolboxSources::current(engine, request)?;
        match self.sources.is_same(&sources) {
            true => Ok(Arc::clone(self)),
            false => {
                let seeks = &self.web_search;
                Self::from_sources(sources, &person, engine, request, seeks).map(Arc::new)
            }
        }
    }

    fn from_sources(
        sources: ToolboxSources,
        person: &Workspace,
        engine: &EngineState,
        request: &ToolboxRequest<'_>,
        seeks: &WebSearchFactory,
    ) -> Result<Self, UserError> {
        let ToolboxRequest {
            workspace,
            briefing,
            options,
        } = *request;
        let mut faults = briefing.errors.clone();
        let all = match &sources.tools {
            ToolSource::Engine(tools) => {
                let mut all = Registry::clone(tools);
                briefing.register_tools(&mut all)?;
                faults.extend(custom::load_custom_tools(&mut all, workspace, person));
                custom::add_request_tools(&mut all, &options.own_tools)?;
                all
            }
            ToolSource::Server(server) => {
                let tools = server.as_ref().map(|(server, _)| server.gateway_tools());
                let (all, refused) = Registry::default().with_tools(tools.unwrap_or_default());
                faults.extend(refused);
                all
            }
        };
        let (snapshot, unset) = all.with_settings(&sources.settings.tools);
        // Errors in the settings of the engine's tools were reported when they were set.
        let known = engine.current_errors();
        faults.extend(unset.into_iter().filter(|fault| !known.contains(fault)));
        let snapshot = match options.client {
            Some(_) => snapshot.for_external_clients(),
            None => snapshot,
        };
        // Whoever may search may search by an operation of which it is not told.
        let has_operations = !sources.settings.web_search.operations.is_empty();
        let operations = has_operations.then(|| snapshot.clone());
        let mut registry = match &options.tools {
            Some(names) => {
                let names = names.iter().chain(options.own_tools.keys());
                snapshot.subset(&names.map(String::as_str).collect())
            }
            None => snapshot,
        };
        if registry.find(TOOL_SEARCH).is_ok() {
            let index = Arc::new(registry.search_index());
            registry.replace_tool(Arc::new(ToolSearchTool::new(index)))?;
        }
        add_web_search(&mut registry, engine, seeks, operations.as_ref())?;
        let registry = Arc::new(registry);
        let composed = options.output_schema.as_ref().map(|schema| {
            let tools = registry.definitions();
            ComposedSchema::new(Vec::clone(&tools), Some(schema)).map(Arc::new)
        });
        Ok(Self {
            registry,
            composed: composed.transpose()?,
            errors: faults,
            web_search: seeks.clone(),
            sources,
        })
    }

    /// Returns the tools that a session of this folder would have, or those of the engine alone if no folder is given.
    /// Errors in the folder's files are reported among the current errors.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn for_folder(
        engine: &EngineState,
        folder: Option<&str>,
    ) -> Result<Arc<Registry>, UserError> {
        let Some(folder) = folder else {
            let mut registry = Registry::clone(&engine.tools());
            let operations = Registry::clone(&registry);
            add_web_search(
                &mut registry,
                engine,
                &WebSearchFactory::without_session(),
                Some(&operations),
            )?;
            return Ok(Arc::new(registry));
        };
        Self::for_options(engine, Path::new(folder), &SessionOptions::default())
    }

    /// Returns the tools that a session of this folder with these options would have.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn for_options(
        engine: &EngineState,
        folder: &Path,
        options: &SessionOptions,
    ) -> Result<Arc<Registry>, UserError> {
        let workspace = Workspace::open(folder)?;
        let briefing = engine.read_briefing(&workspace, options);
        let request = ToolboxRequest {
            workspace: &workspace,
            briefing: &briefing,
            options,
        };
        let toolbox = Self::load(engine, &request, &WebSearchFactory::without_session())?;
        engine.set_tool_errors(workspace.root(), toolbox.errors);
        Ok(toolbox.registry)
    }

    /// Whether the person has configured the tools since.
    pub fn is_stale(&self, engine: &EngineState) -> bool {
        self.sources.registrations != engine.tool_settings_version()
    }
}

/// Connects the web search tool with the search provider that the person configured, which may be one of these
/// operations.
fn add_web_search(
    registry: &mut Registry,
    engine: &EngineState,
    seeks: &WebSearchFactory,
    operations: Option<&Registry>,
) -> Result<(), UserError> {
    if registry.find(WEB_SEARCH).is_ok() {
        let settings = engine.settings();
        let find = |id: &str| {
            let found = operations?.find(id).ok()?;
            let searches = engine.apis.search_operation(found.interface.id())?;
            Some((searches, found.classified.mode))
        };
        let tool = seeks.tool(&settings.web_search, &engine.keys, find);
        registry.replace_tool(Arc::new(tool))?;
    }
    Ok(())
}
