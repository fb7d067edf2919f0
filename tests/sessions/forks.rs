//! Sessions that go on from a message of another one.

use std::sync::Arc;

use protocol::query::{Answer, Query};
use protocol::{
    CallState, Entry, EntryBody, Message, MessageId, Op, SessionState, UndoEntry, UserError,
};
use provider::Provider;
use serde_json::json;
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_write, expect_variant, rule_text, say_text};

/// Forks the session of the desk, which goes on in the fork.
async fn fork_session(desk: &mut Fixture, before: Option<MessageId>) -> Result<(), UserError> {
    let session = desk.session.clone();
    let op = Op::ForkSession { session, before };
    desk.session = desk.engine.submit(op).await?.session.unwrap();
    Ok(())
}

/// A session in which a file was written after a first message, and something was said after a second one.
async fn open_two_turns() -> (Fixture, Arc<ScriptedAgents>) {
    let turns = json!([
        call_write("a.txt", "one\n"),
        say_text("Written."),
        say_text("The second answer."),
        say_text("From the fork."),
    ]);
    let cast = ScriptedAgents::new(turns, []);
    let provider: Arc<dyn Provider> = cast.clone();
    let mut desk = Fixture::with_provider(provider, agent::Host::Person).await;
    desk.start("Write it.").await;
    desk.wait_until_ended().await;
    desk.send_message("And a second thing.").await;
    desk.wait_until_ended().await;
    (desk, cast)
}

async fn list_history(desk: &Fixture) -> Vec<UndoEntry> {
    let query = Query::History {
        offset: 0,
        limit: 10,
    };
    expect_variant!(desk.query(query).await, Answer::History { entries, .. } => entries)
}

fn id_of_second_message(transcript: &[Entry]) -> MessageId {
    let mut messages = transcript.iter().filter(|entry| is_from_person(entry));
    MessageId(messages.nth(1).unwrap().id.clone())
}

fn is_from_person(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Person { .. })
}

#[tokio::test]
async fn a_fork_goes_on_from_the_message_before_and_leaves_the_session_as_it_is() {
    let (mut desk, cast) = open_two_turns().await;
    let source = desk.session.clone();
    let transcript = desk.transcript().await;
    let before = id_of_second_message(&transcript);
    let undone_there = list_history(&desk).await;

    fork_session(&mut desk, Some(before)).await.unwrap();
    let call = desk.only_call().await;
    assert_eq!(
        (call.state, call.forked_from, call.undo, call.trail),
        (CallState::Done, Some(source.clone()), None, None)
    );
    assert_eq!(
        list_history(&desk).await,
        undone_there,
        "undone in one place"
    );
    let sessions = desk.snapshot().await.sessions;
    let fork = sessions.iter().find(|view| view.id == desk.session);
    let fork = fork.unwrap();
    assert_eq!(
        (fork.title.as_str(), fork.state),
        ("Fork of Write it.", SessionState::Idle)
    );
    assert_eq!(fork.usage, protocol::Usage::default());

    desk.send_message("Another second thing.").await;
    desk.wait_until_ended().await;
    let heard = cast.requests().pop().unwrap().messages;
    let said = heard.iter().filter_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let said: Vec<_> = said.collect();
    assert_eq!(said, ["Write it.", "Another second thing."]);
    let results = heard
        .iter()
        .filter(|message| matches!(message, Message::Tool { .. }));
    assert_eq!(results.count(), 1, "{heard:#?}");

    desk.session = source;
    assert_eq!(desk.transcript().await, transcript);
}

#[tokio::test]
async fn a_fork_of_a_whole_session_is_continued_after_a_restart() {
    let (mut desk, cast) = open_two_turns().await;
    fork_session(&mut desk, None).await.unwrap();
    let mut desk = desk.restart().await;
    desk.send_message("Go on.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let heard = cast.requests().pop().unwrap().messages;
    let is_user = |message: &&Message| matches!(message, Message::User { .. });
    assert_eq!(heard.iter().filter(is_user).count(), 3);
    // A fork of the fork has the calls of the first session.
    fork_session(&mut desk, None).await.unwrap();
    assert_eq!(desk.only_call().await.state, CallState::Done);
}

#[tokio::test]
async fn a_session_at_work_is_not_forked_nor_one_before_a_message_that_it_does_not_have() {
    let mut desk = Fixture::new([call_write("a.txt", "one\n"), say_text("Done.")]).await;
    desk.write_rules(rule_text("write", "**", "ask"));
    desk.start("Go.").await;
    let call = desk.wait_for_call().await;
    let refused = fork_session(&mut desk, None).await.unwrap_err();
    assert_eq!(refused.hint, "Stop it first, then fork it.");
    desk.allow_call(&call).await;
    desk.wait_until_ended().await;
    let unknown = MessageId("msg_unknown".to_owned());
    let refused = fork_session(&mut desk, Some(unknown)).await.unwrap_err();
    assert!(refused.message.contains("msg_unknown"), "{refused:?}");
}
