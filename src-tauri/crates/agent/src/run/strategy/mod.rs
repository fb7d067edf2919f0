//! The division of a model turn's calls into steps: which calls run together, which alone, and when steering is checked
//! between them (M08, M09).

use std::collections::VecDeque;
use std::ops::ControlFlow;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use protocol::Strategy;

use crate::limits::PARALLEL_CALLS_MAX;

/// Returns the number of calls in each step, in call order. A step's calls run together; the next step begins when all
/// of them are over and nobody steered meanwhile. `safe` tells for each call whether it is known to be safe in
/// parallel; a call that is not runs alone, whatever the strategy.
pub(crate) fn plan_steps(strategy: Strategy, safe: impl IntoIterator<Item = bool>) -> Vec<usize> {
    let together_max = match strategy {
        Strategy::Sequential => 1,
        Strategy::Parallel => usize::MAX,
        Strategy::Batched { size } => usize::try_from(size.get()).unwrap_or(usize::MAX),
    };
    let mut steps: Vec<usize> = Vec::new();
    let mut joinable = false;
    for safe in safe {
        match steps.last_mut() {
            Some(last) if safe && joinable && *last < together_max => *last += 1,
            _ => steps.push(1),
        }
        joinable = safe;
    }
    steps
}

/// Runs the calls step by step, at most [`PARALLEL_CALLS_MAX`] at once, and returns those that never began because `halted`
/// returned `true`. A call that has begun is always awaited. An error keeps all later calls from beginning.
///
/// # Errors
/// The first error of `one`, after everything that ran beside the failed call is over.
pub(crate) async fn run_steps<C, E, F>(
    steps: &[usize],
    calls: impl Into<VecDeque<C>>,
    halted: impl Fn() -> bool,
    one: impl Fn(C) -> F,
) -> Result<VecDeque<C>, E>
where
    F: Future<Output = Result<(), E>>,
{
    let mut calls = calls.into();
    for step in steps {
        if halted() {
            break;
        }
        let left = calls.len() - step;
        match step {
            // By far the most frequent: nothing is kept in order that has no neighbour.
            1 => match calls.pop_front() {
                Some(call) => one(call).await?,
                None => break,
            },
            _ => {
                let begin = |calls: &mut VecDeque<C>| match halted() || calls.len() == left {
                    true => None,
                    false => calls.pop_front(),
                };
                run_parallel(&mut calls, begin, &one).await?;
            }
        }
        if calls.len() > left {
            break;
        }
    }
    Ok(calls)
}

async fn run_parallel<C, E, F>(
    calls: &mut VecDeque<C>,
    begin: impl Fn(&mut VecDeque<C>) -> Option<C>,
    one: impl Fn(C) -> F,
) -> Result<(), E>
where
    F: Future<Output = Result<(), E>>,
{
    let mut at_work = FuturesUnordered::new();
    let mut ended = ControlFlow::Continue(());
    loop {
        while ended.is_continue() && at_work.len() < PARALLEL_CALLS_MAX {
            match begin(calls) {
                Some(call) => at_work.push(one(call)),
                None => break,
            }
        }
        match at_work.next().await {
            None => break,
            Some(Ok(())) => {}
            Some(Err(error)) if ended.is_continue() => ended = ControlFlow::Break(error),
            Some(Err(_)) => {}
        }
    }
    match ended {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
