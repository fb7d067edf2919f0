//! Commands that run for real and end early: without a picture, out of time, with the app; and who knows of it afterwards.

use agent::Host;
use protocol::event::CallChange;
use protocol::query::{Answer, Query};
use protocol::view::effects::Assurance;
use protocol::view::preview::UndoAvailability;
use protocol::{CallState, EventBody, UndoState};
use serde_json::json;
use support::{HEADLESS_APPROVED, call_tool, expect_variant};

use super::{
    SANDBOX_IN_PLACE, SANDBOX_LAYERED, count_snapshots, effect_lines, in_place_decision, open_desk,
    open_desk_with, snapshot_tree,
};

#[tokio::test]
async fn without_a_picture_nothing_runs_for_real() {
    let mut desk = open_desk("echo more >> a", SANDBOX_LAYERED, Host::Person).await;
    let sparse = std::fs::File::create(desk.workspace_root().join("sparse")).unwrap();
    sparse.set_len(5 << 30).unwrap();
    desk.start("Go.").await;
    desk.decide_next(in_place_decision()).await;
    let again = desk.wait_for_call().await;
    let why = again.pending.as_ref().unwrap().refreshed.clone().unwrap();
    assert!(
        why.contains("It was not run for real") && why.contains("larger than 512 MiB"),
        "{why}"
    );
    assert_eq!(
        (desk.read_file("a").unwrap(), count_snapshots(&desk)),
        ("first\n".to_owned(), 0)
    );
    // Without a layer, it is shown as a command that cannot be taken back.
    let mut bare = open_desk("echo more >> a", SANDBOX_IN_PLACE, Host::Person).await;
    let sparse = std::fs::File::create(bare.workspace_root().join("sparse")).unwrap();
    sparse.set_len(5 << 30).unwrap();
    bare.start("Go.").await;
    let asked = bare.wait_for_call().await;
    assert!(
        matches!(asked.undo_availability, UndoAvailability::Unsecured { .. }),
        "{:?}",
        asked.undo_availability
    );
    assert!(bare.decide_call(&asked, in_place_decision()).await.is_err());
}

#[tokio::test]
async fn a_command_that_fails_or_is_stopped_can_be_taken_back_all_the_same() {
    let slow = call_tool(
        "bash",
        json!({ "command": "echo more >> a; sleep 60", "timeout_ms": 500 }),
    );
    let mut desk = open_desk_with(&[slow], SANDBOX_IN_PLACE, HEADLESS_APPROVED).await;
    desk.play().await;
    let done = &desk.only_call().await;
    assert_eq!(
        (done.state, effect_lines(done)),
        (CallState::Failed, vec!["changed a".to_owned()])
    );
    assert_eq!(done.undo.as_ref().unwrap().state, UndoState::Applied);
    desk.undo_call(done).await;
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
}

#[tokio::test]
async fn the_doctor_and_the_history_know_of_it() {
    let mut desk = open_desk("echo more >> a", SANDBOX_IN_PLACE, HEADLESS_APPROVED).await;
    let workspace = desk.workspace_root().display().to_string();
    let promise = Query::Promise {
        workspace: workspace.clone(),
    };
    let promise = expect_variant!(desk.query(promise).await, Answer::Promise(promise) => promise);
    assert_eq!(
        (promise.assurance, promise.in_place),
        (Assurance::Snapshot, true)
    );
    let said = promise.reasons.join(" ");
    assert!(
        said.contains("A copy of the workspace does not work") && said.contains("snapshot"),
        "{said}"
    );
    desk.play().await;
    let timeline = Query::Timeline {
        workspace: Some(workspace),
        offset: 0,
        limit: 10,
    };
    let timeline =
        expect_variant!(desk.query(timeline).await, Answer::Timeline(timeline) => timeline);
    let titles: Vec<&str> = timeline
        .entries
        .iter()
        .map(|entry| entry.title.as_str())
        .collect();
    assert_eq!(titles, ["Ran echo more >> a"]);
}

/// As the end of the app leaves it: everything that was at work is gone, and its picture stands.
#[test]
fn what_ran_when_the_app_ended_is_recorded_by_the_next_start() {
    let tokio = || {
        let mut tokio = tokio::runtime::Builder::new_multi_thread();
        tokio.worker_threads(1).enable_all().build().unwrap()
    };
    let line = "echo more >> a; echo said; sleep 60";
    let first = tokio();
    let (desk, before) = first.block_on(async {
        let mut desk = open_desk(line, SANDBOX_IN_PLACE, Host::Person).await;
        let before = snapshot_tree(&desk.workspace_root());
        desk.start("Go.").await;
        desk.allow_next().await;
        let runs = |body: &EventBody| {
            matches!(
                body,
                EventBody::Call {
                    change: CallChange::Output { .. },
                    ..
                }
            )
        };
        desk.wait_for_event("it runs", runs).await;
        (desk, before)
    });
    assert_eq!(desk.read_file("a").unwrap(), "first\nmore\n");
    assert_eq!(count_snapshots(&desk), 1);
    first.shutdown_timeout(std::time::Duration::from_secs(30));

    tokio().block_on(async {
        let desk = desk.restart().await;
        let view = &desk.only_call().await;
        assert_eq!(view.state, CallState::Interrupted);
        assert_eq!(view.undo.as_ref().unwrap().state, UndoState::Applied);
        let heard = view.outcome.as_ref().unwrap().model_text();
        assert!(heard.contains("It took effect before that"), "{heard}");
        assert_eq!(count_snapshots(&desk), 0);
        desk.undo_call(view).await;
        assert_eq!(snapshot_tree(&desk.workspace_root()), before);
    });
}
