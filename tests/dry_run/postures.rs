//! Postures (M24): what asks, and what passes because its effects in a dry run can be undone.

use agent::Host;
use protocol::settings::Posture;
use protocol::{CallState, Decision, EntryBody, Gate, SessionState, Settings};
use support::{Fixture, HEADLESS, rule_text};

use super::commits::{effect_lines, open_desk};

/// More files than a command may change without a question.
const MANY_FILES: &str = "for n in $(seq 201); do echo $n > n$n; done";

/// A desk whose agent runs one command in a posture.
pub(super) async fn open_in(posture: Posture, command: &str, host: Host) -> Fixture {
    let desk = open_desk(command, host).await;
    let settings = Settings {
        posture: Some(posture),
        ..Settings::default()
    };
    desk.set_settings(settings).await;
    desk
}

#[tokio::test]
async fn what_changes_nothing_or_can_be_undone_passes() {
    let mut reads = open_in(
        Posture::AskAboutEffects,
        "cat a; f=a; grep -c first $f",
        Host::Person,
    )
    .await;
    reads.play().await;
    let (state, text) = reads.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done);
    assert!(text.contains("first\n1"), "{text}");

    let mut changes = open_in(
        Posture::AskAboutEffects,
        "echo more >> a; mv folder/b folder/c; echo new > n",
        Host::Person,
    )
    .await;
    changes.play().await;
    assert_eq!(changes.call_states().await, [CallState::Done]);
    assert_eq!(changes.read_file("a").unwrap(), "first\nmore\n");
    assert_eq!(changes.read_file("folder/b"), None);
    // One entry in the history, from which all of it comes back.
    let call = changes.only_call().await;
    changes.undo_call(&call).await;
    assert_eq!(changes.read_file("a").unwrap(), "first\n");
    assert_eq!(changes.read_file("folder/b").unwrap(), "second\n");
    assert_eq!(changes.read_file("n"), None);
}

#[tokio::test]
async fn everything_else_is_a_card_with_the_effects_on_it() {
    let git = "git init -q . && git config user.email a@b.example && git config user.name A";
    for (command, expected) in [
        ("echo KEY=1 > .env", "added .env"),
        (git, "added .git"),
        (MANY_FILES, "added n1"),
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.start("Go.").await;
        let shown = desk.wait_for_call().await;
        let lines = effect_lines(&shown);
        assert!(
            lines.iter().any(|line| line == expected),
            "{command}: {lines:?}"
        );
        desk.decide_call(&shown, Decision::reject("No."))
            .await
            .unwrap();
        assert_eq!(desk.wait_until_ended().await, SessionState::Done);
        assert_eq!(desk.call_states().await, [CallState::Rejected], "{command}");
    }
}

/// A program may choose the posture of one session: a call that waits is judged again, and nothing else changes.
#[tokio::test]
async fn a_session_s_own_posture_comes_first() {
    let mut desk = open_in(Posture::AskFirst, "echo more >> a", Host::Person).await;
    desk.start("Go.").await;
    desk.wait_for_call().await;
    let (engine, session) = (desk.engine.clone(), desk.session.clone());
    assert_eq!(engine.posture(&session).unwrap(), Posture::AskFirst);
    let chosen = Posture::Unattended;
    engine.choose_posture(&session, chosen).await.unwrap();
    assert_eq!(engine.posture(&session).unwrap(), chosen);
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.call_states().await, [CallState::Done]);
    assert_eq!(desk.read_file("a").unwrap(), "first\nmore\n");
    assert_eq!(engine.settings().posture, Some(Posture::AskFirst));
    let entries = desk.transcript().await;
    let noted = entries.iter().any(|entry| {
        matches!(&entry.body, EntryBody::Notice(notice) if notice.fault.message.contains("unattended"))
    });
    assert!(noted, "{entries:?}");
}

#[tokio::test]
async fn rules_speak_before_the_posture() {
    for (rule, expected) in [
        (rule_text("bash", "echo*", "deny"), CallState::Denied),
        (rule_text("fs.write", "a", "deny"), CallState::Denied),
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, "echo more >> a", Host::Person).await;
        desk.write_rules(&rule);
        desk.play().await;
        assert_eq!(desk.call_states().await, [expected], "{rule}");
        assert_eq!(desk.read_file("a").unwrap(), "first\n");
    }
}

#[tokio::test]
async fn unattended_what_would_ask_is_denied_with_what_passes_instead() {
    for (host, sentence) in [
        (Host::Person, "nobody is asked in an unattended session"),
        (HEADLESS, "nobody is there to ask"),
    ] {
        let mut passes = open_in(Posture::Unattended, "echo more >> a", host).await;
        passes.play().await;
        assert_eq!(passes.call_states().await, [CallState::Done], "{host:?}");
        assert_eq!(passes.read_file("a").unwrap(), "first\nmore\n");

        // What its effects may settle runs first; the agent hears what came of it.
        let mut many = open_in(Posture::Unattended, MANY_FILES, host).await;
        many.play().await;
        let (state, text) = many.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Denied, "{host:?}");
        assert!(text.contains(sentence), "{text}");
        assert!(text.contains("it changed 201 paths"), "{text}");
        assert_eq!(many.read_file("n1"), None);

        // What a rule asks about is not settled so, and never runs.
        let mut denied = open_in(Posture::Unattended, "echo KEY=1 > .env", host).await;
        denied.play().await;
        let (state, text) = denied.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Denied, "{host:?}");
        assert!(text.contains(sentence), "{text}");
        assert_eq!(denied.read_file(".env"), None);
        let trail = denied.only_call().await.trail.unwrap();
        assert_eq!(trail.steps.last().unwrap().gate, Gate::Headless);
    }
}

/// A folder may have a posture of its own, and the host's own word counts before both.
#[tokio::test]
async fn a_folder_has_its_own_posture() {
    let mut desk = open_in(Posture::AskAboutEffects, "echo more >> a", Host::Person).await;
    let folder = desk.workspace_root().display().to_string();
    let settings = Settings {
        posture: Some(Posture::AskAboutEffects),
        folder_postures: [(folder, Posture::AskFirst)].into(),
        ..Settings::default()
    };
    desk.set_settings(settings).await;
    desk.start("Go.").await;
    let shown = desk.wait_for_call().await;
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    desk.decide_call(&shown, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
}

/// Sends a file to a server that the same command starts.
const UPLOAD: &str = "python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 & \
    until curl -s -d @a http://127.0.0.1:8123/ > /dev/null; do sleep 0.1; done; echo sent; kill $!";

#[tokio::test]
async fn a_server_that_a_command_starts_for_itself_is_no_other_machine() {
    let mut own = open_in(Posture::AskAboutEffects, UPLOAD, Host::Person).await;
    own.play().await;
    let (state, text) = own.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("sent"), "{text}");

    let elsewhere = "curl -s -d @a http://files.example/";
    let both = format!("{UPLOAD}; curl -s -T a http://files.example/");
    let opened = rule_text("net.fetch", "127.0.0.1:8123", "allow");
    for (command, rules) in [(elsewhere, ""), (&*both, ""), (UPLOAD, &*opened)] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.write_rules(rules);
        desk.start("Go.").await;
        let shown = desk.wait_for_call().await;
        let mut steps = shown.trail.iter().flat_map(|trail| &trail.steps);
        let sends = steps
            .any(|step| step.gate == Gate::Watchdog && step.text.ends_with("to another machine."));
        assert!(sends, "{command}: {:?}", shown.trail);
        desk.decide_call(&shown, Decision::reject("No."))
            .await
            .unwrap();
        desk.wait_until_ended().await;
    }
}
