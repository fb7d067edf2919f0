//! Language servers through the whole pipeline: what is known of them, a renaming that is shown and judged file by file, and
//! servers that want more than they may.

use std::collections::BTreeMap;

use agent::Host;
use protocol::query::{Answer, Query};
use protocol::server::language_servers::LanguageServer;
use protocol::{CallState, Decision, Op, Preview, Settings, Verdict};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS, call_tool, expect_variant, rule_text};

const A: &str = "def bar\nbar foo\nfoo BAD\n";
const B: &str = "def foo\n";

fn server(how: &str) -> LanguageServer {
    LanguageServer {
        id: "toy".to_owned(),
        enabled: true,
        command: env!("CARGO_BIN_EXE_language_server").to_owned(),
        args: vec![how.to_owned()],
        files: BTreeMap::from([("toy".to_owned(), "toy".to_owned())]),
    }
}

/// A desk with a server that behaves so, these rules, and an agent that makes these calls.
async fn open_desk(host: Host, how: &str, rules: &str, calls: Vec<Value>) -> Fixture {
    let mut desk = Fixture::with_host(calls, host).await;
    desk.write_file("a.toy", A).write_file("deep/b.toy", B);
    desk.write_rules(rules);
    desk.set_settings(Settings {
        language_servers: vec![server(how)],
        ..Settings::default()
    })
    .await;
    desk
}

fn lsp(action: &str, more: Value) -> Value {
    let mut arguments = json!({ "action": action, "path": "a.toy" });
    let more = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(more);
    call_tool("lsp", arguments)
}

fn rename() -> Value {
    let symbol = json!({ "path": "a.toy", "line": 2, "symbol": "foo", "new_name": "qux" });
    call_tool("lsp_rename", symbol)
}

fn texts(desk: &Fixture) -> (String, String) {
    (
        desk.read_file("a.toy").unwrap(),
        desk.read_file("deep/b.toy").unwrap(),
    )
}

fn as_before() -> (String, String) {
    (A.to_owned(), B.to_owned())
}

/// `S002-32`: what a server knows, as a model reads it; nobody is asked about it.
#[tokio::test]
async fn s002_32_a_server_is_asked_what_it_knows() {
    let foo = json!({ "line": 2, "symbol": "foo" });
    let calls = vec![
        lsp("definition", foo.clone()),
        lsp("references", foo),
        lsp("diagnostics", json!({})),
        lsp("symbols", json!({})),
        lsp("symbols", json!({ "query": "foo" })),
        lsp("references", json!({ "line": 3, "symbol": "nope" })),
        lsp("definition", json!({ "line": 1 })),
    ];
    let mut desk = open_desk(HEADLESS, "good", "", calls).await;
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    let said: Vec<&str> = outcomes.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        said[..5],
        [
            "deep/b.toy:1:5: def foo",
            "a.toy:2:5: bar foo\na.toy:3:1: foo BAD\ndeep/b.toy:1:5: def foo",
            "a.toy:3:5: error [toy E1]: This is bad.",
            "function bar 1",
            "deep/b.toy:1:5: function foo",
        ]
    );
    assert!(said[5].contains("`nope` is not on line 3"), "{}", said[5]);
    assert!(said[6].contains("needs `line` and `symbol`"), "{}", said[6]);
    let messages: Vec<String> = desk
        .calls()
        .await
        .into_iter()
        .filter_map(|view| Some(view.outcome?.message))
        .collect();
    assert_eq!(
        messages[..5],
        [
            "1 place in 1 file",
            "3 places in 2 files",
            "1 error",
            "1 symbol",
            "1 symbol"
        ]
    );
}

