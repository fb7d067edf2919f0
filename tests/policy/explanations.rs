//! Explanations of calls that nobody makes, held against the verdicts of the pipeline when they are made.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::rulebook::explain::ExplainOptions;
use agent::{Engine, ExternalClient};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use protocol::event::{CallChange, ClientInfo};
use protocol::{CallState, EventBody, Trail, Verdict};
use serde_json::{Map, Value, json};
use support::{Fixture, HEADLESS};
use tokio_util::sync::CancellationToken;

/// A service that nobody answers for: its calls are judged like any others.
const PETS: &str = r#"{
    "openapi": "3.1.0",
    "info": { "title": "Pets", "version": "1" },
    "servers": [{ "url": "http://127.0.0.1:9/v1" }],
    "paths": { "/pets/{id}": {
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
        "get": { "operationId": "get_pet" },
        "delete": { "operationId": "delete_pet" }
    } }
}"#;

const LATENT: &str = r#"{"sentiment": {
    "type": "object",
    "properties": {
        "_tool": {"type": "string", "const": "sentiment"},
        "text": {"type": "string"},
        "_output": {"type": "object", "properties": {"good": {"type": "boolean"}}}
    }
}}"#;

/// A desk with every kind of tool, where nobody is there to ask.
async fn open_desk() -> Fixture {
    let mut desk = Fixture::with_host(json!([]), HEADLESS).await;
    desk.write_file("a.txt", "alpha\n")
        .write_file("src/main.rs", "fn main() {}\n")
        .write_file(".env", "X=1\n")
        .write_file(".countersign/tools/sentiment.json", LATENT)
        .write_file("pets.json", PETS);
    desk.add_file_server(env!("CARGO_BIN_EXE_mcp_server")).await;
    desk.add_api("pets.json").await;
    desk
}

/// The calls that are made: of every kind of tool, with arguments that fit and that do not.
fn calls(root: &str) -> Vec<(&'static str, Value)> {
    let outside = "/etc/hostname";
    vec![
        ("read", json!({ "path": "a.txt" })),
        ("read", json!({ "path": ".env" })),
        ("read", json!({ "path": outside })),
        ("read_file", json!({ "path": "src/main.rs" })),
        ("read", json!({ "path": 7 })),
        ("write", json!({ "path": "new.txt", "content": "x" })),
        ("write", json!({ "path": ".git/hooks/x", "content": "x" })),
        (
            "edit",
            json!({ "path": "a.txt", "old_string": "alpha", "new_string": "beta" }),
        ),
        (
            "edit",
            json!({ "path": "none.txt", "old_string": "x", "new_string": "y" }),
        ),
        ("delete_path", json!({ "path": "src" })),
        ("glob", json!({ "pattern": "*.txt" })),
        ("glob", json!({ "pattern": "/etc/*" })),
        ("grep", json!({ "pattern": "alpha" })),
        ("bash", json!({ "command": "true" })),
        ("bash", json!({ "command": "cat .env" })),
        ("bash", json!({ "command": "echo x > new.txt; rm -rf /" })),
        ("web_fetch", json!({ "url": "http://127.0.0.1:9/" })),
        ("web_fetch", json!({ "url": "no address" })),
        ("one__echo", json!({ "message": "hello" })),
        ("one__echo", json!({ "message": ".env" })),
        ("one__echo", json!({})),
        (
            "one__write_file",
            json!({ "path": "new.txt", "content": "see .env" }),
        ),
        (
            "one__write_file",
            json!({ "path": format!("{root}/b.txt"), "content": "x" }),
        ),
        (
            "one__write_file",
            json!({ "path": "src/x.rs", "content": "x" }),
        ),
        ("one__read_text_file", json!({ "path": outside })),
        (
            "one__read_text_file",
            json!({ "path": "file:///etc/hostname" }),
        ),
        (
            "one__move_file",
            json!({ "source": "a.txt", "destination": "src/a.txt" }),
        ),
        ("one__fetch", json!({ "url": "https://docs.rs/x" })),
        ("one__fetch", json!({ "url": "http://169.254.169.254/" })),
        ("one__fetch", json!({ "url": "http://localhost:1/" })),
        ("one__touch_other", json!({ "note": "x" })),
        ("one__nope", json!({ "path": "a.txt" })),
        ("pets__get_pet", json!({ "id": "7" })),
        ("pets__delete_pet", json!({ "id": "7" })),
        ("pets__get_pet", json!({})),
        (
            "sentiment",
            json!({ "text": "Good.", "_output": { "good": true } }),
        ),
        ("sentiment", json!({ "text": "Good.", "_output": 7 })),
        ("nothing_of_that_name", json!({ "path": "a.txt" })),
    ]
}

