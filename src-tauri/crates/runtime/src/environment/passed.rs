//! What went through the way out of a room: each place with its connections and bytes, and what was not let through.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use protocol::effects::{Reached, Refused, RefusedKind, host_and_port};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::ended::MORE;
use super::refusals::Refusals;
use crate::limits::{PROXY_BYTES_MAX, PROXY_REFUSED_MAX};

/// A host and a port.
pub(super) type Place = (String, u16);

/// What went through one way out.
#[derive(Debug, Default)]
pub(super) struct Passed {
    reached: Mutex<BTreeMap<Place, (u32, Arc<Bytes>)>>,
    refused: Mutex<BTreeSet<Refused>>,
    bytes: AtomicU64,
}

/// What went to one place and came from there.
#[derive(Debug, Default)]
struct Bytes {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Passed {
    /// Counts what goes through a connection to a place, from now on.
    pub fn counted(self: &Arc<Self>, place: Place, stream: TcpStream) -> Counted {
        let mut reached = lock(&self.reached);
        let (connections, bytes) = reached.entry(place).or_default();
        *connections = connections.saturating_add(1);
        Counted {
            stream,
            bytes: Arc::clone(bytes),
            passed: Arc::clone(self),
        }
    }

    /// A place was not let through.
    pub fn refuse(&self, (host, port): Place) {
        self.refuse_as(RefusedKind::Network, host_and_port(&host, port));
    }

    fn refuse_as(&self, kind: RefusedKind, target: String) {
        let mut refused = lock(&self.refused);
        if refused.len() < PROXY_REFUSED_MAX {
            refused.insert(Refused { kind, target });
        }
    }

    /// Every place that was reached, in order.
    pub fn reached(&self) -> Vec<Reached> {
        let reached = lock(&self.reached);
        let told = |((host, port), (connections, bytes)): (&Place, &(u32, Arc<Bytes>))| Reached {
            host: host.clone(),
            port: *port,
            connections: *connections,
            sent: bytes.sent.load(Ordering::Relaxed),
            received: bytes.received.load(Ordering::Relaxed),
        };
        reached.iter().map(told).collect()
    }

    /// What was not let through, and whether there may have been more.
    pub fn refused(&self) -> (Vec<Refused>, bool) {
        let refused = lock(&self.refused);
        let all = refused.iter().cloned().collect();
        (all, refused.len() >= PROXY_REFUSED_MAX)
    }

    /// Counts bytes towards the limit of all.
    fn passes(&self, bytes: u64) -> io::Result<()> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) > PROXY_BYTES_MAX {
            true => {
                self.refuse_as(RefusedKind::Limit, "network".to_owned());
                Err(io::ErrorKind::QuotaExceeded.into())
            }
            false => Ok(()),
        }
    }
}

impl Refusals {
    /// Adds what came to the way out: what the room itself was asked for and what went past it is known already.
    pub fn add(&mut self, passed: &Passed) {
        let (refused, more) = passed.refused();
        for one in refused {
            if !self.list.contains(&one) {
                self.list.push(one);
            }
        }
        if more && !self.notes.iter().any(|note| note == MORE) {
            self.notes.push(MORE.to_owned());
        }
        self.reached = passed.reached();
    }
}

/// A connection to a place, whose bytes are counted as they go.
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    bytes: Arc<Bytes>,
    passed: Arc<Passed>,
}

impl AsyncRead for Counted {
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
        Poll::Ready(this.passed.passes(read))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, buf))?;
        this.bytes.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(this.passed.passes(written as u64).map(|()| written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