/// A call without a server that is set up and on says what to do and starts nothing.
#[tokio::test]
async fn s002_32_nobody_is_asked_who_is_off() {
    let mut desk = open_desk(
        Host::Person,
        "good",
        "",
        vec![lsp("symbols", json!({})), rename()],
    )
    .await;
    let off = LanguageServer {
        enabled: false,
        ..server("good")
    };
    desk.set_settings(Settings {
        language_servers: vec![off],
        ..Settings::default()
    })
    .await;
    desk.play().await;
    for (state, said) in desk.call_outcomes().await {
        assert_eq!(state, CallState::Failed);
        assert!(said.contains("No language server is switched on"), "{said}");
        assert!(said.contains("Language servers"), "{said}");
    }
    let query = Query::Tools { workspace: None };
    let tools = expect_variant!(desk.query(query).await, Answer::Tools { tools } => tools);
    let lsp = tools.iter().find(|tool| tool.record.id() == "lsp").unwrap();
    assert!(lsp.setup.as_deref().unwrap().contains("Language servers"));
}

/// Files that the rules close are left out of an answer, and so is what lies outside; both are said.
#[tokio::test]
async fn what_is_closed_or_outside_is_left_out() {
    let rules = rule_text("fs.read", "deep/**", "deny");
    let foo = json!({ "line": 2, "symbol": "foo" });
    let calls = vec![
        lsp("references", foo.clone()),
        lsp("definition", foo.clone()),
    ];
    let mut closed = open_desk(Host::Person, "good", &rules, calls).await;
    closed.play().await;
    let outcomes = closed.call_outcomes().await;
    assert_eq!(
        outcomes[0].1,
        "a.toy:2:5: bar foo\na.toy:3:1: foo BAD\n[1 place is left out: in files that cannot be read, or that rules close.]"
    );
    assert!(!outcomes[1].1.contains("deep"), "{}", outcomes[1].1);

    let mut outside = open_desk(
        Host::Person,
        "outside",
        "",
        vec![lsp("definition", foo.clone())],
    )
    .await;
    outside.play().await;
    assert_eq!(
        outside.call_outcomes().await[0].1,
        "No places were found.\n[Outside of the workspace: /etc/hostname:1, jdt://a/B.class:5.]"
    );
    let mut nowhere = open_desk(Host::Person, "nowhere", "", vec![lsp("definition", foo)]).await;
    nowhere.play().await;
    assert_eq!(
        nowhere.call_outcomes().await[0].1,
        "a.toy:1:8: def bar\n[The server named 2 places that no file has.]"
    );
}

/// A renaming changes every file that the server names, all at once, and is one entry of the history.
#[tokio::test]
async fn a_renaming_is_carried_out_and_undone_as_one() {
    let mut desk = open_desk(Host::Person, "good", "", vec![rename()]).await;
    desk.play().await;
    let done = desk.only_call().await;
    assert_eq!(
        (done.state, done.target.as_str()),
        (CallState::Done, "foo to qux in a.toy")
    );
    let renamed = (
        "def bar\nbar qux\nqux BAD\n".to_owned(),
        "def qux\n".to_owned(),
    );
    assert_eq!(texts(&desk), renamed);
    let history = Query::History {
        offset: 0,
        limit: 9,
    };
    let entries =
        expect_variant!(desk.query(history).await, Answer::History { entries, .. } => entries);
    let titles: Vec<&str> = entries.iter().map(|entry| entry.title.as_str()).collect();
    assert_eq!(titles, ["Changed 2 files"]);
    let entry = entries[0].id.clone();
    desk.submit(Op::Undo { entry }).await;
    assert_eq!(texts(&desk), as_before());
}

/// The card shows every file, and a part of it can be taken.
#[tokio::test]
async fn a_part_of_a_renaming_is_taken() {
    let rules = "[[rule]]\npermission = \"lsp_rename\"\naction = \"ask\"\n";
    let mut desk = open_desk(Host::Person, "good", rules, vec![rename()]).await;
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    let files = expect_variant!(&asked.preview, Preview::Diff { files } => files);
    let shown: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.added))
        .collect();
    assert_eq!(shown, [("a.toy", 2), ("deep/b.toy", 1)]);
    assert_eq!(texts(&desk), as_before());
    desk.decide_call(
        &asked,
        Decision::Allow {
            hunks: Some(vec![files[1].hunks[0].id]),
            note: String::new(),
            always: None,
        },
    )
    .await
    .unwrap();
    desk.wait_until_ended().await;
    assert_eq!(texts(&desk), (A.to_owned(), "def qux\n".to_owned()));
}

