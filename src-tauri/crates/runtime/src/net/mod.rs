//! Fetches from the web: every address is judged before its name is looked up, every connection by the addresses that
//! the name resolves to, every redirect like a request of its own.

pub use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Response, Url};
use tokio_util::sync::CancellationToken;

use crate::limits::{ADDRESSES_MAX, URL_BYTES_MAX};

mod body;
mod callback_listener;
#[cfg(target_os = "linux")]
mod connect;
mod error;
mod local_socket;
mod loopback_listener;
mod redirects;
mod request;
mod response;
mod server_client;

pub use callback_listener::{CallbackListener, CallbackRequest};
pub use error::NetError;
pub use local_socket::{LocalListener, LocalStream, connect_local};
pub use loopback_listener::LoopbackListener;
pub use request::{HttpRequest, RequestMethod};
pub use response::HttpResponse;
pub use server_client::{build_server_client, build_server_headers, folder_url, parse_server_url};

/// `Accept` header of a page request: the most readable types come first.
const ACCEPT_READABLE: &str =
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5";

/// Decides where a request may go. The runtime asks and obeys; it decides nothing.
pub trait NetworkPolicy: Send + Sync {
    /// Whether a request may go to this address at all, asked before its host is looked up.
    ///
    /// # Errors
    /// Why not, as a sentence.
    fn allows_url(&self, url: &str) -> Result<(), String>;

    /// Whether a connection may be made to this address of the URL's host.
    ///
    /// # Errors
    /// Why not, as a sentence.
    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String>;

    /// Whether the policy admits this machine itself by this name, at some port. A sandboxed command is then led outside for
    /// the name, by which it would reach its own sandbox otherwise.
    fn allows_loopback(&self, _name: &str) -> bool {
        false
    }
}

/// Resolves host names.
#[async_trait]
pub trait HostResolver: Send + Sync {
    /// Returns the addresses of a host.
    ///
    /// # Errors
    /// Any error reported by the system.
    async fn resolve_host(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The resolver of this system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl HostResolver for SystemResolver {
    async fn resolve_host(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Network access of one call. Cheap to clone.
#[derive(Clone)]
pub struct NetworkClient {
    names: Arc<dyn HostResolver>,
    policy: Option<Arc<dyn NetworkPolicy>>,
}

/// Limits of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Time from the first request to the last byte, in milliseconds.
    pub timeout_ms: u64,
    /// Length of the body, in bytes, both as received and decompressed; the rest is not read.
    pub body_bytes_max: usize,
}

impl std::fmt::Debug for NetworkClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.policy.is_some() {
            "Net"
        } else {
            "Net (closed)"
        })
    }
}

impl NetworkClient {
    /// Whether anything can be reached at all.
    pub(crate) fn has_network(&self) -> bool {
        self.policy.is_some()
    }

