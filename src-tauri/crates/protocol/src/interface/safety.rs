//! Safety and permission: the safety properties of a tool, and how a call of it is permitted (`S003-27` to `S003-36`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ToolKind, ToolMode};

/// Safety properties of a tool. Mode and kind are derived from them and the name by one table (M16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSafety {
    /// The mode given at registration (`S000-33`); if there is none, the pattern of the name decides.
    pub mode: Option<ToolMode>,
    /// The kind of the tool (`S002-98`).
    pub kind: ToolKind,
    /// Whether the tool has no side effects (`S003-27`, `S003-54`).
    pub is_read_only: bool,
    /// Whether the tool removes something (`S003-28`, `S003-55`).
    pub is_destructive: bool,
    /// Whether the tool reaches beyond resources that can be listed in advance (`S003-29`, `S003-56`).
    pub is_open_world: bool,
    /// Whether the tool cannot run without a person's answer (`S003-30`, `S003-57`).
    pub requires_user_interaction: bool,
    /// Whether calls may run concurrently (`S003-53`).
    pub is_concurrency_safe: bool,
    /// Access that a sandbox would have to grant to the tool: `nothing`, `workspace_read`, `workspace_write`,
    /// `network`, `command` (`S003-31`).
    pub sandbox_profile: String,
    /// Description of a call for a risk classifier: a text with `{member}` for arguments (`S003-32`, `S003-60`).
    pub classifier_input: String,
}

/// Permission of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPermission {
    /// Default where no rule matches: `mode:read` and so on, or `ask` (`S003-33`).
    pub permission_profile_ref: String,
    /// Subjects that the patterns of rules are matched with (`S003-34`).
    pub permission_matcher: PermissionMatcher,
    /// How a person is asked (`S003-35`).
    pub permission_channel: PermissionChannel,
    /// Where the decision on a call stands in the record, with `{call}` for the call's id (`S003-36`).
    pub decision_ref: String,
}

/// Subjects that the patterns of rules are matched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMatcher {
    /// Nothing: only rules for the whole tool apply.
    #[default]
    Nothing,
    /// The paths that the call touches.
    Path,
    /// The commands that the call runs.
    Command,
    /// The hosts that the call reaches.
    Host,
}

/// How a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PermissionChannel {
    /// By a card with allow and reject; if no person is present, asking means denying.
    #[default]
    Card,
    /// By a form to fill in; if no person is present, the call is an error.
    Form,
}
