//! The call that opened a session.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::{CallId, SessionId};

/// The call that opened a session: the session works for it, and ends with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ParentCall {
    /// The session of the call.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
}
