//! Dry runs of commands: the effects are shown before anything real changes, evaluated by the rules, and undone.

use std::path::PathBuf;

use agent::Host;
use protocol::rule::backtest::RuleChange;
use protocol::rule::rules_view::NewRule;
use protocol::view::effects::{Assurance, EffectKind};
use protocol::view::preview::UndoAvailability;
use protocol::{CallState, CallView, Decision, Gate, Preview, RuleAction, RuleScope, Verdict};
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, expect_variant, rule_text, say_text,
    shown_effects,
};

use crate::agents::manifests;
use crate::rules::changes_and_backtests;

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

/// A desk with a sandbox, whose agent runs one command, in a workspace with two files.
pub(super) async fn open_desk(command: &str, host: Host) -> Fixture {
    let turns = [call_bash(command), say_text("Done.")];
    let mut desk = Fixture::with_sandbox(turns, host, Some(SANDBOX)).await;
    desk.write_file("a", "first\n")
        .write_file("folder/b", "second\n");
    desk
}

/// The lines of a card about the effects: `changed a`, `deleted folder`, …
pub(super) fn effect_lines(view: &CallView) -> Vec<String> {
    let effects = shown_effects(view);
    let changes = effects.changes.iter().map(ToString::to_string);
    let refused = effects.refused.iter().map(ToString::to_string);
    changes.chain(refused).collect()
}

/// Whether nothing is left of what commands did for show: each of those that run has a folder, and in it one for each
/// command.
fn leaves_nothing(desk: &Fixture) -> bool {
    let inside = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|name| name.unwrap());
    let mut ours = inside(desk.data_dir().join("sandboxes")).filter(|name| name.path().is_dir());
    ours.all(|ours| inside(ours.path()).all(|name| !name.path().is_dir()))
}

#[tokio::test]
async fn a_dry_run_shows_what_a_command_does_and_only_that_is_done() {
    let mut desk = open_desk(
        "echo more >> a; rm -r folder; echo new > n; echo said",
        Host::Person,
    )
    .await;
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let command = expect_variant!(&asked.preview, Preview::Command(command) => command);
    assert_eq!(
        command.assurance,
        Some(Assurance::Speculative),
        "{:?}",
        command.assured
    );
    desk.decide_call(&asked, Decision::DryRun).await.unwrap();

    let shown = desk.wait_for_call().await;
    assert_eq!(
        effect_lines(&shown),
        ["changed a", "deleted folder", "deleted folder/b", "added n"]
    );
    let effects = shown_effects(&shown);
    assert_eq!(effects.exit_code, Some(0));
    let diff = effects.changes[0].diff.as_ref().unwrap();
    assert_eq!((diff.added, diff.removed), (1, 0));
    assert_eq!(shown.undo_availability, UndoAvailability::Secured);
    // Nothing real happened.
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    assert_eq!(desk.read_file("folder/b").unwrap(), "second\n");
    assert_eq!(desk.read_file("n"), None);

    desk.allow_call(&shown).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("a").unwrap(), "first\nmore\n");
    assert_eq!(desk.read_file("folder/b"), None);
    assert_eq!(desk.read_file("n").unwrap(), "new\n");
    let done = &desk.only_call().await;
    assert_eq!(done.state, CallState::Done);
    let outcome = done.outcome.as_ref().unwrap().model_text();
    assert!(outcome.contains("Exit code 0.\nsaid"), "{outcome}");
    assert!(leaves_nothing(&desk), "a layer is left");

    desk.undo_call(done).await;
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    assert_eq!(desk.read_file("folder/b").unwrap(), "second\n");
    assert_eq!(desk.read_file("n"), None);
}

