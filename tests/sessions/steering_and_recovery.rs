//! Steering, stopping, and what is left of a session after a crash.

use std::sync::Arc;

use agent::Host;
use futures::StreamExt;
use protocol::event::{CallChange, MessageChange, SessionEvent};
use protocol::session::list_place::ListPlace;
use protocol::{CallState, Decision, EntryBody, Event, EventBody, ModelChoice, Op, SessionState};
use provider::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Stop};
use serde_json::Value;
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_bash, call_read, join_calls, say_text};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

fn two_commands() -> [Value; 2] {
    let both = join_calls([call_bash("echo one"), call_bash("echo two")]);
    [both, say_text("I heard you.")]
}

/// `S001-28`, `S001-29`, `S001-36`, `S001-37`: what the person says becomes the next input; calls not begun are skipped
/// and still have a result.
#[tokio::test]
async fn steering_skips_what_has_not_begun() {
    let mut desk = Fixture::new(two_commands()).await;
    desk.start("Go.").await;
    let first = desk.wait_for_call().await;
    desk.send_message("Only one.").await;
    desk.allow_call(&first).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Skipped]);
    let said: Vec<_> = desk
        .transcript()
        .await
        .into_iter()
        .filter_map(|entry| match entry.body {
            EntryBody::Person { text, steering, .. } => Some((text, steering)),
            _ => None,
        })
        .collect();
    assert_eq!(
        said,
        [("Go.".to_owned(), false), ("Only one.".to_owned(), true)]
    );
}

/// The person can stop a run at any moment: what waits is interrupted, what runs is ended, nothing new starts.
#[tokio::test]
async fn stopping_ends_what_runs() {
    let mut desk = Fixture::new([call_bash("sleep 600 & sleep 600"), say_text("Never.")]).await;
    desk.start_until_running().await;
    desk.interrupt_run().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
    let fault = desk
        .engine
        .submit(Op::Interrupt {
            session: desk.session.clone(),
        })
        .await
        .unwrap_err();
    assert!(fault.message.contains("nothing to stop"), "{fault}");
}

/// A stopped session goes on when the person says something.
#[tokio::test]
async fn a_stopped_session_goes_on() {
    let mut desk = Fixture::new(two_commands()).await;
    desk.start("Go.").await;
    desk.wait_for_call().await;
    desk.interrupt_run().await;
    desk.wait_until_ended().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Interrupted, CallState::Skipped]);
    desk.send_message("Go on.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let last = desk.transcript().await.pop().unwrap();
    assert!(matches!(last.body, EntryBody::Agent { text, .. } if text == "I heard you."));
}

/// A desk whose agent runs a command that ends once there is a file `go`.
async fn at_work() -> Fixture {
    let waits = call_bash("until [ -e go ]; do sleep 0.05; done");
    let mut desk = Fixture::new([waits, say_text("Done."), say_text("Heard.")]).await;
    desk.start_until_running().await;
    desk
}

/// Waits until somebody hears that the run is done.
async fn until_done(events: &mut agent::EventStream) {
    let done = SessionState::Done;
    let done = |event: &Event| matches!(event.body, EventBody::Session(SessionEvent::Changed { state }) if state == done);
    let heard = async { while !events.next().await.unwrap().unwrap().iter().any(done) {} };
    let heard = tokio::time::timeout(support::WAIT_TIMEOUT, heard).await;
    heard.expect("the end of the run is heard");
}

/// Work of another process in a session is shown as it comes and not taken for left behind, and is not gone on with until
/// it is over.
#[tokio::test]
async fn one_process_works_in_a_session_at_a_time() {
    let mut desk = at_work().await;
    let window = desk.open_window_engine().await;
    let mut shown = window.subscribe(window.last_seq().unwrap());
    let session = || desk.session.clone();
    let say = |text: &str| Op::say(session(), text);
    for op in [
        say("And I?"),
        Op::Resume { session: session() },
        Op::Interrupt { session: session() },
        Op::CloseSession { session: session() },
    ] {
        let fault = window.submit(op.clone()).await.unwrap_err();
        let told = fault.message.starts_with("Another Countersign works in");
        assert!(told, "{op:?}: {fault}");
    }
    std::fs::write(desk.workspace_root().join("go"), "").unwrap();
    until_done(&mut shown).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.calls().await[0].state, CallState::Done);
    let entries = desk.transcript().await;
    let beside = entries.iter().filter(|entry| match &entry.body {
        EntryBody::Person { text, .. } => text != "Go.",
        EntryBody::Notice(_) => true,
        _ => false,
    });
    assert_eq!(
        beside.count(),
        0,
        "what was refused is not on record: {entries:?}"
    );
    // Now it goes on there, with all that was done here.
    let say = Op::say(desk.session.clone(), "And now?");
    window.submit(say).await.unwrap();
    until_done(&mut shown).await;
    assert_eq!(desk.calls().await[0].state, CallState::Done);
    let last = desk.transcript().await.pop().unwrap();
    assert!(matches!(last.body, EntryBody::Agent { text, .. } if text == "Heard."));
    window.close();
}

