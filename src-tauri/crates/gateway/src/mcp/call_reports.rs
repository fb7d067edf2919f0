//! What a client is told during its request: progress, and log messages of the server.

use agent::ProgressSender;
use rmcp::service::{RequestContext, RoleServer};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::client_session::ClientSession;
use super::log_messages::{self, CallLog};
use super::progress::spawn_progress_sender;
use super::served_tools::ServedTools;

/// What a client is told during one request.
pub(super) struct CallReports {
    progress: Option<ProgressSender>,
    telling: Option<JoinHandle<()>>,
    log: Option<CallLog>,
}

impl CallReports {
    /// Begins to tell a client what it asked for with its request.
    pub async fn begin(
        served: &ServedTools,
        context: &RequestContext<RoleServer>,
        calls: &ClientSession,
    ) -> Self {
        let token = context.meta.get_progress_token();
        let progress = token.map(|token| spawn_progress_sender(context.peer.clone(), token));
        let (progress, telling) = progress.unzip();
        Self {
            progress,
            telling,
            log: log_messages::tell_during_call(served, context, calls).await,
        }
    }

    /// Takes the sender of progress, which the call drops when it is over.
    pub fn take_progress_sender(&mut self) -> Option<ProgressSender> {
        self.progress.take()
    }

    /// Tells of progress. A client that does not keep up misses a word; the result has everything.
    pub fn tell_progress(&self, text: String) {
        let _ = self
            .progress
            .as_ref()
            .map(|progress| progress.try_send(text));
    }

    /// Tells what came until now: nothing comes after the answer. Once the client has closed its side, nobody takes it any more.
    pub async fn finish(self, input_closed: &CancellationToken) {
        drop(self.progress);
        let log = self.log.map(CallLog::end);
        for mut telling in [self.telling, log].into_iter().flatten() {
            tokio::select! {
                _ = &mut telling => {}
                () = input_closed.cancelled() => telling.abort(),
            }
        }
    }
}
