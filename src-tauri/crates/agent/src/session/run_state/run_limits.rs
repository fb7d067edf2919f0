//! The usage of one run, including its sub-agents, and the limit that the run reached.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::event::SessionEvent;
use protocol::{EventBody, Limit, NoticeLevel, RunLimits, Usage, UserError};

use crate::session::Session;

/// Usage of a run so far.
#[derive(Debug)]
pub(crate) struct RunMeter {
    limits: RunLimits,
    turns: u32,
    calls: u32,
    /// Usage of this run, and of those that it works for.
    usage: Vec<Arc<RunUsage>>,
}

/// Tokens and cost of one run, including its sub-agents: a sub-agent task spends from the budget of its caller.
#[derive(Debug, Default)]
pub(crate) struct RunUsage(Mutex<UsageTotals>);

#[derive(Debug, Default, Clone, Copy)]
struct UsageTotals {
    tokens: u64,
    cost_usd: f64,
}

impl RunUsage {
    fn add_usage(&self, usage: &Usage) {
        let mut sums = self.0.lock();
        sums.tokens = sums
            .tokens
            .saturating_add(usage.input_tokens)
            .saturating_add(usage.output_tokens);
        sums.cost_usd += usage.cost_usd.unwrap_or(0.0);
    }

    fn totals(&self) -> UsageTotals {
        *self.0.lock()
    }
}

/// A limit that was reached, and the usage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LimitReached {
    pub limit: Limit,
    pub used: f64,
    pub max: f64,
}

impl RunMeter {
    /// Returns a meter with no usage by this run, and the usage so far of the runs that it works for.
    pub fn for_session(session: &Session, limits: RunLimits) -> Self {
        let above = session.lineage().into_iter().skip(1);
        let above = above.filter_map(|id| session.engine.session(&id).ok());
        let spent = above.map(|above| above.run_usage());
        Self::new(
            limits,
            [session.run_usage()].into_iter().chain(spent).collect(),
        )
    }

    fn new(limits: RunLimits, usage: Vec<Arc<RunUsage>>) -> Self {
        Self {
            limits,
            turns: 0,
            calls: 0,
            usage,
        }
    }

    /// Counts a turn, if one more may begin; otherwise returns the limit.
    pub fn begin_turn(&mut self) -> Result<(), LimitReached> {
        self.check_usage()?;
        let max = self.limits.turns;
        if max > 0 && self.turns >= max {
            return Err(limit_reached(Limit::Turns, self.turns.into(), max.into()));
        }
        self.turns += 1;
        Ok(())
    }

    /// Adds the usage of a turn.
    pub fn add_usage(&self, usage: &Usage) {
        self.usage.iter().for_each(|spent| spent.add_usage(usage));
    }

    /// Counts calls, and returns how many of them may run; with the limit if not all may.
    pub fn admit_calls(&mut self, calls: usize) -> (usize, Option<LimitReached>) {
        if calls == 0 {
            return (0, None);
        }
        if let Err(reached) = self.check_usage() {
            return (0, Some(reached));
        }
        let max = self.limits.calls;
        let room = match max {
            0 => usize::MAX,
            max => usize::try_from(max - self.calls.min(max)).unwrap_or(usize::MAX),
        };
        let admitted = calls.min(room);
        self.calls = self
            .calls
            .saturating_add(u32::try_from(admitted).unwrap_or(u32::MAX));
        let left_out = admitted < calls;
        (
            admitted,
            left_out.then(|| limit_reached(Limit::Calls, self.calls.into(), max.into())),
        )
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of tokens that is shown, exact up to 2^53"
    )]
    fn check_usage(&self) -> Result<(), LimitReached> {
        let RunLimits {
            tokens, cost_usd, ..
        } = self.limits;
        for used in self.usage.iter().map(|spent| spent.totals()) {
            if tokens > 0 && used.tokens >= tokens {
                return Err(limit_reached(
                    Limit::Tokens,
                    used.tokens as f64,
                    tokens as f64,
                ));
            }
            if cost_usd > 0.0 && used.cost_usd >= cost_usd {
                return Err(limit_reached(Limit::Cost, used.cost_usd, cost_usd));
            }
        }
        Ok(())
    }
}

fn limit_reached(limit: Limit, used: f64, max: f64) -> LimitReached {
    LimitReached { limit, used, max }
}

