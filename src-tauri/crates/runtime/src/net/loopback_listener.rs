//! A TCP listener that only programs of this machine reach.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::net::TcpListener;

/// A listener at a loopback address.
#[derive(Debug)]
pub struct LoopbackListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl LoopbackListener {
    /// Listens at a loopback address; at any free port if its port is 0.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if other machines would reach the address, and errors of the system.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Returns the address with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the listener itself, for a server of HTTP.
    pub fn into_inner(self) -> TcpListener {
        self.listener
    }
}
