//! The level from which on a server's log messages are wanted: told to a server of 2025 once, and to one of 2026 with each
//! request.

#![allow(
    deprecated,
    reason = "logging is being removed from the protocol; servers and clients of today use it"
)]

use std::time::Duration;

use rmcp::model::{
    ClientRequest, LoggingLevel, RequestMetaObject, SetLevelRequest, SetLevelRequestParams,
};
use rmcp::service::PeerRequestOptions;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{RequestFailure, ServerConnection};

impl ServerConnection {
    /// Returns what goes with a request: the level, to a server of 2026.
    pub(super) fn request_options(&self) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        match self.wanted_level() {
            Some(level) if !self.is_legacy() => {
                let mut meta = RequestMetaObject::new();
                meta.set_log_level(level);
                options.with_meta(meta)
            }
            Some(_) | None => options,
        }
    }

    /// Tells a server of 2025 the level, if messages are wanted.
    pub(crate) async fn send_log_level(
        &self,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<(), RequestFailure> {
        let Some(level) = self.wanted_level().filter(|_| self.is_legacy()) else {
            return Ok(());
        };
        let request = SetLevelRequest::new(SetLevelRequestParams::new(level));
        let request = ClientRequest::SetLevelRequest(request);
        let answer = self.send_request(request, Instant::now() + timeout, cancel, None);
        answer.await.map(drop)
    }

    fn wanted_level(&self) -> Option<LoggingLevel> {
        let level = self.handler.log_messages.wanted_level()?;
        serde_json::from_value(serde_json::to_value(level).ok()?).ok()
    }
}
