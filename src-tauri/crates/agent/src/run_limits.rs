//! How much one run has used, with whoever works for it, and the limit that it came to.

use std::sync::{Arc, Mutex, PoisonError};

use protocol::event::Notice;
use protocol::{EventBody, Fault, Limit, NoticeLevel, RunLimits, Usage};

use crate::delegate;
use crate::session::Session;

/// What a run has used so far.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: RunLimits,
    turns: u32,
    calls: u32,
    /// Of this run, and of those that it works for.
    spent: Vec<Arc<Spent>>,
}

/// The tokens and the money of one run, with those of everybody who works for it: an errand spends what its caller may.
#[derive(Debug, Default)]
pub(crate) struct Spent(Mutex<Sums>);

#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    tokens: u64,
    cost_usd: f64,
}

impl Spent {
    fn take(&self, usage: &Usage) {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.tokens = sums
            .tokens
            .saturating_add(usage.input_tokens)
            .saturating_add(usage.output_tokens);
        sums.cost_usd += usage.cost_usd.unwrap_or(0.0);
    }

    fn sums(&self) -> Sums {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A limit, and what was used of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reached {
    pub limit: Limit,
    pub used: f64,
    pub max: f64,
}

impl Meter {
    /// Nothing used yet by this run; by those that it works for what they used.
    pub fn beginning(session: &Session, limits: RunLimits) -> Self {
        let above = delegate::lineage(session).into_iter().skip(1);
        let above = above.filter_map(|id| session.shared.session(&id).ok());
        let spent = above.map(|above| above.spent());
        Self::new(limits, [session.spent()].into_iter().chain(spent).collect())
    }

    fn new(limits: RunLimits, spent: Vec<Arc<Spent>>) -> Self {
        Self {
            limits,
            turns: 0,
            calls: 0,
            spent,
        }
    }

    /// Whether one more turn may begin; counts it.
    pub fn begin_turn(&mut self) -> Result<(), Reached> {
        self.is_spent()?;
        let max = self.limits.turns;
        if max > 0 && self.turns >= max {
            return Err(reached(Limit::Turns, self.turns.into(), max.into()));
        }
        self.turns += 1;
        Ok(())
    }

    /// Counts what a turn used.
    pub fn take(&self, usage: &Usage) {
        self.spent.iter().for_each(|spent| spent.take(usage));
    }

    /// Counts calls, and says how many of them may run; with the limit if not all may.
    pub fn admit(&mut self, calls: usize) -> (usize, Option<Reached>) {
        if calls == 0 {
            return (0, None);
        }
        if let Err(reached) = self.is_spent() {
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
            left_out.then(|| reached(Limit::Calls, self.calls.into(), max.into())),
        )
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of tokens that is shown, exact up to 2^53"
    )]
    fn is_spent(&self) -> Result<(), Reached> {
        let RunLimits {
            tokens, cost_usd, ..
        } = self.limits;
        for used in self.spent.iter().map(|spent| spent.sums()) {
            if tokens > 0 && used.tokens >= tokens {
                return Err(reached(Limit::Tokens, used.tokens as f64, tokens as f64));
            }
            if cost_usd > 0.0 && used.cost_usd >= cost_usd {
                return Err(reached(Limit::Cost, used.cost_usd, cost_usd));
            }
        }
        Ok(())
    }
}

fn reached(limit: Limit, used: f64, max: f64) -> Reached {
    Reached { limit, used, max }
}

impl Reached {
    /// The limit in words: "20 turns".
    pub fn words(&self) -> String {
        let (max, s) = (self.max, if self.max == 1.0 { "" } else { "s" });
        match self.limit {
            Limit::Turns => format!("{max} turn{s}"),
            Limit::Calls => format!("{max} call{s}"),
            Limit::Tokens => format!("{max} tokens"),
            Limit::Cost => format!("{max:.2} US dollars"),
            Limit::Time => format!("{max} minute{s} at work"),
        }
    }

    /// What the model reads instead of the result of a call that the limit kept from running.
    pub fn for_model(&self) -> String {
        format!("Not run: the run reached its limit of {}.", self.words())
    }
}

/// Waits until the run has been at work for as long as it may; for ever if it may be for ever.
pub(crate) async fn time_up(session: &Session, limits: RunLimits) -> Reached {
    if limits.minutes == 0 {
        std::future::pending::<()>().await;
    }
    let max = std::time::Duration::from_secs(60 * u64::from(limits.minutes));
    loop {
        let worked = session.worked();
        match max.checked_sub(worked) {
            Some(rest) if !rest.is_zero() => tokio::time::sleep(rest).await,
            _ => {
                let used = worked.as_secs_f64() / 60.0;
                return reached(Limit::Time, used, limits.minutes.into());
            }
        }
    }
}

/// Says that the run stops, why, and what to do.
pub(crate) fn tell(session: &Session, reached: &Reached) {
    session.journal.tell(EventBody::LimitReached {
        limit: reached.limit,
        used: reached.used,
        max: reached.max,
    });
    session.journal.tell(EventBody::Noted {
        notice: Notice {
            level: NoticeLevel::Warning,
            fault: Fault::new(
                format!("The run reached its limit of {}.", reached.words()),
                "Everything it did is kept. Say something to let it go on; the limits then count anew.",
            ),
        },
    });
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

    fn metered(limits: RunLimits) -> Meter {
        Meter::new(limits, vec![Arc::default()])
    }

    #[test]
    fn no_limit_is_never_reached() {
        let mut meter = metered(limits(|_| {}));
        meter.take(&usage(u64::MAX, u64::MAX, Some(f64::MAX)));
        assert_eq!(meter.begin_turn(), Ok(()));
        assert_eq!(meter.admit(1_000), (1_000, None));
    }

    #[test]
    fn turns_calls_tokens_and_cost_end_where_they_are_used_up() {
        let mut meter = metered(limits(|limits| limits.turns = 2));
        assert_eq!((meter.begin_turn(), meter.begin_turn()), (Ok(()), Ok(())));
        assert_eq!(meter.begin_turn(), Err(reached(Limit::Turns, 2.0, 2.0)));

        let mut meter = metered(limits(|limits| limits.calls = 5));
        assert_eq!(meter.admit(3), (3, None));
        assert_eq!(meter.admit(3), (2, Some(reached(Limit::Calls, 5.0, 5.0))));

        let mut meter = metered(limits(|limits| limits.tokens = 100));
        meter.take(&usage(60, 39, None));
        assert_eq!(meter.admit(1), (1, None));
        meter.take(&usage(0, 1, None));
        let spent = reached(Limit::Tokens, 100.0, 100.0);
        assert_eq!(
            (meter.begin_turn(), meter.admit(1)),
            (Err(spent), (0, Some(spent)))
        );
        assert_eq!(meter.admit(0), (0, None), "a last word is not cut off");

        let mut meter = metered(limits(|limits| limits.cost_usd = 0.5));
        meter.take(&usage(1, 1, None));
        meter.take(&usage(1, 1, Some(0.5)));
        assert_eq!(meter.begin_turn(), Err(reached(Limit::Cost, 0.5, 0.5)));
    }
}
