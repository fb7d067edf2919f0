//! Current state of a session.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Current state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// The session waits for the person's next message.
    Idle,
    /// A turn runs.
    Running,
    /// A call waits for a decision.
    Waiting,
    /// The run came to its end.
    Done,
    /// The run ended with an error.
    Failed,
    /// The person, a limit, or the end of the app stopped the run.
    Interrupted,
}

impl SessionState {
    /// Returns whether this state ends a run.
    pub fn ends_run(self) -> bool {
        match self {
            Self::Done | Self::Failed | Self::Interrupted => true,
            Self::Idle | Self::Running | Self::Waiting => false,
        }
    }

    /// Returns the name as written in events.
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
