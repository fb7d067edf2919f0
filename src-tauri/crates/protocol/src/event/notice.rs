//! Notices for the person, and their levels.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Note,
    /// Something is wrong, but work goes on.
    Warning,
    /// Something went wrong; work stopped.
    Error,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Notice {
    /// Severity of the notice.
    pub level: NoticeLevel,
    /// Description of what happened, what was kept and what to do next.
    pub fault: crate::UserError,
}
