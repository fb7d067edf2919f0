//! The active time of a run, without the time that it waited for a person.

use tokio::time::{Duration, Instant};

/// The clock of one run.
#[derive(Debug, Default)]
pub(crate) struct ActiveTime {
    /// Start of the run; none before the first run.
    started: Option<Instant>,
    /// Time that the run waited for a person, without the current wait.
    waited: Duration,
    waits_since: Option<Instant>,
}

impl ActiveTime {
    /// Starts the clock of a run.
    pub fn start() -> Self {
        Self {
            started: Some(Instant::now()),
            ..Self::default()
        }
    }

    /// Sets whether the run waits for a person from now on.
    pub fn set_waiting(&mut self, waits: bool) {
        if let Some(since) = self.waits_since.take() {
            self.waited += since.elapsed();
        }
        self.waits_since = waits.then(Instant::now);
    }

    /// Returns the active time of the run.
    pub fn time(&self) -> Duration {
        let waits = self
            .waits_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        self.started.map_or(Duration::ZERO, |began| {
            began.elapsed().saturating_sub(self.waited + waits)
        })
    }
}
