//! Calls that a program outside runs itself: judged, shown and recorded like any other, and undone.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    AgentToolReach, DelegatedCall, DelegatedResult, DelegatedRun, DelegatedTool, DelegatedVerdict,
    ExternalClient, Host,
};
use protocol::event::ClientInfo;
use protocol::settings::{HookPoint, HookSettings};
use protocol::{CallState, CallView, Decision, Preview, Settings};
use runtime::TerminalEnv;
use serde_json::{Value, json};
use support::{Fixture, expect_variant, say_text};
use tokio_util::sync::CancellationToken;

/// A desk with a program outside, in a workspace with a file.
async fn open_desk(sandbox: Option<&str>) -> (Fixture, Arc<ExternalClient>) {
    let mut desk = Fixture::with_sandbox([say_text("No model asks.")], Host::Person, sandbox).await;
    desk.write_file("a", "one\ntwo\nthree\n");
    let info = ClientInfo {
        name: "Agent".to_owned(),
        version: "1".to_owned(),
        by: "its hooks".to_owned(),
        session: "s1".to_owned(),
        token: String::new(),
    };
    let root = desk.workspace_root();
    let client = desk.engine.open_client(&root, info).await.unwrap();
    desk.session = client.session().clone();
    (desk, client)
}

fn own_call(tool: &str, arguments: Value) -> DelegatedCall {
    DelegatedCall {
        tool: DelegatedTool::Own(tool.to_owned()),
        arguments: expect_variant!(arguments, Value::Object(members) => members),
        can_fetch: true,
    }
}

fn edit_call() -> DelegatedCall {
    own_call(
        "edit",
        json!({ "path": "a", "old_string": "one", "new_string": "1" }),
    )
}

fn write_call(text: &str) -> DelegatedCall {
    own_call("write", json!({ "path": "a", "content": text }))
}

