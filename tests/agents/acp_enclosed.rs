//! Agents of other people that run in a sandbox: what a turn changed is one card when the turn ends, and nothing of it is real
//! before.

use agent::Host;
use protocol::event::{Enclosure, MessageChange};
use protocol::settings::Posture;
use protocol::{CallState, CallView, Decision, EventBody, ModelChoice, Op, SessionState, Settings};
use support::test_site::{TestSite, page_response};
use support::{Fixture, HEADLESS, rule_text, say_text, shown_effects};

use super::acp_agents::AgentDesk;

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

/// The tool of the card.
const TURN: &str = "enclosed_turn";

/// The beginning of each start of the agent, up to the prompt. It can go on with its session.
const HELLO: &str = r#"-> {"id": 1, "method": "initialize"}
<- {"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}}}
-> {"id": 2, "method": "session/new|session/resume"}
<- {"id": 2, "result": {"sessionId": "s"}}
-> {"id": 3, "method": "session/prompt"}
"#;
const END: &str = r#"<- {"id": 3, "result": {"stopReason": "end_turn"}}
"#;

/// A conversation of one turn, in which the agent does this.
fn turn(steps: &str) -> String {
    format!("{HELLO}{steps}\n{END}")
}

/// A desk with an agent that nobody knows, and a folder with two files.
async fn open_desk(wire: &str, host: Host) -> AgentDesk {
    let mut desk = Fixture::with_sandbox([say_text("No model asks.")], host, Some(SANDBOX)).await;
    desk.write_file(
        "kept.txt",
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
    );
    desk.write_file("gone.txt", "gone\n");
    AgentDesk::on_desk("unknown", wire, desk)
}

/// Opens an enclosed session, in which the agent may reach these hosts.
async fn start(place: &mut AgentDesk, hosts: Vec<String>) {
    let opened = place
        .open_session(Some("Go."), Some(Enclosure { hosts }))
        .await;
    place.desk.session = opened.unwrap().session.unwrap();
}

async fn set_posture(place: &AgentDesk, posture: Posture) {
    let settings = Settings {
        posture: Some(posture),
        ..Settings::default()
    };
    place.desk.set_settings(settings).await;
}

/// The paths that a turn changed, as its card shows them.
fn changes_of(view: &CallView) -> Vec<String> {
    let changes = shown_effects(view).changes.iter();
    changes.map(ToString::to_string).collect()
}

fn some_hunks(hunks: &[u32]) -> Decision {
    Decision::Allow {
        hunks: Some(hunks.to_vec()),
        note: String::new(),
        always: None,
    }
}

/// An agent that asks gets every permission, since nothing that it does is real.
#[tokio::test]
async fn nothing_is_real_before_it_is_approved_and_all_of_it_is_undone() {
    let asks = r#"<- {"id": 9, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "rm gone.txt", "kind": "delete"}, "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}]}}
-> {"id": 9}
#when 9 yes #delete gone.txt
#write made.txt made\n
#write kept.txt other\n"#;
    let mut place = open_desk(&turn(asks), Host::Person).await;
    start(&mut place, Vec::new()).await;
    let asked = place.desk.wait_for_call().await;
    assert_eq!(asked.call.name, TURN);
    assert_eq!(
        changes_of(&asked),
        ["deleted gone.txt", "changed kept.txt", "added made.txt"]
    );
    assert_eq!(place.desk.read_file("gone.txt").as_deref(), Some("gone\n"));
    assert_eq!(place.desk.read_file("made.txt"), None);
    place.desk.allow_call(&asked).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.desk.read_file("gone.txt"), None);
    assert_eq!(place.desk.read_file("kept.txt").as_deref(), Some("other\n"));
    assert_eq!(place.desk.read_file("made.txt").as_deref(), Some("made\n"));
    let calls = place.desk.calls().await;
    let call = calls.iter().find(|call| call.call.name == TURN).unwrap();
    place.desk.undo_call(call).await;
    assert_eq!(place.desk.read_file("gone.txt").as_deref(), Some("gone\n"));
    let kept = place.desk.read_file("kept.txt").unwrap();
    assert!(kept.starts_with("one\ntwo\n"), "{kept}");
    assert_eq!(place.desk.read_file("made.txt"), None);
    // What it did by itself is no warning.
    let (_, notices) = place.texts().await;
    assert!(
        !notices.iter().any(|text| text.contains("without asking")),
        "{notices:?}"
    );
}

