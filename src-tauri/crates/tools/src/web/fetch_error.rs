//! A fetch that came to nothing.

use protocol::ToolError;
use runtime::NetError;

/// A fetch that came to nothing.
pub(crate) fn fetch_error(error: NetError) -> ToolError {
    match error {
        NetError::Cancelled => ToolError::Cancelled,
        NetError::TimedOut { .. } => ToolError::TimedOut(error.to_string()),
        NetError::Refused { .. } | NetError::Failed { .. } => ToolError::Failed(error.to_string()),
    }
}
