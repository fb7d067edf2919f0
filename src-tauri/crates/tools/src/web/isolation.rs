//! Work on what strangers made, apart from everything else: on a thread of its own, so many at a time, with a limit on time.

use std::time::{Duration, Instant};

use protocol::ToolError;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::limits::{PAGE_PARSE_MS_MAX, PAGE_PARSE_STACK_BYTES, PAGE_PARSES_MAX};

/// A thread cannot be ended from outside. One that does not come back keeps its place, so there are never more of them.
static READING_PERMITS: Semaphore = Semaphore::const_new(PAGE_PARSES_MAX);

/// Does it, and gives what it came to. The work is told by when it has to be over the worst, and
/// looks at the clock itself.
///
/// # Errors
/// It broke off, took too long, or was stopped; or too many are at work that do not come back.
pub(super) async fn run_isolated<T: Send + 'static>(
    work: impl FnOnce(Instant) -> T + Send + 'static,
    cancel: &CancellationToken,
) -> Result<T, ToolError> {
    let limit = Duration::from_millis(PAGE_PARSE_MS_MAX);
    let late = || {
        ToolError::TimedOut(format!(
            "What came could not be read within {} s. Choose a simpler page.",
            PAGE_PARSE_MS_MAX / 1_000
        ))
    };
    let place = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ToolError::Cancelled),
        place = tokio::time::timeout(limit, READING_PERMITS.acquire()) => match place {
            Ok(place) => place.map_err(|_| internal_error())?,
            Err(_) => return Err(late()),
        },
    };
    let (sender, result) = oneshot::channel();
    // What is left of the time is for what comes of it.
    let deadline = Instant::now() + limit / 2;
    let started = std::thread::Builder::new()
        .name("reading".to_owned())
        .stack_size(PAGE_PARSE_STACK_BYTES)
        .spawn(move || {
            let _place = place;
            // Nobody listens any more after a stop.
            drop(sender.send(work(deadline)));
        });
    started.map_err(|error| {
        ToolError::Failed(format!(
            "What came could not be read: {error}. Try it later."
        ))
    })?;
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ToolError::Cancelled),
        result = tokio::time::timeout(limit, result) => match result {
            Ok(result) => result.map_err(|_| internal_error()),
            Err(_) => Err(late()),
        },
    }
}

fn internal_error() -> ToolError {
    ToolError::Failed(
        "What came is broken in a way that could not be read. Choose another page.".to_owned(),
    )
}
