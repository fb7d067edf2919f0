//! Writes messages to the window, one after the other.

use protocol::engine_process::{MessageHead, MessageKind};
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Number of messages that may wait to be written. Whoever has more to say waits until then: a window that does not
/// read must not fill the memory.
const QUEUE_MESSAGES: usize = 256;

/// Sends messages to the window.
#[derive(Clone)]
pub(super) struct MessageSender(mpsc::Sender<Message>);

struct Message {
    kind: MessageKind,
    json: Vec<u8>,
}

/// Starts to write what is sent; ends once the window is gone.
pub(super) fn start_writer(
    mut output: impl AsyncWrite + Send + Unpin + 'static,
) -> (MessageSender, JoinHandle<()>) {
    let (sender, mut messages) = mpsc::channel(QUEUE_MESSAGES);
    let written = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            if let Err(error) = write_message(&mut output, &message).await {
                // The end of its input tells the server the same.
                tracing::debug!(%error, "the window is gone");
                return;
            }
        }
    });
    (MessageSender(sender), written)
}

impl MessageSender {
    /// Sends a message whose body is JSON already.
    pub(super) async fn send(&self, kind: MessageKind, json: Vec<u8>) {
        // Nobody reads any more once the window is gone.
        let _ = self.0.send(Message { kind, json }).await;
    }

    /// Sends a message.
    pub(super) async fn send_value(&self, kind: MessageKind, value: &impl Serialize) {
        match serde_json::to_vec(value) {
            Ok(json) => self.send(kind, json).await,
            Err(error) => tracing::error!(%error, "a message to the window cannot be written"),
        }
    }
}

async fn write_message(
    output: &mut (impl AsyncWrite + Unpin),
    Message { kind, json }: &Message,
) -> std::io::Result<()> {
    let head = MessageHead {
        kind: *kind,
        bytes: json.len(),
    };
    let mut line = serde_json::to_vec(&head)?;
    line.push(b'\n');
    output.write_all(&line).await?;
    output.write_all(json).await?;
    output.flush().await
}
