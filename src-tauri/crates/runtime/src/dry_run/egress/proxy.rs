//! The egress of a sandbox: an HTTP proxy that is served outside, at a port inside.
//!
//! Every destination is judged before its name is looked up, and again by the addresses that it resolves to, for each
//! request anew. A refused request is answered with 403 and a sentence. The port is in the network of the sandbox, so
//! nothing outside can connect to it, and no destination leads back to it. A slow peer is waited for as long as the
//! command may run.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HOST, HeaderName, PROXY_AUTHORIZATION, UPGRADE};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, client, server};
use hyper_util::rt::TokioIo;
use reqwest::Url;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::dry_run::egress::log::{CountedStream, EgressLog, HostPort};
use crate::limits::{PROXY_CONNECTIONS_MAX, PROXY_HEAD_BYTES_MAX};
use crate::net::{NetError, NetworkClient};

/// An egress proxy that is served until it is closed or dropped.
#[derive(Debug)]
pub(in crate::dry_run) struct EgressProxy {
    served: AbortOnDropHandle<()>,
    passed: Arc<EgressLog>,
}

impl EgressProxy {
    /// Serves connections to a port, with this network access.
    pub fn open(listener: std::net::TcpListener, net: NetworkClient) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let passed = Arc::new(EgressLog::default());
        let proxy = Arc::new(ProxyState {
            net,
            passed: Arc::clone(&passed),
        });
        Ok(Self {
            served: AbortOnDropHandle::new(tokio::spawn(serve_connections(listener, proxy))),
            passed,
        })
    }

    /// Ends every connection, and returns the log of the traffic.
    pub fn close(&self) -> &EgressLog {
        self.served.abort();
        &self.passed
    }
}

async fn serve_connections(listener: TcpListener, proxy: Arc<ProxyState>) {
    // Dropped with this, and with it every connection.
    let mut callers = JoinSet::new();
    let room = Arc::new(Semaphore::new(PROXY_CONNECTIONS_MAX));
    while let Ok(permit) = Arc::clone(&room).acquire_owned().await {
        let accepted = listener.accept().await;
        while callers.try_join_next().is_some() {}
        let Ok((caller, _)) = accepted else {
            // Too many open files, say: those that are open close some time.
            tokio::task::yield_now().await;
            continue;
        };
        let proxy = Arc::clone(&proxy);
        callers.spawn(async move {
            let _permit = permit;
            serve_connection(&proxy, caller).await;
        });
    }
}

struct ProxyState {
    net: NetworkClient,
    passed: Arc<EgressLog>,
}

type ProxyBody = Either<Full<Bytes>, Incoming>;

/// Tasks that one connection from the sandbox leads to.
#[derive(Default)]
struct ConnectionTasks {
    /// The connection that is tunnelled unchanged, once the tunnel was agreed to.
    tunnel: Option<(OnUpgrade, CountedStream)>,
    /// Connections on which requests are forwarded.
    forwards: JoinSet<()>,
}

/// Serves one connection from the sandbox until it ends.
async fn serve_connection(proxy: &ProxyState, caller: TcpStream) {
    let leads = Mutex::new(ConnectionTasks::default());
    let answer =
        |request| async { Ok::<_, Infallible>(proxy.handle_request(request, &leads).await) };
    // Whoever breaks off mid-sentence has heard enough; it is no failure of the run.
    let _ = server::conn::http1::Builder::new()
        .max_buf_size(PROXY_HEAD_BYTES_MAX)
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(caller), service_fn(answer))
        .with_upgrades()
        .await;
    let leads = leads.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((caller, mut there)) = leads.tunnel
        && let Ok(caller) = caller.await
    {
        let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(caller), &mut there).await;
    }
}

impl ProxyState {
    async fn handle_request(
        &self,
        mut request: Request<Incoming>,
        leads: &Mutex<ConnectionTasks>,
    ) -> Response<ProxyBody> {
        let Some((url, place)) = parse_destination(&request) else {
            return text_response(
                StatusCode::BAD_REQUEST,
                "This is a proxy: name the whole http address, or CONNECT to a host and a port.",
            );
        };
        let there = match self.net.connect(&url).await {
            Ok(stream) => self.passed.count_stream(place, stream),
            Err(error @ NetError::Refused { .. }) => {
                self.passed.record_refusal(place);
                return text_response(StatusCode::FORBIDDEN, &error.to_string());
            }
            Err(error) => return text_response(StatusCode::BAD_GATEWAY, &error.to_string()),
        };
        if request.method() == Method::CONNECT {
            let tunnel = Some((hyper::upgrade::on(&mut request), there));
            leads.lock().unwrap_or_else(PoisonError::into_inner).tunnel = tunnel;
            return Response::new(Either::Left(Full::default()));
        }
        match forward_request(request, &url, there, leads).await {
            Ok(response) => response,
            Err(error) => text_response(StatusCode::BAD_GATEWAY, &format!("`{url}`: {error}.")),
        }
    }
}

/// Forwards a request, and returns the response.
async fn forward_request(
    mut request: Request<Incoming>,
    url: &Url,
    there: CountedStream,
    leads: &Mutex<ConnectionTasks>,
) -> hyper::Result<Response<ProxyBody>> {
    let (mut sender, connection) = client::conn::http1::handshake(TokioIo::new(there)).await?;
    {
        let mut leads = leads.lock().unwrap_or_else(PoisonError::into_inner);
        while leads.forwards.try_join_next().is_some() {}
        leads.forwards.spawn(async {
            let _ = connection.await;
        });
    }
    let path = request.uri().path_and_query();
    let path = path.map_or_else(|| "/".to_owned(), ToString::to_string);
    // It is part of an address that was parsed already.
    *request.uri_mut() = path.parse().unwrap_or_default();
    let site = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let headers = request.headers_mut();
    remove_hop_by_hop_headers(headers);
    // Whoever names one host in the address and another one in the head means the first.
    if let Ok(site) = site.parse() {
        headers.insert(HOST, site);
    }
    let mut response = sender.send_request(request).await?;
    remove_hop_by_hop_headers(response.headers_mut());
    Ok(response.map(Either::Right))
}

/// Removes headers that are meant only for the two ends of one connection.
fn remove_hop_by_hop_headers(headers: &mut hyper::HeaderMap) {
    let named = headers.get_all(CONNECTION).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> = named
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in [CONNECTION, PROXY_AUTHORIZATION, UPGRADE] {
        headers.remove(name);
    }
    headers.remove("proxy-connection");
    headers.remove("keep-alive");
}

/// Returns the destination of a request: the address that is judged, without its path, and the host and port under
/// which it is reported.
fn parse_destination(request: &Request<Incoming>) -> Option<(Url, HostPort)> {
    let scheme = match (request.method(), request.uri().scheme_str()) {
        (&Method::CONNECT, None) => "https",
        (_, Some("http")) => "http",
        _ => return None,
    };
    let authority = request.uri().authority()?;
    let url = Url::parse(&format!("{scheme}://{authority}/")).ok()?;
    if !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    let port = url.port_or_known_default()?;
    Some((url, HostPort { host, port }))
}

fn text_response(status: StatusCode, sentence: &str) -> Response<ProxyBody> {
    let mut response = Response::new(Either::Left(Full::from(format!("{sentence}\n"))));
    *response.status_mut() = status;
    response
}
