//! Classes of failed calls, in the terms of 003.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The class of a failure. 003 defines more classes; these are the ones that can occur here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// No tool of this name.
    UnknownTool,
    /// The arguments do not fit the schema, or fit it and still make no sense.
    InvalidArguments,
    /// A gate denied the call.
    PermissionDenied,
    /// A person rejected the call.
    ApprovalRejected,
    /// Nobody answered in time.
    ApprovalExpired,
    /// A hook blocked the call.
    HookBlocked,
    /// The tool is not set up.
    SetupRequired,
    /// The call ran longer than its limit.
    Timeout,
    /// The tool tried and failed.
    ExecutionFailed,
    /// The call was stopped, or never begun.
    Canceled,
}
