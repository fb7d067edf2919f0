//! The registry of tools by name, each with its compiled schema: resolves the tool that a call asks for.

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
use crate::text::join_head;
use crate::tool::Tool;

pub(crate) mod admission;
mod arguments;
mod deferred;
mod external;
mod subset;

pub use external::OfferedTool;

/// Names that models know and that no other tool may take (`S002-11`, `S002-25`, `S002-26`).
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

/// The tools of the engine or of a session. Cheap to clone: the tools themselves are shared.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Arc<ToolEntry>>,
    /// Every name, with the index of its tool and the index of the alias among the tool's aliases.
    names: HashMap<String, (usize, Option<usize>)>,
    /// Cached definitions that a model sees at first.
    definitions: OnceLock<Arc<Vec<ToolDefinition>>>,
    /// Cached requirements of all tools, which every call asks for.
    requires: OnceLock<RequirementSet>,
    /// Cached answer to whether there are too many tools to show a model all of them.
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

/// A tool that was found, and the alias by which it was called, if any.
pub struct RegisteredTool<'a> {
    /// The tool.
    pub tool: &'a Arc<dyn Tool>,
    /// Published interface, under the tool's name in this registry.
    pub interface: &'a ToolInterface,
    /// Mode and kind, as the person set them if they did.
    pub classified: &'a ToolClass,
    /// Alias that the model used.
    pub alias: Option<&'a ToolAlias>,
    schema: &'a Schema,
}

/// Arguments that passed the schema and the tool's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatedArguments {
    /// Arguments for the tool, under its own names.
    pub arguments: Map<String, Value>,
    /// Members that begin with `_`, kept beside the call (M13).
    pub meta: Map<String, Value>,
}

impl Registry {
    /// Returns the built-in tools. A tool whose schema does not compile would be missing; a test ensures that none is.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for tool in builtin::builtin_tools() {
            let added = registry.insert_tool(tool, true);
            debug_assert!(added.is_ok(), "{added:?}");
        }
        registry
    }

    /// Returns these tools and third-party tools, with an error for each tool that could not join.
    pub fn with_tools(&self, tools: Vec<Arc<dyn Tool>>) -> (Self, Vec<UserError>) {
        let mut registry = self.clone();
        let faults = tools
            .into_iter()
            .filter_map(|tool| registry.register(tool).err())
            .collect();
        (registry, faults)
    }

    /// Replaces the built-in tool of the same name, for a tool over the state of this session.
    ///
    /// # Errors
    /// If the schema is not valid.
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

    /// Clears the values that are computed from all tools together, so that they are recomputed on demand.
    fn clear_caches(&mut self) {
        (self.definitions, self.requires, self.has_many) = Default::default();
    }

    /// Adds a third-party tool. A tool of a namespace whose name is taken gets a numeric suffix (M11).
    ///
    /// # Errors
    /// A locked id (`S002-26`), a name that is taken or that no model can call, an invalid schema, or a tool that does
    /// not declare its requirements (`S002-07`).
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), UserError> {
        admission::check_not_locked(tool.interface())?;
        self.insert_tool(tool, false)
    }

    fn insert_tool(&mut self, tool: Arc<dyn Tool>, locked: bool) -> Result<(), UserError> {
        let mut interface = tool.interface().clone();
        admission::check_interface(&interface)?;
        let is_taken = |name: &str| self.names.contains_key(name);
        if !interface.identity.namespace.is_empty() && is_taken(interface.id()) {
            let id = admission::with_numeric_suffix(interface.id(), &is_taken);
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

    /// Applies the person's settings to the tools: some are switched off, some become stricter. Also returns an error
    /// for each setting that does not hold.
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

    /// Checks whether the person may apply a setting to a tool.
    ///
    /// # Errors
    /// If there is no such tool, or the mode is looser than the tool's own.
    pub fn check_setting(&self, name: &str, mode: Option<ToolMode>) -> Result<(), UserError> {
        let Some((place, None)) = self.names.get(name) else {
            return Err(UserError::new(
                format!("There is no tool `{name}`."),
                "Look at the list of tools for its id.",
            ));
        };
        tighten_mode(name, &self.entries[*place].classified, mode).map(|_| ())
    }

    /// Finds the tool of this id or alias (`S001-02`, `S003-04`), in constant time. A tool that is switched off is not
    /// found (`S003-18`).
    ///
    /// # Errors
    /// [`ToolError::NotFound`] with up to three similar names, or all names (`S000-03`, `S001-26`).
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
                format!(" The tools are {}.", join_head(&all, NAMES_LISTED_MAX))
            }
            hint => hint,
        };
        ToolError::NotFound(format!("{shown}.{hint}"))
    }

    /// Returns the definitions that the model sees first (`S001-69`): ids only, never an alias; no tool that is
    /// deferred (`S003-12`), switched off (`S003-18`) or reserved for the host.
    pub fn definitions(&self) -> Arc<Vec<ToolDefinition>> {
        let gather = || {
            let first = self.entries.iter().filter(|entry| entry.is_offered());
            let first = first.filter(|entry| !self.is_entry_deferred(entry));
            Arc::new(first.map(|entry| entry.definition()).collect())
        };
        self.definitions.get_or_init(gather).clone()
    }

    /// Returns the requirements of all tools together: combined with the requirements of an agent's manifest, they are
    /// the surface of the agent (`S002-09`, `S002-10`).
    pub fn requirements(&self) -> &RequirementSet {
        self.requires.get_or_init(|| {
            let enabled = self
                .entries
                .iter()
                .filter(|e| e.interface.availability.is_enabled);
            RequirementSet::union(enabled.map(|entry| &entry.interface.requires))
        })
    }

    /// Returns the ids of the tools that a sub-agent may be given (`S001-42`).
    pub fn sub_agent_tool_ids(&self) -> Vec<String> {
        let entries = self
            .entries
            .iter()
            .filter(|entry| entry.is_for_sub_agents());
        entries
            .map(|entry| entry.interface.id().to_owned())
            .collect()
    }

    /// Returns the number of tools.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the views shown to the person: every tool with its mode and the origin of the mode.
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

    /// Returns the definition that a model sees.
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.interface.id().to_owned(),
            description: self.interface.discovery.description.clone(),
            parameters: with_reasoning(self.interface.parameters()),
            strict: self.interface.schemas.strict,
        }
    }
}

/// Returns the mode that the person set, if it is at least as strict as the tool's own.
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
            verb_permission: None,
        }),
    }
}
