//! The ways to a server: a program that was started, or an address.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use runtime::{Companion, NetError};

use crate::limits::MESSAGE_BYTES_MAX;

/// What a connection is made of, its references looked up.
pub(crate) enum Way {
    Stdio(Companion),
    Http(Box<StreamableHttpClientTransport<reqwest::Client>>),
}

/// A transport to an address.
///
/// # Errors
/// Why there can be none, as a clause.
pub(crate) fn http(url: &str, headers: &[(String, String)]) -> Result<Way, String> {
    runtime::net::server_address(url)?;
    // The address may hold a secret, so no sentence names it.
    let client = runtime::net::server_client(url).map_err(|error| match error {
        NetError::Failed { source_text, .. } => source_text,
        NetError::Refused { why, .. } => why,
        NetError::TimedOut { .. } | NetError::Cancelled => "it cannot be asked".to_owned(),
    })?;
    let named = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = runtime::net::server_headers(named)?;
    config.max_sse_event_size = MESSAGE_BYTES_MAX;
    Ok(Way::Http(Box::new(
        StreamableHttpClientTransport::with_client(client, config),
    )))
}