#[tokio::test]
async fn a_part_is_carried_out_and_the_next_turn_sees_it_and_hears_of_the_rest() {
    let first = turn("#write kept.txt other\\n\n#write made.txt made");
    let mut place = open_desk(&first, Host::Person).await;
    start(&mut place, Vec::new()).await;
    place.desk.decide_next(some_hunks(&[0])).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let kept = "other\n";
    assert_eq!(place.desk.read_file("kept.txt").as_deref(), Some(kept));
    assert_eq!(place.desk.read_file("made.txt"), None);

    place.set_wire(&turn("#read kept.txt\n#told session/resume #write resumed.txt yes\n#told left #write told.txt yes"));
    place.desk.send_message("And now?").await;
    let asked = place.desk.wait_for_call().await;
    assert_eq!(changes_of(&asked), ["added resumed.txt", "added told.txt"]);
    place.desk.allow_call(&asked).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let (said, _) = place.texts().await;
    assert_eq!(said, [kept]);
}

/// The agent goes on with its own session, and reads why.
#[tokio::test]
async fn a_rule_denies_all_of_a_turn_and_the_agent_reads_why() {
    let wire = turn(
        "#untold Denied #write secret.txt mine\n#untold Denied #write made.txt made\n#told Denied #read made.txt",
    );
    let mut place = open_desk(&wire, Host::Person).await;
    place
        .desk
        .write_rules(rule_text("fs.write", "secret.txt", "deny"));
    start(&mut place, Vec::new()).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.desk.read_file("secret.txt"), None);
    assert_eq!(place.desk.read_file("made.txt"), None);
    assert_eq!(place.desk.call_states().await, [CallState::Denied]);
    let (said, _) = place.texts().await;
    assert_eq!(said, ["not there"]);
}

#[tokio::test]
async fn what_lies_outside_stays_as_it_is() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().join("made.txt");
    let wire = turn(&format!("#try {} text", file.display()));
    let mut place = open_desk(&wire, Host::Person).await;
    start(&mut place, Vec::new()).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let (said, _) = place.texts().await;
    assert_eq!(said, ["not written"]);
    assert!(!file.exists());
    // A turn that changed nothing is no call.
    assert_eq!(place.desk.calls().await.len(), 0);
}

#[tokio::test]
async fn it_reaches_the_hosts_that_were_named_and_no_other() {
    let (named, other) = (TestSite::start().await, TestSite::start().await);
    for site in [&named, &other] {
        site.add_response("/", page_response("text/plain", "a page"));
    }
    let wire = turn(&format!("#get {}\n#get {}", named.url("/"), other.url("/")));
    let mut place = open_desk(&wire, Host::Person).await;
    start(&mut place, vec![named.host()]).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    let (said, _) = place.texts().await;
    assert_eq!(said.concat(), "a pagerefused");
    assert_eq!(other.request_log().len(), 0);
}

/// What an agent did before it broke off is judged like the rest.
#[tokio::test]
async fn a_killed_agent_leaves_a_card() {
    let wire = format!("{HELLO}#write made.txt made\n#exit 3\n");
    let mut place = open_desk(&wire, Host::Person).await;
    start(&mut place, Vec::new()).await;
    let asked = place.desk.wait_for_call().await;
    assert_eq!(changes_of(&asked), ["added made.txt"]);
    assert_eq!(place.desk.read_file("made.txt"), None);
    place.desk.allow_call(&asked).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Failed);
    assert_eq!(place.desk.read_file("made.txt").as_deref(), Some("made"));
    let errors = place.turn_errors().await;
    assert!(errors[0].contains("broke off its turn"), "{errors:?}");
}

