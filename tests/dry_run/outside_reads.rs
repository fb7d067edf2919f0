//! Files of the person's own outside of the workspace: no word of a command need name one that it reads, so under *Ask
//! about effects* its dry run shows which it read.

use agent::Host;
use protocol::settings::Posture;
use protocol::{CallState, Decision};
use support::{Fixture, rule_text, shown_effects};

use super::own_home::own_home;
use super::postures::open_in;

const FILES: [(&str, &str); 4] = [
    (".config/tool/settings", "of a tool\n"),
    ("notes/tides", "the level of the tide\n"),
    ("notes/winds", "the speed of the wind\n"),
    ("tools/library", "of a program\n"),
];

/// Commands that read the tides in the home, none of whose words names them.
const READS: [&str; 3] = [
    "cat \"$(printf '%s/no%s' \"$HOME\" tes/tides)\"",
    "sh program",
    "xargs cat < where",
];

async fn open_with(posture: Posture, command: &str, host: Host) -> Fixture {
    let mut desk = open_in(posture, command, host).await;
    desk.write_file("program", "cd; cat notes/tides");
    let home = std::env::var("HOME").unwrap();
    desk.write_file("where", format!("{home}/notes/tides"));
    desk
}

#[tokio::test]
async fn what_a_command_reads_of_the_persons_own_asks_and_is_kept_from_the_agent() {
    let test = "what_a_command_reads_of_the_persons_own_asks_and_is_kept_from_the_agent";
    let Some(home) = own_home(module_path!(), test, &FILES) else {
        return;
    };
    let tides = home.join("notes/tides").display().to_string();
    for command in READS {
        let mut desk = open_with(Posture::AskAboutEffects, command, Host::Person).await;
        desk.start("Go.").await;
        let card = desk.wait_for_call().await;
        assert_eq!(shown_effects(&card).outside_reads, [&*tides], "{command}");
        let why = format!("{:?}", card.trail);
        assert!(why.contains(&format!("It read `{tides}`")), "{why}");
        desk.decide_call(&card, Decision::reject("No."))
            .await
            .unwrap();
        desk.wait_until_ended().await;
        let texts = desk.call_texts().await;
        assert!(!texts[0].contains("level"), "{command}: {texts:?}");
    }
}

#[tokio::test]
async fn where_nobody_is_asked_such_a_read_is_denied() {
    let test = "where_nobody_is_asked_such_a_read_is_denied";
    if own_home(module_path!(), test, &FILES).is_none() {
        return;
    }
    for command in READS {
        let mut desk = open_with(Posture::Unattended, command, Host::Person).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Denied, "{command}: {text}");
        assert!(!text.contains("level"), "{command}: {text}");
    }
}

#[tokio::test]
async fn what_programs_keep_in_the_home_is_read_without_a_question() {
    let test = "what_programs_keep_in_the_home_is_read_without_a_question";
    if own_home(module_path!(), test, &FILES).is_none() {
        return;
    }
    let command = "cat \"$(printf '%s/.con%s' \"$HOME\" fig/tool/settings)\"; cat \"$(dirname \"$(command -v sh)\")/env\" \
        > /dev/null; cat \"$(printf '%s/too%s' \"$HOME\" ls/library)\"";
    let mut desk = open_with(Posture::AskAboutEffects, command, Host::Person).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("of a tool\nof a program"), "{text}");
}

#[tokio::test]
async fn a_rule_decides_about_such_a_read_if_it_names_the_file_or_allows_the_command() {
    let test = "a_rule_decides_about_such_a_read_if_it_names_the_file_or_allows_the_command";
    let Some(home) = own_home(module_path!(), test, &FILES) else {
        return;
    };
    let notes = |name: &str| format!("{}/{name}", home.join("notes").display());
    let below = notes("**");
    for (permission, pattern, action, state) in [
        ("fs.read", &*below, "allow", CallState::Done),
        ("fs.read", &notes("tides"), "allow", CallState::Done),
        ("bash", "sh program", "allow", CallState::Done),
        ("fs.read", &notes("winds"), "allow", CallState::Denied),
        ("fs.read", "**", "allow", CallState::Denied),
        ("fs.read", &below, "deny", CallState::Denied),
    ] {
        let mut desk = open_with(Posture::Unattended, "sh program", Host::Person).await;
        desk.write_rules(rule_text(permission, pattern, action));
        desk.play().await;
        let (found, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(found, state, "{permission} {pattern} {action}: {text}");
    }
}
