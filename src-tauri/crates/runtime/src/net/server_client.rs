//! A client for one server that the person switched on, for its address and no other.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Url};

use super::error::root_cause;
use super::request::parse_header;
use super::{NetError, parse_url};
use crate::limits::CONNECT_TIMEOUT;

/// Checks whether an address can be a server's: `http` or `https`, a host, without name and password.
///
/// # Errors
/// Why not, as a clause.
pub fn parse_server_url(url: &str) -> Result<Url, String> {
    let read = parse_url(url).map_err(|error| match error {
        NetError::Refused { why, .. } => {
            format!("its address is refused: {}", why.trim_end_matches('.'))
        }
        other => other.to_string(),
    })?;
    match read.host_str() {
        Some(host) if !host.is_empty() => Ok(read),
        Some(_) | None => Err("its address names no host".to_owned()),
    }
}

/// Builds a client for requests to one server. The client follows no redirect, uses no proxy and keeps no cookies, so
/// every request goes to the address that the person switched on. The time of a response is not limited, since it may
/// be a stream: the caller sets a limit.
///
/// # Errors
/// An address that cannot be a server's, or system certificates that cannot be read.
pub fn build_server_client(url: &str) -> Result<Client, NetError> {
    let url = &parse_url(url)?;
    client_builder(url)
        .build()
        .map_err(|error| NetError::failed(url, root_cause(&error)))
}

/// Returns the builder of a client that follows no redirect and uses no proxy.
pub(super) fn client_builder(url: &Url) -> ClientBuilder {
    let client = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy();
    match url.scheme() {
        // No way leads to TLS from here, and reading the system's certificates takes its time.
        "http" => client.tls_certs_only([]),
        _ => client,
    }
}

/// Builds the headers of every request to a server, kept out of all logs.
///
/// # Errors
/// Which header cannot be sent, as a clause without its value.
pub fn build_server_headers<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .into_iter()
        .map(|(name, value)| parse_header(name, value))
        .collect()
}

/// Returns the URL of a folder, `file:///…`.
pub fn folder_url(path: &std::path::Path) -> String {
    Url::from_directory_path(path).map_or_else(
        |()| format!("file://{}", path.display()),
        |url| url.as_str().trim_end_matches('/').to_owned(),
    )
}
