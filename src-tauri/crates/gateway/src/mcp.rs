//! The MCP server: one connection over a pair of streams, from its first message to the end of its last call.

mod call_reports;
mod calls;
mod client_questions;
mod client_session;
mod eof_signal;
mod gateway_server;
mod handler;
mod held_calls;
mod list_changes;
mod log_messages;
mod parsed_line;
mod progress;
mod protocol_questions;
mod request_id;
mod resource_subscriptions;
mod sampling_questions;
mod served_tools;
mod server_reads;
#[cfg(test)]
mod tests;
mod tool_description;
mod tool_result;
mod transport;

use std::sync::Arc;

use protocol::UserError;
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub(crate) use self::client_session::{ClientSession, TurnClients};
use self::eof_signal::EofSignalReader;
pub(crate) use self::gateway_server::GatewayServer;
pub use self::protocol_questions::PassedQuestions;
pub use self::served_tools::ServedTools;
use self::transport::split_transport;
use crate::limits::{CALLS_DRAIN_TIMEOUT, MESSAGE_BYTES_MAX};

/// Serves tools to the client on the other end, in both eras of the protocol: with `initialize` up to 2025-11-25, and by
/// the self-contained requests of 2026-07-28. All calls belong to one session, which is opened with the first of them.
/// Serving ends when the client closes its side, or when `stop` is cancelled; either way running calls are ended and all
/// answered calls are on disk.
///
/// # Errors
/// A client whose first message is not a request; a record that cannot be written.
pub async fn serve<R, W>(
    served: ServedTools,
    from: R,
    to: W,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), UserError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (gone, end) = (CancellationToken::new(), CancellationToken::new());
    let served = Arc::new(GatewayServer::new(served, gone.clone()));
    let (transport, last) = split_transport(
        EofSignalReader::new(from, gone.clone()),
        to,
        MESSAGE_BYTES_MAX,
    );
    let ends_calls = tokio::spawn(end_calls(served.clone(), gone, stop, end.clone()));
    let ended = match serve_server_with_ct(served.clone(), transport, end).await {
        Ok(running) => running
            .waiting()
            .await
            .map_err(|_| internal_error())
            .map(log_quit),
        Err(error) => handle_initialize_error(&error),
    };
    ends_calls.abort();
    let closed = served.close().await;
    last.finish().await;
    closed?;
    ended
}

/// Ends the running calls: soon after the client closed its side, or at once on `stop`.
async fn end_calls(
    served: Arc<GatewayServer>,
    gone: CancellationToken,
    stop: impl Future<Output = ()>,
    end: CancellationToken,
) {
    tokio::select! {
        () = stop => end.cancel(),
        () = async {
            gone.cancelled().await;
            tokio::time::sleep(CALLS_DRAIN_TIMEOUT).await;
        } => {}
    }
    served.stop_calls();
}

fn log_quit(quit: QuitReason) {
    tracing::info!(?quit, "the connection came to its end");
}

/// Handles a connection that ended during initialization.
fn handle_initialize_error(error: &ServerInitializeError) -> Result<(), UserError> {
    match error {
        // Nobody came, or nobody is to come any more.
        ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled => Ok(()),
        error => Err(UserError::new(
            "The client did not begin as the Model Context Protocol has it.",
            "Its first message must be a request: `initialize`, `server/discover` or one with its own `_meta`.",
        )
        .with_source(error)),
    }
}

fn internal_error() -> UserError {
    UserError::new(
        "The connection broke off by a fault of ours.",
        "Connect again.",
    )
}
