//! The page that a call walks: modes, consent, partial acceptance, edited arguments, denials.

use protocol::event::CallChange;
use protocol::op::ShownCall;
use protocol::rule::grants::{GrantRequest, GrantScope};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, CallState, Decision, EventBody, Op, Preview, SessionState, Verdict};
use serde_json::{Map, Value, json};
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, call_edit, call_read, call_tool, call_write,
    expect_variant, rule_text, say_text,
};

const ASK_FOR_WRITES: &str = "[[rule]]\npermission = \"fs.write\"\naction = \"ask\"\nreason = \"you want to see every change\"\n";

fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

/// `S000-22`: a read passes without asking, and the model sees its result in the next turn.
#[tokio::test]
async fn a_read_passes_and_leaves_a_line() {
    let mut desk = Fixture::new([call_read("a.txt"), say_text("Read.")]).await;
    desk.write_file("a.txt", "hello\n").play().await;
    let view = desk.only_call().await;
    assert_eq!(view.state, CallState::Done);
    assert_eq!(view.pending, None);
    assert!(view.outcome.unwrap().text.contains("hello"));
    assert_eq!(view.trail.unwrap().verdict, Verdict::Allow);
}

/// `S000-23`: a safe write runs by itself and shows its diff, before and after.
#[tokio::test]
async fn a_safe_write_shows_its_diff() {
    let edit = call_edit("a.txt", "two", "2");
    let mut desk = Fixture::new([edit]).await;
    desk.write_file("a.txt", "one\ntwo\nthree\n").play().await;
    let view = desk.only_call().await;
    let files = expect_variant!(&view.preview, Preview::Diff { files } => files);
    assert_eq!(
        (files[0].path.as_str(), files[0].added, files[0].removed),
        ("a.txt", 1, 1)
    );
    assert_eq!(view.undo_availability, UndoAvailability::Secured);
    assert_eq!(desk.read_file("a.txt").unwrap(), "one\n2\nthree\n");
}

/// A change of one job among many says which one.
#[tokio::test]
async fn a_card_names_what_a_change_is_in() {
    let edit = call_edit(
        "jobs.json",
        "\"owner\": \"ada\",\n    \"status\": \"running\"",
        "\"owner\": \"ada\",\n    \"status\": \"cancelled\"",
    );
    let mut desk = Fixture::new([edit]).await;
    let jobs = r#"{ "jobs": [
  {
    "id": 4710,
    "name": "evaluate",
    "owner": "bob",
    "status": "running"
  },
  {
    "id": 4711,
    "name": "nightly-train",
    "queue": "gpu",
    "owner": "ada",
    "status": "running"
  }
] }
"#;
    desk.write_file("jobs.json", jobs).play().await;
    let view = desk.only_call().await;
    let files = expect_variant!(&view.preview, Preview::Diff { files } => files);
    let summary: Vec<String> = files[0].summary.iter().map(ToString::to_string).collect();
    assert_eq!(
        summary,
        ["jobs › 4711 “nightly-train” › status: running → cancelled"]
    );
    assert_eq!(
        files[0].hunks[0].section,
        "jobs › 4711 “nightly-train” › status"
    );
}

/// `S000-25`, `S000-34`: a local call waits; nothing runs before consent.
#[tokio::test]
async fn a_command_waits_for_consent() {
    let mut desk = Fixture::new([call_bash("echo hi > made.txt")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    assert_eq!(
        (view.state, desk.read_file("made.txt")),
        (CallState::Waiting, None)
    );
    desk.allow_call(&view).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.read_file("made.txt").unwrap(), "hi\n");
    assert_eq!(desk.call_states().await, [CallState::Done]);
}

/// `S000-35`: a rejected call never runs; the model hears the reason and goes on.
#[tokio::test]
async fn a_rejected_call_never_runs() {
    let mut desk = Fixture::new([call_bash("touch made.txt"), say_text("As you wish.")]).await;
    desk.start("Go.").await;
    desk.reject_next("not in this folder").await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.read_file("made.txt"), None);
    let text = "The person rejected this call: not in this folder".into();
    assert_eq!(desk.call_outcomes().await, [(CallState::Rejected, text)]);
    assert_eq!(
        desk.transcript().await.len(),
        4,
        "the agent had its say after the rejection"
    );
}

/// The other kind of no ends the turn.
#[tokio::test]
async fn reject_and_stop_ends_the_run() {
    let mut desk = Fixture::new([call_bash("touch made.txt"), say_text("Never said.")]).await;
    desk.start("Go.").await;
    desk.decide_next(Decision::Reject {
        note: String::new(),
        stop: true,
        always: None,
    })
    .await;
    desk.wait_until_ended().await;
    assert_eq!(
        desk.transcript().await.len(),
        3,
        "the person, the agent, the call; no second turn"
    );
}

