//! Every tool by its name, each with its compiled schema: where a call finds what it asks for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use policy::classify::{mode_strictness, stricter_modes};
use policy::{ToolClass, ToolDeclaration, classify_tool};
use protocol::interface::{InterfaceBuilder, SchemaVisibility, ToolAlias};
use protocol::model::ToolDefinition;
use protocol::query::ToolView;
use protocol::settings::ToolSettings;
use protocol::{RequirementSet, ToolError, ToolInterface, ToolMode, UserError};
use serde_json::{Map, Value};

use crate::builtin;
use crate::limits::{ID_BYTES_MAX, NAMES_LISTED_MAX};
use crate::name_suggestions::{find_close_names, format_suggestion};
use crate::schema::Schema;
use crate::schema::with_reasoning;
use crate::sub_agent;
use crate::tool::Tool;

pub(crate) mod admission;
mod arguments;
mod deferred;
mod external;
mod subset;

pub use external::OfferedTool;

/// Names that models know and nobody else may take (`S002-11`, `S002-25`, `S002-26`).
pub const LOCKED_TOOL_IDS: [&str; 13] = [
    "read",
    "write",
    "edit",
    "glob",
    "grep",
    "bash",
    "todo",
    "task",
    "question",
    "web_search",
    "web_fetch",
    "skill",
    "tool_search",
];

/// The tools of a desk or of a session. Cheap to clone: the tools themselves are shared.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Arc<ToolEntry>>,
    /// Every name: the tool's place, and the place of the alias among its own.
    names: HashMap<String, (usize, Option<usize>)>,
    /// What a model sees at first, once somebody asked.
    definitions: OnceLock<Arc<Vec<ToolDefinition>>>,
    /// What all of them require, once somebody asked: every call does.
    requires: OnceLock<RequirementSet>,
    /// Whether there are too many to show a model all of them, once somebody asked.
    has_many: OnceLock<bool>,
}

#[derive(Clone)]
struct ToolEntry {
    tool: Arc<dyn Tool>,
    interface: Arc<ToolInterface>,
    schema: Arc<Schema>,
    classified: ToolClass,
    locked: bool,
}

/// A tool that was found, and the alias that it was called by, if it was.
pub struct RegisteredTool<'a> {
    /// The tool.
    pub tool: &'a Arc<dyn Tool>,
    /// What it publishes, under the name that it has here.
    pub interface: &'a ToolInterface,
    /// Its mode and kind, as the person set them if they did.
    pub classified: &'a ToolClass,
    /// The other name that the model used.
    pub alias: Option<&'a ToolAlias>,
    schema: &'a Schema,
}

/// Arguments that passed the schema and the tool's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatedArguments {
    /// What the tool gets, under its own names.
    pub arguments: Map<String, Value>,
    /// Members that begin with `_`, kept beside the call (M13).
    pub meta: Map<String, Value>,
}

