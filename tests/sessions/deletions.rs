//! Sessions that the person deletes.

use protocol::query::{Answer, Query};
use protocol::session::deletion::{DeletedSession, DeletionHost, DeletionPreview};
use protocol::session::list_place::ListPlace;
use protocol::{Op, SessionId, SessionState, UserError};
use serde_json::json;
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_tool, call_write, expect_variant, join_calls, rule_text, say_text};

/// An agent that another one has work done by.
const REVIEWER: &str = "---\nname: reviewer\ndescription: Reads and judges.\n---\nYou review.\n";

async fn delete_session(desk: &Fixture, session: &SessionId) -> Result<(), UserError> {
    let op = Op::DeleteSession {
        session: session.clone(),
        host: DeletionHost::Window,
    };
    desk.engine.submit(op).await.map(drop)
}

async fn preview_deletion(desk: &Fixture) -> DeletionPreview {
    let session = desk.session.clone();
    let query = Query::DeletionPreview { session };
    expect_variant!(desk.query(query).await, Answer::DeletionPreview(preview) => preview)
}

async fn list_deleted(desk: &Fixture) -> Vec<DeletedSession> {
    expect_variant!(desk.query(Query::DeletedSessions).await, Answer::DeletedSessions { sessions } => sessions)
}

async fn history_len(desk: &Fixture) -> u64 {
    let query = Query::Timeline {
        workspace: None,
        offset: 0,
        limit: 10,
    };
    expect_variant!(desk.query(query).await, Answer::Timeline(timeline) => timeline.entries_total)
}

/// A session that overwrote two files, which was asked for and allowed by rule.
async fn open_writing_session() -> Fixture {
    let calls = join_calls([
        call_write("a.txt", "after\n"),
        call_write("b.txt", "after\n"),
    ]);
    let mut desk = Fixture::new([calls, say_text("Done."), say_text("Again.")]).await;
    desk.write_file("a.txt", "before\n".repeat(1_000));
    desk.write_file("b.txt", "before\n");
    desk.write_rules(rule_text("write", "**", "allow"));
    desk.start("Write them.").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    desk
}

#[tokio::test]
async fn a_deleted_session_is_gone_with_its_copies_for_undo_and_a_line_stays() {
    let desk = open_writing_session().await;
    let session = desk.session.clone();
    let preview = preview_deletion(&desk).await;
    assert_eq!(
        (preview.calls, preview.sub_agents, preview.undo_entries),
        (2, 0, 2)
    );
    assert!(preview.undo_bytes > 0, "{preview:?}");
    let folder = desk.data_dir().join("sessions").join(session.as_str());
    assert!(folder.is_dir());

    delete_session(&desk, &session).await.unwrap();
    assert!(desk.snapshot().await.sessions.is_empty());
    assert_eq!(history_len(&desk).await, 0);
    assert!(!folder.exists());
    assert_eq!(
        desk.read_file("b.txt").as_deref(),
        Some("after\n"),
        "files stay"
    );
    let lines = list_deleted(&desk).await;
    let [line] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (&line.session, line.host, line.calls),
        (&session, DeletionHost::Window, 2)
    );
    // Whatever is asked of it, it is not there.
    for op in [
        Op::say(session.clone(), "Again."),
        Op::Resume {
            session: session.clone(),
        },
        Op::PlaceSession {
            session: session.clone(),
            place: ListPlace::Pinned,
        },
        Op::DeleteSession {
            session: session.clone(),
            host: DeletionHost::Window,
        },
    ] {
        let fault = desk.engine.submit(op).await.unwrap_err();
        assert_eq!(fault.message, format!("There is no session {session}."));
    }
    let desk = desk.restart().await;
    assert!(desk.snapshot().await.sessions.is_empty());
    assert_eq!(list_deleted(&desk).await, lines);
}

