//! Safety and permission: what is safe about a tool, and how a call of it is permitted (`S003-27` to `S003-36`).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ToolKind, ToolMode};

/// What is safe about a tool. Mode and kind are derived from it and the name by one table (M16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSafety {
    /// The mode given at registration (`S000-33`); the name's pattern speaks if none is given.
    pub mode: Option<ToolMode>,
    /// What the tool does (`S002-98`).
    pub kind: ToolKind,
    /// No side effects (`S003-27`, `S003-54`).
    pub is_read_only: bool,
    /// Removes something (`S003-28`, `S003-55`).
    pub is_destructive: bool,
    /// Reaches beyond what can be listed before (`S003-29`, `S003-56`).
    pub is_open_world: bool,
    /// Cannot run without an answer of a person (`S003-30`, `S003-57`).
    pub requires_user_interaction: bool,
    /// Calls may run side by side (`S003-53`).
    pub is_concurrency_safe: bool,
    /// What a sealed room for it would have to grant: `nothing`, `workspace_read`, `workspace_write`, `network`,
    /// `command` (`S003-31`).
    pub sandbox_profile: String,
    /// What a classifier of risk is given of a call: a text with `{member}` for arguments (`S003-32`, `S003-60`).
    pub classifier_input: String,
}

/// How a call is permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPermission {
    /// What holds where no rule speaks: `mode:read` and so on, or `ask` (`S003-33`).
    pub permission_profile_ref: String,
    /// What the patterns of rules are matched with (`S003-34`).
    pub permission_matcher: PermissionMatcher,
    /// How a person is asked (`S003-35`).
    pub permission_channel: PermissionChannel,
    /// Where the decision on a call stands in the record, with `{call}` for the call's id (`S003-36`).
    pub decision_ref: String,
}

/// What the patterns of rules are matched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMatcher {
    /// Nothing: only rules for the whole tool apply.
    #[default]
    Nothing,
    /// The paths that it touches.
    Path,
    /// The commands that it runs.
    Command,
    /// The hosts that it reaches.
    Host,
}

/// How a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PermissionChannel {
    /// By a card with allow and reject; where nobody is there, asking means denying.
    #[default]
    Card,
    /// By a form to fill in; where nobody is there, the call is an error.
    Form,
}
