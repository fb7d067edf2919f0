//! Fetches from the web: every address is judged before its name is looked up, every connection by where the name leads,
//! every redirect like a request of its own.

pub use std::net::IpAddr;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};
use tokio_util::sync::CancellationToken;

use crate::limits::{ADDRESSES_MAX, CONNECT_TIMEOUT, HOPS_MAX, URL_BYTES_MAX};

mod back;
mod body;
mod call;
#[cfg(target_os = "linux")]
mod dial;
mod error;
mod outgoing;
mod server;

pub use back::{Visit, WayBack};
pub use call::Reply;
pub use error::NetError;
pub use outgoing::{Method, Outgoing};
pub use server::{file_address, server_address, server_client, server_headers};

/// What a page is asked for as: what reads best comes first.
const READABLE: &str =
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, */*;q=0.5";

/// Says where a request may go. The runtime asks and obeys; it decides nothing.
pub trait Doorkeeper: Send + Sync {
    /// Whether a request may go to this address at all, asked before its host is looked up.
    ///
    /// # Errors
    /// Why not, as a sentence.
    fn admits(&self, url: &str) -> Result<(), String>;

    /// Whether a connection may be made to where the host of this address leads.
    ///
    /// # Errors
    /// Why not, as a sentence.
    fn admits_ip(&self, url: &str, ip: IpAddr) -> Result<(), String>;

    /// Whether something of this very machine is behind it. A command that runs apart from the machine is then led outside
    /// also for what it calls its own.
    fn leads_home(&self) -> bool {
        false
    }
}

/// Looks names up.
#[async_trait]
pub trait Names: Send + Sync {
    /// Where a host leads.
    ///
    /// # Errors
    /// What the system says.
    async fn look_up(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The names of this system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn look_up(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// The way to the web for one call. Cheap to clone.
#[derive(Clone)]
pub struct Net {
    names: Arc<dyn Names>,
    door: Option<Arc<dyn Doorkeeper>>,
}

/// What a fetch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// From the first request to the last byte, in milliseconds.
    pub timeout_ms: u64,
    /// Of the body, in bytes, as it came and once it is unpacked; what is beyond is not read.
    pub body_bytes_max: usize,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: String,
    /// The answer's status, such as 200 or 404.
    pub status: u16,
    /// What the answer says it is; empty if it does not say.
    pub content_type: String,
    /// Its body, unpacked.
    pub body: Vec<u8>,
    /// Whether there was more than the limit.
    pub more: bool,
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.door.is_some() {
            "Net"
        } else {
            "Net (closed)"
        })
    }
}

impl Net {
    /// Whether anything can be reached at all.
    pub(crate) fn is_open(&self) -> bool {
        self.door.is_some()
    }

    /// Whether something of this very machine can be.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(crate) fn leads_home(&self) -> bool {
        self.door.as_ref().is_some_and(|door| door.leads_home())
    }

    /// No way at all.
    pub fn closed() -> Self {
        Self {
            names: Arc::new(SystemNames),
            door: None,
        }
    }

    /// The same way with somebody at its door.
    #[must_use]
    pub fn kept_by(&self, door: Arc<dyn Doorkeeper>) -> Self {
        Self {
            names: self.names.clone(),
            door: Some(door),
        }
    }

    /// The same way with other names than the system's.
    #[must_use]
    pub fn with_names(&self, names: Arc<dyn Names>) -> Self {
        Self {
            names,
            door: self.door.clone(),
        }
    }

    /// Gets what stands at an address. Only `http` and `https`, no name and password in it; from `https` no redirect leads
    /// back to `http`. No proxy is asked, because nobody could say where that would connect to.
    ///
    /// # Errors
    /// [`NetError::Refused`] when some address on the way is not admitted: nothing was sent there.
    pub async fn get(
        &self,
        url: &str,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, NetError> {
        within(url, limits, cancel, self.follow(url, limits)).await
    }

    /// Sends one request to an address and takes its answer, whatever its status. No redirect is followed: what the request
    /// carries is for this address alone.
    ///
    /// # Errors
    /// [`NetError::Refused`] when the address is not admitted, or a header cannot be sent: nothing was sent.
    pub async fn send(
        &self,
        outgoing: &Outgoing,
        limits: FetchLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, NetError> {
        let sent = async {
            let url = read(&outgoing.url)?;
            let response = self.ask(&url, outgoing).await?;
            body::taken(&url, response, limits.body_bytes_max).await
        };
        within(&outgoing.url, limits, cancel, sent).await
    }

    async fn follow(&self, url: &str, limits: FetchLimits) -> Result<Fetched, NetError> {
        let mut at = read(url)?;
        let plain = Outgoing {
            headers: vec![("accept".to_owned(), READABLE.to_owned())],
            ..Outgoing::get(url)
        };
        for _ in 0..=HOPS_MAX {
            let response = self.ask(&at, &plain).await?;
            let Some(next) = redirect(&at, &response)? else {
                return body::taken(&at, response, limits.body_bytes_max).await;
            };
            call::stays_secure(&at, &next)?;
            at = next;
        }
        Err(NetError::failed(
            &at,
            format!("it is redirected more than {HOPS_MAX} times"),
        ))
    }

    /// One request, to nowhere but the addresses that were judged: the connection looks no name up again.
    async fn ask(&self, url: &Url, outgoing: &Outgoing) -> Result<Response, NetError> {
        let headers = outgoing.headers(url)?;
        let ips = self.admitted(url).await?;
        let ends: Vec<SocketAddr> = ips.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        let mut client = Client::builder()
            .dns_resolver(Pinned(ends))
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            // What is packed is unpacked within limits, see `body`.
            .no_gzip()
            .no_deflate()
            .no_brotli()
            .no_zstd()
            .no_proxy();
        if url.scheme() == "http" {
            // No way leads to TLS from here, and reading the system's certificates takes its time.
            client = client.tls_certs_only([]);
        }
        let failed = |error: reqwest::Error| NetError::failed(url, error::deepest(&error));
        let client = client.build().map_err(failed)?;
        let request = client.request(outgoing.method.into(), url.clone());
        let request = request.headers(packed(headers));
        let request = match outgoing.body.clone() {
            Some(body) => request.body(body),
            None => request,
        };
        request.send().await.map_err(failed)
    }

    /// Where the host of an address leads, each place admitted.
    async fn admitted(&self, url: &Url) -> Result<Vec<IpAddr>, NetError> {
        let Some(door) = &self.door else {
            return Err(NetError::refused(
                url,
                "the call has no way to the network.",
            ));
        };
        let refused = |why: String| NetError::refused(url, why);
        door.admits(url.as_str()).map_err(refused)?;
        let ips = self.ips(url).await?;
        for ip in &ips {
            door.admits_ip(url.as_str(), *ip).map_err(refused)?;
        }
        Ok(ips)
    }

    /// Where the host of an address leads; an address in figures leads to itself.
    async fn ips(&self, url: &Url) -> Result<Vec<IpAddr>, NetError> {
        let host = match url.host() {
            Some(url::Host::Ipv4(four)) => return Ok(vec![four.into()]),
            Some(url::Host::Ipv6(six)) => return Ok(vec![six.into()]),
            Some(url::Host::Domain(name)) => name,
            None => return Err(NetError::refused(url, "it names no host.")),
        };
        let found = self.names.look_up(host).await;
        let mut ips = found.map_err(|error| NetError::failed(url, error))?;
        ips.truncate(ADDRESSES_MAX);
        match ips.is_empty() {
            true => Err(NetError::failed(url, "its host leads nowhere")),
            false => Ok(ips),
        }
    }
}

/// Does it in the time that it has, unless it is stopped.
async fn within<T>(
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

/// The same headers, which say as well how an answer may be packed.
fn packed(mut headers: HeaderMap) -> HeaderMap {
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
    headers
}

/// Leads every name to the addresses that were judged.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let ends: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(ends)))
    }
}

fn read(url: &str) -> Result<Url, NetError> {
    let bad = |why: String| NetError::Refused {
        url: url.chars().take(200).collect(),
        why,
    };
    if url.len() > URL_BYTES_MAX {
        return Err(bad(format!("it is longer than {URL_BYTES_MAX} bytes.")));
    }
    let read = Url::parse(url).map_err(|error| bad(format!("it is no address: {error}.")))?;
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

/// Where an answer leads on to, if it does.
fn redirect(at: &Url, response: &Response) -> Result<Option<Url>, NetError> {
    let leads_on = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| leads_on) else {
        return Ok(None);
    };
    let location = location.to_str().unwrap_or_default();
    let next = at.join(location);
    let next = next.map_err(|error| {
        NetError::failed(at, format!("it is redirected to no address: {error}"))
    })?;
    read(next.as_str()).map(Some)
}

#[cfg(test)]
mod tests;
