//! Places in a session's state.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A place in a session's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StateLocation {
    /// Names with points between them: `report.title`.
    pub path: String,
    /// The instance whose state it is; none for the state that all instances share (`S004-13`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instance: Option<String>,
}
