//! Calls side by side, in batches and one after the other: order, company, steering, and what a restart finds.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use protocol::event::CallChange;
use protocol::interface::{ContextModifierPolicy, ToolOrigin};
use protocol::{
    CallState, Decision, EventBody, Message, SessionState, Settings, Strategy, ToolOutput,
};
use serde_json::{Value, json};
use support::probe::{Probe, RecordingProvider, lifecycle_events, name, probe_calls};
use support::{Fixture, call_edit, call_read, call_tool, join_calls, say_text};
use tokio::sync::{Barrier, Semaphore, watch};

const ASK_FOR_READS: &str =
    "[[rule]]\npermission = \"probe\"\naction = \"ask\"\nreason = \"you want to see each\"\n";

async fn open_desk(provider: Arc<RecordingProvider>, probe: Probe, strategy: Strategy) -> Fixture {
    let desk = Fixture::with_tools(provider, probe.into_tools()).await;
    set_strategy(&desk, strategy).await;
    desk
}

async fn set_strategy(desk: &Fixture, strategy: Strategy) {
    desk.set_settings(Settings {
        strategy,
        ..Settings::default()
    })
    .await;
}

fn named(names: std::ops::Range<u32>) -> Vec<Value> {
    names.map(|n| json!({ "name": n.to_string() })).collect()
}

fn batched(size: u32) -> Strategy {
    let size = NonZeroU32::new(size).unwrap();
    Strategy::Batched { size }
}

/// `S001-30`, `S001-31`, `S001-35`, `S001-38`, M08: by default ten calls are at work at once (each waits for the tenth),
/// they end from the last to the first, and the model reads the results in call order.
#[tokio::test]
async fn ten_at_once_and_results_in_call_order() {
    let all_here = Arc::new(Barrier::new(10));
    let turn = Arc::new(watch::Sender::new(9_u32));
    let ended = Arc::new(Mutex::new(Vec::new()));
    let order = ended.clone();
    let probe = Probe::new(move |arguments, _| {
        let (all_here, turn, ended) = (all_here.clone(), turn.clone(), ended.clone());
        async move {
            let name = name(&arguments);
            let place: u32 = name.parse().unwrap();
            all_here.wait().await;
            turn.subscribe()
                .wait_for(|now| *now == place)
                .await
                .unwrap();
            ended.lock().unwrap().push(name.clone());
            turn.send_replace(place.wrapping_sub(1));
            Ok(ToolOutput::new(format!("result {name}"), "done"))
        }
    });
    let agent = RecordingProvider::new([probe_calls(&named(0..10)), say_text("Done.")]);
    let mut desk = open_desk(agent.clone(), probe, Strategy::default()).await;
    desk.play().await;
    let backwards: Vec<String> = (0..10).rev().map(|n| n.to_string()).collect();
    assert_eq!(*order.lock().unwrap(), backwards);
    let in_order: Vec<String> = (0..10).map(|n| format!("result {n}")).collect();
    assert_eq!(agent.tool_results(), in_order);

    // A restart restores the very same conversation.
    let before = agent.last_messages();
    let mut desk = desk.restart().await;
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert_eq!(agent.last_messages()[..before.len()], before);
}

/// `S001-28`, `S001-33`, `S003-41`, M08: how many are at work at once at most, by strategy, by what is proven of the calls, and
/// by whether the tool changes what later calls find.
#[tokio::test]
async fn company_by_strategy() {
    let alone = |n: u32| json!({ "name": n.to_string(), "alone": true });
    let mixed = vec![alone(0), alone(1), alone(2)];
    use ContextModifierPolicy::{AllowSerialOnly, Forbid};
    for (strategy, policy, calls, expected) in [
        (Strategy::Sequential, Forbid, named(0..6), 1),
        (batched(2), Forbid, named(0..6), 2),
        (Strategy::Parallel, Forbid, named(0..6), 6),
        (Strategy::Parallel, Forbid, named(0..23), 10),
        (Strategy::Parallel, Forbid, mixed, 1),
        (Strategy::Parallel, AllowSerialOnly, named(0..6), 1),
    ] {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let seen = most.clone();
        let probe = Probe::new(move |_, _| {
            let (now, most) = (now.clone(), most.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Long enough for everything that may begin to begin: each yield lets every other task go on once.
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolOutput::new("ok", "ok"))
            }
        })
        .with_interface(|tool| tool.context_modifier_policy(policy));
        let agent = RecordingProvider::new([probe_calls(&calls)]);
        let mut desk = open_desk(agent.clone(), probe, strategy).await;
        desk.play().await;
        assert_eq!(seen.load(Ordering::SeqCst), expected, "{strategy:?}");
        assert_eq!(
            agent.tool_results().len(),
            calls.len(),
            "every call has one result"
        );
    }
}

