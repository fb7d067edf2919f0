//! Log messages of a server for clients of a gateway, from the level on that they want.

use protocol::UserError;
use tokio_util::sync::CancellationToken;

use super::McpServer;
use crate::log_messages::{LogLevel, LogReceiver, WantedLogLevel};

impl McpServer {
    /// Returns a receiver of its log messages from now on, whatever their level.
    pub fn watch_log(&self) -> LogReceiver {
        self.core.handler.log_messages.subscribe()
    }

    /// Has the server log from a level on, for as long as the returned value is kept; from a less severe one if somebody else
    /// wants that. A server of 2026 is told with each request.
    ///
    /// # Errors
    /// The server is switched off or unavailable, or refuses.
    pub async fn want_log_level(
        &self,
        level: LogLevel,
        cancel: &CancellationToken,
    ) -> Result<WantedLogLevel, UserError> {
        let wanted = self.core.handler.log_messages.want_level(level);
        let told = self.send_log_level(cancel).await;
        told.map_err(|error| {
            UserError::new(error.to_string(), "Look at its state and at its log.")
        })?;
        Ok(wanted)
    }
}