#[tokio::test]
async fn effects_name_what_a_command_changed() {
    let mut desk = open_desk("sed -i s/running/cancelled/ jobs.json", Host::Person).await;
    desk.write_file(
        "jobs.json",
        "[\n{ \"id\": 4711, \"name\": \"nightly-train\", \"status\": \"running\" },\n\
         { \"id\": 4712, \"name\": \"evaluate\", \"status\": \"running\" },\n\
         { \"id\": 4713, \"name\": \"publish\", \"status\": \"done\" }\n]\n",
    );
    desk.start("Go.").await;
    desk.decide_next(Decision::DryRun).await;
    let shown = desk.wait_for_call().await;
    let diff = shown_effects(&shown).changes[0].diff.as_ref().unwrap();
    let summary: Vec<String> = diff.summary.iter().map(ToString::to_string).collect();
    assert_eq!(
        summary,
        ["4711 “nightly-train”, 4712 “evaluate” › status: running → cancelled"]
    );
    assert_eq!(diff.hunks[0].section, "4711 “nightly-train” › status");
}

#[tokio::test]
async fn a_part_of_the_effects_is_taken_over() {
    let mut desk = open_desk("echo more >> a; echo new > n", Host::Person).await;
    desk.start("Go.").await;
    desk.decide_next(Decision::DryRun).await;
    let shown = desk.wait_for_call().await;
    let added: Vec<u32> = shown_effects(&shown)
        .changes
        .iter()
        .filter(|change| change.kind == EffectKind::Added)
        .map(|change| change.id)
        .collect();
    let some = |hunks: Vec<u32>| Decision::Allow {
        hunks: Some(hunks),
        note: String::new(),
        always: None,
    };
    // A change that was not shown cannot be chosen, and nothing is no choice.
    assert!(desk.decide_call(&shown, some(vec![99])).await.is_err());
    assert!(desk.decide_call(&shown, some(vec![])).await.is_err());
    desk.decide_call(&shown, some(added)).await.unwrap();
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    assert_eq!(desk.read_file("n").unwrap(), "new\n");
    let text = &desk.call_outcomes().await[0].1;
    assert!(text.contains("left out 1 of 2 changes: a."), "{text}");
}

#[tokio::test]
async fn what_is_discarded_leaves_nothing() {
    let mut desk = open_desk("echo more >> a; echo new > n", Host::Person).await;
    desk.start("Go.").await;
    desk.decide_next(Decision::DryRun).await;
    let shown = desk.wait_for_call().await;
    // It may be tried once more: what came of it before goes.
    desk.decide_call(&shown, Decision::DryRun).await.unwrap();
    let shown = desk.wait_for_call().await;
    assert_eq!(effect_lines(&shown), ["changed a", "added n"]);
    desk.decide_call(&shown, Decision::reject(""))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Rejected]);
    assert_eq!(desk.read_file("a").unwrap(), "first\n");
    assert_eq!(desk.read_file("n"), None);
    assert!(leaves_nothing(&desk), "a layer is left");
}

#[tokio::test]
async fn a_command_that_is_allowed_as_it_stands_can_be_taken_back_too() {
    let mut desk = open_desk("rm -r folder", Host::Person).await;
    desk.start("Go.").await;
    desk.allow_next().await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("folder/b"), None);
    let done = &desk.only_call().await;
    assert_eq!(effect_lines(done), ["deleted folder", "deleted folder/b"]);
    let trail = done.trail.as_ref().unwrap();
    let step = trail.steps.iter().find(|step| step.gate == Gate::Effects);
    assert_eq!(step.unwrap().verdict, Some(Verdict::Allow));
    desk.undo_call(done).await;
    assert_eq!(desk.read_file("folder/b").unwrap(), "second\n");
}

