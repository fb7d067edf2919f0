//! Order, count and steering under every strategy, over random calls and random finishes (`S001-28` to `S001-38`).

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;
use protocol::Strategy as How;

use crate::limits::PARALLEL_CALLS_MAX;
use crate::run::strategy::{plan_steps, run_steps};

fn batched(size: u32) -> How {
    let size = NonZeroU32::new(size).unwrap();
    How::Batched { size }
}

#[test]
fn steps_by_strategy() {
    let (s, u) = (true, false);
    let table: [(How, &[bool], &[usize]); 9] = [
        // `S001-28`: one at a time, whatever is proven of them.
        (How::Sequential, &[s, s, u, s], &[1, 1, 1, 1]),
        // `S001-31`: everything together that may be together.
        (How::Parallel, &[s, s, s, s], &[4]),
        // M08: the rest alone, in call order.
        (How::Parallel, &[s, s, u, s, s], &[2, 1, 2]),
        (How::Parallel, &[u, u, u], &[1, 1, 1]),
        (How::Parallel, &[u, s, s, u], &[1, 2, 1]),
        // `S001-33`: so many at a time.
        (batched(2), &[s, s, s, s, s], &[2, 2, 1]),
        (batched(3), &[s, u, s, s, s, s], &[1, 1, 3, 1]),
        (batched(1), &[s, s], &[1, 1]),
        (How::Parallel, &[], &[]),
    ];
    for (strategy, safe, expected) in table {
        let got = plan_steps(strategy, safe.iter().copied());
        assert_eq!(got, expected, "{strategy:?} {safe:?}");
    }
}

/// Observations of one run of a list of calls.
#[derive(Debug, Default)]
struct Seen {
    began: Vec<usize>,
    ended: Vec<usize>,
    left: Vec<usize>,
    at_once_max: usize,
    unsafe_at_once_max: usize,
    began_after_steering: usize,
    ms: u128,
}

/// Runs calls, each given as `(safe, duration in ms)`, on a paused clock. The person steers at `steer_ms`.
async fn play(strategy: How, calls: &[(bool, u64)], steer_ms: Option<u64>) -> Seen {
    let began_at = tokio::time::Instant::now();
    let steered = || steer_ms.is_some_and(|ms| began_at.elapsed().as_millis() >= u128::from(ms));
    let seen = RefCell::new(Seen::default());
    let (at_once, unsafe_at_once) = (Cell::new(0_usize), Cell::new(0_usize));
    let one = |index: usize| {
        let (seen, at_once, unsafe_at_once) = (&seen, &at_once, &unsafe_at_once);
        let (safe, ms) = calls[index];
        let late = steered();
        async move {
            at_once.set(at_once.get() + 1);
            unsafe_at_once.set(unsafe_at_once.get() + usize::from(!safe));
            {
                let mut seen = seen.borrow_mut();
                seen.began.push(index);
                seen.began_after_steering += usize::from(late);
                seen.at_once_max = seen.at_once_max.max(at_once.get());
                if unsafe_at_once.get() > 0 {
                    seen.unsafe_at_once_max = seen.unsafe_at_once_max.max(at_once.get());
                }
            }
            tokio::time::sleep(Duration::from_millis(ms)).await;
            at_once.set(at_once.get() - 1);
            unsafe_at_once.set(unsafe_at_once.get() - usize::from(!safe));
            seen.borrow_mut().ended.push(index);
            Ok::<(), ()>(())
        }
    };
    let steps = plan_steps(strategy, calls.iter().map(|(safe, _)| *safe));
    let indices: Vec<usize> = (0..calls.len()).collect();
    let left = run_steps(&steps, indices, steered, one).await.unwrap();
    let mut seen = seen.into_inner();
    seen.left = left.into();
    seen.ms = began_at.elapsed().as_millis();
    seen
}

fn on_a_paused_clock<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

/// `S001-38`: ten calls of 50 ms take 50 ms side by side and 500 ms one by one; `S001-33`: batches lie between.
#[test]
fn ten_calls_of_fifty_milliseconds() {
    let calls = [(true, 50); 10];
    for (strategy, ms, at_once) in [
        (How::Parallel, 50, 10),
        (How::Sequential, 500, 1),
        (batched(4), 150, 4),
    ] {
        let seen = on_a_paused_clock(play(strategy, &calls, None));
        assert_eq!((seen.ms, seen.at_once_max), (ms, at_once), "{strategy:?}");
    }
}

/// `S001-29`, `S001-32`, `S001-34`, `S001-36`: where steering is looked for, and what is then left.
#[test]
fn steering_by_strategy() {
    let calls = [(true, 50); 8];
    for (strategy, left) in [
        (How::Sequential, vec![1, 2, 3, 4, 5, 6, 7]),
        (batched(3), vec![3, 4, 5, 6, 7]),
        (How::Parallel, vec![]),
    ] {
        let seen = on_a_paused_clock(play(strategy, &calls, Some(10)));
        assert_eq!(seen.left, left, "{strategy:?}");
        assert_eq!(
            seen.ended.len() + left.len(),
            8,
            "what began came to its end"
        );
    }
}

/// An error waits for the calls that run beside it and keeps the rest from beginning.
#[test]
fn an_error_ends_the_step() {
    let ended = RefCell::new(Vec::new());
    let one = |index: usize| {
        let ended = &ended;
        async move {
            tokio::time::sleep(Duration::from_millis(10 * index as u64)).await;
            ended.borrow_mut().push(index);
            if index == 1 { Err("broken") } else { Ok(()) }
        }
    };
    let steps = [3, 1];
    let result = on_a_paused_clock(run_steps(&steps, vec![0, 1, 2, 3], || false, one));
    assert_eq!(result.unwrap_err(), "broken");
    assert_eq!(ended.into_inner(), [0, 1, 2]);
}

fn strategies() -> impl Strategy<Value = How> {
    prop_oneof![
        Just(How::Sequential),
        Just(How::Parallel),
        (1_u32..14).prop_map(batched),
    ]
}

proptest! {
    /// Every call begins at most once and in call order, everything that begins ends, what does not is given back;
    /// an unsafe call is always alone; never more than ten at once; nothing begins after steering.
    #[test]
    fn all_strategies_keep_order_and_count(
        strategy in strategies(),
        calls in prop::collection::vec((any::<bool>(), 0_u64..60), 0..40),
        steer_ms in prop::option::of(0_u64..800),
    ) {
        let seen = on_a_paused_clock(play(strategy, &calls, steer_ms));
        let all: Vec<usize> = (0..calls.len()).collect();
        let told: Vec<usize> = seen.began.iter().chain(&seen.left).copied().collect();
        prop_assert_eq!(told, all, "begun in call order, then those that never began");
        let mut ended = seen.ended.clone();
        ended.sort_unstable();
        prop_assert_eq!(&ended, &seen.began, "each that began ended once");
        prop_assert!(seen.at_once_max <= PARALLEL_CALLS_MAX);
        prop_assert!(seen.unsafe_at_once_max <= 1, "an unsafe call had company");
        prop_assert_eq!(seen.began_after_steering, 0);
        if steer_ms.is_none() {
            prop_assert!(seen.left.is_empty());
        }
        match strategy {
            How::Sequential => prop_assert!(seen.at_once_max <= 1),
            How::Batched { size } => prop_assert!(seen.at_once_max <= size.get() as usize),
            How::Parallel => {}
        }
    }
}