/// Only the checked hunks are written, and the agent is told which were not.
#[tokio::test]
async fn partial_acceptance_writes_the_checked_hunks() {
    let before = numbered(1..=40);
    let after = before
        .replace("line 3\n", "line three\n")
        .replace("line 20\n", "")
        .replace("line 38\n", "line 38!\n");
    let mut desk = Fixture::new([call_write("a.txt", after), say_text("Good.")]).await;
    desk.write_file("a.txt", &before);
    desk.write_rules(ASK_FOR_WRITES);
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let files = expect_variant!(&view.preview, Preview::Diff { files } => files);
    assert_eq!(files[0].hunks.len(), 3);
    let some = Decision::Allow {
        hunks: Some(vec![0, 2]),
        note: "the rest tomorrow".into(),
        always: None,
    };
    desk.decide_call(&view, some).await.unwrap();
    desk.wait_until_ended().await;
    let expected = before
        .replace("line 3\n", "line three\n")
        .replace("line 38\n", "line 38!\n");
    assert_eq!(desk.read_file("a.txt").unwrap(), expected);
    let (state, told) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done);
    assert!(told.contains("left out") && told.contains("20"), "{told}");
    assert!(
        told.ends_with("Note from the person: the rest tomorrow"),
        "{told}"
    );
}

/// A decision binds to exactly what was shown, and is used once.
#[tokio::test]
async fn a_decision_holds_once_and_for_what_was_shown() {
    let mut desk = Fixture::new([call_bash("echo hi")]).await;
    desk.start("Go.").await;
    let mut view = desk.wait_for_call().await;
    let right = view.clone();
    view.pending.as_mut().unwrap().digest = protocol::Digest("0".repeat(64));
    let fault = desk
        .decide_call(&view, Decision::allow())
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("changed since it was shown"),
        "{fault}"
    );
    let (first, second) = tokio::join!(
        desk.decide_call(&right, Decision::allow()),
        desk.decide_call(&right, Decision::allow())
    );
    assert!(
        first.is_ok() != second.is_ok(),
        "one of two simultaneous approvals holds: {first:?} {second:?}"
    );
    desk.wait_until_ended().await;
    let decided = desk
        .events()
        .await
        .iter()
        .filter(|e| {
            matches!(
                e.body,
                EventBody::Call {
                    change: CallChange::Decided { .. },
                    ..
                }
            )
        })
        .count();
    assert_eq!(decided, 1);
}

/// One answer to calls on one card decides on each that is still as it was shown, and says how many are not. It makes no
/// rule.
#[tokio::test]
async fn one_answer_decides_on_every_call_of_a_card() {
    let mut desk = Fixture::new([call_bash("echo hi > made.txt")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let shown = ShownCall {
        session: desk.session.clone(),
        call: view.call.id,
        digest: view.pending.unwrap().digest,
    };
    let gone = ShownCall {
        call: CallId("gone".to_owned()),
        ..shown.clone()
    };
    let always = Decision::Allow {
        hunks: None,
        note: String::new(),
        always: Some(GrantRequest {
            lasts: GrantScope::Session,
            permission: "bash".to_owned(),
            pattern: Some("echo*".to_owned()),
            exactly: false,
            until_ms: None,
            max_uses: None,
        }),
    };
    let decide = |calls, decision| desk.engine.submit(Op::DecideGroup { calls, decision });
    let fault = decide(vec![shown.clone()], always).await.unwrap_err();
    assert!(fault.message.contains("as they are"), "{fault}");
    let calls = vec![gone, shown];
    let fault = decide(calls, Decision::allow()).await.unwrap_err();
    assert!(
        fault.message.starts_with("1 of 2 calls were not answered."),
        "{fault}"
    );
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("made.txt").as_deref(), Some("hi\n"));
}

/// The diff on a card follows the file, and an earlier answer is not used for the new one.
#[tokio::test]
async fn a_card_follows_its_file() {
    let edit = call_edit("a.txt", "two", "2");
    let mut desk = Fixture::new([edit]).await;
    desk.write_file("a.txt", "one\ntwo\n");
    desk.write_rules(ASK_FOR_WRITES);
    desk.start("Go.").await;
    let old = desk.wait_for_call().await;
    desk.write_file("a.txt", "zero\none\ntwo\n");
    let new = desk.wait_for_call().await;
    assert_ne!(
        old.pending.as_ref().unwrap().digest,
        new.pending.as_ref().unwrap().digest
    );
    assert!(new.pending.as_ref().unwrap().refreshed.is_some());
    assert!(
        desk.decide_call(&old, Decision::allow()).await.is_err(),
        "what was decided on is gone"
    );
    desk.allow_call(&new).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("a.txt").unwrap(), "zero\none\n2\n");
}