/// Every file that is found to change is judged like one that the call had named.
#[tokio::test]
async fn a_renaming_is_judged_on_every_file() {
    for (pattern, action, state) in [
        ("deep/**", "deny", CallState::Denied),
        ("deep/**", "ask", CallState::Waiting),
        ("a.toy", "deny", CallState::Denied),
        ("other/**", "deny", CallState::Done),
    ] {
        let rules = rule_text("fs.write", pattern, action);
        let mut desk = open_desk(Host::Person, "good", &rules, vec![rename()]).await;
        desk.start("Go.").await;
        match state {
            CallState::Waiting => _ = desk.wait_for_call().await,
            _ => _ = desk.wait_until_ended().await,
        }
        let view = desk.only_call().await;
        assert_eq!(view.state, state, "{pattern} {action}");
        if state != CallState::Done {
            assert_eq!(texts(&desk), as_before(), "{pattern} {action}");
            assert!(view.trail.unwrap().verdict > Verdict::Allow);
        }
    }
}

/// While an agent plans, servers can be asked and nothing can be renamed.
#[tokio::test]
async fn a_renaming_waits_for_the_plan() {
    let calls = vec![
        call_tool("plan", json!({})),
        lsp("symbols", json!({})),
        rename(),
    ];
    let mut desk = open_desk(Host::Person, "good", "", calls).await;
    desk.play().await;
    let states = desk.call_states().await;
    assert_eq!(
        states,
        [CallState::Done, CallState::Done, CallState::Denied]
    );
    assert_eq!(texts(&desk), as_before());
}

/// A table of servers that want what a renaming may not do: each is refused whole, in one sentence.
#[tokio::test]
async fn a_renaming_that_goes_too_far_is_refused() {
    for (how, told) in [
        (
            "edits_outside",
            "wants to change `/etc/hostname`, which is not in the workspace",
        ),
        (
            "edits_no_file",
            "wants to change `untitled:1`, which is not a file here",
        ),
        (
            "edits_missing",
            "wants to change `a.gone`, which is not there",
        ),
        (
            "edits_nowhere",
            "names a place at line 1 that is not there in `a.toy`",
        ),
        (
            "edits_twice",
            "wants to change the same place twice in `a.toy`",
        ),
        ("edits_move", "wants to make, move or delete files as well"),
    ] {
        let mut desk = open_desk(Host::Person, how, "", vec![rename()]).await;
        desk.play().await;
        let (state, said) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Failed, "{how}");
        assert!(said.contains(told), "{how}: {said}");
        assert_eq!(texts(&desk), as_before(), "{how}");
    }
}

/// Settings of a server that are wrong are told, and they are not taken.
#[tokio::test]
async fn settings_that_start_what_lies_in_a_folder_are_not_taken() {
    let desk = open_desk(Host::Person, "good", "", Vec::new()).await;
    let relative = LanguageServer {
        command: "./node_modules/.bin/server".to_owned(),
        ..server("good")
    };
    let settings = Box::new(Settings {
        language_servers: vec![relative],
        ..Settings::default()
    });
    let refused = desk.engine.submit(Op::SetSettings { settings }).await;
    let fault = refused.unwrap_err();
    assert!(fault.message.contains("language server `toy`"), "{fault}");
    let answer = desk.query(Query::LanguageServers).await;
    let servers = expect_variant!(answer, Answer::LanguageServers { servers } => servers);
    let own: Vec<_> = servers.iter().filter(|view| view.own).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(
        own[0].found.as_deref(),
        Some(env!("CARGO_BIN_EXE_language_server"))
    );
}
