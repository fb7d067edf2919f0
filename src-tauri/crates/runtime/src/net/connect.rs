//! Connections for other programs: to a host that is admitted, and only to the addresses at which it was judged.

use std::io;

use reqwest::Url;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{NetError, NetworkClient};
use crate::limits::CONNECT_TIMEOUT;

impl NetworkClient {
    /// Connects to the host and port of an address.
    ///
    /// # Errors
    /// [`NetError::Refused`] when it is not admitted: no name was looked up, or no packet sent.
    pub(crate) async fn connect(&self, url: &Url) -> Result<TcpStream, NetError> {
        let Some(port) = url.port_or_known_default() else {
            return Err(NetError::refused(url, "it names no port."));
        };
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        for ip in self.resolve_allowed_ips(url).await? {
            match timeout(CONNECT_TIMEOUT, TcpStream::connect((ip, port))).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failed = error,
                Err(_) => failed = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(NetError::failed(url, failed))
    }
}
