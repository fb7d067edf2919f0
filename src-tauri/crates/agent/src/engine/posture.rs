//! The posture of one session, as the program chose it in which the session is open.

use protocol::settings::Posture;
use protocol::{EventBody, NoticeLevel, SessionId, UserError};

use crate::engine::Engine;

impl Engine {
    /// Returns the posture in force in a session.
    ///
    /// # Errors
    /// There is no such session.
    pub fn posture(&self, session: &SessionId) -> Result<Posture, UserError> {
        Ok(self.state.session(session)?.posture())
    }

    /// Chooses the posture of a session, and of the sub-agents in it, while this engine is open. The session's record says
    /// so; the settings stay as they are.
    ///
    /// # Errors
    /// There is no such session, another process works in it, or the choice cannot be recorded. Nothing changed then.
    pub async fn choose_posture(
        &self,
        session: &SessionId,
        posture: Posture,
    ) -> Result<(), UserError> {
        let session = self.state.session(session)?;
        let _nobody_else = session.lock.acquire(&session.tool_context.folder)?;
        let fault = UserError::new(
            format!(
                "The posture `{}` was chosen for this session.",
                posture.as_str()
            ),
            "",
        );
        let notice = EventBody::notice(NoticeLevel::Note, fault);
        session.journal.record_synced(notice).await?;
        session.choose_posture(posture);
        Ok(())
    }
}
