//! What the whole gate costs: one turn of many calls, and many turns of one.

use std::time::Duration;

use crate::ours::{self, Journal};
use crate::pairs::{Side, median, medians};
use crate::table::{Line, print, time, times};
use crate::{Outcome, phi};

/// How often each side plays.
const ROUNDS: usize = 9;

/// A shape of work: turns, and calls in each.
const SHAPES: [(usize, usize); 4] = [(1, 1_000), (10, 1), (100, 1), (999, 1)];

/// Plays one side over and over, for a look with a profiler: `gate memory 1 1000 50`.
pub fn repeat(side: &str, turns: &str, calls: &str, rounds: &str) -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let (turns, calls) = (turns.parse()?, calls.parse()?);
    let mut taken = Vec::new();
    for _ in 0..rounds.parse()? {
        taken.push(runtime.block_on(async {
            match side {
                "memory" => ours::play(Journal::Memory, turns, calls).await,
                "record" => ours::play(Journal::Record, turns, calls).await,
                "rest" => ours::play(Journal::AtRest, turns, calls).await,
                "phi" => phi::play(turns, calls).await,
                _ => Err("the sides are `memory`, `record`, `rest` and `phi`".into()),
            }
        })?);
    }
    let calls = u32::try_from(turns * calls)?;
    println!("{} a call", time(median(taken) / calls));
    Ok(())
}

/// Measures all shapes and prints them.
pub fn run() -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut lines = Vec::new();
    for (turns, calls) in SHAPES {
        let per_call = |took: Duration| took / u32::try_from(turns * calls).unwrap_or(u32::MAX);
        let mut sides = [
            Side::new("in memory", || {
                runtime.block_on(ours::play(Journal::Memory, turns, calls))
            }),
            Side::new("on record", || {
                runtime.block_on(ours::play(Journal::Record, turns, calls))
            }),
            Side::new("at rest", || {
                runtime.block_on(ours::play(Journal::AtRest, turns, calls))
            }),
            Side::new("phi-core", || runtime.block_on(phi::play(turns, calls))),
        ];
        let taken = medians(&mut sides, ROUNDS)?;
        let [memory, record, rest, theirs] = taken.as_slice() else {
            return Err("four sides give four medians".into());
        };
        for (name, ours, aim) in [
            ("journal in memory", memory, "2×"),
            ("durable record", record, "25 µs a call"),
            ("and until the record is at rest", rest, ""),
        ] {
            lines.push(Line {
                what: format!("{turns} × {calls} calls, {name}, per call"),
                ours: time(per_call(*ours)),
                theirs: time(per_call(*theirs)),
                ratio: times(*ours, *theirs),
                aim,
            });
        }
    }
    print("Gate", &lines);
    Ok(())
}
