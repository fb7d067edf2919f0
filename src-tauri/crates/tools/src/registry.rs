//! Every tool by its name, each with its compiled schema: where a call finds what it asks for.

use std::sync::Arc;

use policy::classify;
use protocol::interface::Alias;
use protocol::model::ToolDefinition;
use protocol::query::ToolView;
use protocol::{Fault, ToolError, ToolInterface, ToolKind};
use serde_json::{Map, Value};

use crate::alias::{their_name, translate};
use crate::builtin;
use crate::close_names::{close_names, did_you_mean};
use crate::schema::{Schema, invalid, lift_meta};
use crate::tool::Tool;

/// Names that models know and nobody else may take (`S002-11`, `S002-25`, `S002-26`).
pub const LOCKED: [&str; 13] = [
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

/// Longest id; what model providers accept.
const ID_BYTES_MAX: usize = 64;

/// The tools of a session.
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    schema: Schema,
}

/// A tool that was found, and the alias that it was called by, if it was.
pub struct Found<'a> {
    /// The tool.
    pub tool: &'a Arc<dyn Tool>,
    /// The other name that the model used.
    pub alias: Option<&'a Alias>,
    schema: &'a Schema,
}

/// Arguments that passed the schema and the tool's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What the tool gets, under its own names.
    pub arguments: Map<String, Value>,
    /// Members that begin with `_`, kept beside the call (M13).
    pub meta: Map<String, Value>,
}

impl Registry {
    /// The nine tools of the house. A tool whose schema did not compile would be missing; a test holds that none is.
    pub fn builtin() -> Self {
        let mut registry = Self {
            entries: Vec::new(),
        };
        for tool in builtin::all() {
            let added = registry.add(tool);
            debug_assert!(added.is_ok(), "{added:?}");
        }
        registry
    }

    /// Adds a tool of somebody else.
    ///
    /// # Errors
    /// A locked id (`S002-26`), a name that is taken or that no model can call, a schema that is none, and a tool that
    /// changes or reaches something but requires nothing (`S002-07`).
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), Fault> {
        let interface = tool.interface();
        let aliases = interface.aliases().iter().map(|alias| alias.name.as_str());
        for name in std::iter::once(interface.id()).chain(aliases) {
            if LOCKED.contains(&name) {
                return Err(Fault::new(
                    format!(
                        "The name `{name}` is locked: models know what it does, so no other tool may take it."
                    ),
                    "Register the tool under another name.",
                ));
            }
        }
        self.add(tool)
    }

    fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), Fault> {
        let interface = tool.interface();
        let names = interface.aliases().iter().map(|alias| alias.name.as_str());
        for name in std::iter::once(interface.id()).chain(names) {
            self.check_name(name)?;
        }
        check_requires(interface)?;
        let schema = Schema::compile(interface.id(), interface.parameters())?;
        self.entries.push(Entry { tool, schema });
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), Fault> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > ID_BYTES_MAX || !name.chars().all(allowed) {
            return Err(Fault::new(
                format!("`{name}` cannot be the name of a tool."),
                format!(
                    "Use 1 to {ID_BYTES_MAX} letters, digits, `_` and `-`; models can call nothing else."
                ),
            ));
        }
        match self.lookup(name) {
            None => Ok(()),
            Some(found) => Err(Fault::new(
                format!(
                    "The name `{name}` is taken by the tool `{}`.",
                    found.tool.interface().id()
                ),
                "Register the tool under another name.",
            )),
        }
    }

    /// The tool of this id or alias (`S001-02`, `S003-04`).
    ///
    /// # Errors
    /// [`ToolError::NotFound`] with up to three names that are close, or all of them (`S000-03`, `S001-26`).
    pub fn find(&self, name: &str) -> Result<Found<'_>, ToolError> {
        self.lookup(name).ok_or_else(|| {
            let names = self.entries.iter().flat_map(|entry| {
                let interface = entry.tool.interface();
                let aliases = interface.aliases().iter().map(|alias| alias.name.as_str());
                std::iter::once(interface.id()).chain(aliases)
            });
            // A model is only ever told of ids.
            let mut close: Vec<&str> = Vec::new();
            for name in close_names(name, names) {
                let id = self.lookup(name).map(|found| found.tool.interface().id());
                close.extend(id.filter(|id| !close.contains(id)));
            }
            let hint = match did_you_mean(&close) {
                hint if hint.is_empty() => {
                    let all: Vec<&str> = self.interfaces().map(|i| i.id()).collect();
                    format!(" The tools are {}.", all.join(", "))
                }
                hint => hint,
            };
            ToolError::NotFound(format!("{name}.{hint}"))
        })
    }

    fn lookup(&self, name: &str) -> Option<Found<'_>> {
        self.entries.iter().find_map(|entry| {
            let interface = entry.tool.interface();
            let alias = interface.aliases().iter().find(|alias| alias.name == name);
            (interface.id() == name || alias.is_some()).then_some(Found {
                tool: &entry.tool,
                alias,
                schema: &entry.schema,
            })
        })
    }

    fn interfaces(&self) -> impl Iterator<Item = &ToolInterface> {
        self.entries.iter().map(|entry| entry.tool.interface())
    }

    /// What the model sees (`S001-69`): ids only, never an alias.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.interfaces()
            .map(|interface| ToolDefinition {
                name: interface.id().to_owned(),
                description: interface.description().to_owned(),
                parameters: interface.parameters().clone(),
            })
            .collect()
    }

    /// What a person sees: every tool with its mode and where that comes from.
    pub fn views(&self) -> Vec<ToolView> {
        self.interfaces()
            .map(|interface| {
                let classified = classify(interface.id(), interface.mode());
                ToolView {
                    record: interface.clone(),
                    mode: classified.mode,
                    mode_from: classified.from,
                }
            })
            .collect()
    }
}

