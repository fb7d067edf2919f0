//! Something that a person should know, and how much it matters.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Note,
    /// Something is not as it should be; work goes on.
    Warning,
    /// Something went wrong; work stopped.
    Error,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Notice {
    /// How much it matters.
    pub level: NoticeLevel,
    /// What happened, what was kept, what to do next.
    pub fault: crate::UserError,
}