impl Registry {
    /// The tools of the house. A tool whose schema did not compile would be missing; a test holds that none is.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for tool in builtin::builtin_tools() {
            let added = registry.insert_tool(tool, true);
            debug_assert!(added.is_ok(), "{added:?}");
        }
        registry
    }

    /// These tools and some of somebody else, with what is wrong with those that could not join.
    pub fn with_tools(&self, tools: Vec<Arc<dyn Tool>>) -> (Self, Vec<UserError>) {
        let mut registry = self.clone();
        let faults = tools
            .into_iter()
            .filter_map(|tool| registry.register(tool).err())
            .collect();
        (registry, faults)
    }

    /// Puts a tool of the house in the place of the one of its name: over what this session has.
    ///
    /// # Errors
    /// A schema that is none.
    pub fn replace_tool(&mut self, tool: Arc<dyn Tool>) -> Result<(), UserError> {
        let interface = tool.interface().clone();
        let schema = Arc::new(Schema::from_interface(&interface)?);
        let Some(&(place, None)) = self.names.get(interface.id()) else {
            return self.insert_tool(tool, true);
        };
        // As the person set it, it stays.
        let before = &self.entries[place];
        let is_enabled = before.interface.availability.is_enabled;
        // And it may be stricter over what this session has, never looser.
        let own = classify_tool(interface.id(), ToolDeclaration::from_interface(&interface));
        let classified = match mode_strictness(own.mode) > mode_strictness(before.classified.mode) {
            true => own,
            false => before.classified.clone(),
        };
        let interface = InterfaceBuilder::from(interface).is_enabled(is_enabled);
        self.entries[place] = Arc::new(ToolEntry {
            classified,
            tool,
            interface: Arc::new(interface.build()),
            schema,
            locked: true,
        });
        self.clear_caches();
        Ok(())
    }

    /// What all tools together say is gathered anew when somebody asks.
    fn clear_caches(&mut self) {
        (self.definitions, self.requires, self.has_many) = Default::default();
    }

    /// Adds a tool of somebody else. One of a namespace whose name is taken gets a numeric tail (M11).
    ///
    /// # Errors
    /// A locked id (`S002-26`), a name that is taken or that no model can call, a schema that is none, and a tool that
    /// does not say what it requires (`S002-07`).
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), UserError> {
        admission::check_not_locked(tool.interface())?;
        self.insert_tool(tool, false)
    }

    fn insert_tool(&mut self, tool: Arc<dyn Tool>, locked: bool) -> Result<(), UserError> {
        let mut interface = tool.interface().clone();
        admission::check_interface(&interface)?;
        let taken = |name: &str| self.names.contains_key(name);
        if !interface.identity.namespace.is_empty() && taken(interface.id()) {
            let id = admission::with_numeric_suffix(interface.id(), &taken);
            interface = InterfaceBuilder::from(interface).tool_id(id).build();
        }
        for name in admission::tool_names(&interface) {
            if let Some((at, _)) = self.names.get(name) {
                return Err(UserError::new(
                    format!(
                        "The name `{name}` is taken by the tool `{}`.",
                        self.entries[*at].interface.id()
                    ),
                    "Register the tool under another name.",
                ));
            }
        }
        let schema = Schema::from_interface(&interface)?;
        let place = self.entries.len();
        self.names.insert(interface.id().to_owned(), (place, None));
        for (at, alias) in interface.aliases().iter().enumerate() {
            self.names.insert(alias.name.clone(), (place, Some(at)));
        }
        // A tool whose id is not made of namespace and name is found by those as well.
        let identity = &interface.identity;
        if !identity.namespace.is_empty() {
            let qualified = format!("{}__{}", identity.namespace, identity.name);
            self.names.entry(qualified).or_insert((place, None));
        }
        let entry = ToolEntry {
            classified: classify_tool(interface.id(), ToolDeclaration::from_interface(&interface)),
            tool,
            interface: Arc::new(interface),
            schema: Arc::new(schema),
            locked,
        };
        self.entries.push(Arc::new(entry));
        self.clear_caches();
        Ok(())
    }

    /// These tools as the person set them: some switched off, some stricter. Says which settings do not hold.
    pub fn with_settings(
        &self,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<UserError>) {
        let mut registry = self.clone();
        let mut faults = Vec::new();
        for (name, set) in settings {
            let Some(&(place, _)) = self.names.get(name) else {
                continue;
            };
            let mut entry = ToolEntry::clone(&registry.entries[place]);
            if !set.enabled {
                let off = InterfaceBuilder::from(ToolInterface::clone(&entry.interface));
                entry.interface = Arc::new(off.is_enabled(false).build());
            }
            match tighten_mode(name, &entry.classified, set.mode) {
                Ok(classified) => entry.classified = classified,
                Err(fault) => faults.push(fault),
            }
            registry.entries[place] = Arc::new(entry);
        }
        registry.clear_caches();
        (registry, faults)
    }

    /// Whether the person may set a tool so.
    ///
    /// # Errors
    /// There is no such tool, or the mode is looser than the tool's own.
    pub fn check_setting(&self, name: &str, mode: Option<ToolMode>) -> Result<(), UserError> {
        let Some((place, None)) = self.names.get(name) else {
            return Err(UserError::new(
                format!("There is no tool `{name}`."),
                "Look at the list of tools for its id.",
            ));
        };
        tighten_mode(name, &self.entries[*place].classified, mode).map(|_| ())
    }

    /// The tool of this id or alias (`S001-02`, `S003-04`), in constant time. One that is switched off is not found
    /// (`S003-18`).
    ///
    /// # Errors
    /// [`ToolError::NotFound`] with up to three names that are close, or all of them (`S000-03`, `S001-26`).
    pub fn find(&self, name: &str) -> Result<RegisteredTool<'_>, ToolError> {
        match self.names.get(name).and_then(|(place, alias)| {
            let entry = self.entries.get(*place)?;
            Some((
                entry,
                alias.and_then(|at| entry.interface.aliases().get(at)),
            ))
        }) {
            Some((entry, alias)) if entry.interface.availability.is_enabled => Ok(RegisteredTool {
                tool: &entry.tool,
                interface: &entry.interface,
                classified: &entry.classified,
                alias,
                schema: &entry.schema,
            }),
            Some(_) => Err(ToolError::NotFound(format!(
                "{name}. It is switched off; do without it."
            ))),
            None => Err(self.not_found_error(name)),
        }
    }

    fn not_found_error(&self, name: &str) -> ToolError {
        let offered = || self.entries.iter().filter(|entry| entry.is_offered());
        let names = offered().flat_map(|entry| admission::tool_names(&entry.interface));
        // A model is only ever told of ids.
        let mut close: Vec<&str> = Vec::new();
        for name in find_close_names(name, names) {
            let id = self
                .names
                .get(name)
                .map(|(at, _)| self.entries[*at].interface.id());
            close.extend(id.filter(|id| !close.contains(id)));
        }
        let shown: String = name.chars().take(ID_BYTES_MAX).collect();
        let hint = match format_suggestion(&close) {
            hint if hint.is_empty() => {
                let all: Vec<&str> = offered().map(|entry| entry.interface.id()).collect();
                let more = match all.len().saturating_sub(NAMES_LISTED_MAX) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let listed = &all[..all.len().min(NAMES_LISTED_MAX)];
                format!(" The tools are {}{more}.", listed.join(", "))
            }
            hint => hint,
        };
        ToolError::NotFound(format!("{shown}.{hint}"))
    }

    /// What the model sees first (`S001-69`): ids only, never an alias; none that is deferred (`S003-12`), switched off
    /// (`S003-18`) or the host's own.
    pub fn definitions(&self) -> Arc<Vec<ToolDefinition>> {
        let gather = || {
            let first = self.entries.iter().filter(|entry| entry.is_offered());
            let first = first.filter(|entry| !self.is_entry_deferred(entry));
            Arc::new(first.map(|entry| entry.definition()).collect())
        };
        self.definitions.get_or_init(gather).clone()
    }

    /// What all tools together require: with what an agent's manifest requires, the surface of an agent (`S002-09`,
    /// `S002-10`).
    pub fn requirements(&self) -> &RequirementSet {
        self.requires.get_or_init(|| {
            let enabled = self
                .entries
                .iter()
                .filter(|e| e.interface.availability.is_enabled);
            RequirementSet::union(enabled.map(|entry| &entry.interface.requires))
        })
    }

    /// The ids of those that an agent may be given that works for another one (`S001-42`).
    pub fn sub_agent_tool_ids(&self) -> Vec<String> {
        let given = self
            .entries
            .iter()
            .filter(|entry| entry.is_for_sub_agents());
        given.map(|entry| entry.interface.id().to_owned()).collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// What a person sees: every tool with its mode and where that comes from.
    pub fn views(&self) -> Vec<ToolView> {
        self.entries
            .iter()
            .map(|entry| ToolView {
                record: ToolInterface::clone(&entry.interface),
                mode: entry.classified.mode,
                mode_from: entry.classified.from.clone(),
                stricter_modes: stricter_modes(entry.declared_mode()),
                own_mode: entry.declared_mode(),
                kind: entry.classified.kind,
                enabled: entry.interface.availability.is_enabled,
                setup: entry.tool.missing_setup(),
                locked: entry.locked,
            })
            .collect()
    }
}

