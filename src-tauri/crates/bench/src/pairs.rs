//! Two or more sides measured in alternation, so that whatever else the machine does falls on all of them alike.

use std::time::Duration;

use crate::Outcome;

/// Rounds that are not counted: caches fill, threads start.
const WARM_UP: usize = 1;

/// One side: a name, and what is timed.
pub struct Side<'a> {
    /// What the table calls it.
    pub name: &'a str,
    /// Does it once and gives how long it took, without what it had to set up.
    pub once: Box<dyn FnMut() -> Outcome<Duration> + 'a>,
}

impl<'a> Side<'a> {
    /// A side.
    pub fn new(name: &'a str, once: impl FnMut() -> Outcome<Duration> + 'a) -> Self {
        Self {
            name,
            once: Box::new(once),
        }
    }
}

/// Does every side `rounds` times, one after the other within each round; gives the median of each, in their order.
pub fn medians(sides: &mut [Side<'_>], rounds: usize) -> Outcome<Vec<Duration>> {
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); sides.len()];
    for round in 0..rounds + WARM_UP {
        for (side, taken) in sides.iter_mut().zip(&mut taken) {
            let took = (side.once)().map_err(|error| format!("{}: {error}", side.name))?;
            if round >= WARM_UP {
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
