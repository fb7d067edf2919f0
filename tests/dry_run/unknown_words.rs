//! Words that only the run tells: under *Ask about effects* a command is judged by what it does in the sandbox, and not
//! by what it would read if they were empty.

use agent::Host;
use protocol::settings::Posture;
use protocol::{CallState, Decision};
use support::rule_text;

use super::commits::effect_lines;
use super::postures::open_in;

#[tokio::test]
async fn a_loop_over_names_that_are_not_known_passes_if_it_only_reads() {
    for command in [
        "for d in $(ls -d */); do cat $d/b; done",
        "for d in $(ls -d */); do timeout 9 cat \"$d/b\"; done",
        "for f in $(find . -name b); do d=$(dirname \"$f\"); cat \"$d/b\"; done",
        "find . -name b | while read -r f; do cat \"${f%/b}/b\"; done",
        "ls -d folder | xargs -I{} cat {}/b",
        "d=$(ls -d f*); cat $d/b",
        "d=$(ls -d f*); cd $d/ && cat b",
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.play().await;
        let outcomes = desk.call_outcomes().await;
        assert_eq!(
            outcomes[0].0,
            CallState::Done,
            "{command}: {}",
            outcomes[0].1
        );
        assert!(outcomes[0].1.contains("second"), "{command}: {outcomes:?}");
    }
}

/// The sandbox shows what no word of the command does.
#[tokio::test]
async fn a_loop_over_names_that_are_not_known_asks_for_a_secret_and_for_a_write_outside() {
    let outside = format!("/var/tmp/countersign-unknown-{}", std::process::id());
    let hidden = outside.replace('/', "%");
    for (command, shown) in [
        (
            "for d in $(ls -d */); do cat $d/../$(echo vne. | rev); done".to_owned(),
            "refused secret".to_owned(),
        ),
        (
            format!("for f in $(echo {hidden} | tr % /); do echo x > $f; done"),
            format!("refused write {outside}"),
        ),
        (
            "for d in $(ls -d */); do rm $d/b; done; for f in a; do rm $f; done".to_owned(),
            "deleted a".to_owned(),
        ),
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, &command, Host::Person).await;
        desk.write_file(".env", "KEY=of-the-tide-tables");
        desk.start("Go.").await;
        let card = desk.wait_for_call().await;
        let lines = effect_lines(&card);
        assert!(
            lines.iter().any(|line| line.starts_with(&shown)),
            "{command}: {lines:?}"
        );
        desk.decide_call(&card, Decision::reject("No."))
            .await
            .unwrap();
        desk.wait_until_ended().await;
        let texts = desk.call_texts().await;
        assert!(!texts[0].contains("tide"), "{texts:?}");
        assert_eq!(desk.read_file("a").unwrap(), "first\n");
    }
}

#[tokio::test]
async fn what_a_command_names_for_certain_is_denied_beside_what_it_may_name() {
    let rule = rule_text("fs.read", "/srv/tides/**", "deny");
    for command in [
        "d=$(ls -d f*); ls $d/etc/fstab; cat /etc/fstab",
        "d=$(ls -d f*); cat /etc/fstab $d/etc/fstab",
        "for d in $(ls); do cat $d ~/notes; done",
        "d=$(ls -d f*); rm -f $d/x",
        "d=$(ls -d f*); echo y > /x; cat $d/x",
        "d=; cat $d/etc/fstab",
        "d=$(ls -d f*); cat $d/srv/tides/levels",
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.write_rules(&rule);
        desk.play().await;
        assert_eq!(desk.call_states().await, [CallState::Denied], "{command}");
    }
}