#[tokio::test]
async fn effects_meet_the_rules_however_the_command_was_let_through() {
    let denies = rule_text("fs.write", "folder/**", "deny");
    let asks = rule_text("fs.write", "folder/**", "ask");
    let allows = rule_text("bash", "python3*", "allow");
    // The command does not say in its text that it writes.
    let command = "python3 change.py";
    let script = "open('folder/b', 'a').write('x')\n";

    let mut denied = open_desk(command, HEADLESS_APPROVED).await;
    denied.write_file("change.py", script);
    denied.write_rules(denies);
    denied.play().await;
    assert_eq!(denied.call_states().await, [CallState::Denied]);
    assert_eq!(denied.read_file("folder/b").unwrap(), "second\n");

    let mut asked = open_desk(command, Host::Person).await;
    asked.write_file("change.py", script);
    asked.write_rules(allows + &asks);
    asked.start("Go.").await;
    let shown = asked.wait_for_call().await;
    assert_eq!(effect_lines(&shown), ["changed folder/b"]);
    assert_eq!(asked.read_file("folder/b").unwrap(), "second\n");
    asked.allow_call(&shown).await;
    asked.wait_until_ended().await;
    assert_eq!(asked.read_file("folder/b").unwrap(), "second\nx");

    // A rule that is tried on past calls meets what they did, too.
    let deny = NewRule {
        permission: "fs.write".to_owned(),
        pattern: Some("folder/**".to_owned()),
        action: RuleAction::Deny,
        ..NewRule::default()
    };
    let change = RuleChange::Add {
        rule: deny,
        scope: RuleScope::User,
    };
    let group = changes_and_backtests::run_backtest(&asked, change)
        .await
        .changed
        .remove(0);
    assert_eq!(
        (group.from, group.to, group.calls),
        (Verdict::Ask, Verdict::Deny, 1)
    );
}

#[tokio::test]
async fn a_repository_may_begin_once_its_files_were_looked_at() {
    let allows = rule_text("bash", "git init*", "allow");
    let mut begun = open_desk("git init -q lib", Host::Person).await;
    begun.write_rules(&allows);
    begun.start("Go.").await;
    let shown = begun.wait_for_call().await;
    assert!(effect_lines(&shown).contains(&"added lib/.git/config".to_owned()));
    let steps = &shown.trail.as_ref().unwrap().steps;
    let effects = steps.iter().find(|step| step.gate == Gate::Effects);
    assert!(effects.unwrap().text.contains("It begins a repository"));
    assert!(begun.read_file("lib/.git/config").is_none());
    begun.allow_call(&shown).await;
    begun.wait_until_ended().await;
    assert_eq!(begun.call_states().await, [CallState::Done]);
    assert!(
        begun
            .read_file("lib/.git/config")
            .unwrap()
            .contains("[core]")
    );

    // Nobody looks where nobody is.
    let mut unseen = open_desk("git init -q lib", HEADLESS).await;
    unseen.write_rules(allows);
    unseen.play().await;
    assert_eq!(unseen.call_states().await, [CallState::Denied]);
    assert!(unseen.read_file("lib/.git/config").is_none());
}

#[tokio::test]
async fn a_change_underneath_is_noticed_before_anything_is_done() {
    let mut desk = open_desk("echo more >> a", Host::Person).await;
    desk.start("Go.").await;
    desk.decide_next(Decision::DryRun).await;
    let shown = desk.wait_for_call().await;
    assert_eq!(effect_lines(&shown), ["changed a"]);
    std::fs::write(desk.workspace_root().join("a"), "mine\n").unwrap();
    // Shown anew, whether the watch noticed it before the decision came or the commit after it; what the person wrote stands.
    let _ = desk.decide_call(&shown, Decision::allow()).await;
    let again = desk.wait_for_call().await;
    assert!(again.pending.as_ref().unwrap().refreshed.is_some());
    assert_eq!(desk.read_file("a").unwrap(), "mine\n");
}

#[tokio::test]
async fn what_a_command_is_refused_is_told_to_the_model() {
    // `/tmp` is the sandbox's own, so it is somewhere else.
    let outside = format!("/var/tmp/countersign-refused-{}", std::process::id());
    let script = format!(
        "for name, mode in (('.env', 'r'), ('{outside}', 'w')):\n  try:\n    print(open(name, mode).read())\n  except OSError:\n    pass\n"
    );
    let mut desk = open_desk("python3 reach.py", HEADLESS_APPROVED).await;
    desk.write_file("reach.py", script)
        .write_file(".env", "TOKEN=secret-value\n");
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(!text.contains("secret-value"), "{text}");
    assert!(text.contains(&format!("write {outside}")), "{text}");
    assert!(!std::path::Path::new(&outside).exists());
}

