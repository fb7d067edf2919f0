//! Asks that a person skips in a session for a while (M32).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{At, CallId, SessionId};

/// Longest time that asks can be skipped for, in minutes.
pub const SKIP_MINUTES_MAX: u32 = 8 * 60;

/// Since when and until when a session skips asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkippedAsks {
    /// The event that began it.
    pub seq: u64,
    /// When it began.
    pub since: At,
    /// When calls ask again; none for the end of the session.
    pub until: Option<At>,
}

/// Why a session asks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AsksResumption {
    /// The person wanted to be asked again.
    Person,
    /// The time was up.
    Time,
    /// The session was closed.
    Closed,
    /// The app had ended: asks are never skipped beyond that.
    Restart,
}

/// A call that would have asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SkippedAsk {
    /// The session of the call: the one that skips asks, or one of its sub-agents.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When it was let through.
    pub at: At,
    /// Name of the tool on cards.
    pub title: String,
    /// Target of the call.
    pub target: String,
}

impl SkippedAsk {
    /// Most calls that are listed.
    pub const LISTED_MAX: usize = 200;
}