/// Some rules, as a file has them.
fn rules() -> impl Strategy<Value = String> {
    let permission = prop::sample::select(vec![
        "*",
        "mode:read",
        "mode:local",
        "mode:destructive",
        "fs.read",
        "fs.write",
        "fs.delete",
        "net.fetch",
        "shell.run",
        "read",
        "write",
        "edit",
        "bash",
        "web_fetch",
        "one__*",
        "one__write_file",
        "one__read_text_file",
        "one__move_file",
        "one__fetch",
        "one__echo",
        "one__touch_other",
        "pets__*",
        "pets__delete_pet",
        "sentiment",
    ]);
    let pattern = prop::sample::select(vec![
        None,
        Some("**"),
        Some("*.txt"),
        Some("src/**"),
        Some(".env*"),
        Some("/etc/**"),
        Some("docs.rs"),
        Some("127.0.0.1:9"),
        Some("localhost:1"),
        Some("true"),
        Some("cat *"),
    ]);
    let action = prop::sample::select(vec!["allow", "allow", "ask", "deny"]);
    let rule = (permission, pattern, action).prop_map(|(permission, pattern, action)| {
        let pattern = pattern.map(|pattern| format!("pattern = '{pattern}'\n"));
        format!(
            "[[rule]]\npermission = \"{permission}\"\n{}action = \"{action}\"\n",
            pattern.unwrap_or_default()
        )
    });
    prop::collection::vec(rule, 0..7).prop_map(|rules| rules.concat())
}

/// Makes a call, and returns how it was judged first, if it was, and how it ended.
async fn made(
    desk: &Engine,
    caller: &Arc<ExternalClient>,
    tool: &str,
    arguments: &Map<String, Value>,
) -> (Option<Arc<Trail>>, CallState) {
    let since = desk.last_seq().unwrap();
    let cancel = CancellationToken::new();
    let answered = caller.call(tool, arguments.clone(), &cancel, None).await;
    let state = answered.unwrap().outcome.state;
    let last = desk.last_seq().unwrap();
    let mut events = desk.subscribe(since);
    let mut seen = since;
    while seen < last {
        for event in events.next().await.unwrap().unwrap().iter() {
            seen = event.seq;
            if event.session != *caller.session() {
                continue;
            }
            if let EventBody::Call {
                change: CallChange::Judged { trail, .. },
                ..
            } = &event.body
            {
                return (Some(trail.clone()), state);
            }
        }
    }
    (None, state)
}

fn client() -> ClientInfo {
    ClientInfo {
        name: "a test".to_owned(),
        version: String::new(),
        by: String::new(),
        session: String::new(),
        token: String::new(),
    }
}

/// Every call, under generated rules: explained first, then made. Verdict and trail are the same to the letter; what is said to
/// fail before it is judged does.
#[tokio::test]
async fn what_is_explained_is_what_the_pipeline_says() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (mut judged, mut failed) = (BTreeMap::new(), 0);
    for _ in 0..12 {
        let text = rules().new_tree(&mut runner).unwrap().current();
        let desk = open_desk().await;
        desk.write_rules(&text);
        let caller = desk
            .engine
            .open_client(&desk.workspace_root(), client())
            .await
            .unwrap();
        for (tool, arguments) in calls(&desk.workspace_root().display().to_string()) {
            let arguments = arguments.as_object().unwrap();
            let told = format!("{tool} {arguments:?} under\n{text}");
            let explainer = desk.open_explainer();
            let explained = explainer.explain(tool, arguments).await;
            let (trail, state) = made(&desk.engine, &caller, tool, arguments).await;
            match explained {
                Ok(explained) if explained.failure.is_none() => {
                    let trail = trail.unwrap_or_else(|| panic!("it was not judged: {told}"));
                    assert_eq!(*trail, explained.trail, "{told}");
                    *judged.entry(trail.verdict).or_insert(0) += 1;
                }
                Ok(_) | Err(_) => {
                    assert_eq!((trail, state), (None, CallState::Failed), "{told}");
                    failed += 1;
                }
            }
        }
    }
    let counts = (&judged, failed);
    assert!(judged[&Verdict::Allow] > 50, "{counts:?}");
    assert!(judged[&Verdict::Deny] > 50, "{counts:?}");
    assert!(failed > 50, "{counts:?}");
}

/// Nothing is left of an explanation: no session, no file, no use of a rule.
#[tokio::test]
async fn an_explanation_leaves_nothing_behind() {
    let desk = open_desk().await;
    let once = "[[rule]]\npermission = \"one__write_file\"\naction = \"allow\"\nmax_uses = 1\n";
    desk.write_rules(once);
    let before = desk.engine.last_seq().unwrap();
    for _ in 0..3 {
        let explained = ExplainOptions {
            workspace: desk.workspace_root(),
            ..ExplainOptions::default()
        };
        let explainer = desk.engine.open_explainer(explained).unwrap();
        let arguments = json!({ "path": "new.txt", "content": "x" });
        let arguments = arguments.as_object().unwrap();
        let told = explainer.explain("one__write_file", arguments).await;
        assert_eq!(told.unwrap().trail.verdict, Verdict::Allow);
    }
    assert_eq!(desk.engine.last_seq().unwrap(), before);
    assert_eq!(desk.read_file("new.txt"), None);
    let sessions = std::fs::read_dir(desk.data_dir().join("sessions")).unwrap();
    let folders = sessions.flatten().map(|entry| entry.path());
    let left: Vec<_> = folders.filter(|path| path.is_dir()).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
}