async fn judge(client: &Arc<ExternalClient>, call: DelegatedCall) -> DelegatedVerdict {
    client.judge(call, &CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn an_approved_call_is_run_by_its_program_and_undone() {
    let (mut desk, client) = open_desk(None).await;
    let verdict = judge(&client, edit_call()).await;
    let (call, run) =
        expect_variant!(verdict, DelegatedVerdict::Approved { call, run } => (call, run));
    assert_eq!(run, DelegatedRun::AsRequested);
    let before = desk.read_file("a").unwrap();
    assert!(
        before.starts_with("one"),
        "the program runs it, nobody else"
    );
    desk.write_file("a", before.replacen("one", "1", 1));

    let result = DelegatedResult::Succeeded("edited".to_owned());
    let reported = client.report(&call, result.clone()).await.unwrap().unwrap();
    assert_eq!(reported.outcome.state, CallState::Done);
    assert_eq!(reported.outcome.text, "edited");
    assert!(
        client.report(&call, result).await.unwrap().is_none(),
        "only once"
    );

    let view = desk.only_call().await;
    desk.undo_call(&view).await;
    assert_eq!(desk.read_file("a").unwrap(), before);
}

/// The card of a notebook's cell shows its difference, though the call names the cell alone.
#[tokio::test]
async fn a_cell_of_a_notebook_is_shown_as_its_difference() {
    let (mut desk, client) = open_desk(None).await;
    desk.write_rules(support::rule_text("fs.write", "*.ipynb", "ask"));
    let cell = |source: &str| {
        format!(
            "  {{\n   \"cell_type\": \"raw\",\n   \"metadata\": {{}},\n   \"source\": \"{source}\"\n  }}"
        )
    };
    let (one, two) = (cell("one"), cell("two"));
    desk.write_file(
        "n.ipynb",
        format!("{{\n \"cells\": [\n{one},\n{two}\n ],\n \"metadata\": {{}}\n}}\n"),
    );
    let arguments = json!({ "path": "n.ipynb", "cell_id": "cell-1", "new_source": "three" });
    let call = own_call("notebook_edit", arguments);
    let (verdict, card) = tokio::join!(judge(&client, call), desk.allow_next());
    let files = expect_variant!(&card.preview, Preview::Diff { files } => files);
    assert_eq!(
        (files[0].path.as_str(), files[0].added, files[0].removed),
        ("n.ipynb", 1, 1)
    );
    let run = expect_variant!(verdict, DelegatedVerdict::Approved { run, .. } => run);
    assert_eq!(run, DelegatedRun::AsRequested);
}

#[tokio::test]
async fn a_person_rejects_with_words_that_the_program_gets() {
    let (mut desk, client) = open_desk(None).await;
    desk.write_rules(support::rule_text("edit", "*", "ask"));
    let (verdict, _) = tokio::join!(judge(&client, edit_call()), desk.reject_next("Use b."));
    let ended = expect_variant!(verdict, DelegatedVerdict::Ended(ended) => ended);
    assert_eq!(ended.outcome.state, CallState::Rejected);
    assert!(
        ended.outcome.text.contains("Use b."),
        "{}",
        ended.outcome.text
    );
}

/// What the person made of the call is not what the program would run: it is done here, and the program is told.
#[tokio::test]
async fn a_call_that_the_person_changed_runs_here() {
    let (mut desk, client) = open_desk(None).await;
    desk.write_rules(support::rule_text("write", "*", "ask"));
    let arguments = json!({ "path": "a", "content": "by hand\n" });
    let answer = async {
        desk.edit_next(arguments).await;
        desk.allow_next().await;
    };
    let (verdict, ()) = tokio::join!(judge(&client, write_call("1\n")), answer);
    let ended = expect_variant!(verdict, DelegatedVerdict::Ended(ended) => ended);
    assert_eq!(ended.outcome.state, CallState::Done, "{:?}", ended.outcome);
    assert_eq!(desk.read_file("a").unwrap(), "by hand\n");

    // A part of the change alone, too: the first of two hunks.
    let between = "line\n".repeat(20);
    let text = |first: &str, last: &str| format!("{first}\n{between}{last}\n");
    desk.write_file("a", text("one", "seven"));
    let answer = desk.decide_next(Decision::Allow {
        hunks: Some(vec![0]),
        note: String::new(),
        always: None,
    });
    let (verdict, _) = tokio::join!(judge(&client, write_call(&text("1", "7"))), answer);
    let ended = expect_variant!(verdict, DelegatedVerdict::Ended(ended) => ended);
    assert_eq!(ended.outcome.state, CallState::Done, "{:?}", ended.outcome);
    assert_eq!(desk.read_file("a").unwrap(), text("1", "seven"));
}

/// A program that goes away takes its question with it.
#[tokio::test]
async fn a_question_ends_with_its_program() {
    let (mut desk, client) = open_desk(None).await;
    desk.write_rules(support::rule_text("edit", "*", "ask"));
    let gone = CancellationToken::new();
    let asking = client.judge(edit_call(), &gone);
    let leaving = async {
        desk.wait_for_call().await;
        gone.cancel();
    };
    let (verdict, ()) = tokio::join!(asking, leaving);
    let ended = expect_variant!(verdict.unwrap(), DelegatedVerdict::Ended(ended) => ended);
    assert_ne!(ended.outcome.state, CallState::Done);
    // So does one that is dropped without a word.
    let dropped = tokio::time::timeout(Duration::from_millis(500), judge(&client, edit_call()));
    assert!(dropped.await.is_err(), "it waited");
    client.close().await.unwrap();
    assert_eq!(desk.snapshot().await.desk.len(), 0);
    assert!(desk.read_file("a").unwrap().starts_with("one"));
}

/// A call that ended without a report is not open any more: nobody waits for it.
#[tokio::test]
async fn a_call_that_ended_waits_for_no_report() {
    let (_desk, client) = open_desk(None).await;
    let verdict = judge(&client, edit_call()).await;
    let call = expect_variant!(verdict, DelegatedVerdict::Approved { call, .. } => call);
    assert!(client.is_approved(&call) && client.has_approved_calls());
    client.close().await.unwrap();
    assert!(!client.is_approved(&call) && !client.has_approved_calls());
}

#[tokio::test]
async fn a_tool_of_the_program_asks_unless_it_is_its_own_matter() {
    let (mut desk, client) = open_desk(None).await;
    let tool = |name: &str, reach| DelegatedCall {
        tool: DelegatedTool::Foreign {
            namespace: "hub".to_owned(),
            name: name.to_owned(),
            reach,
        },
        arguments: [("title".to_owned(), json!("x"))].into_iter().collect(),
        can_fetch: true,
    };
    let notes = judge(&client, tool("notes", AgentToolReach::Agent)).await;
    assert!(
        matches!(notes, DelegatedVerdict::Approved { .. }),
        "{notes:?}"
    );
    let create = tool("create_issue", AgentToolReach::Unknown);
    let (verdict, card) = tokio::join!(judge(&client, create), desk.allow_next());
    assert_eq!(card.call.name, "hub__create_issue");
    assert!(
        matches!(verdict, DelegatedVerdict::Approved { .. }),
        "{verdict:?}"
    );
}

fn terminal(variables: &[(&str, &str)]) -> TerminalEnv {
    let variables = variables.iter();
    let path = std::env::var("PATH").map(|path| ("PATH".to_owned(), path));
    variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .chain(path)
        .collect()
}

/// What checks the calls of a program does not run in the environment of the program's terminal.
#[cfg(unix)]
#[tokio::test]
async fn a_hook_has_the_environment_of_the_app() {
    use std::os::unix::fs::PermissionsExt as _;

    let (desk, client) = open_desk(None).await;
    let heard = desk.data_dir().canonicalize().unwrap().join("heard");
    let program = heard.with_file_name("hook");
    let script = format!(
        "#!/bin/sh\necho ${{JULIA_PROJECT-none}} > {}\n",
        heard.display()
    );
    std::fs::write(&program, script + "echo '{\"verdict\":\"allow\"}'\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hook = HookSettings {
        name: "audit".to_owned(),
        program: program.display().to_string(),
        on: vec![HookPoint::Before],
        timeout_ms: 60_000,
    };
    desk.set_settings(Settings {
        hooks: vec![hook],
        ..Settings::default()
    })
    .await;
    client.set_terminal_env(terminal(&[("JULIA_PROJECT", "the agent's")]));
    let verdict = judge(&client, own_call("read", json!({ "path": "a" }))).await;
    assert!(
        matches!(verdict, DelegatedVerdict::Approved { .. }),
        "{verdict:?}"
    );
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), "none\n");
}

