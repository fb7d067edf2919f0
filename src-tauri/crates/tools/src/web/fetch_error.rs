//! Errors of fetches.

use protocol::ToolError;
use runtime::NetError;

/// Converts the error of a fetch into the error of a tool.
pub(crate) fn fetch_error(error: NetError) -> ToolError {
    match error {
        NetError::Cancelled => ToolError::Cancelled,
        NetError::TimedOut { .. } => ToolError::TimedOut(error.to_string()),
        NetError::Refused { .. } | NetError::Failed { .. } => ToolError::Failed(error.to_string()),
    }
}
