//! Consequences of a call beyond the paths that it changes, where effects are judged (M24): content that git does not
//! have, commits that nothing holds any more, and what some program runs by itself later on.

use std::process::Command;

use agent::Host;
use protocol::event::{CallChange, EventBody};
use protocol::settings::Posture;
use protocol::{CallState, Decision, Settings};
use serde_json::{Value, json};
use support::{
    Fixture, HEADLESS, call_bash, call_tool, call_write, rule_text, say_text, shown_effects,
};

const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

/// A repository with two commits, a branch with one more, uncommitted changes, an ignored build and a file of its own.
const REPOSITORY: &str = "\
    git init -q -b main . && git config user.email a@b.example && git config user.name A && \
    printf 'target/\\n.env.local\\n' > .gitignore && printf 'one\\ntwo\\nthree\\n' > tracked && \
    echo 'crlf eol=crlf' > .git/info/attributes && printf 'one\\r\\ntwo\\r\\n' > crlf && git add . && git commit -qm 1 && \
    echo four >> tracked && git commit -qam 2 && \
    git switch -qc side HEAD~1 && echo side > side && git add . && git commit -qm 3 && git switch -q main && \
    git tag v1 HEAD~1 && git update-ref refs/remotes/origin/old v1 && printf 'mine\\nmine too\\n' > dirty && git add dirty && printf 'mine\\nnew work\\nmore work\\n' > dirty && \
    echo notes > untracked && mkdir -p target/debug && echo made > target/debug/app && echo K=1 > .env.local && \
    printf 'id,n\n1,4\n2,5\n3,6\n4,7\n' > rows.csv";

/// A desk over that repository, whose agent takes these turns where effects are judged.
pub(super) async fn open_repository(turns: impl IntoIterator<Item = Value>, host: Host) -> Fixture {
    let turns: Vec<Value> = turns.into_iter().chain([say_text("Done.")]).collect();
    let desk = Fixture::with_sandbox(turns, host, Some(SANDBOX)).await;
    run_in(&desk, REPOSITORY);
    let settings = Settings {
        posture: Some(Posture::AskAboutEffects),
        ..Settings::default()
    };
    desk.set_settings(settings).await;
    desk
}

