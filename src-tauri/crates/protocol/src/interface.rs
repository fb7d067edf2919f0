//! What a tool publishes about itself (003): grouped in partitions, conservative where nothing was said.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{RequirementSet, ToolKind, ToolMode};

/// How a tool behaves at run time (`S003-01`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolInterface {
    /// The stable id, the name that the model calls (`S002-02`).
    pub id: String,
    /// The name on a card: "Edit", "Run".
    pub title: String,
    /// Prose that the model reads (`S002-03`).
    pub description: String,
    /// Other names that lead to the same tool (`S003-04`).
    pub aliases: Vec<Alias>,
    /// JSON Schema of the arguments that a model may produce (`S002-04`).
    #[ts(type = "unknown")]
    pub parameters: Value,
    /// What the tool needs of the machine (`S002-07`).
    pub requires: RequirementSet,
    /// The mode given at registration; the name's pattern speaks if none is given (`S000-33`).
    pub mode: Option<ToolMode>,
    /// What the tool does.
    pub kind: ToolKind,
    /// What is safe about it.
    pub safety: Safety,
    /// Its limits.
    pub limits: Limits,
}

/// Another name for a tool, with the members that are called otherwise under that name (M05).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Alias {
    /// The other name.
    pub name: String,
    /// Pairs of *their* argument name and ours.
    pub arguments: Vec<(String, String)>,
}

/// Safety flags with their fail-closed defaults (`S003-53` to `S003-60`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Safety {
    /// No side effects.
    pub is_read_only: bool,
    /// Removes something.
    pub is_destructive: bool,
    /// Reaches beyond what can be listed before.
    pub is_open_world: bool,
    /// Cannot run without an answer of a person.
    pub requires_user_interaction: bool,
    /// Calls may run side by side.
    pub is_concurrency_safe: bool,
}

/// Limits of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Limits {
    /// How long a call may run, in milliseconds.
    pub timeout_ms: u64,
    /// How many bytes of output the model gets inline; the rest goes to the sidecar (`S002-68`).
    pub output_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_ms: 120_000,
            output_bytes_max: 200 * 1024,
        }
    }
}
