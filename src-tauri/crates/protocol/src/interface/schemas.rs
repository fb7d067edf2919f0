//! Schemas, availability and validation: the arguments and results, the conditions of use, and the checks that come
//! first (`S003-14` to `S003-26`).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Schemas of the arguments and the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSchemas {
    /// JSON Schema of the arguments that a model may produce (`S003-14`, `S003-62`).
    #[ts(type = "unknown")]
    pub model_input_schema: Value,
    /// JSON Schema of the arguments that the tool gets: the model's, and members that only the host adds, each marked
    /// `"visibility": "internal"` with its `"mutation_source"` (`S003-15`, `S003-63` to `S003-65`).
    #[ts(type = "unknown")]
    pub runtime_input_schema: Value,
    /// JSON Schema of the result's data; none if the data has no fixed shape (`S003-16`).
    #[ts(type = "unknown")]
    pub output_schema: Option<Value>,
    /// Whether the model's output is constrained to the schema, where the provider can do that (`S003-17`, `S003-58`).
    pub strict: bool,
}

/// Conditions under which a tool can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolAvailability {
    /// Whether the tool is enabled; a disabled tool is neither listed nor callable (`S003-18`).
    pub is_enabled: bool,
    /// Whether the tool has to be set up first; until then a call says so and does nothing (`S003-19`).
    pub requires_setup: bool,
    /// Names of the credentials that the tool needs (`S003-20`).
    pub required_credentials: Vec<String>,
    /// Abilities that a model needs to use the tool, such as `images` (`S003-21`).
    pub model_requirements: Vec<String>,
    /// Switches of the host that turn the tool on or off (`S003-22`).
    pub feature_gate_refs: Vec<String>,
}

/// Checks that are made before a tool runs, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolValidation {
    /// Whether the arguments are checked against the schema (`S003-23`). Always true here.
    pub schema_validation: bool,
    /// Checks of values that the schema cannot express, one clause each (`S003-24`).
    pub value_validation: Vec<String>,
    /// Checks that are made before anything is changed, one clause each (`S003-25`).
    pub io_preflight_validation: Vec<String>,
    /// Whether a call that policy denies is denied before any file or host is touched (`S003-26`). Always true here.
    pub deny_before_io: bool,
}