/// `S003-41`: a call whose change holds once all beside it are done begins when these are over, wherever it stands among them, and
/// the model reads the results in call order all the same.
#[tokio::test]
async fn a_deferred_change_comes_last() {
    let probe = |name: &str| call_tool("probe", json!({ "name": name }));
    let turn = join_calls([
        call_read("a.txt"),
        probe("x"),
        call_read("b.txt"),
        probe("y"),
        call_read("c.txt"),
    ]);
    for strategy in [Strategy::Sequential, batched(2), Strategy::Parallel] {
        let changes =
            Probe::new(
                |arguments, _| async move { Ok(ToolOutput::new(name(&arguments), "changed")) },
            )
            .with_interface(|tool| {
                tool.context_modifier_policy(ContextModifierPolicy::DeferUntilBatchComplete)
            });
        let agent = RecordingProvider::new([&turn]);
        let mut desk = open_desk(agent.clone(), changes, strategy).await;
        for file in ["a.txt", "b.txt", "c.txt"] {
            desk.write_file(file, file);
        }
        desk.play().await;
        let calls = desk.calls().await;
        let mut told = lifecycle_events(&desk.events().await);
        for view in &calls {
            let id = format!(" {}", view.call.id);
            for line in &mut told {
                *line = line.replace(&id, &format!(" {}", view.target));
            }
        }
        assert_eq!(
            told[6..],
            ["start x", "end x", "start y", "end y"],
            "{strategy:?}"
        );
        let results = agent.tool_results();
        for (result, said) in results.iter().zip(["a.txt", "x", "b.txt", "y", "c.txt"]) {
            assert!(result.contains(said), "{results:?}");
        }
    }
}

/// M08: what is not proven safe is a wall: a read after a write in the same turn sees what was written.
#[tokio::test]
async fn a_read_after_a_write_sees_it() {
    let turn = join_calls([
        call_read("a.txt"),
        call_edit("a.txt", "one", "two"),
        call_read("a.txt"),
    ]);
    let mut desk = Fixture::new([turn]).await;
    desk.write_file("a.txt", "one\n").play().await;
    let texts = desk.call_texts().await;
    assert!(
        texts[0].contains("one") && texts[2].contains("two"),
        "{texts:?}"
    );
}

/// `S001-25`, `S001-31`: a tool that panics, at once, after a while or before it runs, ends its own call only, also side by
/// side; one of the house, which is not waited for in a task of its own, like a stranger's.
#[tokio::test]
async fn a_panic_ends_its_own_call() {
    for origin in [ToolOrigin::Unknown, ToolOrigin::BuiltIn] {
        let probe = Probe::new(|arguments, _| async move {
            assert_ne!(name(&arguments), "1", "the tool's own fault");
            tokio::task::yield_now().await;
            assert_ne!(name(&arguments), "3", "and a later one");
            Ok(ToolOutput::new("ok", "ok"))
        })
        .with_interface(|tool| tool.origin(origin.clone()));
        let mut calls = named(0..5);
        calls[2]["panic"] = true.into();
        let mut desk = open_desk(
            RecordingProvider::new([probe_calls(&calls), say_text("On.")]),
            probe,
            Strategy::Parallel,
        )
        .await;
        desk.start("Go.").await;
        assert_eq!(desk.wait_until_ended().await, SessionState::Done);
        let states = desk.call_states().await;
        use CallState::{Done, Failed};
        assert_eq!(states, [Done, Failed, Failed, Failed, Done], "{origin:?}");
    }
}

