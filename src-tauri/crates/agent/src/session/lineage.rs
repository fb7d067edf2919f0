//! The lineage of a session: the sessions that it works for.

use protocol::SessionId;
use protocol::event::ParentCall;

use crate::limits::SUB_AGENT_DEPTH_MAX;
use crate::session::Session;

impl Session {
    /// Returns this session and those that it works for, the closest first; at most as many as sub-agents may be
    /// nested.
    pub(crate) fn lineage(&self) -> Vec<SessionId> {
        let mut lineage = vec![self.id.clone()];
        let mut parent = self.parent();
        while let Some(ParentCall { session: above, .. }) = parent {
            parent = match self.engine.session(&above) {
                Ok(above) if lineage.len() < SUB_AGENT_DEPTH_MAX => above.parent(),
                _ => None,
            };
            lineage.push(above);
        }
        lineage
    }
}
