//! Sessions that the person pins and archives.

use protocol::session::list_place::ListPlace;
use protocol::view::entry::SessionView;
use protocol::{Op, SessionState};
use support::{Fixture, call_write, rule_text, say_text};

/// Moves the session of the desk, and returns its line in the list.
async fn place_session(desk: &Fixture, place: ListPlace) -> SessionView {
    let session = desk.session.clone();
    desk.submit(Op::PlaceSession { session, place }).await;
    only_session(desk).await
}

async fn only_session(desk: &Fixture) -> SessionView {
    let sessions = desk.snapshot().await.sessions;
    let [session] = sessions.as_slice() else {
        panic!("{sessions:?}");
    };
    session.clone()
}

#[tokio::test]
async fn an_archived_session_is_among_the_others_again_once_something_is_said() {
    let mut desk = Fixture::new([say_text("Done."), say_text("Done again.")]).await;
    desk.start("Go.").await;
    desk.wait_until_ended().await;
    let before = only_session(&desk).await;
    assert_eq!(before.place, ListPlace::Recent);
    let archived = place_session(&desk, ListPlace::Archived).await;
    let expected = SessionView {
        place: ListPlace::Archived,
        ..before
    };
    assert_eq!(archived, expected, "nothing happened in the session");

    let mut desk = desk.restart().await;
    assert_eq!(only_session(&desk).await.place, ListPlace::Archived);
    desk.send_message("And again.").await;
    desk.wait_until_ended().await;
    assert_eq!(only_session(&desk).await.place, ListPlace::Recent);
}

#[tokio::test]
async fn a_pinned_session_stays_pinned_when_something_is_said() {
    let mut desk = Fixture::new([say_text("Done."), say_text("Done again.")]).await;
    desk.start("Go.").await;
    desk.wait_until_ended().await;
    place_session(&desk, ListPlace::Pinned).await;
    desk.send_message("And again.").await;
    desk.wait_until_ended().await;
    assert_eq!(only_session(&desk).await.place, ListPlace::Pinned);
}

#[tokio::test]
async fn a_session_that_needs_the_person_is_not_archived() {
    let mut desk = Fixture::new([call_write("a.txt", "one\n"), say_text("Done.")]).await;
    desk.write_rules(rule_text("write", "**", "ask"));
    desk.start("Go.").await;
    let call = desk.wait_for_call().await;
    let archive = Op::PlaceSession {
        session: desk.session.clone(),
        place: ListPlace::Archived,
    };
    let fault = desk.engine.submit(archive).await.unwrap_err();
    assert_eq!(fault.hint, "Stop it first, then archive it.");
    assert_eq!(only_session(&desk).await.place, ListPlace::Recent);
    desk.allow_call(&call).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
}
