//! Work that an agent gives to another: in a session of its own, with no more rights, side by side or in the background.

use std::sync::Arc;

use agent::Host;
use protocol::event::{CallChange, CallProposal, ParentCall, SessionEvent};
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::query::{Answer, Query, ToolView};
use protocol::settings::{ProviderSettings, WireFormat};
use protocol::{
    CallState, Content, EntryBody, EventBody, Message, PartialResult, SessionId, SessionState,
    Settings,
};
use serde_json::{Value, json};
use support::scripted_agents::ScriptedAgents;
use support::test_site::{TestSite, page_response};
use support::{Fixture, HEADLESS, call_bash, call_read, call_tool, expect_variant, say_text};
use tools::SubAgentTool;

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reads and judges.\ntools: [read, bash, task]\n---\nYou review.\n";

fn task(agent: &str, prompt: &str) -> Value {
    call_tool("task", json!({ "subagent_type": agent, "prompt": prompt }))
}

fn in_background(agent: &str, title: &str) -> Value {
    let arguments = json!({ "subagent_type": agent, "prompt": "Look.", "description": title, "background": true });
    call_tool("task", arguments)
}

async fn open_desk(cast: &Arc<ScriptedAgents>, host: Host) -> Fixture {
    let mut desk = Fixture::with_provider(cast.clone(), host).await;
    desk.write_file(".countersign/agents/reviewer.md", REVIEWER)
        .write_file("a.txt", "alpha")
        .write_file("secret/b.txt", "beta");
    desk
}

/// Plays to the end of the first session's run, whatever ends before.
async fn play(desk: &mut Fixture) {
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
}

/// The child sessions, in order, with their states.
async fn children(desk: &Fixture) -> Vec<(SessionId, ParentCall, SessionState)> {
    let snapshot = desk.snapshot().await;
    let mut children: Vec<_> = snapshot
        .sessions
        .into_iter()
        .filter_map(|view| Some((view.id, view.parent?, view.state)))
        .collect();
    children.sort_by(|a, b| a.0.cmp(&b.0));
    children
}

/// `S001-39`, `S001-40`, `S001-44`, `S002-19`, `S002-30`: a task is one call; another agent does it with its own
/// prompt and tools, its last words are the result, what it does is told while it runs, and the end names its session.
#[tokio::test]
async fn a_task_is_done_by_another_agent() {
    let cast = ScriptedAgents::new(
        [task("reviewer", "Look at a.txt."), say_text("Reviewed.")],
        [(
            "You review.",
            json!([{ "text": "I look.", "calls": call_read("a.txt")["calls"] }, say_text("It is good.")]),
        )],
    );
    let mut desk = open_desk(&cast, Host::Person).await;
    play(&mut desk).await;
    let view = desk.calls().await.remove(0);
    let outcome = view.outcome.unwrap();
    assert_eq!(
        (view.state, outcome.text.as_str()),
        (CallState::Done, "It is good.")
    );
    let all = children(&desk).await;
    let [(child, parent, SessionState::Done)] = all.as_slice() else {
        panic!("one child that is done: {all:?}");
    };
    assert_eq!(
        *parent,
        ParentCall {
            session: desk.session.clone(),
            call: view.call.id.clone()
        }
    );
    assert_eq!(outcome.child.as_ref(), Some(child));

    let asked = cast.requests_marked("You review.");
    let first = &asked[0];
    assert_eq!(first.messages.as_slice(), [Message::user("Look at a.txt.")]);
    let offered: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["read", "bash", "task"], "what its manifest names");

    let (mut words, mut steps) = (String::new(), Vec::new());
    for event in desk.events().await {
        match event.body {
            EventBody::Call {
                call,
                change: CallChange::Output { text },
            } if call == view.call.id => words += &text,
            EventBody::Call {
                call,
                change: CallChange::Progress { text, .. },
            } if call == view.call.id => steps.push(text),
            _ => {}
        }
    }
    assert_eq!(words, "I look.It is good.");
    assert_eq!(steps, ["Read a.txt"]);
}