#[tokio::test]
async fn a_stopped_turn_changes_nothing_and_the_agent_is_told() {
    let wire = format!(
        "{HELLO}#write made.txt made\n#read made.txt\n-> {{\"method\": \"session/cancel\"}}\n<- {{\"id\": 3, \"result\": {{\"stopReason\": \"cancelled\"}}}}\n"
    );
    let mut place = open_desk(&wire, Host::Person).await;
    start(&mut place, Vec::new()).await;
    place
        .desk
        .wait_for_event("a word of the agent", |event| {
            let EventBody::Message { change, .. } = event else {
                return false;
            };
            matches!(change, MessageChange::AgentSaid { .. })
        })
        .await;
    place.desk.interrupt_run().await;
    assert_eq!(
        place.desk.wait_until_ended().await,
        SessionState::Interrupted
    );
    assert_eq!(place.desk.read_file("made.txt"), None);
    place.set_wire(&turn("#read made.txt\n#told stopped #write told.txt yes"));
    place.desk.send_message("And now?").await;
    let asked = place.desk.allow_next().await;
    assert_eq!(changes_of(&asked), ["added told.txt"]);
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
}

/// Nothing that the person wrote meanwhile is lost.
#[tokio::test]
async fn the_person_s_own_change_meanwhile_is_a_conflict() {
    let wire = turn("#untold kept.txt #write kept.txt theirs");
    let mut place = open_desk(&wire, Host::Person).await;
    start(&mut place, Vec::new()).await;
    let asked = place.desk.wait_for_call().await;
    place.desk.write_file("kept.txt", "mine");
    place.desk.allow_call(&asked).await;
    assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(place.desk.read_file("kept.txt").as_deref(), Some("mine"));
    let outcomes = place.desk.call_outcomes().await;
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    assert_eq!(outcomes[0].0, CallState::Failed, "{outcomes:?}");
    assert!(outcomes[0].1.contains("kept.txt"), "{outcomes:?}");
}

#[tokio::test]
async fn the_posture_decides_as_for_commands() {
    for (posture, host, expected) in [
        (
            Posture::Unattended,
            HEADLESS,
            (CallState::Done, Some("made")),
        ),
        (
            Posture::AskAboutEffects,
            Host::Person,
            (CallState::Done, Some("made")),
        ),
        (Posture::AskFirst, HEADLESS, (CallState::Denied, None)),
    ] {
        let mut place = open_desk(&turn("#untold applied #write made.txt made"), host).await;
        set_posture(&place, posture).await;
        start(&mut place, Vec::new()).await;
        assert_eq!(place.desk.wait_until_ended().await, SessionState::Done);
        let states = place.desk.call_states().await;
        let made = place.desk.read_file("made.txt");
        assert_eq!(
            (states, made.as_deref()),
            (vec![expected.0], expected.1),
            "{posture:?}"
        );
    }
}

/// An agent that is to be enclosed never runs in the open.
#[tokio::test]
async fn without_a_sandbox_no_session_is_opened() {
    let desk = Fixture::with_sandbox([say_text("No model asks.")], Host::Person, None).await;
    let place = AgentDesk::on_desk("unknown", &turn("#write made.txt made"), desk);
    let refused = place
        .open_session(Some("Go."), Some(Enclosure::default()))
        .await;
    let refused = refused.unwrap_err();
    assert!(
        refused.message.contains("cannot be enclosed here")
            && refused.message.contains("countersign-sandbox"),
        "{refused:?}"
    );
    assert_eq!(place.desk.snapshot().await.sessions.len(), 0);
    assert_eq!(place.desk.read_file("made.txt"), None);
}

#[tokio::test]
async fn a_model_cannot_be_enclosed() {
    let desk = Fixture::with_sandbox([say_text("Hello.")], Host::Person, Some(SANDBOX)).await;
    let op = Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: ModelChoice {
            provider: "script".to_owned(),
            model: String::new(),
        },
        prompt: None,
        output_schema: None,
        temperature: None,
        agent: None,
        planning: false,
        enclosure: Some(Enclosure::default()),
        servers: None,
        former: None,
    };
    let refused = desk.engine.submit(op).await.unwrap_err();
    assert!(refused.message.contains("Only an agent"), "{refused:?}");
}
