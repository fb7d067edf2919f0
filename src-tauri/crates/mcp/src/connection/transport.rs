//! Transports to a server: a program that was started, or a URL, with or without the person's sign-in.

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use runtime::{Companion, NetError};

use super::server_http_client::ServerHttpClient;
use crate::limits::MESSAGE_BYTES_MAX;

/// Transport of a connection, with its references resolved.
pub(crate) enum ConnectionTransport {
    Stdio(Companion),
    Http(Box<StreamableHttpClientTransport<ServerHttpClient>>),
    /// HTTP with the person's sign-in.
    SignedHttp(Box<StreamableHttpClientTransport<AuthClient<ServerHttpClient>>>),
}

/// An HTTP endpoint that is not connected yet.
pub(crate) struct HttpEndpoint {
    pub client: ServerHttpClient,
    config: StreamableHttpClientTransportConfig,
}

impl HttpEndpoint {
    /// Creates an endpoint for this URL with these headers.
    ///
    /// # Errors
    /// The reason why there can be none, as a clause.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, String> {
        runtime::net::parse_server_url(url)?;
        // The address may hold a secret, so no sentence names it.
        let client = runtime::net::build_server_client(url).map_err(|error| match error {
            NetError::Failed { source_text, .. } => source_text,
            NetError::Refused { why, .. } => why,
            NetError::TimedOut { .. } | NetError::Cancelled => "it cannot be asked".to_owned(),
        })?;
        let named = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers = runtime::net::build_server_headers(named)?;
        config.max_sse_event_size = MESSAGE_BYTES_MAX;
        Ok(Self {
            client: ServerHttpClient(client),
            config,
        })
    }

    /// Turns the endpoint into a transport without a sign-in.
    pub(crate) fn into_unsigned(self) -> ConnectionTransport {
        let transport = StreamableHttpClientTransport::with_client(self.client, self.config);
        ConnectionTransport::Http(Box::new(transport))
    }

    /// Turns the endpoint into a transport with the person's sign-in.
    pub(crate) fn into_signed(self, client: AuthClient<ServerHttpClient>) -> ConnectionTransport {
        let transport = StreamableHttpClientTransport::with_client(client, self.config);
        ConnectionTransport::SignedHttp(Box::new(transport))
    }
}
