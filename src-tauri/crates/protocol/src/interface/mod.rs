//! What a tool publishes about itself (003): ten partitions, conservative where nothing was said.
//!
//! [`ToolInterface::builder`] begins one; the [`builder`] remembers which facts were said, and [`defaults`] is the one
//! place that fills in the rest. Whatever was filled in stands in `inferred`, in every export (`S003-61`).

mod builder;
mod defaults;
mod discovery;
mod execution;
mod rendering;
pub mod requirements;
mod safety;
mod schemas;
mod template;

pub use builder::{FACTS, InterfaceBuilder};
pub use discovery::{SchemaVisibility, ToolAlias, ToolDiscovery, ToolIdentity};
pub use execution::{
    AbortSemantics, ContextModifierPolicy, EmptyResultPolicy, InterruptBehavior, ResultRules,
    ToolExecution,
};
pub use rendering::{RenderHint, ToolRendering};
pub use safety::{PermissionChannel, PermissionMatcher, ToolPermission, ToolSafety};
pub use schemas::{ToolAvailability, ToolSchemas, ToolValidation};
pub use template::fill_template;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{RequirementSet, ToolKind, ToolMode};

/// How a tool behaves at run time (`S003-01`). Its JSON form is the record that is exported; one that lacks a fact is
/// read with the default of that fact, and the fact is listed in `inferred`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(try_from = "Value")]
pub struct ToolInterface {
    /// What it is called.
    pub identity: ToolIdentity,
    /// How it is found and described.
    pub discovery: ToolDiscovery,
    /// What goes in and comes out.
    pub schemas: ToolSchemas,
    /// When it can be used.
    pub availability: ToolAvailability,
    /// What is checked before it runs.
    pub validation: ToolValidation,
    /// What is safe about it.
    pub safety: ToolSafety,
    /// How a call of it is permitted.
    pub permission: ToolPermission,
    /// How it runs.
    pub execution: ToolExecution,
    /// What becomes of its result.
    pub result: ResultRules,
    /// Hints for whoever shows it. Data, never a component (`S003-67`).
    pub rendering: ToolRendering,
    /// What the tool needs of the machine (`S002-07`).
    pub requires: RequirementSet,
    /// Where the tool comes from.
    pub origin: ToolOrigin,
    /// The facts that nobody said, as `partition.field`, in the order of [`FACTS`] (`S003-61`).
    pub inferred: Vec<String>,
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolOrigin {
    /// Nobody said.
    #[default]
    Unknown,
    /// Part of Countersign.
    BuiltIn,
    /// A definition in a file.
    File {
        /// The file: relative to the workspace, or absolute if it is the person's own.
        path: String,
    },
    /// A server or a document of somebody else.
    Foreign {
        /// Its name.
        source: String,
    },
}

impl ToolInterface {
    /// Begins the interface of a tool of this name, with nothing else said.
    pub fn builder(name: impl Into<String>) -> InterfaceBuilder {
        InterfaceBuilder::new(name.into())
    }

    /// The stable id, the name that the model calls (`S002-02`, `S001-03`).
    pub fn id(&self) -> &str {
        &self.identity.tool_id
    }

    /// The name on a card: "Edit", "Run" (`S001-04`).
    pub fn title(&self) -> &str {
        &self.identity.user_facing_name
    }

    /// Prose that the model reads (`S002-03`, `S001-05`).
    pub fn description(&self) -> &str {
        &self.discovery.description
    }

    /// JSON Schema of the arguments that a model may produce (`S002-04`, `S001-06`).
    pub fn parameters(&self) -> &Value {
        &self.schemas.model_input_schema
    }

    /// Other names that lead to the tool (`S003-04`).
    pub fn aliases(&self) -> &[ToolAlias] {
        &self.identity.aliases
    }

    /// The mode given at registration; the name's pattern speaks if none is given (`S000-33`).
    pub fn mode(&self) -> Option<ToolMode> {
        self.safety.mode
    }

    /// What the tool does.
    pub fn kind(&self) -> ToolKind {
        self.safety.kind
    }

    /// How long a call may run, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.execution.timeout_ms
    }

    /// How many bytes of output the model gets inline; the rest goes to the sidecar (`S002-68`).
    pub fn output_bytes_max(&self) -> u64 {
        self.result.max_inline_chars
    }

    /// Whether a fact (`safety.is_open_world`) was said, and not inferred.
    pub fn is_stated(&self, fact: &str) -> bool {
        !self.inferred.iter().any(|inferred| inferred == fact)
    }

    /// The record as it is exported (`S003-61`).
    pub fn to_record(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The record as it may be written, with facts left out.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawInterface {
    identity: ToolIdentity,
    discovery: ToolDiscovery,
    schemas: ToolSchemas,
    availability: ToolAvailability,
    validation: ToolValidation,
    safety: ToolSafety,
    permission: ToolPermission,
    execution: ToolExecution,
    result: ResultRules,
    rendering: ToolRendering,
    requires: RequirementSet,
    origin: ToolOrigin,
    inferred: Vec<String>,
}

impl TryFrom<Value> for ToolInterface {
    type Error = String;

    fn try_from(record: Value) -> Result<Self, String> {
        if !record.is_object() {
            return Err("the record of a tool is an object of partitions".to_owned());
        }
        let present = |fact: &str| {
            let mut at = Some(&record);
            for member in fact.split('.') {
                at = at.and_then(Value::as_object).and_then(|o| o.get(member));
            }
            at.is_some()
        };
        let said: Vec<&'static str> = FACTS.iter().copied().filter(|fact| present(fact)).collect();
        let written: RawInterface =
            serde_json::from_value(record).map_err(|error| error.to_string())?;
        if written.identity.name.is_empty() && written.identity.tool_id.is_empty() {
            return Err("the record names no tool; give `identity.name`".to_owned());
        }
        let inferred = written.inferred.clone();
        let said = said
            .into_iter()
            .filter(|fact| !inferred.iter().any(|inferred| inferred == fact));
        Ok(InterfaceBuilder::from_parts(written.into(), said).build())
    }
}

impl From<RawInterface> for ToolInterface {
    fn from(written: RawInterface) -> Self {
        Self {
            identity: written.identity,
            discovery: written.discovery,
            schemas: written.schemas,
            availability: written.availability,
            validation: written.validation,
            safety: written.safety,
            permission: written.permission,
            execution: written.execution,
            result: written.result,
            rendering: written.rendering,
            requires: written.requires,
            origin: written.origin,
            inferred: Vec::new(),
        }
    }
}