#[cfg(target_os = "linux")]
mod commands {
    use protocol::settings::Posture;
    use protocol::view::preview::{CommandPreview, UndoAvailability};

    use super::*;

    const SANDBOX: &str = env!("CARGO_BIN_EXE_sandbox_program");

    async fn approved_command(
        desk: &mut Fixture,
        client: &Arc<ExternalClient>,
    ) -> (protocol::CallId, protocol::Digest) {
        let command = "echo more >> a; printf out; printf err >&2; exit 4";
        let call = own_call("bash", json!({ "command": command }));
        let answer = async {
            let asked = desk.wait_for_call().await;
            desk.decide_call(&asked, Decision::DryRun).await.unwrap();
            desk.allow_next().await
        };
        let (verdict, _) = tokio::join!(judge(client, call), answer);
        let (call, run) =
            expect_variant!(verdict, DelegatedVerdict::Approved { call, run } => (call, run));
        (
            call,
            expect_variant!(run, DelegatedRun::Fetch { digest } => digest),
        )
    }

    #[tokio::test]
    async fn a_command_is_committed_when_its_output_is_fetched() {
        let (mut desk, client) = open_desk(Some(SANDBOX)).await;
        let before = desk.read_file("a").unwrap();
        let (call, digest) = approved_command(&mut desk, &client).await;
        assert_eq!(desk.read_file("a").unwrap(), before);

        let other = protocol::Digest::from_bytes(b"other");
        client.fetch(&call, &other).await.unwrap_err();
        assert_eq!(desk.read_file("a").unwrap(), before);

        let streams = client.fetch(&call, &digest).await.unwrap();
        assert_eq!(
            (streams.stdout, streams.stderr),
            (b"out".to_vec(), b"err".to_vec())
        );
        assert_eq!(streams.exit, runtime::CommandExit::Code(4));
        assert_eq!(desk.read_file("a").unwrap(), format!("{before}more\n"));
        client.fetch(&call, &digest).await.unwrap_err();

        let view = desk.only_call().await;
        let outcome = view.outcome.clone().unwrap();
        assert!(outcome.text.contains("outerr"), "{}", outcome.text);
        desk.undo_call(&view).await;
        assert_eq!(desk.read_file("a").unwrap(), before);
    }

