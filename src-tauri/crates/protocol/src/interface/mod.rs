//! The interface that a tool publishes about itself (003): ten partitions, with conservative defaults for facts that
//! are not stated.
//!
//! [`ToolInterface::builder`] begins an interface; the module `builder` tracks which facts were stated, and `defaults` is
//! the one place that fills in the others. Every fact that was filled in is listed in `inferred`, in every export
//! (`S003-61`).

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

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use ts_rs::TS;

use crate::{RequirementSet, ToolKind, ToolMode};

/// Behaviour of a tool at run time (`S003-01`). Its JSON form is the exported record; a record that lacks a fact is
/// read with the default of that fact, and the fact is listed in `inferred`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct ToolInterface {
    /// Names of the tool.
    pub identity: ToolIdentity,
    /// How the tool is found and described.
    pub discovery: ToolDiscovery,
    /// Schemas of the arguments and the result.
    pub schemas: ToolSchemas,
    /// When the tool can be used.
    pub availability: ToolAvailability,
    /// Checks that are made before the tool runs.
    pub validation: ToolValidation,
    /// Safety properties of the tool.
    pub safety: ToolSafety,
    /// How a call of the tool is permitted.
    pub permission: ToolPermission,
    /// How the tool runs.
    pub execution: ToolExecution,
    /// Treatment of the tool's result.
    pub result: ResultRules,
    /// Hints for a user interface that shows the tool. Data, never a component (`S003-67`).
    pub rendering: ToolRendering,
    /// Requirements of the tool on the machine (`S002-07`).
    pub requires: RequirementSet,
    /// Origin of the tool.
    pub origin: ToolOrigin,
    /// The facts that were not stated, as `partition.field`, in the order of [`FACTS`] (`S003-61`).
    pub inferred: Vec<String>,
}

/// Origin of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolOrigin {
    /// The origin was not stated.
    #[default]
    Unknown,
    /// Part of Countersign.
    BuiltIn,
    /// Defined in a file.
    File {
        /// The file: relative to the workspace, or absolute if it is the person's own.
        path: String,
    },
    /// Provided by another party's server or document.
    Foreign {
        /// The name of the server or document.
        source: String,
    },
}

impl ToolInterface {
    /// Begins the interface of a tool of this name, with no other fact stated.
    pub fn builder(name: impl Into<String>) -> InterfaceBuilder {
        InterfaceBuilder::new(name.into())
    }

    /// Returns the stable id, the name that the model calls (`S002-02`, `S001-03`).
    pub fn id(&self) -> &str {
        &self.identity.tool_id
    }

    /// Returns the name on a card: "Edit", "Run" (`S001-04`).
    pub fn title(&self) -> &str {
        &self.identity.user_facing_name
    }

    /// Returns the prose that the model reads (`S002-03`, `S001-05`).
    pub fn description(&self) -> &str {
        &self.discovery.description
    }

    /// Returns the JSON Schema of the arguments that a model may produce (`S002-04`, `S001-06`).
    pub fn parameters(&self) -> &Value {
        &self.schemas.model_input_schema
    }

    /// Returns the other names that lead to the tool (`S003-04`).
    pub fn aliases(&self) -> &[ToolAlias] {
        &self.identity.aliases
    }

    /// Returns the mode given at registration; if there is none, the pattern of the name decides (`S000-33`).
    pub fn mode(&self) -> Option<ToolMode> {
        self.safety.mode
    }

    /// Returns the kind of the tool.
    pub fn kind(&self) -> ToolKind {
        self.safety.kind
    }

    /// Returns the time limit of a call, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.execution.timeout_ms
    }

    /// Returns the number of bytes of output that the model gets inline; the rest goes to the sidecar (`S002-68`).
    pub fn output_bytes_max(&self) -> u64 {
        self.result.max_inline_chars
    }

    /// Whether a fact (`safety.is_open_world`) was stated, and not inferred.
    pub fn is_stated(&self, fact: &str) -> bool {
        !self.inferred.iter().any(|inferred| inferred == fact)
    }

    /// Returns the record as it is exported (`S003-61`).
    pub fn to_record(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Serialize for ToolInterface {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for ToolInterface {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<Value> for ToolInterface {
    type Error = String;

    fn try_from(record: Value) -> Result<Self, String> {
        if !record.is_object() {
            return Err("the record of a tool is an object of partitions".to_owned());
        }
        let pointer_of = |fact: &str| format!("/{}", fact.replace('.', "/"));
        let present: Vec<&'static str> = FACTS
            .iter()
            .copied()
            .filter(|fact| record.pointer(&pointer_of(fact)).is_some())
            .collect();
        // The derived reader, which knows nothing of the inferred facts.
        let written = Self::deserialize(record).map_err(|error| error.to_string())?;
        if written.identity.name.is_empty() && written.identity.tool_id.is_empty() {
            return Err("the record names no tool; give `identity.name`".to_owned());
        }
        Ok(InterfaceBuilder::from_parts(written, present).build())
    }
}
