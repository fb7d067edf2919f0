//! Where a session stands in the list of sessions.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where a session stands in the list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ListPlace {
    /// Among the others, the last changed one first.
    #[default]
    Recent,
    /// Above the others.
    Pinned,
    /// In the archive, out of the way, until something is said in it.
    Archived,
}

impl ListPlace {
    /// Whether it is the place of a session that nobody has moved.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
