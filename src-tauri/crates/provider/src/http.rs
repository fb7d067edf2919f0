//! The HTTP client: the one place that opens connections. No redirects; keys only in headers marked as sensitive.

use protocol::settings::WireFormat;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, LOCATION};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::failure::{WireFailure, extract_provider_message, root_cause};
use crate::limits::{LIST_BYTES_MAX, Timing, duration_from_ms};
use crate::{ProviderError, Secret};

/// The version of Anthropic's API that we speak.
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// A client for one provider, which carries the key in every request that it makes. It follows no redirect, so the key
/// goes to the provider's own address and nowhere else; and what is on this machine is not asked for through a proxy.
#[allow(
    clippy::disallowed_methods,
    reason = "provider is the one crate that talks to the network, and this is where"
)]
pub(crate) fn build_client(
    title: &str,
    wire: WireFormat,
    endpoint: &Endpoint,
    key: Option<&Secret>,
    timing: &Timing,
) -> Result<reqwest::Client, ProviderError> {
    let setup = |what: String| ProviderError::Setup {
        provider: title.to_owned(),
        what,
    };
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let header = |text: &str| -> Result<HeaderValue, ProviderError> {
            let mut value = HeaderValue::from_str(text).map_err(|_| {
                setup("its key holds characters that no header can carry.".to_owned())
            })?;
            value.set_sensitive(true);
            Ok(value)
        };
        match wire {
            WireFormat::Anthropic => headers.insert("x-api-key", header(key.reveal())?),
            WireFormat::Gemini => headers.insert("x-goog-api-key", header(key.reveal())?),
            WireFormat::Openai | WireFormat::Ollama => {
                headers.insert(AUTHORIZATION, header(&format!("Bearer {}", key.reveal()))?)
            }
        };
    }
    if wire == WireFormat::Anthropic {
        headers.insert("anthropic-version", ANTHROPIC_VERSION);
    }
    let mut builder = reqwest::Client::builder()
        .default_headers(headers)
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(duration_from_ms(timing.connect_ms))
        .tcp_nodelay(true);
    if endpoint.is_loopback() {
        builder = builder.no_proxy();
    }
    if !endpoint.is_encrypted() {
        // Without redirects there is no way to TLS from here, and reading the system's certificates takes its time.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        setup(format!(
            "no HTTP client could be made: {}.",
            root_cause(&error)
        ))
    })
}

/// Gets a JSON document of bounded size.
pub(crate) async fn get_json(
    client: &reqwest::Client,
    url: &str,
    timeout_ms: u64,
) -> Result<Value, WireFailure> {
    let request = client
        .get(url)
        .header(ACCEPT, "application/json")
        .timeout(duration_from_ms(timeout_ms));
    let failed = |error| WireFailure::from_reqwest(error, timeout_ms);
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status();
    let location = response
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(failed)? {
        body.extend_from_slice(&bytes);
        if body.len() > LIST_BYTES_MAX {
            return Err(WireFailure::TooLarge(format!(
                "its model list has more than {LIST_BYTES_MAX} bytes"
            )));
        }
    }
    if !status.is_success() {
        return Err(WireFailure::Status {
            status: status.as_u16(),
            message: extract_provider_message(&String::from_utf8_lossy(&body)),
            retry_after_ms: None,
            location,
        });
    }
    serde_json::from_slice(&body)
        .map_err(|error| WireFailure::Malformed(format!("its model list is not JSON ({error})")))
}
