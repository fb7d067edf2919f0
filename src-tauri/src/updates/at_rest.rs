//! What has to be over before the app may be replaced.

use protocol::UserError;
use protocol::engine_process::OngoingWork;

/// Nothing goes on in the engine: the app may be replaced.
#[derive(Debug)]
pub(crate) struct AtRest(());

impl AtRest {
    /// Confirms that nothing goes on.
    ///
    /// # Errors
    /// A call waits, or a session is at work.
    pub(crate) fn confirm(work: &OngoingWork) -> Result<Self, UserError> {
        let refuse = |message: String, next: &str| {
            Err(UserError::new(
                format!("{message}, so nothing is installed now."),
                next,
            ))
        };
        match work {
            OngoingWork {
                waiting_calls: 0,
                active_sessions: 0,
            } => Ok(Self(())),
            OngoingWork {
                waiting_calls: 0, ..
            } => refuse(
                "A session is at work".to_owned(),
                "Wait until it is done, or stop it; then install.",
            ),
            OngoingWork { waiting_calls, .. } => refuse(
                match waiting_calls {
                    1 => "A call waits for you".to_owned(),
                    waiting => format!("{waiting} calls wait for you"),
                },
                "Answer on the desk first; then install.",
            ),
        }
    }
}