impl LimitReached {
    /// Describes the limit: "20 turns".
    pub fn describe(&self) -> String {
        let (max, s) = (self.max, if self.max == 1.0 { "" } else { "s" });
        match self.limit {
            Limit::Turns => format!("{max} turn{s}"),
            Limit::Calls => format!("{max} call{s}"),
            Limit::Tokens => format!("{max} tokens"),
            Limit::Cost => format!("{max:.2} US dollars"),
            Limit::Time => format!("{max} minute{s} at work"),
        }
    }

    /// Returns the text for the model in place of the result of a call that the limit kept from running.
    pub fn model_message(&self) -> String {
        format!("Not run: the run reached its limit of {}.", self.describe())
    }
}

/// Waits until the run reaches its time limit; forever if there is none.
pub(crate) async fn wait_time_limit(session: &Session, limits: RunLimits) -> LimitReached {
    if limits.minutes == 0 {
        std::future::pending::<()>().await;
    }
    let max = std::time::Duration::from_secs(60 * u64::from(limits.minutes));
    loop {
        let worked = session.active_time();
        match max.checked_sub(worked) {
            Some(rest) if !rest.is_zero() => tokio::time::sleep(rest).await,
            _ => {
                let used = worked.as_secs_f64() / 60.0;
                return limit_reached(Limit::Time, used, limits.minutes.into());
            }
        }
    }
}

/// Records a notice that the run stops, why, and what to do.
pub(crate) fn record_limit(session: &Session, reached: &LimitReached) {
    session.journal.record(SessionEvent::LimitReached {
        limit: reached.limit,
        used: reached.used,
        max: reached.max,
    });
    session.journal.record(EventBody::notice(
        NoticeLevel::Warning,
        UserError::new(
            format!("The run reached its limit of {}.", reached.describe()),
            "Everything it did is kept. Say something to let it go on; the limits then count anew.",
        ),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(change: impl FnOnce(&mut RunLimits)) -> RunLimits {
        let mut limits = RunLimits {
            turns: 0,
            calls: 0,
            tokens: 0,
            cost_usd: 0.0,
            minutes: 0,
            repeats: 0,
        };
        change(&mut limits);
        limits
    }

    fn usage(input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> Usage {
        Usage {
            input_tokens,
            output_tokens,
            cost_usd,
            ..Usage::default()
        }
    }

    fn metered(limits: RunLimits) -> RunMeter {
        RunMeter::new(limits, vec![Arc::default()])
    }

    #[test]
    fn no_limit_is_never_reached() {
        let mut meter = metered(limits(|_| {}));
        meter.add_usage(&usage(u64::MAX, u64::MAX, Some(f64::MAX)));
        assert_eq!(meter.begin_turn(), Ok(()));
        assert_eq!(meter.admit_calls(1_000), (1_000, None));
    }

    #[test]
    fn turns_calls_tokens_and_cost_end_where_they_are_used_up() {
        let mut meter = metered(limits(|limits| limits.turns = 2));
        assert_eq!((meter.begin_turn(), meter.begin_turn()), (Ok(()), Ok(())));
        assert_eq!(
            meter.begin_turn(),
            Err(limit_reached(Limit::Turns, 2.0, 2.0))
        );

        let mut meter = metered(limits(|limits| limits.calls = 5));
        assert_eq!(meter.admit_calls(3), (3, None));
        assert_eq!(
            meter.admit_calls(3),
            (2, Some(limit_reached(Limit::Calls, 5.0, 5.0)))
        );

        let mut meter = metered(limits(|limits| limits.tokens = 100));
        meter.add_usage(&usage(60, 39, None));
        assert_eq!(meter.admit_calls(1), (1, None));
        meter.add_usage(&usage(0, 1, None));
        let spent = limit_reached(Limit::Tokens, 100.0, 100.0);
        assert_eq!(
            (meter.begin_turn(), meter.admit_calls(1)),
            (Err(spent), (0, Some(spent)))
        );
        assert_eq!(
            meter.admit_calls(0),
            (0, None),
            "a last word is not cut off"
        );

        let mut meter = metered(limits(|limits| limits.cost_usd = 0.5));
        meter.add_usage(&usage(1, 1, None));
        meter.add_usage(&usage(1, 1, Some(0.5)));
        assert_eq!(
            meter.begin_turn(),
            Err(limit_reached(Limit::Cost, 0.5, 0.5))
        );
    }
}
