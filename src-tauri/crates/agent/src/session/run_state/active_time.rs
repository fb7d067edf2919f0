//! How long a run has been at work, without the time that it waited for a person.

use tokio::time::{Duration, Instant};

/// The clock of one run.
#[derive(Debug, Default)]
pub(crate) struct ActiveTime {
    /// When the run began; none before the first.
    started: Option<Instant>,
    /// How long of that it waited, up to the wait that lasts.
    waited: Duration,
    waits_since: Option<Instant>,
}

impl ActiveTime {
    /// A run begins.
    pub fn start() -> Self {
        Self {
            started: Some(Instant::now()),
            ..Self::default()
        }
    }

    /// From now on it waits for a person, or does not.
    pub fn set_waiting(&mut self, waits: bool) {
        if let Some(since) = self.waits_since.take() {
            self.waited += since.elapsed();
        }
        self.waits_since = waits.then(Instant::now);
    }

    /// How long it has been at work.
    pub fn time(&self) -> Duration {
        let waits = self
            .waits_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        self.started.map_or(Duration::ZERO, |began| {
            began.elapsed().saturating_sub(self.waited + waits)
        })
    }
}
