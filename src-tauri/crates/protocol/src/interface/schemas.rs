//! Schemas, availability and validation: what goes in, when, and what is checked first (`S003-14` to `S003-26`).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What goes in and comes out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSchemas {
    /// JSON Schema of the arguments that a model may produce (`S003-14`, `S003-62`).
    #[ts(type = "unknown")]
    pub model_input_schema: Value,
    /// JSON Schema of the arguments that the tool gets: the same, and members that only the host puts in, each marked
    /// `"visibility": "internal"` with its `"mutation_source"` (`S003-15`, `S003-63` to `S003-65`).
    #[ts(type = "unknown")]
    pub runtime_input_schema: Value,
    /// JSON Schema of the result's data; none if it has no fixed shape (`S003-16`).
    #[ts(type = "unknown")]
    pub output_schema: Option<Value>,
    /// Whether the model is held to the schema while it writes, where its provider can do that (`S003-17`, `S003-58`).
    pub strict: bool,
}

/// When a tool can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolAvailability {
    /// A disabled tool is neither listed nor callable (`S003-18`).
    pub is_enabled: bool,
    /// Something has to be set up first; until then a call says so and does nothing (`S003-19`).
    pub requires_setup: bool,
    /// The names of the credentials that it needs (`S003-20`).
    pub required_credentials: Vec<String>,
    /// What a model must be able to do to use it, such as `images` (`S003-21`).
    pub model_requirements: Vec<String>,
    /// Switches of the host that turn it on or off (`S003-22`).
    pub feature_gate_refs: Vec<String>,
}

/// What is checked before a tool runs, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolValidation {
    /// The arguments are checked against the schema (`S003-23`). Always so here.
    pub schema_validation: bool,
    /// What is checked of values that the schema cannot say, one clause each (`S003-24`).
    pub value_validation: Vec<String>,
    /// What is looked at before anything is changed, one clause each (`S003-25`).
    pub io_preflight_validation: Vec<String>,
    /// A call that policy denies is denied before any file or host is touched (`S003-26`). Always so here.
    pub deny_before_io: bool,
}
