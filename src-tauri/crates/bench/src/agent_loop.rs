//! Measures the whole pipeline: one turn with many calls, and many turns with one call each.

use std::time::Duration;

use crate::engine_loop::{self, EventSink};
use crate::paired_timing::{Contender, measure_medians, median};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};
use crate::{BenchResult, phi_loop};

/// Number of measured rounds per side.
const ROUNDS: usize = 9;

/// Workloads: the number of turns, and of calls in each.
const WORK_SHAPES: [(usize, usize); 4] = [(1, 1_000), (10, 1), (100, 1), (999, 1)];

/// Runs one side repeatedly, for a profiler: `gate memory 1 1000 50`.
pub fn run_repeatedly(side: &str, turns: &str, calls: &str, rounds: &str) -> BenchResult<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let (turns, calls) = (turns.parse()?, calls.parse()?);
    let mut taken = Vec::new();
    for _ in 0..rounds.parse()? {
        taken.push(runtime.block_on(async {
            match side {
                "memory" => engine_loop::time_turns(EventSink::Memory, turns, calls).await,
                "record" => engine_loop::time_turns(EventSink::Record, turns, calls).await,
                "rest" => engine_loop::time_turns(EventSink::SyncedRecord, turns, calls).await,
                "phi" => phi_loop::time_turns(turns, calls).await,
                _ => Err("the sides are `memory`, `record`, `rest` and `phi`".into()),
            }
        })?);
    }
    let calls = u32::try_from(turns * calls)?;
    println!("{} a call", format_time(median(taken) / calls));
    Ok(())
}

/// Measures all workloads and prints them.
pub fn run() -> BenchResult<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut lines = Vec::new();
    for (turns, calls) in WORK_SHAPES {
        let per_call = |took: Duration| took / u32::try_from(turns * calls).unwrap_or(u32::MAX);
        let mut sides = [
            Contender::new("in memory", || {
                runtime.block_on(engine_loop::time_turns(EventSink::Memory, turns, calls))
            }),
            Contender::new("on record", || {
                runtime.block_on(engine_loop::time_turns(EventSink::Record, turns, calls))
            }),
            Contender::new("at rest", || {
                runtime.block_on(engine_loop::time_turns(
                    EventSink::SyncedRecord,
                    turns,
                    calls,
                ))
            }),
            Contender::new("phi-core", || {
                runtime.block_on(phi_loop::time_turns(turns, calls))
            }),
        ];
        let taken = measure_medians(&mut sides, ROUNDS)?;
        let [memory, record, rest, theirs] = taken.as_slice() else {
            return Err("four sides give four medians".into());
        };
        for (name, ours, aim) in [
            ("journal in memory", memory, "2×"),
            ("durable record", record, "25 µs a call"),
            ("and until the record is at rest", rest, ""),
        ] {
            lines.push(TableRow {
                what: format!("{turns} × {calls} calls, {name}, per call"),
                ours: format_time(per_call(*ours)),
                theirs: format_time(per_call(*theirs)),
                ratio: format_ratio(*ours, *theirs),
                aim,
            });
        }
    }
    print_table("Gate", &lines);
    Ok(())
}
