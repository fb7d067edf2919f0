//! The client of the endpoint: one connection for each request.

use std::io;
use std::path::Path;

use protocol::UserError;
use runtime::connect_local;

use super::frame::{read_message, write_message};
use super::message::{ENDPOINT_VERSION, EndpointAnswer, EndpointRequest, RequestBody};

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
    let mut stream = match connect_local(data_dir).await {
        Ok(stream) => stream,
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => EndpointError::Absent,
                _ => EndpointError::Broken(error),
            });
        }
    };
    let request = EndpointRequest {
        version: ENDPOINT_VERSION,
        body,
    };
    let answer = async {
        write_message(&mut stream, &request).await?;
        read_message(&mut stream).await
    };
    match answer.await.map_err(EndpointError::Broken)? {
        EndpointAnswer::Failed { message, hint } => {
            Err(EndpointError::Failed(UserError::new(message, hint)))
        }
        answer => Ok(answer),
    }
}