/// Runs a command of a person in the workspace.
pub(super) fn run_in(desk: &Fixture, command: &str) {
    let ran = Command::new("sh")
        .args(["-c", command])
        .current_dir(desk.workspace_root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(ran.unwrap().success(), "{command}");
}

/// Plays one call and rejects it if it asks. Returns the reasons that its card shows; none if it passed.
pub(super) async fn ask_reason(turn: Value) -> Option<String> {
    let mut desk = open_repository([turn], Host::Person).await;
    desk.start("Go.").await;
    let is_settled = |body: &EventBody| match body {
        EventBody::Call { change, .. } => {
            matches!(
                change,
                CallChange::Waiting { .. } | CallChange::Ended { .. }
            )
        }
        _ => false,
    };
    desk.wait_for_event("a card or an outcome", is_settled)
        .await;
    let call = desk.only_call().await;
    if call.state != CallState::Waiting {
        assert_eq!(call.state, CallState::Done, "{:?}", call.outcome);
        return None;
    }
    desk.decide_call(&call, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    let trail = call.trail.unwrap();
    let steps = trail.steps.iter().filter(|step| step.verdict.is_some());
    let texts = steps
        .map(|step| step.text.as_str())
        .chain([trail.lead.as_str()]);
    Some(texts.collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn what_git_has_or_a_build_makes_is_no_loss() {
    for command in [
        "rm tracked",
        "rm crlf",
        "rm -r target",
        "echo changed > tracked",
        "mv untracked elsewhere",
        "echo more >> untracked",
        "echo 5,8 >> rows.csv",
        "rm side 2>/dev/null; git switch -q side && rm side",
        "git stash -q && git checkout -q stash@{0} -- dirty && git reset -q",
    ] {
        assert_eq!(ask_reason(call_bash(command)).await, None, "{command}");
    }
}

/// Whether a command asks in the repository after a person ran another.
pub(super) async fn is_asked_after(made: &str, command: &str) -> bool {
    let mut desk = open_repository([call_bash(command)], HEADLESS).await;
    run_in(&desk, made);
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    match outcomes[0].0 {
        CallState::Done => false,
        CallState::Denied => true,
        _ => panic!("{command}: {outcomes:?}"),
    }
}

/// A tag that the session made is its own, until somebody else moves it.
#[tokio::test]
async fn a_tag_of_the_session_may_be_moved_and_deleted() {
    let calls = ["git tag try", "git tag -f try HEAD~1", "git tag -d try"].map(call_bash);
    let mut desk = open_repository(calls, HEADLESS).await;
    desk.play().await;
    let states = desk.call_outcomes().await.into_iter().map(|it| it.0);
    assert_eq!(states.collect::<Vec<_>>(), [CallState::Done; 3]);

    let mut desk = open_repository([call_bash("git tag -d try")], HEADLESS).await;
    run_in(&desk, "git tag try");
    desk.play().await;
    assert_eq!(desk.call_outcomes().await[0].0, CallState::Denied);
}

/// What is staged is git's only as long as it stays staged.
#[tokio::test]
async fn staged_content_that_goes_with_its_entry_asks() {
    let made = "git stash -q && echo staged > new && git add new";
    for (command, is_asked) in [
        ("git rm -qf new", true),
        ("git reset -q --hard", true),
        ("rm new", false),
        ("git commit -qm new && git rm -q new", false),
    ] {
        assert_eq!(is_asked_after(made, command).await, is_asked, "{command}");
    }
}

/// A text is its lines in their order, and what a person added to it counts by itself.
#[tokio::test]
async fn a_text_that_is_put_in_another_order_or_back_asks() {
    let made = "printf 'd\\nc\\nb\\na\\n' > list && printf 'b,2\\na,1\\n' > other.csv && \
        printf 'one\\ntwo\\nthree\\n\\nfive\\nfour\\nfifth\\n' > tracked";
    for (command, is_asked) in [
        ("sort -o list list", true),
        ("sed -i '1i e' list", false),
        ("sort -o other.csv other.csv", false),
        ("sed -i '/^five/d' tracked", false),
        ("sed -i '/^fi/d' tracked", true),
    ] {
        assert_eq!(is_asked_after(made, command).await, is_asked, "{command}");
    }
}

/// A call that runs SQL on a database.
fn run_sql(statements: &str) -> String {
    format!(
        "python3 -c \"import sqlite3; d = sqlite3.connect('rows.db', isolation_level=None); \
        [d.execute(one) for one in '''{statements}'''.split(';')]\""
    )
}

/// Each row of a database counts, as each of a table in text does; what adds rows or keeps them elsewhere loses none.
#[tokio::test]
async fn a_row_of_a_database_that_goes_or_changes_asks() {
    let made = run_sql(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX i ON a (text); \
        CREATE TABLE b (name TEXT PRIMARY KEY, n INT) WITHOUT ROWID; \
        WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500) \
        INSERT INTO a SELECT n, hex(zeroblob(n * 10)) || n FROM c; \
        INSERT INTO b SELECT text, id FROM a",
    );
    for (statements, is_asked) in [
        ("SELECT count(*) FROM a", false),
        ("INSERT INTO a (text) VALUES ('more')", false),
        ("CREATE TABLE c (x); INSERT INTO c VALUES (1)", false),
        ("ALTER TABLE a RENAME COLUMN text TO words", false),
        ("DROP INDEX i; VACUUM", false),
        ("DELETE FROM a WHERE id = 250", true),
        ("UPDATE a SET text = text || 'x' WHERE id = 499", true),
        ("DELETE FROM b WHERE n = 300", true),
        ("UPDATE b SET n = 0 WHERE n = 77", true),
        ("DROP TABLE b", true),
    ] {
        let command = run_sql(statements);
        assert_eq!(
            is_asked_after(&made, &command).await,
            is_asked,
            "{statements}"
        );
    }
}

#[tokio::test]
async fn content_that_git_does_not_have_asks() {
    for (turn, expected) in [
        (
            call_bash("rm untracked"),
            "It takes away what is not in git: 1 file, 6 bytes (`untracked`).",
        ),
        (call_bash("git clean -qfd"), "`untracked`)"),
        (call_bash("echo x > untracked"), "(`untracked`)"),
        // Back to what was staged: the work since then is gone.
        (call_bash("git checkout -q -- dirty"), "(`dirty`)"),
        (call_bash("rm .env.local"), ".env.local"),
        (
            call_tool("delete_path", json!({ "path": "untracked" })),
            "(`untracked`)",
        ),
        (call_write("untracked", "all new\n"), "(`untracked`)"),
        // Most lines of a text may stay; of data, each row counts.
        (
            call_bash("sed -i '/^2,/d' rows.csv"),
            "It takes away what is not in git: 1 file, 21 bytes (`rows.csv`).",
        ),
    ] {
        let reason = ask_reason(turn.clone()).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {turn}"));
        assert!(reason.contains(expected), "{turn}: {reason}");
    }
}

/// The system's public files, devices that keep nothing, and the sandbox's own `/tmp` are nobody's.
#[tokio::test]
async fn what_every_process_touches_is_not_outside() {
    let command = "echo hi > /tmp/x && cat /tmp/x && head -c 4 /dev/urandom > /dev/null && \
        grep -c NAME /etc/os-release && git status --short";
    let mut desk = open_repository([call_bash(command)], Host::Person).await;
    desk.play().await;
    let call = desk.only_call().await;
    assert_eq!(call.state, CallState::Done, "{:?}", call.outcome);
    // That git looked at its files again is no change.
    assert_eq!(shown_effects(&call).changes, []);
    let mut outside = open_repository([call_bash("cat /etc/shadow")], Host::Person).await;
    outside.play().await;
    assert_eq!(outside.call_states().await, [CallState::Denied]);
}

#[tokio::test]
async fn what_the_session_wrote_itself_is_no_loss() {
    let turns = [
        call_write("plan.md", "one\n"),
        call_write("plan.md", "two\n"),
        call_bash("rm plan.md"),
    ];
    let mut desk = open_repository(turns, Host::Person).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 3]);
    assert_eq!(desk.read_file("plan.md"), None);
}

/// What a person wrote stays theirs where the session edits or moves it: two small steps lose it no more than one does.
#[tokio::test]
async fn an_edited_or_moved_file_does_not_become_the_sessions_own() {
    for first in ["echo more >> untracked", "mv untracked moved"] {
        let turns = [call_bash(first), call_bash("rm -f untracked moved")];
        let mut desk = open_repository(turns, HEADLESS).await;
        desk.play().await;
        let expected = [CallState::Done, CallState::Denied];
        assert_eq!(desk.call_states().await, expected, "{first}");
    }
}

#[tokio::test]
async fn everyday_commands_of_git_pass_and_are_undone_as_one() {
    for command in [
        "git status --short && git log --oneline && git diff",
        "git add . && git commit -qm more",
        "git stash -q && git stash pop -q",
        "git switch -qc topic",
        "git stash -q && git switch -q side && git rebase -q main && git switch -q main && git merge -q side",
        "git commit -q --amend -m better",
        "git switch -qc topic && git commit -q --allow-empty -m more",
        "git stash -q && git switch -q side",
        "git branch copy side",
        "git branch -m side topic && git branch copy && git branch -qd copy",
        "git switch -qc topic && git branch -q --set-upstream-to main",
        "git bisect start HEAD HEAD~1",
        "git bisect start --term-new=new --term-old=old && git bisect new && git bisect old HEAD~1",
        "git bisect start HEAD HEAD~1 && git bisect reset",
        "git bisect start --term-new=broken --term-old=fixed HEAD HEAD~1 -- tracked side",
        "git checkout -q --detach && git bisect start && git bisect bad && git bisect good HEAD~1",
        "git gc -q && git fsck",
        "git gc -q && git repack -qad && git commit -q --allow-empty -m more",
    ] {
        assert_eq!(ask_reason(call_bash(command)).await, None, "{command}");
    }
    let mut desk = open_repository(
        [call_bash("git add . && git commit -qm more")],
        Host::Person,
    )
    .await;
    let head = desk.read_file(".git/refs/heads/main");
    desk.play().await;
    assert_ne!(desk.read_file(".git/refs/heads/main"), head);
    let call = desk.only_call().await;
    desk.undo_call(&call).await;
    assert_eq!(desk.read_file(".git/refs/heads/main"), head);
}

#[tokio::test]
async fn commits_that_nothing_holds_any_more_ask() {
    for (command, expected) in [
        (
            "git reset -q --soft HEAD~1",
            "It drops 1 commit that only the branch `main` holds.",
        ),
        (
            "git branch -D side",
            "It drops 1 commit that only the branch `side` holds.",
        ),
        (
            "git checkout -q --orphan empty && git commit -qm empty && git branch -M empty main",
            "It drops 1 commit that only the branch `main` holds.",
        ),
        ("git tag -d v1", "It moves or deletes the tag `v1`."),
        (
            "git branch -qdr origin/old",
            "It forgets `origin/old`, a branch of a remote.",
        ),
        ("git replace HEAD HEAD~1", "It changes `.git/refs/replace"),
        (
            "git bisect start HEAD HEAD~1 -- tracked '$(id)'",
            "It changes `.git/BISECT_NAMES`.",
        ),
        // A stash holds the commit that it was made on no longer than it stays.
        (
            "git stash -q && git reset -q --soft HEAD~1",
            "It drops 1 commit that only the branch `main` holds.",
        ),
        (
            "git commit -q --amend --no-edit --author 'B <b@b.example>'",
            "It changes who wrote commits of the branch `main`.",
        ),
        ("git stash -q && git stash drop -q", "not in git"),
        (
            "git commit -qam more && git reset -q --hard HEAD~1",
            "not in git",
        ),
    ] {
        let reason = ask_reason(call_bash(command)).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {command}"));
        assert!(reason.contains(expected), "{command}: {reason}");
    }
}

/// Files that are not those of their branch take its changes back with the next commit, and nobody sees that hidden ones change.
#[tokio::test]
async fn a_checkout_that_is_not_what_git_shows_asks() {
    for (command, expected) in [
        (
            "git symbolic-ref HEAD refs/heads/side",
            "It goes to the branch `side` without its files.",
        ),
        (
            "git update-index --skip-worktree tracked",
            "It hides changes of `tracked` from Git.",
        ),
        (
            "git update-index --assume-unchanged tracked",
            "It hides changes of `tracked` from Git.",
        ),
    ] {
        let reason = ask_reason(call_bash(command)).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {command}"));
        assert!(reason.contains(expected), "{command}: {reason}");
    }
}

/// A commit that goes from a branch is missed there, though another branch has it.
#[tokio::test]
async fn a_rebase_that_leaves_a_commit_out_asks() {
    let made = "git stash -q && git branch old && git commit -q --allow-empty -m 3";
    assert!(is_asked_after(made, "git rebase -q --onto HEAD~2 HEAD~1").await);
    assert!(!is_asked_after(made, "git rebase -q side").await);
}

/// A repack moves objects to other files; what nothing leads to stays until it is pruned.
#[tokio::test]
async fn objects_that_are_in_no_file_any_more_ask() {
    let made = "git commit -q --allow-empty -m more && git reset -q --soft HEAD~1";
    let prune = "git reflog expire --expire=now --all && git gc -q --prune=now";
    assert!(!is_asked_after(made, "git gc -q && git fsck").await);
    assert!(is_asked_after(made, prune).await);
    let packed = format!("git gc -q && {made}");
    assert!(!is_asked_after(&packed, "git repack -qad").await);
    assert!(is_asked_after(&packed, "rm .git/objects/pack/*.idx").await);
}

#[tokio::test]
async fn a_commit_that_only_a_bisection_holds_asks() {
    let turns = [
        "git stash -q && git checkout -q --detach && git commit -q --allow-empty -m loose && \
            git bisect start HEAD HEAD~2",
        "git bisect reset main",
    ];
    let mut desk = open_repository(turns.map(call_bash), HEADLESS).await;
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    let states: Vec<CallState> = outcomes.iter().map(|outcome| outcome.0).collect();
    assert_eq!(states, [CallState::Done, CallState::Denied], "{outcomes:?}");
    let text = &outcomes[1].1;
    assert!(text.contains("commits that no branch holds"), "{text}");
}

#[tokio::test]
async fn rights_that_widen_or_go_ask() {
    for (command, expected) in [
        (
            "chmod 666 tracked rows.csv",
            "It lets everyone on this machine write to `rows.csv` and 1 more.",
        ),
        (
            "chmod 000 untracked",
            "It takes away the right to read `untracked`.",
        ),
    ] {
        let reason = ask_reason(call_bash(command)).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {command}"));
        assert!(reason.contains(expected), "{command}: {reason}");
    }
    assert_eq!(
        ask_reason(call_bash("chmod 444 tracked && chmod +x dirty")).await,
        None
    );
}

#[tokio::test]
async fn a_large_part_of_the_files_asks() {
    let many = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n > file$n; done && git add . && git commit -qm many";
    let half = "for n in 1 2 3 4 5 6; do echo more >> file$n; done";
    let all = "for n in 1 2 3 4 5 6 7 8 9 10; do echo more >> file$n; done";
    let turns = [many, half, all].map(call_bash);
    let mut desk = open_repository(turns, HEADLESS).await;
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    let states: Vec<CallState> = outcomes.iter().map(|outcome| outcome.0).collect();
    assert_eq!(
        states,
        [CallState::Done, CallState::Done, CallState::Denied],
        "{outcomes:?}"
    );
}

/// A command may name a secret, and a wildcard may stand for one: the sandbox masks it, so only reading it asks.
#[tokio::test]
async fn a_secret_that_is_named_and_not_read_does_not_ask() {
    for command in [
        "test -f .env.local && git check-ignore -v .env.local target",
        "ls -a * > /dev/null && wc -l t*",
        "touch /tmp/part-a && ls /tmp/part-* && rm /tmp/part-*",
    ] {
        assert_eq!(ask_reason(call_bash(command)).await, None, "{command}");
    }
    for command in [
        "cat .env.local",
        "cat .env*",
        "cp .env.local copy",
        "git add -f .env.local",
        "rm .env*",
    ] {
        assert!(ask_reason(call_bash(command)).await.is_some(), "{command}");
    }
}

/// Git's settings may be changed once they were looked at, even where a rule lets the command through, but for those that
/// could run a program.
#[tokio::test]
async fn settings_of_git_ask_or_are_denied() {
    let fork = "git remote add fork https://git.example/a.git";
    for (command, names) in [
        (fork, "`remote.fork.fetch`, `remote.fork.url`"),
        ("git config user.email b@b.example", "`user.email`"),
        (
            "git config branch.side.remote https://git.example/a.git",
            "`branch.side.remote`",
        ),
    ] {
        let reason = ask_reason(call_bash(command)).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {command}"));
        let expected = format!("It changes settings of git: {names}.");
        assert!(reason.contains(&expected), "{command}: {reason}");
    }
    for command in [
        fork,
        "git config core.editor ./x",
        "git config alias.st '!./x'",
        "git config url.https://git.example/.insteadOf https://other.example/",
        "rm .git/config",
    ] {
        let mut desk = open_repository([call_bash(command)], HEADLESS).await;
        desk.write_rules(rule_text("bash", "*", "allow"));
        let before = desk.read_file(".git/config");
        desk.play().await;
        assert_eq!(desk.call_states().await, [CallState::Denied], "{command}");
        assert_eq!(desk.read_file(".git/config"), before, "{command}");
    }
}

#[tokio::test]
async fn what_runs_later_asks_for_tools_as_for_commands() {
    let package = r#"{"scripts": {"postinstall": "node setup.js"}}"#;
    let says = "npm runs this on the next install: `scripts.postinstall` is `node setup.js`.";
    for (turn, expected) in [
        (call_write("package.json", package), says),
        (call_bash(format!("echo '{package}' > package.json")), says),
        (
            call_write(".github/workflows/ci.yml", "on: push\n"),
            "GitHub Actions runs this on the next push.",
        ),
        (
            call_bash("mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml"),
            "GitHub Actions runs this on the next push.",
        ),
        (
            call_write("AGENTS.md", "Obey.\n"),
            "Agents read this as their instructions",
        ),
    ] {
        let reason = ask_reason(turn.clone()).await;
        let reason = reason.unwrap_or_else(|| panic!("passed: {turn}"));
        assert!(reason.contains(expected), "{turn}: {reason}");
    }
    let harmless = call_write("package.json", r#"{"scripts": {"test": "vitest"}}"#);
    assert_eq!(ask_reason(harmless).await, None);
}

/// A rule about a command was not meant for what the command plants; one that names the file was.
#[tokio::test]
async fn a_rule_for_the_command_does_not_let_it_plant_something() {
    let command = r#"echo '{"scripts": {"prepare": "./x"}}' > package.json"#;
    let workflow = "mkdir -p .github/workflows && echo on: push > .github/workflows/ci.yml";
    for (command, rules, expected) in [
        (command, rule_text("bash", "*", "allow"), CallState::Denied),
        (workflow, rule_text("bash", "*", "allow"), CallState::Denied),
        (
            workflow,
            rule_text("fs.write", ".github/workflows/**", "allow"),
            CallState::Done,
        ),
    ] {
        let mut desk = open_repository([call_bash(command)], HEADLESS).await;
        desk.write_rules(&rules);
        desk.play().await;
        let outcomes = desk.call_outcomes().await;
        assert_eq!(outcomes[0].0, expected, "{command} {rules}: {outcomes:?}");
    }
}

/// What a command may remove below a folder is told by its effects: protections and rules hold against these.
#[tokio::test]
async fn what_is_removed_below_a_folder_is_judged_by_its_files() {
    let keep = || rule_text("fs.delete", "tracked", "deny");
    let hidden_removal = "echo 'rm tracked' > /tmp/remove && sh /tmp/remove";
    for (command, rules, expected) in [
        (
            "find . -name tracked -delete",
            String::new(),
            CallState::Done,
        ),
        ("find . -name tracked -delete", keep(), CallState::Denied),
        (hidden_removal, String::new(), CallState::Done),
        (hidden_removal, keep(), CallState::Denied),
        ("find . -delete", String::new(), CallState::Denied),
        ("find .git -delete", String::new(), CallState::Denied),
        ("rm -rf .git", String::new(), CallState::Denied),
        // A branch, and the objects of the repository.
        (
            "find . -name side -delete",
            String::new(),
            CallState::Denied,
        ),
        (
            "find . -name pack -delete",
            String::new(),
            CallState::Denied,
        ),
    ] {
        let mut desk = open_repository([call_bash(command)], Host::Person).await;
        desk.write_rules(&rules);
        desk.play().await;
        let outcomes = desk.call_outcomes().await;
        assert_eq!(outcomes[0].0, expected, "{command} {rules}: {outcomes:?}");
    }
}

/// Where no sandbox comes first, what may be removed counts.
#[tokio::test]
async fn removals_below_a_folder_are_denied_where_commands_run_for_real() {
    let mut desk = open_repository([call_bash("find . -name tracked -delete")], Host::Person).await;
    desk.set_settings(Settings::default()).await;
    desk.play().await;
    assert_eq!(desk.call_states().await, [CallState::Denied]);
}
