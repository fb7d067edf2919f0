//! Tools as the person set them, and tried by hand.

use std::sync::Arc;

use protocol::event::CallChange;
use protocol::query::{Answer, Query, ToolView};
use protocol::{CallState, EventBody, Gate, Op, SessionState, ToolMode, ToolOutput, UserError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use support::probe::Probe;
use support::{
    Fixture, call_read, call_tool, expect_variant, rule_text, say_text, script_provider,
};

async fn with_probe(turns: impl Serialize, probe: Probe) -> Fixture {
    Fixture::with_tools(Arc::new(script_provider(turns)), probe.into_tools()).await
}

fn set(tool: &str, enabled: bool, mode: Option<ToolMode>) -> Op {
    Op::SetTool {
        tool: tool.to_owned(),
        enabled,
        mode,
    }
}

async fn view(desk: &Fixture, tool: &str) -> ToolView {
    let query = Query::Tools { workspace: None };
    let tools = expect_variant!(desk.query(query).await, Answer::Tools { tools } => tools);
    tools
        .into_iter()
        .find(|view| view.record.id() == tool)
        .unwrap()
}

/// `S003-18`: a tool that is switched off cannot be called, by no name of its, and says so.
#[tokio::test]
async fn a_tool_that_is_off_is_not_callable() {
    let calls = [
        call_tool("grep", json!({ "pattern": "x" })),
        call_tool("search", json!({ "query": "x" })),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(calls).await;
    desk.submit(set("grep", false, None)).await;
    assert!(!view(&desk, "grep").await.enabled);
    desk.play().await;
    let off = |name: &str| {
        (
            CallState::Failed,
            format!("Tool not found: {name}. It is switched off; do without it."),
        )
    };
    assert_eq!(desk.call_outcomes().await, [off("grep"), off("search")]);
    // It lasts, and can be taken back.
    let desk = desk.restart().await;
    assert!(!view(&desk, "grep").await.enabled);
    desk.submit(set("grep", true, None)).await;
    assert!(view(&desk, "grep").await.enabled);
}

/// A mode that the person set stricter is the one that holds; a looser one is refused.
#[tokio::test]
async fn a_mode_can_only_be_made_stricter() {
    let mut desk = Fixture::new([call_read("a"), say_text("Done.")]).await;
    desk.write_file("a", "text\n");
    let refused: UserError = desk
        .engine
        .submit(set("bash", true, Some(ToolMode::Read)))
        .await
        .unwrap_err();
    assert_eq!(
        refused.message,
        "The mode read is looser than the tool `bash` is by itself: local."
    );
    assert!(
        desk.engine
            .submit(set("nothing", true, None))
            .await
            .is_err()
    );
    desk.submit(set("read", true, Some(ToolMode::Local))).await;
    let set = view(&desk, "read").await;
    assert_eq!(
        (set.mode, set.mode_from.as_str()),
        (Some(ToolMode::Local), "set by you")
    );
    desk.start("Go.").await;
    desk.allow_next().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.call_states().await, [CallState::Done]);
}

async fn try_tool(
    desk: &Fixture,
    tool: &str,
    arguments: Value,
) -> Result<protocol::SessionId, UserError> {
    let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
    let workspace = desk.workspace_root().display().to_string();
    let tried = Op::TryTool {
        workspace,
        tool: tool.to_owned(),
        arguments,
    };
    Ok(desk.engine.submit(tried).await?.session.unwrap())
}

/// A tool that is tried walks the same page as any call.
#[tokio::test]
async fn a_tool_can_be_tried() {
    let mut desk = Fixture::new(json!([])).await;
    desk.session = try_tool(&desk, "write", json!({ "path": "a", "content": "x" }))
        .await
        .unwrap();
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(desk.read_file("a").as_deref(), Some("x"));
    desk.session = try_tool(&desk, "bash", json!({ "command": "echo hi" }))
        .await
        .unwrap();
    let waiting = desk.wait_for_call().await;
    assert_eq!(
        (waiting.tool.as_str(), waiting.mode),
        ("bash", Some(ToolMode::Local)),
        "S000-34"
    );
    desk.allow_call(&waiting).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    let sessions = desk.snapshot().await.sessions;
    let mut titles: Vec<&str> = sessions
        .iter()
        .map(|session| session.title.as_str())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Try bash", "Try write"]);
    for (tool, arguments, problem) in [
        (
            "reed",
            json!({}),
            "Tool not found: reed. Did you mean `read`?",
        ),
        ("read", json!({}), "Invalid arguments: "),
        (
            "read",
            json!({ "path": "a", "colour": "red" }),
            "Invalid arguments: ",
        ),
        (
            "read",
            json!({ "path": "a".repeat(10_000_000) }),
            "Invalid arguments: `path` must have at most 4096 characters, but 10000000 were given",
        ),
    ] {
        let fault = try_tool(&desk, tool, arguments).await.unwrap_err();
        assert!(fault.message.starts_with(problem), "{fault}");
    }
    assert_eq!(
        desk.snapshot().await.sessions.len(),
        2,
        "nothing was opened"
    );
}

/// `S003-26`: a call that a rule denies whatever it touches is denied without a look at any file. A more specific rule
/// that may say otherwise needs the look.
#[tokio::test]
async fn a_tool_that_is_denied_as_a_whole_touches_nothing() {
    let deny = "[[rule]]\npermission = \"read\"\naction = \"deny\"\n";
    let but = rule_text("read", "docs/**", "allow");
    for (rules, looked) in [(deny.to_owned(), false), (format!("{deny}{but}"), true)] {
        let mut desk = Fixture::new([call_read("../there"), say_text("Done.")]).await;
        desk.write_rules(rules);
        desk.play().await;
        let view = desk.calls().await.remove(0);
        assert_eq!(view.outcome.unwrap().state, CallState::Denied);
        let steps = &view.trail.unwrap().steps;
        let seen = steps
            .iter()
            .find(|step| step.gate == Gate::Capability)
            .unwrap();
        assert_eq!(
            seen.text != "It touches nothing on this machine.",
            looked,
            "{}",
            seen.text
        );
    }
    // Nor is the tool itself given a look: this one would panic.
    let probe = Probe::new(|_, _| async { Ok(ToolOutput::new("ran", "ran")) });
    let turns = [
        call_tool("probe", json!({ "name": "p", "panic": true })),
        say_text("Done."),
    ];
    let mut desk = with_probe(turns, probe).await;
    desk.write_rules(deny.replace("read", "probe"));
    desk.play().await;
    assert_eq!(desk.call_outcomes().await[0].0, CallState::Denied);
}

/// `S003-26`: a call that names what a rule denies is denied as it is written: where a link leads from there is not even
/// looked at. One that is written in a roundabout way has to be looked at, and is denied as well.
#[cfg(unix)]
#[tokio::test]
async fn a_path_that_is_denied_is_not_looked_at() {
    let deny = rule_text("fs.read", "secret/**", "deny");
    for (path, looked) in [
        ("secret/key", false),
        ("./secret/key", true),
        ("a/../secret/key", true),
    ] {
        let mut desk = Fixture::new([call_read(path), say_text("Done.")]).await;
        desk.write_file("a/b", "");
        let outside = desk.workspace_root().parent().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, desk.workspace_root().join("secret")).unwrap();
        desk.write_rules(&deny);
        desk.play().await;
        let view = desk.only_call().await;
        assert_eq!(view.outcome.unwrap().state, CallState::Denied);
        let steps = &view.trail.unwrap().steps;
        let mut seen = steps.iter().filter(|step| step.gate == Gate::Capability);
        let text = &seen.next().unwrap().text;
        assert_eq!(text.contains("outside"), looked, "{text}");
        assert_eq!(text.contains("was not looked at"), !looked, "{text}");
    }
}

