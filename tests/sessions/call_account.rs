//! Accounts of calls: everything that the runtime can state about each, from its events alone (`S003-73`).

use protocol::account::{AccountLine, CallAccount};
use protocol::event::CallChange;
use protocol::query::{Answer, Query};
use protocol::{CallState, Decision, EventBody, UndoState};
use serde_json::json;
use support::{
    Fixture, HEADLESS_APPROVED, call_bash, call_read, call_tool, call_write, expect_variant,
};

/// A call's account, and its lines with what the machine decides replaced.
async fn load_account(desk: &Fixture, id: &str) -> (CallAccount, Vec<String>) {
    let query = Query::Account {
        session: desk.session.clone(),
        call: id.into(),
    };
    let answer = desk.query(query).await;
    let (summary, account) =
        expect_variant!(answer, Answer::Account { summary, account } => (summary, account));
    // The inspector asks the desk; the pure function over the log says the same.
    let events = desk.events().await;
    assert_eq!(
        CallAccount::from_events(&account.call, &events),
        Some((*account).clone())
    );
    let took = account.executed.duration_ms.unwrap_or_default();
    let data = desk
        .data_dir()
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let line = |AccountLine { part, text }: AccountLine| {
        let text = text.replace(&format!("Ran for {took} ms"), "Ran for 7 ms");
        format!("{part}: {}", text.replace(&data, "DATA"))
    };
    (*account, summary.into_iter().map(line).collect())
}

/// The event that an account refers to as its decision (`S003-36`).
async fn find_decision(desk: &Fixture, account: &CallAccount) -> EventBody {
    let seq = account.authorised.decision_ref.unwrap();
    let events = desk.events().await;
    let mut found = events.into_iter().filter(|event| event.seq == seq);
    found.next().unwrap().body
}

/// Allowed by the gates alone: the judgement is the decision.
#[tokio::test]
async fn of_a_call_that_was_let_through() {
    let mut desk = Fixture::new([call_read("a.txt")]).await;
    desk.write_file("a.txt", "alpha\n").play().await;
    let (account, told) = load_account(&desk, desk.calls().await[0].call.id.as_str()).await;
    assert_eq!(
        told,
        [
            "validated: The arguments fit what read takes.",
            "authorised: Allowed: everything it touches is in the workspace. Decided by event 7.",
            "executed: Ran for 7 ms; done.",
            "streamed: Nothing was reported while it ran.",
            "rendered: Shown as “Read a.txt”, without a preview. It ended with “1 line”.",
            "persisted: 13 bytes of text for the model, digest fd4d1a458cd8.",
            "audited: 4 events on record, from 6 to 9.",
        ]
    );
    let EventBody::Call {
        change: CallChange::Judged { trail, .. },
        ..
    } = find_decision(&desk, &account).await
    else {
        panic!("{account:?}")
    };
    assert_eq!(account.authorised.trail, Some(trail));
}

