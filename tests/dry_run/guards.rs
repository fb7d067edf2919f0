//! What protects a project and its people: guards that a change takes away, rows of data that say something else, and who
//! a commit is by.

use agent::Host;
use protocol::{CallState, Decision};
use serde_json::json;
use support::{call_bash, call_tool, call_write};

use super::consequences::{ask_reason, is_asked_after, open_repository, run_in};

/// Files of a project that a person committed.
const PROJECT: &str = "\
    mkdir -p .github src data && printf '* @a\\n/src @security\\n' > .github/CODEOWNERS && \
    printf 'verify_tls: bool = True\\n' > src/config.py && \
    printf 'def check_token(a):\\n    if not a:\\n        return False\\n    return a == known()\\n' > src/auth.py && \
    printf 'requests==2.32.3 --hash=sha256:aa11\\n' > requirements.txt && \
    printf 'id,limit\\n1,4.5\\n2,2.8\\n' > data/limits.csv && \
    git add .github src data requirements.txt && git commit -qm project -- .github src data requirements.txt";

/// Whether a command asks in the project.
async fn is_asked(command: &str) -> bool {
    is_asked_after(PROJECT, command).await
}

#[tokio::test]
async fn a_guard_that_is_taken_away_asks() {
    for command in [
        "sed -i '/security/d' .github/CODEOWNERS",
        "rm .github/CODEOWNERS",
        "sed -i s/True/False/ src/config.py",
        "sed -i s/True/False/ src/config.py && git commit -qam tls",
        "sed -i 's/return False/return True/' src/auth.py",
        "sed -i 's/aa11/bb22/' requirements.txt",
    ] {
        assert!(is_asked(command).await, "{command}");
    }
    for command in [
        "echo '/data @b' >> .github/CODEOWNERS",
        "git mv src/auth.py src/tokens.py",
        "mkdir tests && echo 'verify_tls = False' > tests/config.py",
        // What git had is no change of anybody's.
        "git switch -q side && git switch -q main",
    ] {
        assert!(!is_asked(command).await, "{command}");
    }
    let reason = ask_reason(call_write("src/config.py", "require_login = False\n")).await;
    let says = "The next run does without a check of identity, rights, or encryption: `require_login = False`.";
    assert!(reason.unwrap().contains(says));
}

#[tokio::test]
async fn rows_of_data_that_git_has_ask_when_they_go() {
    for command in [
        "sed -i 's/4.5/9.5/' data/limits.csv",
        "sed -i '$d' data/limits.csv && git commit -qam less",
    ] {
        assert!(is_asked(command).await, "{command}");
    }
    assert!(!is_asked("echo 3,1.1 >> data/limits.csv").await);

    let own = [
        call_write("data/own.csv", "id\n1\n"),
        call_write("data/own.csv", "id\n2\n"),
    ];
    let mut desk = open_repository(own, Host::Person).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 2]);
}

/// A cell is a small part of a notebook and all of somebody's work.
#[tokio::test]
async fn a_cell_that_git_does_not_have_asks_when_it_goes() {
    let notebook = json!({
        "cells": [
            {"cell_type": "code", "id": "one", "metadata": {}, "outputs": [], "execution_count": null, "source": "import a"},
            {"cell_type": "code", "id": "two", "metadata": {}, "outputs": [], "execution_count": null, "source": "b = 1\nb += 2"},
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    });
    let delete =
        json!({"path": "a.ipynb", "cell_id": "two", "edit_mode": "delete", "new_source": ""});
    let mut desk = open_repository([call_tool("notebook_edit", delete)], Host::Person).await;
    desk.write_file("a.ipynb", notebook.to_string());
    desk.start("Go.").await;
    let call = desk.wait_for_call().await;
    desk.decide_call(&call, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
}

#[tokio::test]
async fn a_commit_in_anothers_name_and_a_branch_that_others_work_on_ask() {
    for (command, expected) in [
        (
            "git commit -q --allow-empty -m reviewed --author 'B <b@b.example>'",
            "It writes a commit in the name of B <b@b.example>.",
        ),
        (
            "git commit -q --allow-empty -m old --date 2020-01-01T00:00:00",
            "It writes a commit with a time that is far from now.",
        ),
        (
            "export GIT_AUTHOR_DATE=2020-01-01T00:00:00 GIT_COMMITTER_DATE=2020-01-01T00:00:00 && git commit -q --allow-empty -m old",
            "It writes a commit with a time that is far from now.",
        ),
        (
            "git commit -q --allow-empty -m ready -m 'Reviewed-by: B <b@b.example>'",
            "It writes a commit that B <b@b.example> is said to have approved.",
        ),
        (
            "git branch -q keep && git checkout -q side && git branch -qf main v1",
            "It moves the branch `main`, which others work on, to another commit.",
        ),
        (
            "git branch -m main trunk",
            "It moves the branch `main`, which others work on, to another commit.",
        ),
    ] {
        let reason = ask_reason(call_bash(command)).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {command}"));
        assert!(reason.contains(expected), "{command}: {reason}");
    }
    // Those that were there are made anew in their authors' names.
    let theirs = "git stash -q && git switch -q side && \
         git commit -q --allow-empty -m theirs --author 'B <b@b.example>' --date 2020-01-01T00:00:00 && git switch -q main";
    for command in [
        "echo own > own && git add own && git commit -qm own",
        "git commit -q --allow-empty -s -m own -m 'Co-authored-by: B <b@b.example>'",
        "git cherry-pick --allow-empty side",
        "git merge -q side",
        "git rebase -q main side",
    ] {
        assert!(!is_asked_after(theirs, command).await, "{command}");
    }
}

/// Work that a person did not commit may be committed for them, but not shown to others.
#[tokio::test]
async fn a_push_of_what_somebody_else_left_in_the_folder_asks() {
    let remote = "git init -q --bare remote.git && echo /remote.git >> .git/info/exclude && git remote add origin ./remote.git";
    for (command, is_asked) in [
        ("git add -A && git commit -qm all", false),
        (
            "git add -A && git commit -qm all && git push -q origin HEAD",
            true,
        ),
        (
            "echo own > own && git add own && git commit -qm own && git push -q origin HEAD",
            false,
        ),
        ("git commit -qam all && git push -q origin HEAD", false),
    ] {
        assert_eq!(is_asked_after(remote, command).await, is_asked, "{command}");
    }
}

/// A search that comes upon a secret leaves it out, as the file tools' own does.
#[tokio::test]
async fn a_search_leaves_secrets_out() {
    for command in [
        "grep -rn mine .",
        "grep -rn mine . | head -3; grep -rc one tracked",
    ] {
        assert_eq!(ask_reason(call_bash(command)).await, None, "{command}");
    }
    for command in [
        "grep -rn K= . --include='.env*'; cat .env.local",
        "grep -rn K= --include=.env.local .",
        "grep -n K= .env.local",
        "grep -rn mine . > found",
        "python3 -c \"print(open('.env.local').read())\"",
    ] {
        assert!(ask_reason(call_bash(command)).await.is_some(), "{command}");
    }
    let mut desk = open_repository([call_bash("grep -rn K= .; true")], Host::Person).await;
    run_in(&desk, "echo K=2 > found");
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done);
    assert!(text.contains("K=2") && !text.contains("K=1"), "{text}");
}