/// `S001-29`, `S001-32`, `S001-34`, `S001-36`: the person speaks while the first call of six runs. What had begun comes
/// to its end, what had not is skipped, and every call has a result before what the person said.
#[tokio::test]
async fn steering_by_strategy() {
    for (strategy, done) in [
        (Strategy::Sequential, 1),
        (batched(2), 2),
        (Strategy::Parallel, 6),
    ] {
        let go = Arc::new(Semaphore::new(0));
        let gate = go.clone();
        let probe = Probe::new(move |_, _| {
            let gate = gate.clone();
            async move {
                gate.acquire().await.unwrap().forget();
                Ok(ToolOutput::new("ran", "ran"))
            }
        });
        let agent = RecordingProvider::new([probe_calls(&named(0..6)), say_text("I heard.")]);
        let mut desk = open_desk(agent.clone(), probe, strategy).await;
        desk.start("Go.").await;
        desk.wait_until_running().await;
        desk.send_message("Otherwise, please.").await;
        go.add_permits(6);
        desk.wait_until_ended().await;
        let states = desk.call_states().await;
        let expected: Vec<_> = (0..6)
            .map(|n| {
                if n < done {
                    CallState::Done
                } else {
                    CallState::Skipped
                }
            })
            .collect();
        assert_eq!(states, expected, "{strategy:?}");
        assert_eq!(agent.tool_results().len(), 6);
        let last = Message::user("Otherwise, please.");
        assert_eq!(agent.last_messages().last(), Some(&last));
    }
}

/// `S001-27`: the strategy is read when a session is admitted; a change holds for sessions opened after it.
#[tokio::test]
async fn a_session_keeps_its_strategy() {
    let both = Arc::new(Barrier::new(2));
    let probe = Probe::new(move |_, _| {
        let both = both.clone();
        async move {
            both.wait().await;
            Ok(ToolOutput::new("ok", "ok"))
        }
    });
    let question = json!({ "questions": [{ "question": "Now?" }] });
    let agent =
        RecordingProvider::new([call_tool("question", question), probe_calls(&named(0..2))]);
    let mut desk = open_desk(agent, probe, Strategy::Parallel).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    set_strategy(&desk, Strategy::Sequential).await;
    desk.decide_call(&view, Decision::Skip).await.unwrap();
    // One after the other, the two would wait for each other for ever.
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
}

/// Several calls wait for the person at once; the session waits until the last of them was decided, in any order, and
/// a restart in between finds each where it was (`S001-35`).
#[tokio::test]
async fn several_wait_at_once_and_survive_a_restart() {
    let probe = Probe::new(|arguments, _| async move {
        Ok(ToolOutput::new(
            format!("result {}", name(&arguments)),
            "ok",
        ))
    });
    let agent = RecordingProvider::new([probe_calls(&named(0..3)), say_text("On.")]);
    let mut desk = open_desk(agent.clone(), probe, Strategy::Parallel).await;
    desk.write_file(".countersign/rules.toml", ASK_FOR_READS);
    desk.start("Go.").await;
    let views = desk.wait_for_calls(3).await;
    assert_eq!(views.len(), 3);
    desk.allow_call(&views[1]).await;
    desk.wait_for_event("the end of the second", |body| {
        matches!(
            body,
            EventBody::Call {
                change: CallChange::Ended { .. },
                ..
            }
        )
    })
    .await;
    assert_eq!(
        desk.snapshot().await.sessions[0].state,
        SessionState::Waiting,
        "two still wait"
    );

    let mut desk = desk.restart().await;
    let mut again = desk.wait_for_calls(2).await;
    again.sort_by_key(|view| view.target.clone());
    let targets: Vec<_> = again.iter().map(|view| view.target.as_str()).collect();
    assert_eq!(targets, ["0", "2"], "what has a result is not run again");
    desk.allow_call(&again[1]).await;
    desk.allow_call(&again[0]).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(agent.tool_results(), ["result 0", "result 1", "result 2"]);
}
