//! The two classifications of a call: its treatment (mode) and its operation (kind).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How the harness treats a call (`S000-20`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// Inspection without side effects.
    Read,
    /// A bounded mutation, shown as a diff.
    SafeWrite,
    /// Something is lost; the call runs without a decision only when it can be undone.
    Destructive,
    /// Touches this machine; needs consent.
    Local,
    /// Calls an outside service; runs and is logged.
    External,
}

impl ToolMode {
    /// Every mode, in the order of the specifications.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::SafeWrite,
        Self::Destructive,
        Self::Local,
        Self::External,
    ];

    /// Returns the name as the specifications write it: `safe_write`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::SafeWrite => "safe_write",
            Self::Destructive => "destructive",
            Self::Local => "local",
            Self::External => "external",
        }
    }
}

/// Operation of a call, in ACP's terms (`S002-98`); selects the icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads a file or data.
    Read,
    /// Changes a file or content.
    Edit,
    /// Removes files or data.
    Delete,
    /// Moves or renames.
    Move,
    /// Searches for information.
    Search,
    /// Runs a command or code.
    Execute,
    /// Reasons or plans.
    Think,
    /// Gets data from outside.
    Fetch,
    /// Anything else.
    Other,
}
