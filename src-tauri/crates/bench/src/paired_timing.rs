//! Two or more sides measured in alternation, so that whatever else the machine does falls on all of them alike.

use std::time::Duration;

use crate::BenchResult;

/// Rounds that are not counted: caches fill, threads start.
const WARM_UP_ROUNDS: usize = 1;

/// One side: a name, and what is timed.
pub struct Contender<'a> {
    /// What the table calls it.
    pub name: &'a str,
    /// Does it once and gives how long it took, without what it had to set up.
    pub run_once: Box<dyn FnMut() -> BenchResult<Duration> + 'a>,
}

impl<'a> Contender<'a> {
    /// A side.
    pub fn new(name: &'a str, once: impl FnMut() -> BenchResult<Duration> + 'a) -> Self {
        Self {
            name,
            run_once: Box::new(once),
        }
    }
}

/// Does every side `rounds` times, one after the other within each round; gives the median of each, in their order.
pub fn measure_medians(sides: &mut [Contender<'_>], rounds: usize) -> BenchResult<Vec<Duration>> {
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); sides.len()];
    for round in 0..rounds + WARM_UP_ROUNDS {
        for (side, taken) in sides.iter_mut().zip(&mut taken) {
            let took = (side.run_once)().map_err(|error| format!("{}: {error}", side.name))?;
            if round >= WARM_UP_ROUNDS {
                taken.push(took);
            }
        }
    }
    Ok(taken.into_iter().map(median).collect())
}

/// The middle one.
pub fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}