/// Edited arguments are judged and shown anew; the transcript keeps both.
#[tokio::test]
async fn edited_arguments_are_shown_before_they_run() {
    let mut desk = Fixture::new([call_bash("echo theirs > a.txt")]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    let mine = Map::from_iter([("command".to_owned(), Value::from("echo mine > a.txt"))]);
    desk.decide_call(
        &view,
        Decision::Edit {
            arguments: mine.clone(),
        },
    )
    .await
    .unwrap();
    let edited = desk.wait_for_call().await;
    assert_eq!(
        (desk.read_file("a.txt"), edited.target.as_str()),
        (None, "echo mine > a.txt")
    );
    desk.allow_call(&edited).await;
    desk.wait_until_ended().await;
    let view = desk.only_call().await;
    assert_eq!(
        (desk.read_file("a.txt").unwrap().as_str(), view.edited),
        ("mine\n", Some(mine))
    );
    assert_eq!(view.call.arguments["command"], "echo theirs > a.txt");
    let told = view.outcome.unwrap().model_text();
    assert!(
        told.contains("echo mine > a.txt"),
        "the agent is told what was really done: {told}"
    );
}

/// A denied call names its rule; the model hears it, and nobody was asked.
#[tokio::test]
async fn a_denied_path_is_never_read() {
    let mut desk = Fixture::new([call_read(".env"), say_text("Then not.")]).await;
    let rule = "[[rule]]\npermission = \"fs.read\"\npattern = \".env*\"\naction = \"deny\"\nreason = \"secrets\"\n";
    desk.write_file(".env", "KEY=secret")
        .write_file(".countersign/rules.toml", rule)
        .play()
        .await;
    let view = desk.only_call().await;
    assert_eq!(view.state, CallState::Denied);
    let trail = view.trail.unwrap();
    assert_eq!(trail.lead, "Denied by a rule: secrets.");
    let rules = trail
        .steps
        .iter()
        .find(|step| step.gate == protocol::Gate::Rules)
        .unwrap();
    let rule = &rules.rules[0].rule;
    assert_eq!(
        (rule.file.as_deref(), rule.line),
        (Some(".countersign/rules.toml"), Some(1))
    );
    assert!(!view.outcome.unwrap().text.contains("secret\n"));
}

/// A file that may not be read is not found either: a search looks into no file that a rule closes.
#[tokio::test]
async fn a_search_does_not_look_into_closed_files() {
    let mut desk = Fixture::new([call_tool("grep", json!({ "pattern": "KEY" }))]).await;
    let rule = rule_text("fs.read", ".env*", "deny");
    desk.write_file("deep/.env", "KEY=secret\n")
        .write_file("a.txt", "KEY is named here\n")
        .write_file(".countersign/rules.toml", rule)
        .play()
        .await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done);
    assert!(
        text.contains("a.txt:1") && !text.contains("secret"),
        "{text}"
    );
    assert!(text.contains("1 file was not looked into"), "{text}");
}

/// `S002-85`: headless, ask means deny, and the run goes on.
#[tokio::test]
async fn headless_asking_is_denying() {
    let mut desk = Fixture::with_host([call_bash("touch made"), call_read("a")], HEADLESS).await;
    desk.write_file("a", "x").play().await;
    let states = desk.call_states().await;
    assert_eq!(
        (states, desk.read_file("made")),
        (vec![CallState::Denied, CallState::Done], None)
    );
}

/// A call that was approved beforehand runs; one that is denied stays denied.
#[tokio::test]
async fn headless_approve_all_lifts_no_denial() {
    let turns = [call_bash("touch made"), call_read("/etc/hostname")];
    let mut desk = Fixture::with_host(turns, HEADLESS_APPROVED).await;
    desk.play().await;
    let states = desk.call_states().await;
    assert_eq!(states, [CallState::Done, CallState::Denied]);
    assert!(desk.read_file("made").is_some());
}

/// A rule with a number of uses decides so many calls, also over a new start; then it is as if it were not there. One
/// whose time is over speaks no more.
#[tokio::test]
async fn rules_end_by_uses_and_by_time() {
    let ls = || call_bash("ls");
    let mut desk = Fixture::with_host([ls(), ls(), ls()], HEADLESS).await;
    let rule = rule_text("bash", "ls*", "allow");
    desk.write_rules(format!("{rule}max_uses = 2\n"));
    desk.play().await;
    assert_eq!(
        desk.call_states().await,
        [CallState::Done, CallState::Done, CallState::Denied]
    );
    let trail = desk.calls().await[2].trail.clone().unwrap();
    let told: Vec<&str> = trail
        .steps
        .iter()
        .flat_map(|step| step.rules.iter().map(|trace| trace.why.as_str()))
        .collect();
    assert_eq!(
        told,
        ["does not hold any more: it was used as often as it may"]
    );
    let mut desk = desk.restart().await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Denied; 3]);
    // Other words are another rule, and one that is over is none.
    for (more, state) in [
        ("expires = 2026-01-01T00:00:00Z\n", CallState::Denied),
        ("expires = 2099-01-01T00:00:00Z\n", CallState::Done),
    ] {
        desk.write_rules(format!("{rule}{more}"));
        desk = desk.restart().await;
        desk.play().await;
        assert_eq!(desk.call_states().await[0], state, "{more}");
    }
}