#[tokio::test]
async fn a_session_that_works_or_waits_is_not_deleted() {
    let mut desk = Fixture::new([call_write("a.txt", "one\n"), say_text("Done.")]).await;
    desk.write_rules(rule_text("write", "**", "ask"));
    desk.start("Go.").await;
    let call = desk.wait_for_call().await;
    let session = desk.session.clone();
    let fault = delete_session(&desk, &session).await.unwrap_err();
    assert_eq!(fault.hint, "Stop it first, then delete it.");
    // Nor by another process.
    let other = desk.open_cli_engine().await;
    let op = Op::DeleteSession {
        session: session.clone(),
        host: DeletionHost::CommandLine,
    };
    assert_eq!(other.submit(op).await.unwrap_err().hint, fault.hint);
    desk.allow_call(&call).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.only_call().await.tool, "write");
}

/// The sessions of its sub-agents go with a session, and a fork of it stays.
#[tokio::test]
async fn the_sessions_of_sub_agents_go_with_it() {
    let task = json!({ "subagent_type": "reviewer", "prompt": "Look." });
    let turns = json!([call_tool("task", task), say_text("Done.")]);
    let cast = ScriptedAgents::new(turns, [("You review.", json!([say_text("Looked.")]))]);
    let mut desk = Fixture::with_provider(cast.clone(), agent::Host::Person).await;
    desk.write_file(".countersign/agents/reviewer.md", REVIEWER);
    desk.write_rules(rule_text("task", "**", "allow"));
    desk.start("Have it looked at.").await;
    desk.wait_until_session_ended().await;
    let session = desk.session.clone();
    let sessions = desk.snapshot().await.sessions;
    let children = sessions.iter().filter(|view| view.parent.is_some());
    assert_eq!(children.count(), 1, "{sessions:#?}");
    let fork = Op::ForkSession {
        session: session.clone(),
        before: None,
    };
    let other = desk.submit(fork).await.session.unwrap();

    desk.session = session.clone();
    assert_eq!(preview_deletion(&desk).await.sub_agents, 1);
    delete_session(&desk, &session).await.unwrap();
    let left = desk.snapshot().await.sessions;
    assert_eq!(
        left.iter().map(|view| &view.id).collect::<Vec<_>>(),
        [&other]
    );
    assert_eq!(list_deleted(&desk).await.len(), 2);
}

/// A window that has the session open does not go on with what a command line deleted.
#[tokio::test]
async fn a_session_that_another_process_deleted_is_not_continued() {
    let desk = open_writing_session().await;
    let session = desk.session.clone();
    let other = desk.open_cli_engine().await;
    let op = Op::DeleteSession {
        session: session.clone(),
        host: DeletionHost::CommandLine,
    };
    other.submit(op).await.unwrap();
    let fault = desk
        .engine
        .submit(Op::say(session.clone(), "Again."))
        .await
        .unwrap_err();
    assert_eq!(fault.message, format!("There is no session {session}."));
    assert_eq!(list_deleted(&desk).await[0].host, DeletionHost::CommandLine);
}

/// A process that ended once the record said so left the rest, which goes at the next start.
#[tokio::test]
async fn what_a_crash_left_of_a_deleted_session_goes_at_the_next_start() {
    let desk = open_writing_session().await;
    let (session, data) = (desk.session.clone(), desk.data_dir().to_owned());
    let saved = tempfile::tempdir().unwrap();
    copy_folder(&data.join("history"), &saved.path().join("history"));
    delete_session(&desk, &session).await.unwrap();
    // As it was before the rest was removed.
    std::fs::remove_dir_all(data.join("history")).unwrap();
    copy_folder(&saved.path().join("history"), &data.join("history"));
    let folder = data.join("sessions").join(session.as_str());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("call_1.txt"), "output").unwrap();

    let desk = desk.restart().await;
    assert_eq!(history_len(&desk).await, 0);
    assert!(!folder.exists());
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for item in std::fs::read_dir(from).unwrap() {
        let path = item.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}
