//! The log of a sandbox's egress: each destination reached, with its connections and bytes, and each destination
//! refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use protocol::view::effects::{NetworkContact, Refusal, RefusalKind, format_host_port};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::dry_run::exit_report::MORE_REFUSALS_NOTE;
use crate::dry_run::refusals::Refusals;
use crate::limits::{PROXY_BYTES_MAX, PROXY_REFUSED_MAX};

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::dry_run) struct HostPort {
    pub host: String,
    pub port: u16,
}

/// Counts of the traffic through one egress proxy.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct EgressLog {
    reached: Mutex<BTreeMap<HostPort, (u32, Arc<ByteCounts>)>>,
    refused: Mutex<BTreeSet<Refusal>>,
    bytes: AtomicU64,
}

/// Bytes sent to and received from one destination.
#[derive(Debug, Default)]
struct ByteCounts {
    sent: AtomicU64,
    received: AtomicU64,
}

impl EgressLog {
    /// Counts the bytes that pass through a connection to a destination, from now on.
    pub fn count_stream(self: &Arc<Self>, place: HostPort, stream: TcpStream) -> CountedStream {
        let mut reached = lock_mutex(&self.reached);
        let (connections, bytes) = reached.entry(place).or_default();
        *connections = connections.saturating_add(1);
        CountedStream {
            stream,
            bytes: Arc::clone(bytes),
            passed: Arc::clone(self),
        }
    }

    /// Records that a destination was refused.
    pub fn record_refusal(&self, place: HostPort) {
        let target = format_host_port(&place.host, place.port);
        self.record_refusal_as(RefusalKind::Network, target);
    }

    fn record_refusal_as(&self, kind: RefusalKind, target: String) {
        let mut refused = lock_mutex(&self.refused);
        if refused.len() < PROXY_REFUSED_MAX {
            refused.insert(Refusal { kind, target });
        }
    }

    /// Returns every destination that was reached, in order.
    pub fn reached(&self) -> Vec<NetworkContact> {
        let reached = lock_mutex(&self.reached);
        let told =
            |(place, (connections, bytes)): (&HostPort, &(u32, Arc<ByteCounts>))| NetworkContact {
                host: place.host.clone(),
                port: place.port,
                connections: *connections,
                sent: bytes.sent.load(Ordering::Relaxed),
                received: bytes.received.load(Ordering::Relaxed),
            };
        reached.iter().map(told).collect()
    }

    /// Returns the destinations that were refused, and whether there may have been more.
    pub fn refused(&self) -> (Vec<Refusal>, bool) {
        let refused = lock_mutex(&self.refused);
        let all = refused.iter().cloned().collect();
        (all, refused.len() >= PROXY_REFUSED_MAX)
    }

    /// Counts bytes towards the overall limit.
    fn add_bytes(&self, bytes: u64) -> io::Result<()> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) > PROXY_BYTES_MAX {
            true => {
                self.record_refusal_as(RefusalKind::Limit, "network".to_owned());
                Err(io::ErrorKind::QuotaExceeded.into())
            }
            false => Ok(()),
        }
    }
}

impl Refusals {
    /// Adds the destinations that the proxy refused. Names that the sandbox itself was asked for, and attempts that
    /// bypassed the proxy, are known already.
    pub fn add_egress(&mut self, passed: &EgressLog) {
        let (refused, more) = passed.refused();
        for one in refused {
            if !self.list.contains(&one) {
                self.list.push(one);
            }
        }
        if more && !self.notes.iter().any(|note| note == MORE_REFUSALS_NOTE) {
            self.notes.push(MORE_REFUSALS_NOTE.to_owned());
        }
        self.reached = passed.reached();
    }
}

/// A connection to a destination that counts the bytes passing through it.
#[derive(Debug)]
pub(in crate::dry_run) struct CountedStream {
    stream: TcpStream,
    bytes: Arc<ByteCounts>,
    passed: Arc<EgressLog>,
}

impl AsyncRead for CountedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        let read = (buf.filled().len() - before) as u64;
        this.bytes.received.fetch_add(read, Ordering::Relaxed);
        Poll::Ready(this.passed.add_bytes(read))
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, buf))?;
        this.bytes.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(this.passed.add_bytes(written as u64).map(|()| written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

fn lock_mutex<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
