//! The tools of one session: those of the house, those of its workspace and of its person, as the person set them; and
//! the schema that they are composed to if an output is asked for.

use std::path::Path;
use std::sync::Arc;

use protocol::event::Asked;
use protocol::settings::Settings;
use protocol::{Digest, Fault};
use runtime::Workspace;
use tools::schema_first::{self, Composed};
use tools::{Registry, TOOL_SEARCH, ToolSearch, WEB_SEARCH};

use crate::briefing::Briefing;
use crate::desk::Shared;
use crate::seeks::Seeks;

/// What the calls of a session find.
pub(crate) struct Toolbox {
    /// The tools.
    pub registry: Arc<Registry>,
    /// What the model answers in; none if words will do.
    pub composed: Option<Arc<Composed>>,
    /// What is wrong with the files and settings that it was made of.
    pub faults: Vec<Fault>,
    /// What it searches the web with.
    seeks: Seeks,
    of: Sources,
}

/// What a toolbox is made of beside what its session is asked, to notice when that changes: understanding the schemas of
/// many tools takes its time.
struct Sources {
    /// The desk's tools as they come.
    all: Arc<Registry>,
    settings: Arc<Settings>,
    /// How often the person had set the tools.
    set: u64,
    /// The files of tools.
    files: Digest,
}

impl Sources {
    /// As they stand, with the person's own folder.
    ///
    /// # Errors
    /// A data folder that cannot be opened.
    fn now(shared: &Shared, workspace: &Workspace) -> Result<(Self, Workspace), Fault> {
        // A server hears of the folder before it says what tools it has.
        shared.servers.add_root(workspace.root());
        let set = shared.tools_set();
        let person = Workspace::open(&shared.config.data_dir)?;
        let sources = Self {
            all: shared.tools_unset(),
            settings: shared.settings(),
            set,
            files: schema_first::digest(workspace, &person),
        };
        Ok((sources, person))
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
            && Arc::ptr_eq(&self.settings, &other.settings)
            && (self.set, &self.files) == (other.set, &other.files)
    }
}

impl Toolbox {
    /// Reads the files of tools.
    ///
    /// # Errors
    /// An output schema that is none, or a data folder that cannot be opened.
    pub fn load(
        shared: &Shared,
        workspace: &Workspace,
        briefing: &Briefing,
        asked: &Asked,
        seeks: &Seeks,
    ) -> Result<Self, Fault> {
        let sources = Sources::now(shared, workspace)?;
        Self::made_of(sources, shared, workspace, briefing, asked, seeks)
    }

    /// The toolbox of the same session as things stand now: the same one if nothing changed that it was made of.
    ///
    /// # Errors
    /// As those of [`Toolbox::load`].
    pub fn again(
        self: &Arc<Self>,
        shared: &Shared,
        workspace: &Workspace,
        briefing: &Briefing,
        asked: &Asked,
    ) -> Result<Arc<Self>, Fault> {
        let sources = Sources::now(shared, workspace)?;
        match self.of.is_same(&sources.0) {
            true => Ok(Arc::clone(self)),
            false => {
                let seeks = &self.seeks;
                Self::made_of(sources, shared, workspace, briefing, asked, seeks).map(Arc::new)
            }
        }
    }

    fn made_of(
        (of, person): (Sources, Workspace),
        shared: &Shared,
        workspace: &Workspace,
        briefing: &Briefing,
        asked: &Asked,
        seeks: &Seeks,
    ) -> Result<Self, Fault> {
        let mut all = Registry::clone(&of.all);
        briefing.put_into(&mut all)?;
        let mut faults = briefing.faults.clone();
        faults.extend(schema_first::load(&mut all, workspace, &person));
        schema_first::add(&mut all, &asked.own_tools)?;
        let (held, unset) = all.as_set(&of.settings.tools);
        // What is wrong with settings of the desk's tools was told when they were set.
        let known = shared.faults();
        faults.extend(unset.into_iter().filter(|fault| !known.contains(fault)));
        let held = match asked.client {
            Some(_) => held.outside(),
            None => held,
        };
        // Whoever may search may search by an operation of which it is not told.
        let has_operations = !of.settings.web_search.operations.is_empty();
        let operations = has_operations.then(|| held.clone());
        let mut registry = match &asked.tools {
            Some(names) => {
                let names = names.iter().chain(asked.own_tools.keys());
                held.only(&names.map(String::as_str).collect())
            }
            None => held,
        };
        if registry.find(TOOL_SEARCH).is_ok() {
            let index = Arc::new(registry.index());
            registry.put(Arc::new(ToolSearch::new(index)))?;
        }
        seek(&mut registry, shared, seeks, operations.as_ref())?;
        let registry = Arc::new(registry);
        let composed = asked.output_schema.as_ref().map(|schema| {
            let tools = registry.definitions();
            Composed::new(Vec::clone(&tools), Some(schema)).map(Arc::new)
        });
        Ok(Self {
            registry,
            composed: composed.transpose()?,
            faults,
            seeks: seeks.clone(),
            of,
        })
    }

    /// The tools that a session of this folder would find, and of the desk alone where no folder is named. What is wrong
    /// with the folder's files is told among the faults.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn of_folder(shared: &Shared, folder: Option<&str>) -> Result<Arc<Registry>, Fault> {
        let Some(folder) = folder else {
            let mut registry = Registry::clone(&shared.tools());
            let operations = Registry::clone(&registry);
            seek(&mut registry, shared, &Seeks::nobody(), Some(&operations))?;
            return Ok(Arc::new(registry));
        };
        Self::of_asked(shared, Path::new(folder), &Asked::default())
    }

    /// The tools that a session of this folder would find that is asked this.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn of_asked(shared: &Shared, folder: &Path, asked: &Asked) -> Result<Arc<Registry>, Fault> {
        let workspace = Workspace::open(folder)?;
        let briefing = shared.briefing(&workspace, asked);
        let toolbox = Self::load(shared, &workspace, &briefing, asked, &Seeks::nobody())?;
        shared.set_tool_faults(workspace.root(), toolbox.faults);
        Ok(toolbox.registry)
    }

    /// Whether the person set the tools since.
    pub fn is_stale(&self, shared: &Shared) -> bool {
        self.of.set != shared.tools_set()
    }
}

/// Has the tool that searches the web ask whoever the person set up, by an operation among these too.
fn seek(
    registry: &mut Registry,
    shared: &Shared,
    seeks: &Seeks,
    operations: Option<&Registry>,
) -> Result<(), Fault> {
    if registry.find(WEB_SEARCH).is_ok() {
        let settings = shared.settings();
        let find = |id: &str| {
            let found = operations?.find(id).ok()?;
            let searches = shared.apis.searches(found.interface.id())?;
            Some((searches, found.classified.mode))
        };
        let tool = seeks.tool(&settings.web_search, &shared.keys, find);
        registry.put(Arc::new(tool))?;
    }
    Ok(())
}
