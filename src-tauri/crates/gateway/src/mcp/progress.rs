//! Progress of a call, told to a client that asked for it; also while nothing happens, so that a client does not give up a
//! call that waits for a person.

use agent::ProgressSender;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::limits::{PROGRESS_PAUSE_MAX, PROGRESS_QUEUE_MAX};

/// Sends the progress messages of a call, numbered, until all senders are dropped. The last message is repeated where no
/// other comes.
pub(super) fn spawn_progress_sender(
    peer: Peer<RoleServer>,
    token: ProgressToken,
) -> (ProgressSender, JoinHandle<()>) {
    let (sender, mut messages) = mpsc::channel::<String>(PROGRESS_QUEUE_MAX);
    let task = tokio::spawn(async move {
        let (mut number, mut last) = (0.0, None);
        loop {
            match timeout(PROGRESS_PAUSE_MAX, messages.recv()).await {
                Ok(Some(message)) => last = Some(message),
                Ok(None) => return,
                Err(_) => {}
            }
            number += 1.0;
            let mut progress = ProgressNotificationParam::new(token.clone(), number);
            progress.message.clone_from(&last);
            if peer.notify_progress(progress).await.is_err() {
                return;
            }
        }
    });
    (sender, task)
}
