//! Prints the current stage and how long it has taken.

use std::time::{Duration, Instant};

/// Prints one line when a stage begins and one when it ends.
pub struct Progress {
    began: Instant,
}

/// Outcome of a stage, for its closing line.
pub enum StageOutcome {
    /// The stage did its work.
    Done,
    /// There was nothing to do.
    Unchanged,
    /// It did not succeed.
    Failed,
}

impl Progress {
    /// Creates the output and starts its clock.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Prints that a stage begins; the returned time is passed to [`Progress::end`].
    pub fn begin(&self, stage: &str) -> Instant {
        println!("[{}] {stage} …", format_elapsed(self.began.elapsed()));
        Instant::now()
    }

    /// Prints the outcome of a stage and its duration.
    pub fn end(&self, stage: &str, since: Instant, ended: &StageOutcome) {
        let word = match ended {
            StageOutcome::Done => "done",
            StageOutcome::Unchanged => "nothing to do",
            StageOutcome::Failed => "FAILED",
        };
        let took = since.elapsed().as_secs_f64();
        println!(
            "[{}] {stage}: {word} ({took:.1} s)",
            format_elapsed(self.began.elapsed())
        );
    }

    /// Runs one stage between its two lines. `work` returns whether there was work to do.
    pub fn stage<E>(&self, stage: &str, work: impl FnOnce() -> Result<bool, E>) -> Result<(), E> {
        let since = self.begin(stage);
        let result = work();
        let ended = match &result {
            Ok(true) => StageOutcome::Done,
            Ok(false) => StageOutcome::Unchanged,
            Err(_) => StageOutcome::Failed,
        };
        self.end(stage, since, &ended);
        result.map(drop)
    }
}

fn format_elapsed(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{:>2}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_counts_minutes() {
        let table = [(0, " 0:00"), (9, " 0:09"), (61, " 1:01"), (3_725, "62:05")];
        for (seconds, shown) in table {
            assert_eq!(format_elapsed(Duration::from_secs(seconds)), shown);
        }
    }
}