/// Asked, edited, asked again, allowed: the person's word is the decision, and the output was streamed.
#[tokio::test]
async fn of_a_call_that_a_person_edited_and_allowed() {
    let mut desk = Fixture::new([call_bash("echo one")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let (waiting, told) = load_account(&desk, view.call.id.as_str()).await;
    assert_eq!(waiting.authorised.decision_ref, None);
    assert!(told[1].ends_with("Nobody has decided."), "{told:?}");
    assert_eq!(told[2], "executed: Never ran; waiting.");
    let arguments = json!({ "command": "echo two" })
        .as_object()
        .unwrap()
        .clone();
    desk.decide_call(&view, Decision::Edit { arguments })
        .await
        .unwrap();
    let view = desk.allow_next().await;
    desk.wait_until_ended().await;
    let (account, told) = load_account(&desk, view.call.id.as_str()).await;
    let EventBody::Call {
        change: CallChange::Decided { decision, digest },
        ..
    } = find_decision(&desk, &account).await
    else {
        panic!("{account:?}")
    };
    assert_eq!(account.authorised.decision, Some(decision));
    assert_eq!(account.authorised.digest, Some(digest));
    assert_eq!(
        (account.authorised.asked, account.rendered.refreshed),
        (2, 1)
    );
    assert_eq!(account.validated.edited.len(), 1);
    assert!(
        account.streamed.pieces >= 1 && account.streamed.bytes == 4,
        "{told:?}"
    );
    assert!(
        told[1].contains("A person allowed it. Decided by event "),
        "{told:?}"
    );
}

/// Denied and rejected calls never ran, failed ones did; each account says why.
#[tokio::test]
async fn of_calls_that_came_to_nothing() {
    let turns = [
        call_read("/etc/hostname"),
        call_tool("reed", json!({})),
        call_tool("read", json!({ "path": 3 })),
        call_read("missing.txt"),
    ];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    let mut accounts = Vec::new();
    for view in desk.calls().await {
        accounts.push(load_account(&desk, view.call.id.as_str()).await);
    }
    let facts: Vec<_> = accounts
        .iter()
        .map(|(account, _)| {
            let (validated, executed) = (&account.validated, &account.executed);
            (validated.passed, executed.state, executed.starts)
        })
        .collect();
    assert_eq!(
        facts,
        [
            (Some(true), CallState::Denied, 0),
            (Some(false), CallState::Failed, 0),
            (Some(false), CallState::Failed, 0),
            (Some(true), CallState::Failed, 1),
        ]
    );
    let (denied, told) = &accounts[0];
    let Some(protocol::Verdict::Deny) = denied.authorised.trail.as_ref().map(|trail| trail.verdict)
    else {
        panic!("{denied:?}")
    };
    assert!(matches!(
        find_decision(&desk, denied).await,
        EventBody::Call {
            change: CallChange::Judged { .. },
            ..
        }
    ));
    assert_eq!(told[2], "executed: Never ran; denied.");
    assert!(accounts[1].1[0].starts_with("validated: Refused: Tool not found: reed"));
    assert_eq!(accounts[1].1[1], "authorised: Not reached.");
    assert!(accounts[2].1[0].contains("path"), "{:?}", accounts[2].1);
    assert!(
        accounts[3].1[4].contains("missing.txt"),
        "{:?}",
        accounts[3].1
    );
}

/// A result that was too long names its sidecar; an effect that was taken back says so.
#[tokio::test]
async fn of_what_was_kept_and_taken_back() {
    let turns = [call_bash("seq 1 100000"), call_write("new.txt", "x")];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    let calls = desk.calls().await;
    let (long, told) = load_account(&desk, calls[0].call.id.as_str()).await;
    let sidecar = long.persisted.sidecar.clone().unwrap();
    assert!(std::path::Path::new(sidecar.output_path.as_ref().unwrap()).exists());
    assert!(
        told[5].contains("That is the head; all 588895 bytes are in DATA"),
        "{told:?}"
    );
    assert_eq!(
        long.streamed.bytes, 588_895,
        "all of it was reported while it ran"
    );

    let entry = calls[1].undo.as_ref().unwrap().id.clone();
    let (written, told) = load_account(&desk, calls[1].call.id.as_str()).await;
    assert_eq!(written.persisted.undo_state, Some(UndoState::Applied));
    assert!(
        told[5].ends_with(&format!("{entry} can take its effect back.")),
        "{told:?}"
    );
    desk.undo_call(&calls[1]).await;
    let (undone, told) = load_account(&desk, calls[1].call.id.as_str()).await;
    assert_eq!(undone.executed.state, CallState::Undone);
    assert_eq!(undone.persisted.undo_state, Some(UndoState::Undone));
    assert!(
        told[5].ends_with(&format!("Its effect was undone with {entry}.")),
        "{told:?}"
    );
    assert_eq!(undone.audited.last().unwrap().event, "undo_applied");
}

/// There is no account of a call that nobody asked for.
#[tokio::test]
async fn of_no_call() {
    let mut desk = Fixture::new(json!([])).await;
    desk.play().await;
    let query = Query::Account {
        session: desk.session.clone(),
        call: "call_none".into(),
    };
    let fault = desk.engine.query(query).await.unwrap_err();
    assert!(fault.message.contains("call_none"), "{fault}");
}
