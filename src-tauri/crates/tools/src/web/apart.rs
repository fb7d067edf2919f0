//! Work on what strangers made, apart from everything else: on a thread of its own, so many at a time, with a limit on time.

use std::time::{Duration, Instant};

use protocol::ToolError;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::limits::{READING_MS_MAX, READING_STACK_BYTES, READINGS_MAX};

/// A thread cannot be ended from outside. One that does not come back keeps its place, so there are never more of them.
static PLACES: Semaphore = Semaphore::const_new(READINGS_MAX);

/// Does it, and gives what it came to. The work is told by when it has to be over the worst, and
/// looks at the clock itself.
///
/// # Errors
/// It broke off, took too long, or was stopped; or too many are at work that do not come back.
pub(super) async fn done<T: Send + 'static>(
    work: impl FnOnce(Instant) -> T + Send + 'static,
    cancel: &CancellationToken,
) -> Result<T, ToolError> {
    let limit = Duration::from_millis(READING_MS_MAX);
    let late = || {
        ToolError::TimedOut(format!(
            "What came could not be read within {} s. Choose a simpler page.",
            READING_MS_MAX / 1_000
        ))
    };
    let place = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ToolError::Cancelled),
        place = tokio::time::timeout(limit, PLACES.acquire()) => match place {
            Ok(place) => place.map_err(|_| broke_off())?,
            Err(_) => return Err(late()),
        },
    };
    let (sender, result) = oneshot::channel();
    // What is left of the time is for what comes of it.
    let deadline = Instant::now() + limit / 2;
    let started = std::thread::Builder::new()
        .name("reading".to_owned())
        .stack_size(READING_STACK_BYTES)
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
            Ok(result) => result.map_err(|_| broke_off()),
            Err(_) => Err(late()),
        },
    }
}

fn broke_off() -> ToolError {
    ToolError::Failed(
        "What came is broken in a way that could not be read. Choose another page.".to_owned(),
    )
}