    /// What a command prints in a dry run that nobody fetches.
    async fn try_command(
        desk: &mut Fixture,
        client: &Arc<ExternalClient>,
        command: &str,
    ) -> CallView {
        let gone = CancellationToken::new();
        let call = own_call("bash", json!({ "command": command }));
        let judging = client.judge(call, &gone);
        let leaving = async {
            let asked = desk.wait_for_call().await;
            desk.decide_call(&asked, Decision::DryRun).await.unwrap();
            let tried = desk.wait_for_call().await;
            gone.cancel();
            tried
        };
        tokio::join!(judging, leaving).1
    }

    /// A command runs with the variables of its program's terminal, chosen as the app's are, and with those that were
    /// there last. What they name as credentials is masked.
    #[tokio::test]
    async fn a_command_has_the_environment_of_its_programs_terminal() {
        let (mut desk, client) = open_desk(Some(SANDBOX)).await;
        desk.write_file("kube", "inside\n");
        let credential = desk.workspace_root().join("kube").display().to_string();
        let command = "cat kube; echo ${NODE_ENV-none} ${OPENAI_API_KEY-none}";
        for (variables, expected) in [
            (
                &[("NODE_ENV", "test"), ("OPENAI_API_KEY", "held")][..],
                "inside\ntest none\n",
            ),
            (&[("NODE_ENV", "production")], "inside\nproduction none\n"),
            (&[("KUBECONFIG", &credential)], "none none\n"),
        ] {
            client.set_terminal_env(terminal(variables));
            let tried = try_command(&mut desk, &client, command).await;
            let shown = expect_variant!(tried.preview, Preview::Effects(shown) => shown);
            let printed: String = shown
                .effects
                .output
                .iter()
                .map(|span| span.text.as_str())
                .collect();
            assert!(printed.ends_with(expected), "{printed}");
            let is_masked = !printed.contains("inside");
            let refused = shown.effects.refused_secrets();
            assert_eq!(is_masked, expected == "none none\n", "{printed}");
            assert_eq!(refused.is_empty(), !is_masked, "{refused:?}");
        }
    }

    /// A command that its agent runs itself, in a desk that asks about effects.
    async fn open_asking_about_effects() -> (Fixture, Arc<ExternalClient>) {
        let (desk, client) = open_desk(Some(SANDBOX)).await;
        let settings = Settings {
            posture: Some(Posture::AskAboutEffects),
            ..Settings::default()
        };
        desk.set_settings(settings).await;
        (desk, client)
    }

    fn own_command(command: &str) -> DelegatedCall {
        DelegatedCall {
            can_fetch: false,
            ..own_call("bash", json!({ "command": command }))
        }
    }

    fn shown_command(view: &CallView) -> &CommandPreview {
        view.preview.command().expect("a command is shown")
    }

