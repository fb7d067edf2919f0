//! The lines that say what is going on and how long it has taken.

use std::time::{Duration, Instant};

/// Prints one line when a stage begins and one when it ends.
pub struct Progress {
    began: Instant,
}

/// How a stage ended, for its closing line.
pub enum StageOutcome {
    /// It did its work.
    Done,
    /// There was nothing to do.
    Unchanged,
    /// It did not succeed.
    Failed,
}

impl Progress {
    /// Starts the clock.
    pub fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    /// Says that a stage begins; the answer is handed to [`ProgressSchema::end`].
    pub fn begin(&self, stage: &str) -> Instant {
        println!("[{}] {stage} …", format_elapsed(self.began.elapsed()));
        Instant::now()
    }

    /// Says how a stage ended and how long it took.
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

    /// Runs one stage between its two lines. `work` answers whether there was something to do.
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
