//! Why a call did not do what it was asked to do, in the words of 003.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The class of a failure. 003 knows more of them; these are the ones that can happen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// No tool of this name.
    UnknownTool,
    /// The arguments fit the schema and still make no sense, or do not fit it.
    InvalidArguments,
    /// A gate said no.
    PermissionDenied,
    /// A person said no.
    ApprovalRejected,
    /// Nobody answered in time.
    ApprovalExpired,
    /// A hook skipped it.
    HookBlocked,
    /// The tool is not set up.
    SetupRequired,
    /// It ran longer than its limit.
    Timeout,
    /// The tool tried and failed.
    ExecutionFailed,
    /// It was stopped, or never begun.
    Canceled,
}