/// `S001-12`, `S001-44`: what a child's call gave beside text is told on its caller's call while the child works, and the model
/// of the caller reads nothing of it.
#[tokio::test]
async fn what_a_child_sees_is_told_to_its_caller() {
    let cast = ScriptedAgents::new(
        [task("reviewer", "Look at dot.png."), say_text("Seen.")],
        [(
            "You review.",
            json!([call_read("dot.png"), say_text("A dot.")]),
        )],
    );
    let mut desk = open_desk(&cast, Host::Person).await;
    desk.write_file("dot.png", b"\x89PNG\r\n\x1a\n\0\0");
    play(&mut desk).await;
    let view = desk.calls().await.remove(0);
    let events = desk.events().await;
    let told: Vec<&PartialResult> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Call {
                call,
                change: CallChange::Update { partial },
            } if *call == view.call.id => Some(partial),
            _ => None,
        })
        .collect();
    let [PartialResult { content, details }] = told.as_slice() else {
        panic!("one piece: {told:?}");
    };
    assert!(
        matches!(content.as_slice(), [Content::Image { mime, .. }] if mime == "image/png"),
        "{content:?}"
    );
    let looked = events.iter().find_map(|event| match &event.body {
        EventBody::Proposal(CallProposal { call, .. }) if event.session != desk.session => {
            Some(&call.id)
        }
        _ => None,
    });
    assert_eq!(details, &Some(json!({ "call": looked })));
    assert!(
        view.output.contains("[An image (image/png, "),
        "{}",
        view.output
    );
    assert_eq!(view.outcome.unwrap().model_text(), "A dot.");
}

/// `S001-45`: the id that a sub-agent's call ends with is the one that the sub-agent's loop started with.
#[tokio::test]
async fn a_parent_names_the_loop_of_its_sub_agent() {
    let cast = ScriptedAgents::new(
        [task("reviewer", "Look at a.txt."), say_text("Reviewed.")],
        [("You review.", json!([say_text("It is good.")]))],
    );
    let mut desk = open_desk(&cast, Host::Person).await;
    play(&mut desk).await;
    let child = children(&desk).await.remove(0).0;
    let events = desk.events().await;
    let member = |session: &SessionId, kind: &str, name: &str| {
        let mut teller = SessionMapper::new(Vocabulary::Agent, session.clone());
        let mut events = events.iter().flat_map(|event| teller.map(event));
        let event = events.find(|event| event["type"] == kind).unwrap();
        event[name].clone()
    };
    let ended = member(&desk.session, "ToolExecutionEnd", "child_loop_id");
    let started = member(&child, "AgentStart", "loop_id");
    assert_eq!(ended, started);
    assert_eq!(ended, json!(format!("{child}.1")));
}