/// `S003-19`.
#[tokio::test]
async fn a_tool_that_is_not_set_up_says_so_instead_of_running() {
    let probe = Probe::new(|_, _| async { panic!("it ran") })
        .with_interface(|tool| tool.requires_setup(true));
    let mut desk = with_probe(
        [
            call_tool("probe", json!({ "name": "p" })),
            say_text("Done."),
        ],
        probe,
    )
    .await;
    desk.play().await;
    let sentence = "Probe has to be set up before it can be used.".to_owned();
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Failed, sentence.clone())]
    );
    assert_eq!(view(&desk, "probe").await.setup, Some(sentence));
}

/// `S003-23`, `S003-24`, `S003-25`: first the schema, then values, then a look at what is there; nothing has begun when
/// one of them fails.
#[tokio::test]
async fn what_is_checked_before_anything_is_done() {
    let edit = |more: Value| {
        let mut arguments = json!({ "path": "a", "old_string": "x", "new_string": "x" });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call_tool("edit", arguments)
    };
    let turns = [
        edit(json!({ "colour": "red" })),
        edit(json!({})),
        edit(json!({ "new_string": "y" })),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_file("a", "tezt\n");
    desk.play().await;
    let texts = desk.call_texts().await;
    assert!(
        texts[0].contains("colour") && !texts[0].contains("equal"),
        "{}",
        texts[0]
    );
    assert!(texts[1].contains("are equal"), "{}", texts[1]);
    assert!(!texts[2].contains("equal"), "{}", texts[2]);
    let began = |body: &EventBody| {
        matches!(
            body,
            EventBody::Call {
                change: CallChange::Started | CallChange::UndoPrepared { .. },
                ..
            }
        )
    };
    assert!(!desk.events().await.iter().any(|event| began(&event.body)));
    assert_eq!(desk.read_file("a").as_deref(), Some("tezt\n"));
}