impl ToolEntry {
    fn declared_mode(&self) -> Option<ToolMode> {
        classify_tool(
            self.interface.id(),
            ToolDeclaration::from_interface(&self.interface),
        )
        .mode
    }

    fn is_for_sub_agents(&self) -> bool {
        // Whether it plans is its caller's matter.
        let plans = [builtin::PLAN, builtin::PLAN_EXIT].contains(&self.interface.id());
        !plans && self.interface.execution.execution_profile_ref != sub_agent::SUB_AGENT_PROFILE
    }

    /// Whether a model may know of the tool.
    fn is_offered(&self) -> bool {
        self.interface.availability.is_enabled
            && self.interface.discovery.schema_visibility == SchemaVisibility::Model
    }

    /// What a model sees of it.
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.interface.id().to_owned(),
            description: self.interface.discovery.description.clone(),
            parameters: with_reasoning(self.interface.parameters()),
            strict: self.interface.schemas.strict,
        }
    }
}

/// The mode that the person set, if it is at least as strict as the tool's own.
fn tighten_mode(
    name: &str,
    own: &ToolClass,
    set: Option<ToolMode>,
) -> Result<ToolClass, UserError> {
    match set {
        None => Ok(own.clone()),
        Some(mode) if mode_strictness(Some(mode)) < mode_strictness(own.mode) => {
            Err(UserError::new(
                format!(
                    "The mode {} is looser than the tool `{name}` is by itself: {}.",
                    mode.as_str(),
                    own.mode
                        .map_or("it asks, since nothing says what it does", ToolMode::as_str)
                ),
                "Set a stricter one (read, external, safe_write, destructive, local, from loose to strict), or none.",
            ))
        }
        Some(mode) => Ok(ToolClass {
            mode: Some(mode),
            from: "set by you".to_owned(),
            kind: own.kind,
        }),
    }
}
