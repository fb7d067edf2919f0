//! The capability check, the watchdog and the sandbox in which commands run: each keeps out alone what is its own,
//! whatever the others are.

use std::path::Path;

use protocol::{CallState, CallView, Gate, Verdict};
use serde_json::Value;
use support::{Fixture, HEADLESS, call_bash, call_write};

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");
const SANDBOX_IN_PLACE: &str = env!("CARGO_BIN_EXE_sandbox_program_in_place");
/// No sandbox, a sandbox with a layer, a sandbox around the workspace itself.
const SANDBOXES: [Option<&str>; 3] = [None, Some(SANDBOX), Some(SANDBOX_IN_PLACE)];

/// Rules that would let everything pass, each in its own words.
const LET_ALL_PASS: [&str; 2] = [
    "[[rule]]\npermission = \"bash\"\npattern = \"python3*\"\naction = \"allow\"\n\
     [[rule]]\npermission = \"bash\"\npattern = \"launchctl*\"\naction = \"allow\"\n\
     [[rule]]\npermission = \"write\"\naction = \"allow\"\n",
    "[[rule]]\npermission = \"shell.run\"\npattern = \"python3 reach.py\"\naction = \"allow\"\n\
     [[rule]]\npermission = \"shell.run\"\npattern = \"launchctl load later.plist\"\naction = \"allow\"\n\
     [[rule]]\npermission = \"fs.write\"\npattern = \"**\"\naction = \"allow\"\n",
];

/// The command that the watchdog minds.
const LATER: &str = "launchctl load later.plist";

/// Plays a call in a workspace with a script that writes to a place outside, and returns the call and whether anything came
/// there.
async fn play_call(
    made: &Value,
    sandbox: Option<&str>,
    rules: &str,
    outside: &Path,
) -> (CallView, bool) {
    // Nobody is there to ask: a call that no rule allows is denied.
    let mut desk = Fixture::with_sandbox([made], HEADLESS, sandbox).await;
    let script = format!("open({:?}, 'w').write('out')\n", outside.display());
    desk.write_file("reach.py", script);
    desk.write_rules(rules);
    desk.play().await;
    let reached = std::fs::remove_file(outside).is_ok();
    (desk.only_call().await, reached)
}

/// The gates that said no, or would have asked. What goes by the mode alone is not among them where a rule speaks.
fn denying_gates(view: &CallView) -> Vec<Gate> {
    let steps = &view.trail.as_ref().unwrap().steps;
    let lets_pass = |gate| {
        let mut of_gate = steps.iter().filter(|step| step.gate == gate);
        of_gate.any(|step| step.verdict == Some(Verdict::Allow))
    };
    let against = steps.iter().filter(|step| {
        let speaks = step.gate != Gate::Mode || !lets_pass(Gate::Rules);
        speaks && step.verdict.is_some_and(|verdict| verdict > Verdict::Allow)
    });
    against.map(|step| step.gate).collect()
}

/// A folder for what must not come to be: on a disk, since `/tmp` is a sandbox's own.
fn outside_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// `S002-95`: each layer is effective alone: the other two have nothing to say against the same call, or are not there.
#[tokio::test]
async fn each_layer_keeps_out_alone_what_is_its_own() {
    let folder = outside_folder();
    let outside = folder.path().join("outside");
    let [let_all_pass, _] = LET_ALL_PASS;

    // A file outside, by a tool that no sandbox holds and no watchdog minds.
    let write = call_write(&outside, "out");
    let (view, reached) = play_call(&write, None, let_all_pass, &outside).await;
    assert_eq!((view.state, reached), (CallState::Denied, false));
    assert_eq!(denying_gates(&view), [Gate::Capability]);

    // Something that is to run later, which is in no place and which every rule lets pass.
    let later = call_bash(LATER);
    let (view, _) = play_call(&later, None, let_all_pass, &outside).await;
    assert_eq!(view.state, CallState::Denied);
    assert_eq!(denying_gates(&view), [Gate::Watchdog]);

    // A file outside, by a program that nobody can read that from: only the sandbox is in its way, and without one it
    // gets there.
    let script = call_bash("python3 reach.py");
    for sandbox in SANDBOXES {
        let (view, reached) = play_call(&script, sandbox, let_all_pass, &outside).await;
        assert_eq!(
            (view.state, reached),
            (CallState::Done, sandbox.is_none()),
            "{sandbox:?}"
        );
        assert_eq!(denying_gates(&view), [], "{sandbox:?}");
    }
}

/// `S002-96`: whatever the sandbox is, the capability check and the watchdog say the same; and whatever they are told
/// to let pass, and in whatever words, the sandbox holds.
#[tokio::test]
async fn one_layer_changes_and_the_others_stay_as_they_are() {
    let folder = outside_folder();
    let outside = folder.path().join("outside");
    let write = call_write(&outside, "out");
    let later = call_bash(LATER);
    let script = call_bash("python3 reach.py");
    for rules in LET_ALL_PASS {
        for (refused, gate) in [(&write, Gate::Capability), (&later, Gate::Watchdog)] {
            for sandbox in SANDBOXES {
                let (view, reached) = play_call(refused, sandbox, rules, &outside).await;
                assert_eq!(
                    (view.state, reached),
                    (CallState::Denied, false),
                    "{sandbox:?}"
                );
                assert_eq!(denying_gates(&view), [gate], "{sandbox:?} {rules}");
            }
        }
        for sandbox in [SANDBOX, SANDBOX_IN_PLACE] {
            let (view, reached) = play_call(&script, Some(sandbox), rules, &outside).await;
            assert_eq!(
                (view.state, reached),
                (CallState::Done, false),
                "{sandbox} {rules}"
            );
        }
    }
}
