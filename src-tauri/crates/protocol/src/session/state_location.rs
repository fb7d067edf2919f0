//! Locations in a session's state.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A location in a session's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StateLocation {
    /// Names joined with dots: `report.title`.
    pub path: String,
    /// The instance that the state belongs to; none for the state that all instances share (`S004-13`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instance: Option<String>,
}
