//! Watched network access of the sandbox: a port in it on which a proxy outside listens and judges each host. Only
//! bytes pass through it; no socket of the outside comes in.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use super::fd_passing;
use crate::LOOPBACK_NAMES;

/// Opens the port and hands it out, through the socket that is the standard input of this program.
pub(super) fn open_proxy_port() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    fd_passing::send_with_fd(io::stdin(), b"listener", Some(&listener.into()))?;
    Ok(address)
}

/// Returns the environment variables that lead programs to the proxy. The sandbox itself is reached directly, unless the
/// command's own `environment` names the exceptions.
pub(super) fn proxy_environment(
    address: SocketAddr,
    environment: &[(String, String)],
) -> impl Iterator<Item = (String, String)> {
    const LED: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];
    const NOT_LED: &str = "no_proxy";
    let led = LED.map(|name| (name, format!("http://{address}")));
    let said = environment.iter().find(|(name, _)| name == NOT_LED);
    let not_led = said.map_or_else(|| LOOPBACK_NAMES.join(","), |(_, value)| value.clone());
    let all = led.into_iter().chain([(NOT_LED, not_led)]);
    // Programs are of two minds about how it is written.
    all.flat_map(|(name, value)| {
        [
            (name.to_owned(), value.clone()),
            (name.to_ascii_uppercase(), value),
        ]
    })
}
