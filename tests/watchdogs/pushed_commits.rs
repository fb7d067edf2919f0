//! Known secrets in commits: a push asks by name before the remote has them, and never afterwards.

use std::process::Command;

use protocol::{CallState, Gate, Verdict};
use support::{Fixture, HEADLESS, call_bash, rule_text, say_text};

const ENV: &str = "API_KEY=qX7pL2mZ9vRt4KwS\n";

/// A repository whose remote has its first commit. `.env` is not in it.
const REPOSITORY: &str = "\
    git init -q -b main . && git config user.email a@b.example && git config user.name A && \
    printf '.env\\n' > .gitignore && echo one > a.txt && git add . && git commit -qm 1 && \
    git update-ref refs/remotes/origin/main HEAD";

/// Runs a command of a test in the workspace.
fn run(desk: &Fixture, command: &str) {
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(desk.workspace_root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(status.unwrap().success(), "{command}");
}

/// Plays a push where nobody is there and every command is allowed, after `made` was run in the repository. Returns its
/// state and the sentences of the watchdogs that deny it.
async fn push(made: &str, command: &str) -> (CallState, Vec<String>) {
    let turns = [call_bash(command), say_text("Done.")];
    let mut desk = Fixture::with_host(turns, HEADLESS).await;
    desk.write_file(".env", ENV);
    run(&desk, REPOSITORY);
    run(&desk, made);
    desk.write_rules(rule_text("bash", "git **", "allow"));
    desk.play().await;
    let call = desk.only_call().await;
    let trail = call.trail.unwrap();
    let alarms = trail
        .steps
        .iter()
        .filter(|step| step.gate == Gate::Watchdog && step.verdict == Some(Verdict::Deny));
    (call.state, alarms.map(|step| step.text.clone()).collect())
}

#[tokio::test]
async fn a_push_asks_about_a_secret_in_the_name_of_a_branch_or_a_tag() {
    let says =
        "It pushes the secret `API_KEY` in `.env`, which stands in the name of a branch or a tag.";
    let (branch, tag) = (
        "git branch fix/qX7pL2mZ9vRt4KwS",
        "git tag qX7pL2mZ9vRt4KwS",
    );
    let renamed = "git push origin HEAD:refs/heads/fix/qX7pL2mZ9vRt4KwS";
    for (made, command, is_asked) in [
        (":", renamed, true),
        (branch, "git push --all", true),
        (tag, "git push --tags", true),
        ("git branch fix/key", "git push --all", false),
    ] {
        let (_, alarms) = push(made, command).await;
        let expected = if is_asked { &[says][..] } else { &[] };
        assert_eq!(alarms, expected, "{made}; {command}");
    }
}

#[tokio::test]
async fn a_push_asks_about_a_secret_in_commits_that_the_remote_does_not_have() {
    let asks = |place: &str| {
        vec![format!(
            "It pushes the secret `API_KEY` in `.env`, which stands in {place} of a commit that the remote does not have."
        )]
    };
    let commit = |content: &str, message: &str| {
        format!(
            "mkdir -p src && echo '{content}' > src/a.js && git add . && git commit -qm '{message}'"
        )
    };
    let secret = commit("key = \"qX7pL2mZ9vRt4KwS\"", "2");
    let is_pushed = |made: &str, remote: &str| {
        format!(
            "{made} && git update-ref refs/remotes/{remote}/main HEAD && echo two > b && git add . && git commit -qm 3"
        )
    };
    for (made, command, expected) in [
        (secret.clone(), "git push", asks("`src/a.js`")),
        // What a later commit takes out again is pushed all the same.
        (
            format!("{secret} && {}", commit("key", "3")),
            "git push origin main",
            asks("`src/a.js`"),
        ),
        (
            commit("cVg3cEwybVo5dlJ0NEt3Uw==", "2"),
            "git push",
            asks("`src/a.js`"),
        ),
        (
            commit("key", "it is qX7pL2mZ9vRt4KwS"),
            "git push",
            asks("the message"),
        ),
        // Another remote has none of it.
        (
            is_pushed(&secret, "origin"),
            "git push fork main",
            asks("`src/a.js`"),
        ),
        (
            is_pushed(&secret, "origin"),
            "git push origin main",
            Vec::new(),
        ),
        (is_pushed(&secret, "origin"), "git push", Vec::new()),
        (commit("key", "2"), "git push", Vec::new()),
        (secret.clone(), "git stash push", Vec::new()),
    ] {
        let (state, alarms) = push(&made, command).await;
        assert_eq!(alarms, expected, "{command} after {made}");
        let is_denied = state == CallState::Denied;
        assert_eq!(
            is_denied,
            !expected.is_empty(),
            "{command} after {made}: {state:?}"
        );
    }
}