/// Effects of a command that could not open a secret do not show what it does with one: the person who let the command
/// through is asked once more, and without a person nothing is carried out.
#[tokio::test]
async fn what_came_of_a_refused_secret_is_not_carried_out_by_itself() {
    const COMMAND: &str = "python3 bundle.py";
    const SCRIPT: &str = "import os\nopen('all', 'w').write(open('a').read() + (open('.env').read() if os.access('.env', os.R_OK) else ''))\n";
    let files = |desk: &mut Fixture| {
        desk.write_file("bundle.py", SCRIPT)
            .write_file(".env", "TOKEN=x\n");
    };
    let mut alone = open_desk(COMMAND, HEADLESS_APPROVED).await;
    files(&mut alone);
    alone.play().await;
    let call = &alone.only_call().await;
    assert_eq!(call.state, CallState::Denied);
    let lead = &call.trail.as_ref().unwrap().lead;
    assert!(lead.contains("it was refused a secret"), "{lead}");
    assert_eq!(alone.read_file("all"), None);

    let mut asked = open_desk(COMMAND, Host::Person).await;
    files(&mut asked);
    asked.write_rules(rule_text("bash", "python3*", "allow"));
    asked.start("Go.").await;
    let shown = asked.wait_for_call().await;
    let env = asked.workspace_root().canonicalize().unwrap().join(".env");
    let secret = format!("refused secret {}", env.display());
    assert_eq!(effect_lines(&shown), ["added all".to_owned(), secret]);
    assert_eq!(asked.read_file("all"), None);
    asked.allow_call(&shown).await;
    asked.wait_until_ended().await;
    assert_eq!(asked.read_file("all").unwrap(), "first\n");
}

/// `S002-09`: a command writes what its agent may write, and nothing else: what it did for show is then not carried out, whoever
/// let it through. A tool of the agent that writes extends that, and without a manifest nobody narrowed it.
#[tokio::test]
async fn a_command_s_effects_stay_within_what_its_agent_requires() {
    let agent = |tools: &str, requires: &str| {
        format!("name = \"builder\"\ntools = {tools}\n[requires]\n{requires}")
    };
    let out = "fs = { write = [\"out/**\"] }\n";
    for (manifest, command, state) in [
        (agent("[\"bash\"]", out), "echo x > out/a", CallState::Done),
        (
            agent("[\"bash\"]", out),
            "echo x > out/a; rm src/b.rs",
            CallState::Denied,
        ),
        (agent("[\"bash\"]", ""), "echo x > out/a", CallState::Denied),
        (agent("[\"bash\"]", ""), "cat src/b.rs", CallState::Done),
        (
            agent("[\"bash\", \"write\"]", ""),
            "echo x > src/b.rs",
            CallState::Done,
        ),
    ] {
        let mut desk = open_desk(command, HEADLESS_APPROVED).await;
        desk.write_file("out/old", "old");
        manifests::open_with_manifest(&mut desk, &manifest)
            .await
            .unwrap();
        let view = desk.only_call().await;
        let trail = view.trail.unwrap();
        assert_eq!(view.state, state, "{command}: {trail:?}");
        let is_done = state == CallState::Done;
        if !is_done {
            let whose = "is beyond what the agent `builder` requires";
            assert!(trail.lead.contains(whose), "{}", trail.lead);
            assert_eq!(trail.verdict, Verdict::Deny);
        }
        assert_eq!(
            desk.read_file("out/a").is_some(),
            is_done && command.contains("out/a")
        );
        let private = command.ends_with("src/b.rs") && command.starts_with("echo") && is_done;
        assert_eq!(
            desk.read_file("src/b.rs").unwrap(),
            if private { "x\n" } else { "private" }
        );
    }
}