    /// Whether this machine itself can be reached by this name.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn allows_loopback(&self, name: &str) -> bool {
        self.policy
            .as_ref()
            .is_some_and(|policy| policy.allows_loopback(name))
    }

    /// Returns a client without any network access.
    pub fn offline() -> Self {
        Self {
            names: Arc::new(SystemResolver),
            policy: None,
        }
    }

    /// Returns the client with this policy.
    #[must_use]
    pub fn with_policy(&self, policy: Arc<dyn NetworkPolicy>) -> Self {
        Self {
            names: self.names.clone(),
            policy: Some(policy),
        }
    }

    /// Returns the client with another resolver than the system's.
    #[must_use]
    pub fn with_resolver(&self, names: Arc<dyn HostResolver>) -> Self {
        Self {
            names,
            policy: self.policy.clone(),
        }
    }

    /// Gets the content of an address, and follows redirects as [`NetworkClient::send_following_redirects`] does. Only
    /// `http` and `https`, without name and password; from `https` no redirect leads back to `http`. No proxy is used,
    /// because it could not be judged where that would connect to.
    ///
    /// # Errors
    /// [`NetError::Refused`] when some address on the way is not admitted: nothing was sent there.
    pub async fn get(
        &self,
        url: &str,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<HttpResponse, NetError> {
        let request = HttpRequest {
            headers: vec![("accept".to_owned(), ACCEPT_READABLE.to_owned())],
            ..HttpRequest::get(url)
        };
        self.send_following_redirects(&request, limits, cancel)
            .await
    }

    /// Sends one request to an address and reads its response, whatever its status. No redirect is followed: the
    /// content of the request is for this address alone.
    ///
    /// # Errors
    /// [`NetError::Refused`] when the address is not admitted, or a header cannot be sent: nothing was sent.
    pub async fn send(
        &self,
        outgoing: &HttpRequest,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<HttpResponse, NetError> {
        let sent = async {
            let url = parse_url(&outgoing.url)?;
            let response = self.send_request(&url, outgoing).await?;
            body::read_response(&url, response, limits.body_bytes_max).await
        };
        with_timeout(&outgoing.url, limits, cancel, sent).await
    }

    /// Sends one request, only to the addresses that were judged: the connection looks no name up again.
    async fn send_request(&self, url: &Url, outgoing: &HttpRequest) -> Result<Response, NetError> {
        let headers = outgoing.header_map(url)?;
        let ips = self.resolve_allowed_ips(url).await?;
        let ends: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        // Compressed responses are decompressed within limits, see `body`.
        let client = server_client::client_builder(url)
            .dns_resolver(PinnedResolver(ends))
            .no_gzip()
            .no_deflate()
            .no_brotli()
            .no_zstd();
        let failed = |error: reqwest::Error| NetError::failed(url, error::root_cause(&error));
        let client = client.build().map_err(failed)?;
        let request = client.request(outgoing.method.into(), url.clone());
        let request = request.headers(accept_compression(headers));
        let request = match outgoing.body.clone() {
            Some(body) => request.body(body),
            None => request,
        };
        request.send().await.map_err(failed)
    }

    /// Resolves the host of an address, with every IP address admitted by the policy.
    async fn resolve_allowed_ips(&self, url: &Url) -> Result<Vec<IpAddr>, NetError> {
        let Some(policy) = &self.policy else {
            return Err(NetError::refused(url, "the call has no network access."));
        };
        let refused = |why: String| NetError::refused(url, why);
        policy.allows_url(url.as_str()).map_err(refused)?;
        let ips = self.resolve_ips(url).await?;
        for ip in &ips {
            policy.allows_ip(url.as_str(), *ip).map_err(refused)?;
        }
        Ok(ips)
    }

    /// Resolves the host of an address; an IP address resolves to itself.
    async fn resolve_ips(&self, url: &Url) -> Result<Vec<IpAddr>, NetError> {
        let host = match url.host() {
            Some(url::Host::Ipv4(four)) => return Ok(vec![four.into()]),
            Some(url::Host::Ipv6(six)) => return Ok(vec![six.into()]),
            Some(url::Host::Domain(name)) => name,
            None => return Err(NetError::refused(url, "it names no host.")),
        };
        let found = self.names.resolve_host(host).await;
        let mut ips = found.map_err(|error| NetError::failed(url, error))?;
        ips.truncate(ADDRESSES_MAX);
        match ips.is_empty() {
            true => Err(NetError::failed(url, "its host leads nowhere")),
            false => Ok(ips),
        }
    }
}

/// Runs `work` within its time limit, unless it is cancelled.
async fn with_timeout<T>(
    url: &str,
    limits: FetchLimits,
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, NetError>>,
) -> Result<T, NetError> {
    let timeout = Duration::from_millis(limits.timeout_ms);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(NetError::Cancelled),
        done = tokio::time::timeout(timeout, work) => {
            done.unwrap_or(Err(NetError::TimedOut { url: url.to_owned(), timeout_ms: limits.timeout_ms }))
        }
    }
}

/// Adds the header that names the accepted compressions.
fn accept_compression(mut headers: HeaderMap) -> HeaderMap {
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
    headers
}

/// A resolver that returns the judged addresses for every name.
struct PinnedResolver(Vec<SocketAddr>);

impl Resolve for PinnedResolver {
    fn resolve(&self, _: Name) -> Resolving {
        let ends: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(ends)))
    }
}

fn parse_url(url: &str) -> Result<Url, NetError> {
    let bad = |why: String| NetError::Refused {
        url: url.chars().take(200).collect(),
        why,
    };
    if url.len() > URL_BYTES_MAX {
        return Err(bad(format!("it is longer than {URL_BYTES_MAX} bytes.")));
    }
    let read = Url::parse(url).map_err(|error| bad(format!("it is not an address: {error}.")))?;
    if !matches!(read.scheme(), "http" | "https") {
        return Err(bad(format!(
            "`{}` is neither http nor https.",
            read.scheme()
        )));
    }
    if !read.username().is_empty() || read.password().is_some() {
        return Err(bad("it holds a name or a password.".to_owned()));
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
