//! The way to one server that the person switched on: to its address and no other.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url};

use super::error::root_cause;
use super::{NetError, parse_url};
use crate::limits::CONNECT_TIMEOUT;

/// Whether an address can be a server's: `http` or `https`, a host, no name and password in it.
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

/// A client for requests to one server. It follows no redirect, asks no proxy and keeps no cookies, so that what the person
/// switched on is where every request goes. It has no limit on the time of an answer, which may be a stream: whoever asks
/// sets one.
///
/// # Errors
/// An address that cannot be a server's, or certificates of the system that cannot be read.
pub fn build_server_client(url: &str) -> Result<Client, NetError> {
    let url = &parse_url(url)?;
    let mut client = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy();
    if url.scheme() == "http" {
        // No way leads to TLS from here, and reading the system's certificates takes its time.
        client = client.tls_certs_only([]);
    }
    client
        .build()
        .map_err(|error| NetError::failed(url, root_cause(&error)))
}

/// Headers of every request to a server, kept out of whatever is logged.
///
/// # Errors
/// Which one cannot be sent, as a clause without its value.
pub fn build_server_headers<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let headers = headers.into_iter().map(|(name, value)| {
        let wrong = || {
            let named = protocol::text::display_text::to_single_line(name, 64);
            format!("the header `{named}` cannot be sent")
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((name, value))
    });
    headers.collect()
}

/// The address of a folder, `file:///…`.
pub fn folder_url(path: &std::path::Path) -> String {
    Url::from_directory_path(path).map_or_else(
        |()| format!("file://{}", path.display()),
        |url| url.as_str().trim_end_matches('/').to_owned(),
    )
}
