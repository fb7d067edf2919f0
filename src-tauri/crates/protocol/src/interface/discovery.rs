//! Identity and discovery: the names of a tool, and how it is found and described (`S003-02` to `S003-13`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Names of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolIdentity {
    /// The stable id that a model calls: the name, after `namespace__` if there is a namespace (`S003-02`, M11).
    pub tool_id: String,
    /// The name within its namespace (`S003-03`).
    pub name: String,
    /// Other names that lead to the same tool (`S003-04`).
    pub aliases: Vec<ToolAlias>,
    /// The name of the server or document that the tool comes from; empty for a built-in tool (`S003-05`).
    pub namespace: String,
    /// The tool's names in other protocols, by protocol, never changed (`S003-06`).
    pub native_ids: BTreeMap<String, String>,
    /// The name on a card: "Edit", "Run" (`S003-07`).
    pub user_facing_name: String,
}

/// Another name for a tool, with the arguments that have different names under it (M05).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ToolAlias {
    /// The other name.
    pub name: String,
    /// Pairs of the argument name under this alias and our own argument name.
    #[serde(default)]
    pub arguments: Vec<(String, String)>,
}

/// How a tool is found and described.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolDiscovery {
    /// Three to ten words to search by (`S003-08`).
    pub search_hint: String,
    /// Prose that the model reads (`S003-09`, `S002-03`).
    pub description: String,
    /// The capabilities that the tool needs, as rules name them: `fs.read` (`S003-10`).
    pub capability_refs: Vec<String>,
    /// Whether the model or only the host sees the schema (`S003-11`).
    pub schema_visibility: SchemaVisibility,
    /// Whether the tool is left out of a model's first catalogue and has to be searched for (`S003-12`).
    pub should_defer: bool,
    /// Whether the tool is always in the first catalogue, regardless of other facts (`S003-13`).
    pub always_load: bool,
}

/// Visibility of a tool's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SchemaVisibility {
    /// The model sees the schema, with the tool's description.
    #[default]
    Model,
    /// Only the host sees the schema: the tool is never offered or suggested to a model.
    Host,
}
