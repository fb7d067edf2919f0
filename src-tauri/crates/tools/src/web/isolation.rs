//! Isolated work on third-party data: each piece on a thread of its own, with a limit on their number and on their
//! time.

use std::time::{Duration, Instant};

use protocol::ToolError;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::limits::{PAGE_PARSE_MS_MAX, PAGE_PARSE_STACK_BYTES, PAGE_PARSES_MAX};

/// Permits for the threads. A thread cannot be ended from outside; one that does not return keeps its permit, so there
/// are never more threads than permits.
static READING_PERMITS: Semaphore = Semaphore::const_new(PAGE_PARSES_MAX);

/// Runs the work on a thread of its own and returns its result. The work receives a deadline for its main part, and
/// checks the clock itself.
///
/// # Errors
/// If the work panicked, took too long, or was cancelled; or too many threads are busy and do not return.
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
    // The rest of the time is for handling the result of the main part.
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