impl Found<'_> {
    /// The arguments as the tool gets them: `_*` members lifted off, an alias's names made ours, schema and values
    /// checked (`S002-05`).
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`], in the names that the model used.
    pub fn arguments(&self, given: &Map<String, Value>) -> Result<Checked, ToolError> {
        let (arguments, meta) = self.lifted(given);
        let arguments = match self.alias {
            Some(alias) => translate(alias, arguments)?,
            None => arguments,
        };
        let name = |member| self.alias.map_or(member, |alias| their_name(alias, member));
        let arguments = self
            .schema
            .problems(arguments, &name)
            .map_err(|problems| invalid(&problems))?;
        self.tool.check(&arguments)?;
        Ok(Checked { arguments, meta })
    }

    /// The arguments, and what is about the call instead (M13); a member that the tool gets itself stays.
    fn lifted(&self, given: &Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
        let (mut arguments, mut meta) = lift_meta(given.clone());
        for member in self.tool.keeps() {
            arguments.extend(meta.shift_remove_entry(*member));
        }
        (arguments, meta)
    }

    /// What is wrong with these arguments, one sentence each; empty if nothing is.
    pub fn problems(&self, given: &Map<String, Value>) -> Vec<String> {
        let (arguments, _) = self.lifted(given);
        match self.schema.problems(arguments, &|member| member) {
            Err(problems) => problems,
            Ok(arguments) => match self.tool.check(&arguments) {
                Ok(()) => Vec::new(),
                Err(ToolError::InvalidArgs(problem)) => vec![problem],
                Err(error) => vec![error.to_string()],
            },
        }
    }
}

/// A kind that changes or reaches something cannot require nothing: the capability check would have nothing to check.
fn check_requires(interface: &ToolInterface) -> Result<(), Fault> {
    let reaches = match interface.kind() {
        ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Execute
        | ToolKind::Fetch => true,
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Other => false,
    };
    if reaches && interface.requires.is_empty() {
        return Err(Fault::new(
            format!(
                "The tool `{}` changes or reaches something but requires nothing.",
                interface.id()
            ),
            "Declare in `requires` which paths, hosts or commands it needs.",
        ));
    }
    Ok(())
}