/// `S002-104`: what is denied to an agent is denied to whoever works for it, at any depth, whatever a manifest allows; and
/// what asks, asks. A child that says what it requires touches nothing else.
#[tokio::test]
async fn a_deny_holds_at_any_depth() {
    let allows = "[[rule]]\npermission = \"fs.read\"\npattern = \"secret/b.txt\"\naction = \"allow\"\n\
                  [[rule]]\npermission = \"bash\"\naction = \"allow\"\n";
    let inner = format!(
        "name = \"inner\"\ndescription = \"Works.\"\nprompt = \"You are inner.\"\n{allows}"
    );
    let outer = format!(
        "name = \"outer\"\ndescription = \"Works.\"\nprompt = \"You are outer.\"\n{allows}"
    );
    let narrow = "name = \"narrow\"\ndescription = \"Works.\"\nprompt = \"You are narrow.\"\n\
                  requires = { fs = { read = [\"docs/**\"] } }\n";
    let secret = || call_read("secret/b.txt");
    let command = || call_bash("echo hi");
    let cast = ScriptedAgents::new(
        [task("outer", "Go."), task("narrow", "Go.")],
        [
            (
                "You are outer.",
                json!([secret(), task("inner", "Go."), say_text("outer")]),
            ),
            (
                "You are inner.",
                json!([secret(), command(), say_text("inner")]),
            ),
            (
                "You are narrow.",
                json!([call_read("a.txt"), say_text("narrow")]),
            ),
        ],
    );
    let mut desk = open_desk(&cast, HEADLESS).await;
    desk.write_file(".countersign/agents/inner.toml", inner)
        .write_file(".countersign/agents/outer.toml", outer)
        .write_file(".countersign/agents/narrow.toml", narrow);
    let deny = "[[rule]]\npermission = \"fs.read\"\npattern = \"secret/**\"\naction = \"deny\"\nreason = \"Not yours.\"\n";
    desk.write_rules(deny);
    play(&mut desk).await;
    let results = |mark: &str| {
        let last = cast.requests_marked(mark).pop().unwrap();
        let results = last.messages.iter().filter_map(|message| match message {
            Message::Tool { text, is_error, .. } => Some((*is_error, text.clone())),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
        results.collect::<Vec<_>>()
    };
    let outer = results("You are outer.");
    assert!(outer[0].0 && outer[0].1.contains("Not yours."), "{outer:?}");
    assert_eq!(outer[1], (false, "inner".to_owned()));
    let inner = results("You are inner.");
    assert!(inner[0].0 && inner[0].1.contains("Not yours."), "{inner:?}");
    assert!(inner[1].0, "a command asks, and nobody is there: {inner:?}");
    let narrow = results("You are narrow.");
    let beyond = "is beyond what the agent `narrow` requires";
    assert!(narrow[0].0 && narrow[0].1.contains(beyond), "{narrow:?}");
}

/// `S001-43`: what works for a call ends with it, in the background or not; and with the app.
#[tokio::test]
async fn a_child_ends_with_its_caller() {
    let waits = || json!([call_bash("true"), say_text("never")]);
    for background in [false, true] {
        let give = match background {
            true => in_background("reviewer", "Look"),
            false => task("reviewer", "Look."),
        };
        let cast = ScriptedAgents::new([give], [("You review.", waits())]);
        let mut desk = open_desk(&cast, Host::Person).await;
        desk.start("Go.").await;
        desk.wait_for_any_call().await;
        desk.interrupt_run().await;
        let ends = std::cell::Cell::new(0);
        desk.wait_for_event("the end of both", |body| {
            let over = matches!(body, EventBody::Session(SessionEvent::Changed { state }) if state.ends_run());
            ends.set(ends.get() + i32::from(over));
            ends.get() == 2
        })
        .await;
        let states: Vec<_> = children(&desk)
            .await
            .into_iter()
            .map(|(_, _, state)| state)
            .collect();
        assert_eq!(
            states,
            [SessionState::Interrupted],
            "background: {background}"
        );
        assert_eq!(desk.snapshot().await.desk, [], "background: {background}");
    }
}

/// Work in the background does not hold its caller up: what it came to arrives as a message, and no run ends before.
#[tokio::test]
async fn work_in_the_background_comes_back_as_a_message() {
    for headless in [false, true] {
        let cast = ScriptedAgents::new(
            [
                in_background("reviewer", "Look at all"),
                call_read("a.txt"),
                say_text("I wait."),
                say_text("Heard it."),
            ],
            [("You review.", json!([say_text("All is good.")]))],
        );
        let host = match headless {
            true => HEADLESS,
            false => Host::Person,
        };
        let mut desk = open_desk(&cast, host).await;
        play(&mut desk).await;
        let entries = desk.transcript().await;
        let tasks: Vec<_> = entries
            .iter()
            .filter_map(|entry| match &entry.body {
                EntryBody::SubAgentTask {
                    title,
                    text,
                    failed,
                    child,
                } => Some((title.as_str(), text.as_str(), *failed, child.clone())),
                _ => None,
            })
            .collect();
        let child = children(&desk).await.remove(0).0;
        assert_eq!(
            tasks,
            [("Look at all", "All is good.", false, child.clone())]
        );
        let given = &desk.calls().await[0];
        assert_eq!(
            given.outcome.as_ref().unwrap().data,
            Some(json!({ "session_id": child }))
        );
        let last = cast.requests().pop().unwrap();
        let heard = last.messages.iter().any(|message| {
            matches!(message, Message::User { text, .. } if text.contains("\"Look at all\", ended") && text.ends_with("All is good."))
        });
        assert!(heard, "{:#?}", last.messages);
        let desk = desk.restart().await;
        assert_eq!(desk.transcript().await.len(), entries.len());
    }
}

/// Work that was in the background when the app ended is lost, and its caller's model hears so when it goes on.
#[tokio::test]
async fn work_that_the_app_s_end_cut_off_is_told() {
    let cast = ScriptedAgents::new(
        [
            in_background("reviewer", "Look"),
            say_text("I wait."),
            say_text("On."),
        ],
        [("You review.", json!([call_bash("true")]))],
    );
    let mut desk = open_desk(&cast, Host::Person).await;
    desk.start("Go.").await;
    desk.wait_for_any_call().await;
    let mut desk = desk.restart().await;
    desk.send_message("Go on.").await;
    desk.wait_for_event("the end of the run", |body| {
        matches!(
            body,
            EventBody::Session(SessionEvent::Changed {
                state: SessionState::Done
            })
        )
    })
    .await;
    let told: Vec<_> = desk
        .transcript()
        .await
        .into_iter()
        .filter_map(|entry| match entry.body {
            EntryBody::SubAgentTask { text, failed, .. } => Some((text, failed)),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [("It was ended when the app ended.".to_owned(), true)]
    );
    let last = cast.requests().pop().unwrap();
    let heard = |message: &Message| matches!(message, Message::User { text, .. } if text.contains("\"Look\", failed"));
    assert!(last.messages.iter().any(heard), "{:#?}", last.messages);
}

/// Sub-agents that give their work on and on come to an end at depth 5 (M10).
#[tokio::test]
async fn tasks_that_loop_end() {
    let again = || json!([task("looper", "Again."), say_text("up")]);
    let cast = ScriptedAgents::new(again(), [("You loop.", again())]);
    let mut desk = open_desk(&cast, Host::Person).await;
    desk.write_file(
        ".countersign/agents/looper.md",
        "---\nname: looper\ndescription: Loops.\n---\nYou loop.\n",
    );
    play(&mut desk).await;
    assert_eq!(children(&desk).await.len(), 5);
    let mut heard = cast
        .requests()
        .into_iter()
        .flat_map(|asked| asked.messages.to_vec());
    assert!(heard.any(|message| {
        matches!(message, Message::Tool { text, is_error: true, .. } if text.contains("5 deep"))
    }));
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Done, "up".to_owned())]
    );
}

