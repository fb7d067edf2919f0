//! The client of the endpoint: one connection for each request.

use std::io;
use std::path::Path;

use protocol::UserError;
use runtime::net::SocketAddr;
use runtime::{LocalStream, connect_local};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::frame::{read_message, write_message};
use super::message::{
    AgentRequest, ENDPOINT_VERSION, EndpointAnswer, EndpointRequest, ListenRequest, McpRequest,
    RequestBody,
};
use super::relay::relay;

/// Why there is no answer.
#[derive(Debug)]
pub enum EndpointError {
    /// Nobody listens at the endpoint.
    Absent,
    /// The connection broke off, or the answer cannot be read.
    Broken(io::Error),
    /// The request could not be fulfilled.
    Failed(UserError),
}

/// Sends a request to the endpoint of a data folder, and waits for its answer.
///
/// # Errors
/// Nobody listens, the connection breaks off, or the request cannot be fulfilled.
pub async fn send_request(
    data_dir: &Path,
    body: RequestBody,
) -> Result<EndpointAnswer, EndpointError> {
    let mut stream = connect(data_dir).await?;
    request(&mut stream, body).await
}

/// Opens a connection on which the engine that is open serves MCP; none if nobody can be asked there.
///
/// # Errors
/// Nobody listens, the connection breaks off, or what is requested cannot be served.
pub async fn open_mcp(
    data_dir: &Path,
    mcp: McpRequest,
) -> Result<Option<LocalStream>, EndpointError> {
    let mut stream = connect(data_dir).await?;
    match request(&mut stream, RequestBody::ServeMcp(mcp)).await? {
        EndpointAnswer::Serving => Ok(Some(stream)),
        EndpointAnswer::Unattended => Ok(None),
        _ => Err(EndpointError::Broken(io::ErrorKind::InvalidData.into())),
    }
}

/// An app that serves MCP at an address for as long as this is held.
pub struct ListeningApp {
    stream: LocalStream,
    address: SocketAddr,
}

impl ListeningApp {
    /// Returns the address, with its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the app serves no more.
    pub async fn wait_until_closed(mut self) {
        // The app says nothing more: whatever comes is the end of the stream.
        let _ = self.stream.read_u8().await;
    }
}

/// Has the engine that is open serve MCP at an address; none if nobody can be asked there.
///
/// # Errors
/// Nobody listens, the connection breaks off, or what is requested cannot be served.
pub async fn listen_mcp(
    data_dir: &Path,
    listen: ListenRequest,
) -> Result<Option<ListeningApp>, EndpointError> {
    let mut stream = connect(data_dir).await?;
    match request(&mut stream, RequestBody::ListenMcp(listen)).await? {
        EndpointAnswer::Listening { address } => Ok(Some(ListeningApp { stream, address })),
        EndpointAnswer::Unattended => Ok(None),
        _ => Err(EndpointError::Broken(io::ErrorKind::InvalidData.into())),
    }
}

/// Has the app serve our agent to an editor, until one of them closes its side.
///
/// # Errors
/// No app is open, or it cannot be reached.
pub async fn relay_agent(
    data_dir: &Path,
    agent: AgentRequest,
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
) -> Result<(), UserError> {
    let relayed = async {
        let mut stream = connect(data_dir).await?;
        request(&mut stream, RequestBody::ServeAgent(agent)).await?;
        // Where one of them is gone, the rest is not read.
        if let Err(error) = relay(stream, from, to).await {
            tracing::info!(%error, "an editor or the app went away");
        }
        Ok(())
    };
    match relayed.await {
        Ok(()) => Ok(()),
        Err(EndpointError::Absent) => Err(app_closed_error()),
        Err(EndpointError::Failed(fault)) => Err(fault),
        Err(EndpointError::Broken(error)) => {
            let message = "The app cannot be reached.";
            Err(UserError::new(message, "Connect again.").with_source(&error))
        }
    }
}

/// Returns the error that nobody is at the app.
pub(crate) fn app_closed_error() -> UserError {
    UserError::new(
        "The app is not open, so nobody can answer there.",
        "Open the app, or have the editor ask with --answers editor.",
    )
}

async fn connect(data_dir: &Path) -> Result<LocalStream, EndpointError> {
    connect_local(data_dir)
        .await
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => EndpointError::Absent,
            _ => EndpointError::Broken(error),
        })
}

async fn request(
    stream: &mut LocalStream,
    body: RequestBody,
) -> Result<EndpointAnswer, EndpointError> {
    let request = EndpointRequest {
        version: ENDPOINT_VERSION,
        body,
    };
    let answer = async {
        write_message(stream, &request).await?;
        read_message(stream).await
    };
    match answer.await.map_err(EndpointError::Broken)? {
        EndpointAnswer::Failed { message, hint } => {
            Err(EndpointError::Failed(UserError::new(message, hint)))
        }
        answer => Ok(answer),
    }
}