/// A call that waits in another process is not said to be decided: who looks on is told where to answer it, and, once that
/// process ended, that nobody waits any more.
#[tokio::test]
async fn a_call_that_waits_elsewhere_is_answered_there() {
    for ends in [false, true] {
        let mut desk = Fixture::new(two_commands()).await;
        desk.start("Go.").await;
        let card = desk.wait_for_call().await;
        let window = desk.open_window_engine().await;
        let reject = Op::Decide {
            session: desk.session.clone(),
            call: card.call.id.clone(),
            digest: card.pending.clone().unwrap().digest,
            decision: Decision::Reject {
                note: String::new(),
                stop: true,
                always: None,
            },
        };
        let refused = async || window.submit(reject.clone()).await.unwrap_err().message;
        let told = refused().await;
        assert!(told.contains("waits for an answer elsewhere"), "{told}");
        if ends {
            desk.close_session().await;
            let told = refused().await;
            assert!(told.contains("has ended, so nobody waits"), "{told}");
        } else {
            desk.allow_call(&card).await;
            desk.wait_for_call().await;
            let told = refused().await;
            assert!(told.contains("it was decided already"), "{told}");
        }
        window.close();
    }
}

/// Work that another process left when it ended can be ended in a window that was open meanwhile.
#[tokio::test]
async fn what_another_process_left_can_be_ended() {
    let desk = at_work().await;
    let window = desk.open_window_engine().await;
    desk.close_session().await;
    let session = desk.session.clone();
    let stop = Op::Interrupt { session };
    window.submit(stop.clone()).await.unwrap();
    assert_eq!(desk.calls().await[0].state, CallState::Interrupted);
    let sessions = window.snapshot().await.unwrap().sessions;
    assert_eq!(sessions[0].state, SessionState::Interrupted);
    let fault = window.submit(stop).await.unwrap_err();
    assert!(fault.message.contains("nothing to stop"), "{fault}");
    window.close();
}

/// On a machine where no window is ever opened, too, what ran in a process that is no more comes to its end; what is at work
/// does not.
#[tokio::test]
async fn a_command_line_ends_what_another_process_left() {
    let desk = at_work().await;
    desk.open_cli_engine().await.close();
    assert_eq!(desk.call_states().await, [CallState::Running]);
    desk.close_session().await;
    let beside = desk.open_cli_engine().await;
    assert_eq!(desk.calls().await[0].state, CallState::Interrupted);
    let sessions = beside.snapshot().await.unwrap().sessions;
    assert_eq!(sessions[0].state, SessionState::Interrupted);
    let last = desk.transcript().await.pop().unwrap();
    assert!(matches!(last.body, EntryBody::Notice(_)), "{last:?}");
    beside.close();
    // Once: the next one finds nothing to end.
    let again = desk.open_cli_engine().await;
    assert_eq!(desk.transcript().await.pop().unwrap(), last);
    again.close();
}

/// A call that waits for a person is not denied by a host that has none.
#[tokio::test]
async fn a_command_line_leaves_what_waits_for_a_person() {
    let mut desk = Fixture::new(two_commands()).await;
    desk.start("Go.").await;
    let before = desk.wait_for_call().await;
    desk.close_session().await;
    let beside = desk.open_cli_engine().await;
    let seen = beside.snapshot().await.unwrap();
    assert_eq!(seen.sessions[0].state, SessionState::Waiting);
    let session = || desk.session.clone();
    let archive = Op::PlaceSession {
        session: session(),
        place: ListPlace::Archived,
    };
    for op in [Op::CloseSession { session: session() }, archive] {
        let fault = beside.submit(op.clone()).await.unwrap_err();
        assert!(fault.message.contains("waits for you"), "{op:?}: {fault}");
    }
    beside.close();
    let mut desk = desk.restart().await;
    assert_eq!(desk.wait_for_call().await.call, before.call);
}

