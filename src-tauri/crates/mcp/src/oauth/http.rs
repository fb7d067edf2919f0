//! HTTP requests to authorization servers: each is checked, since the MCP server chooses their addresses.

use std::sync::Arc;

use policy::patterns::host::{HostLocality, address_locality};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use runtime::net::{IpAddr, SystemResolver};
use runtime::{
    FetchLimits, HostResolver, HttpRequest, NetworkClient, NetworkPolicy, RequestMethod,
};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use crate::limits::{SIGN_IN_ANSWER_BYTES_MAX, SIGN_IN_REQUEST_MS};

const FETCH_LIMITS: FetchLimits = FetchLimits {
    timeout_ms: SIGN_IN_REQUEST_MS,
    body_bytes_max: SIGN_IN_ANSWER_BYTES_MAX,
};

/// HTTP client for these requests.
pub(super) struct OAuthHttp(NetworkClient);

impl OAuthHttp {
    /// Creates the client for a server: a remote server cannot direct requests to this machine or its network.
    pub(super) async fn for_server(server: &Url) -> Self {
        let ips = match server.host() {
            Some(Host::Ipv4(four)) => vec![IpAddr::V4(four)],
            Some(Host::Ipv6(six)) => vec![IpAddr::V6(six)],
            Some(Host::Domain(name)) => SystemResolver.resolve_host(name).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let is = |is: fn(&IpAddr) -> bool| !ips.is_empty() && ips.iter().all(is);
        let guard = OAuthHostGuard {
            is_server_loopback: is(IpAddr::is_loopback),
            is_server_local: is(|ip| address_locality(*ip) == HostLocality::Private),
        };
        Self(NetworkClient::offline().with_policy(Arc::new(guard)))
    }
}

impl OAuthHttp {
    /// Posts a form and returns the status of the answer.
    ///
    /// # Errors
    /// The address is not allowed, or does not answer; a clause.
    pub(super) async fn post_form(
        &self,
        url: &str,
        header: Option<(String, String)>,
        form: String,
    ) -> Result<u16, String> {
        let kind = "application/x-www-form-urlencoded".to_owned();
        let mut headers = vec![("content-type".to_owned(), kind)];
        headers.extend(header);
        let outgoing = HttpRequest {
            method: RequestMethod::Post,
            url: url.to_owned(),
            headers,
            body: Some(form.into_bytes()),
        };
        let never = CancellationToken::new();
        let reply = self.0.send(&outgoing, FETCH_LIMITS, &never).await;
        let reply = reply.map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
        Ok(reply.status)
    }
}

/// Policy on the hosts that these requests may reach.
struct OAuthHostGuard {
    /// Whether the server is on this machine.
    is_server_loopback: bool,
    /// Whether the server is on this machine, or in its network.
    is_server_local: bool,
}

impl NetworkPolicy for OAuthHostGuard {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url).map_err(|_| "It is not an address.".to_owned())?;
        match url.scheme() == "https" || self.is_server_loopback && is_loopback(&url) {
            true => Ok(()),
            false => Err("Who signs in tells a secret, and it is not encrypted.".to_owned()),
        }
    }

    fn allows_ip(&self, _url: &str, ip: IpAddr) -> Result<(), String> {
        match address_locality(ip) {
            HostLocality::Public => Ok(()),
            HostLocality::Private if ip.is_loopback() && self.is_server_loopback => Ok(()),
            HostLocality::Private if !ip.is_loopback() && self.is_server_local => Ok(()),
            HostLocality::Private | HostLocality::LinkLocal => Err(
                "It is on this machine or in its network, and the server that names it is not."
                    .to_owned(),
            ),
        }
    }
}

/// Whether a URL, as it is written, can only lead to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(four)) => four.is_loopback(),
        Some(Host::Ipv6(six)) => six.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

impl OAuthHttpClient for OAuthHttp {
    /// Sends one request. Never follows a redirect: the library decides about its target.
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.request.into_parts();
            let method = match parts.method.as_str() {
                "GET" => RequestMethod::Get,
                "POST" => RequestMethod::Post,
                _ => return Err("nothing but GET and POST is sent".into()),
            };
            let headers = parts.headers.iter().map(|(name, value)| {
                let value = value.to_str().map(str::to_owned);
                value.map(|value| (name.as_str().to_owned(), value))
            });
            let outgoing = HttpRequest {
                method,
                url: parts.uri.to_string(),
                headers: headers.collect::<Result<_, _>>()?,
                body: (!body.is_empty()).then_some(body),
            };
            let never = CancellationToken::new();
            let reply = self.0.send(&outgoing, FETCH_LIMITS, &never).await?;
            if reply.is_truncated {
                return Err("the answer is too long".into());
            }
            let mut built = http::Response::builder().status(reply.status);
            for (name, value) in &reply.headers {
                built = built.header(name, value);
            }
            Ok(built.body(reply.body)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests which hosts may be reached, by the location of the server that names them.
    #[tokio::test]
    async fn a_server_leads_to_nobody_who_is_nearer_than_itself() {
        let ips = ["127.0.0.1", "192.168.1.1", "169.254.169.254", "9.9.9.9"];
        for (server, admitted) in [
            ("https://9.9.9.9/mcp", [false, false, false, true]),
            ("https://192.168.1.2/mcp", [false, true, false, true]),
            ("http://127.0.0.1:8000/mcp", [true, true, false, true]),
        ] {
            let url = Url::parse(server).unwrap();
            let is = |is: fn(&IpAddr) -> bool| {
                let ip: IpAddr = url.host_str().unwrap().parse().unwrap();
                is(&ip)
            };
            let door = OAuthHostGuard {
                is_server_loopback: is(IpAddr::is_loopback),
                is_server_local: is(|ip| address_locality(*ip) == HostLocality::Private),
            };
            let found = ips.map(|ip| door.allows_ip("https://x", ip.parse().unwrap()).is_ok());
            assert_eq!(found, admitted, "{server}");
            assert!(door.allows_url("https://sign.in/token").is_ok());
            assert!(door.allows_url("http://sign.in/token").is_err());
            assert_eq!(
                door.allows_url("http://localhost:1/token").is_ok(),
                door.is_server_loopback
            );
        }
    }
}
