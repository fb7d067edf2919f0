//! What a session does at the moment.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Waits for the person's next message.
    Idle,
    /// A turn runs.
    Running,
    /// A call waits for a decision.
    Waiting,
    /// The run came to its end.
    Done,
    /// The run ended with an error.
    Failed,
    /// The person, a limit, or the end of the app stopped it.
    Interrupted,
}

impl SessionState {
    /// Whether a run is over with it.
    pub fn ends_run(self) -> bool {
        match self {
            Self::Done | Self::Failed | Self::Interrupted => true,
            Self::Idle | Self::Running | Self::Waiting => false,
        }
    }

    /// The name as written in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}