    /// What it did in its dry run is shown, and does not let it pass; what the agent then does is recorded and undone.
    #[tokio::test]
    async fn a_command_that_its_agent_runs_itself_asks_and_can_be_undone() {
        let (mut desk, client) = open_asking_about_effects().await;
        desk.write_rules(support::rule_text("fs.write", "**", "allow"));
        let before = desk.read_file("a").unwrap();
        let call = own_command("echo more >> a");
        let answer = async {
            let card = desk.wait_for_call().await;
            assert!(shown_command(&card).delegated && !shown_command(&card).in_place);
            assert_eq!(support::shown_effects(&card).changes.len(), 1);
            assert_eq!(card.undo_availability, UndoAvailability::Snapshot);
            let trail = card.trail.clone().unwrap();
            assert!(
                trail.lead.contains("the agent runs it itself"),
                "{}",
                trail.lead
            );
            let once = &card.pending.as_ref().unwrap().grants[0].text;
            assert!(once.contains("The agent runs it itself"), "{once}");
            // It runs as a whole, and here it cannot run in its place.
            for decision in [
                Decision::Allow {
                    hunks: Some(vec![0]),
                    note: String::new(),
                    always: None,
                },
                Decision::InPlace { hosts: Vec::new() },
            ] {
                desk.decide_call(&card, decision).await.unwrap_err();
            }
            desk.allow_call(&card).await;
        };
        let (verdict, ()) = tokio::join!(judge(&client, call), answer);
        let (id, run) =
            expect_variant!(verdict, DelegatedVerdict::Approved { call, run } => (call, run));
        assert_eq!(run, DelegatedRun::AsRequested);
        assert_eq!(desk.read_file("a").unwrap(), before, "the agent runs it");

        // It does something else than in its dry run.
        desk.write_file("a", "other\n").write_file("b", "new\n");
        let result = DelegatedResult::Succeeded("said".to_owned());
        let reported = client.report(&id, result).await.unwrap().unwrap();
        assert_eq!(reported.outcome.state, CallState::Done);
        let view = desk.only_call().await;
        let changes = support::shown_effects(&view).changes.iter();
        let paths: Vec<&str> = changes.map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        desk.undo_call(&view).await;
        assert_eq!(desk.read_file("a"), Some(before));
        assert_eq!(desk.read_file("b"), None);
    }

    #[tokio::test]
    async fn a_command_that_changes_nothing_asks_if_its_agent_runs_it_itself() {
        let (mut desk, client) = open_asking_about_effects().await;
        let (verdict, card) = tokio::join!(
            judge(&client, own_command("f=a; cat $f")),
            desk.reject_next("Not now.")
        );
        assert!(shown_command(&card).delegated);
        let ended = expect_variant!(verdict, DelegatedVerdict::Ended(ended) => ended);
        assert_eq!(ended.outcome.state, CallState::Rejected);
    }

    #[tokio::test]
    async fn a_command_that_the_person_changed_runs_here() {
        let (mut desk, client) = open_asking_about_effects().await;
        let answer = async {
            desk.edit_next(json!({ "command": "echo mine > .env" }))
                .await;
            let card = desk.allow_next().await;
            assert!(!shown_command(&card).delegated, "it is held to its effects");
        };
        let (verdict, ()) = tokio::join!(judge(&client, own_command("echo more >> a")), answer);
        let ended = expect_variant!(verdict, DelegatedVerdict::Ended(ended) => ended);
        assert_eq!(ended.outcome.state, CallState::Done, "{:?}", ended.outcome);
        assert_eq!(desk.read_file(".env").unwrap(), "mine\n");
        assert!(desk.read_file("a").unwrap().ends_with("three\n"));
    }

    #[tokio::test]
    async fn what_is_not_fetched_is_not_carried_out() {
        let (mut desk, client) = open_desk(Some(SANDBOX)).await;
        let before = desk.read_file("a").unwrap();
        let (call, digest) = approved_command(&mut desk, &client).await;
        client.abandon_approved_calls();
        client.fetch(&call, &digest).await.unwrap_err();
        client.close().await.unwrap();
        assert_eq!(desk.read_file("a").unwrap(), before);
        let state = desk.only_call().await.outcome.unwrap().state;
        assert!(
            matches!(state, CallState::Failed | CallState::Interrupted),
            "{state:?}"
        );
    }
}
