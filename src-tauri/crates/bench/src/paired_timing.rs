//! Measures two or more sides in alternation, so that other load on the machine affects all of them alike.

use std::time::Duration;

use crate::BenchResult;

/// Number of rounds that are not counted: caches fill, threads start.
const WARM_UP_ROUNDS: usize = 1;

/// One side of a comparison: a name, and the code to measure.
pub struct Contender<'a> {
    /// Name of the side in the table.
    pub name: &'a str,
    /// Runs the code once and returns its duration, without that of its setup.
    pub run_once: Box<dyn FnMut() -> BenchResult<Duration> + 'a>,
}

impl<'a> Contender<'a> {
    /// Creates a side.
    pub fn new(name: &'a str, once: impl FnMut() -> BenchResult<Duration> + 'a) -> Self {
        Self {
            name,
            run_once: Box::new(once),
        }
    }
}

/// Runs every side `rounds` times, one after the other within each round; returns the median of each, in their order.
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

/// Returns the median.
pub fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}