/// `S001-41`, `S001-42`: a host's sub-agent is a tool with its own name, prompt, model and tools; other sub-agents are not
/// among them.
#[tokio::test]
async fn a_host_s_sub_agent_is_a_tool() {
    let cast = ScriptedAgents::new(
        [
            call_tool("critic", json!({ "task": "Judge a.txt." })),
            say_text("done"),
        ],
        [("You judge.", json!([call_read("a.txt"), say_text("Weak.")]))],
    );
    let critic = SubAgentTool::new("critic", "Judges.")
        .with_system_prompt("You judge.")
        .with_provider("script")
        .with_model("model-x")
        .with_thinking_level(tools::custom::Thinking::High)
        .with_tools(&["read", "critic", "helper"]);
    let helper = SubAgentTool::new("helper", "Helps.");
    let mut desk =
        Fixture::with_tools(cast.clone(), vec![Arc::new(critic), Arc::new(helper)]).await;
    desk.write_file("a.txt", "alpha");
    play(&mut desk).await;
    let outcome = desk.calls().await.remove(0).outcome.unwrap();
    assert_eq!(outcome.text, "Weak.");
    let asked = cast.requests_marked("You judge.");
    assert_eq!(asked[0].system, "You judge.", "it knows nothing else");
    assert_eq!(asked[0].model, "model-x-high");
    let offered: Vec<&str> = asked[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(offered, ["read"]);
}

/// `S001-39`, `S001-41`: a sub-agent with a provider of its own asks that one, with its own model and prompt; one without asks
/// its caller's.
#[tokio::test]
async fn a_sub_agent_asks_its_own_provider() {
    let site = TestSite::start().await;
    let chunk = |delta: Value, ends: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": ends });
        format!("data: {}\n\n", json!({ "id": "c1", "choices": [choice] }))
    };
    let said = chunk(
        json!({ "role": "assistant", "content": "By another." }),
        Value::Null,
    ) + &chunk(json!({}), json!("stop"))
        + "data: [DONE]\n\n";
    site.add_response(
        "/v1/chat/completions",
        page_response("text/event-stream", said),
    );
    let work = |name: &str| call_tool(name, json!({ "task": "Judge." }));
    let callers = || json!([say_text("By the caller's.")]);
    let cast = ScriptedAgents::new(
        [work("critic"), work("helper")],
        [("You judge.", callers()), ("You help.", callers())],
    );
    let critic = SubAgentTool::new("critic", "Judges.")
        .with_system_prompt("You judge.")
        .with_provider("other")
        .with_model("model-y");
    let helper = SubAgentTool::new("helper", "Helps.").with_system_prompt("You help.");
    let mut desk =
        Fixture::with_tools(cast.clone(), vec![Arc::new(critic), Arc::new(helper)]).await;
    let other = ProviderSettings {
        id: "other".to_owned(),
        title: "Another one".to_owned(),
        wire: WireFormat::Openai,
        base_url: site.url("/v1/"),
        key_env: None,
        input_usd_per_mtok: None,
        output_usd_per_mtok: None,
    };
    desk.set_settings(Settings {
        providers: vec![other],
        ..Settings::default()
    })
    .await;
    play(&mut desk).await;
    assert_eq!(desk.call_texts().await, ["By another.", "By the caller's."]);
    let asked = site.request_log();
    assert!(
        asked.len() == 1 && asked[0].contains("model-y"),
        "{asked:?}"
    );
    assert!(asked[0].contains("You judge."), "{asked:?}");
    assert_eq!(cast.requests_marked("You judge.").len(), 0);
    assert_eq!(cast.requests_marked("You help.").len(), 1);
}

/// Bad calls of it are errors that a model can act on (`S002-39`: it is always there).
#[tokio::test]
async fn what_no_agent_is_cannot_be_given_work() {
    let cast = ScriptedAgents::new(
        [
            task("revewer", "Go."),
            call_tool("task", json!({ "prompt": "x" })),
        ],
        [],
    );
    let mut desk = open_desk(&cast, Host::Person).await;
    play(&mut desk).await;
    let outcomes = desk.call_outcomes().await;
    assert!(
        outcomes[0].1.contains("Did you mean `reviewer`?"),
        "{outcomes:?}"
    );
    assert!(outcomes[1].1.contains("subagent_type"), "{outcomes:?}");
    let query = Query::Tools { workspace: None };
    let tools = expect_variant!(desk.query(query).await, Answer::Tools { tools } => tools);
    let is_task = |tool: &ToolView| tool.record.id() == "task" && tool.locked;
    assert!(tools.iter().any(is_task));
}