/// A restart in the middle of a waiting call: it still waits, can be decided, and the run goes on to its end.
#[tokio::test]
async fn a_waiting_call_survives_a_restart() {
    let mut desk = Fixture::new(two_commands()).await;
    desk.start("Go.").await;
    let before = desk.wait_for_call().await;
    let mut desk = desk.restart().await;
    let on_desk = desk.snapshot().await.desk;
    assert_eq!(
        on_desk.len(),
        1,
        "it is on the desk at once: a late viewer sees it"
    );
    let first = desk.wait_for_call().await;
    assert_eq!(
        (&first.call, &first.preview),
        (&before.call, &before.preview)
    );
    desk.allow_call(&first).await;
    let second = desk.wait_for_call().await;
    assert_ne!(second.call.id, first.call.id);
    desk.allow_call(&second).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Done]);
}

/// A call that was running when the app ended is never run again.
#[tokio::test]
async fn a_running_call_is_not_repeated_after_a_restart() {
    let mut desk = Fixture::new([call_bash("echo x >> log; sleep 600"), say_text("On.")]).await;
    desk.start("Go.").await;
    desk.allow_next().await;
    while desk.read_file("log").as_deref() != Some("x\n") {
        tokio::task::yield_now().await;
    }
    let desk = desk.restart().await;
    let view = desk.only_call().await;
    assert_eq!(view.state, CallState::Interrupted);
    assert_eq!(desk.read_file("log").unwrap(), "x\n");
    let session = desk.snapshot().await.sessions.remove(0);
    assert_eq!(session.state, SessionState::Interrupted);
}

/// A model that says a word and then thinks until it is let go.
struct PausingProvider(Arc<Notify>);

#[async_trait::async_trait]
impl Provider for PausingProvider {
    fn id(&self) -> &str {
        "script"
    }

    async fn stream(
        &self,
        _: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let go = self.0.clone();
        let word = futures::stream::once(async { Ok(Chunk::Text("One moment.".into())) });
        let end = futures::stream::once(async move {
            go.notified().await;
            Ok(Chunk::End {
                usage: Default::default(),
                opaque: Value::Null,
                stop: Stop::Finished,
            })
        });
        Ok(Box::pin(word.chain(end)))
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}

/// Words before a pause are seen during the pause.
#[tokio::test]
async fn a_pause_keeps_nothing_back() {
    let go = Arc::new(Notify::new());
    let mut desk =
        Fixture::with_provider(Arc::new(PausingProvider(go.clone())), Host::Person).await;
    desk.start("Go.").await;
    desk.wait_for_event("the word before the pause", |body| {
        matches!(
            body,
            EventBody::Message {
                change: MessageChange::AgentSaid { .. },
                ..
            }
        )
    })
    .await;
    go.notify_one();
    desk.wait_until_ended().await;
}

/// The same of a command's output.
#[tokio::test]
async fn a_command_shows_its_output_while_it_runs() {
    let command = "echo begun; while [ ! -e go ]; do sleep 0.02; done";
    let mut desk = Fixture::new([call_bash(command)]).await;
    desk.start("Go.").await;
    desk.allow_next().await;
    desk.wait_for_event(
        "live output",
        |body| matches!(body, EventBody::Call { change: CallChange::Output { text }, .. } if text.contains("begun")),
    )
    .await;
    desk.write_file("go", "");
    desk.wait_until_ended().await;
}

/// A temperature holds for every turn of the session's model; one that no model takes is refused before it begins.
#[tokio::test]
async fn a_temperature_reaches_the_model_in_every_turn() {
    let cast = ScriptedAgents::new([call_read("a"), say_text("done")], []);
    let mut desk = Fixture::with_provider(cast.clone(), Host::Person).await;
    desk.write_file("a", "text\n");
    let open = |temperature: f64| Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: ModelChoice {
            provider: "script".into(),
            model: String::new(),
        },
        prompt: Some("Go.".into()),
        output_schema: None,
        temperature: Some(temperature),
        agent: None,
        planning: false,
        enclosure: None,
        servers: None,
        former: None,
    };
    for wrong in [-0.1, 2.1, f64::NAN] {
        let refused = desk.engine.submit(open(wrong)).await.unwrap_err();
        assert!(refused.message.contains("from 0 to 2"), "{refused:?}");
    }
    assert_eq!(desk.snapshot().await.sessions, []);
    desk.session = desk.submit(open(0.2)).await.session.unwrap();
    desk.wait_until_ended().await;
    let asked = cast.requests();
    let temperatures: Vec<_> = asked.iter().map(|request| request.temperature).collect();
    assert_eq!(temperatures, [Some(0.2), Some(0.2)]);
}
