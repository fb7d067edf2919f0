//! Planning first: nothing that could change anything is in reach before a person accepts the plan.

use agent::Host;
use protocol::event::{CallChange, SessionEvent};
use protocol::{CallState, Decision, EventBody, Op, Preview};
use serde::Serialize;
use serde_json::{Value, json};
use support::scripted_agents::ScriptedAgents;
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, call_read, call_tool, call_write, say_text,
};

const ALLOW_ALL: &str = "[[rule]]\npermission = \"*\"\naction = \"allow\"\n";

fn write(path: &str) -> Value {
    call_write(path, "new\n")
}

fn exit(plan: &str) -> Value {
    call_tool("plan_exit", json!({ "plan": plan }))
}

async fn allowing_all(turns: impl Serialize) -> Fixture {
    let mut desk = Fixture::new(turns).await;
    desk.write_rules(ALLOW_ALL);
    desk.write_file("a.txt", "alpha");
    desk
}

async fn planning(desk: &Fixture) -> bool {
    let snapshot = desk.snapshot().await;
    let mut sessions = snapshot.sessions.into_iter();
    sessions
        .find(|view| view.id == desk.session)
        .unwrap()
        .planning
}

/// `S002-32`: an agent that began to plan can look and cannot change, whatever the rules allow; a plan that is not accepted
/// changes nothing about that, and an accepted one ends it.
#[tokio::test]
async fn an_agent_that_plans_changes_nothing_before_its_plan_is_accepted() {
    let mut desk = allowing_all([
        call_tool("plan", json!({})),
        call_read("a.txt"),
        write("b.txt"),
        call_bash("touch c.txt"),
        call_tool("delete_path", json!({ "path": "a.txt" })),
        exit("# Write b\n\n1. Write it."),
        write("b.txt"),
        exit("# Write only b"),
        write("b.txt"),
        say_text("Done."),
    ])
    .await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    assert_eq!(view.target, "Write b");
    let text = "# Write b\n\n1. Write it.".to_owned();
    assert_eq!(view.preview, Preview::Plan { text });
    assert!(planning(&desk).await);
    desk.decide_call(&view, Decision::reject("Only b."))
        .await
        .unwrap();
    desk.allow_next().await;
    desk.wait_until_ended().await;
    assert!(!planning(&desk).await);

    let outcomes = desk.call_outcomes().await;
    let states: Vec<_> = outcomes.iter().map(|(state, _)| *state).collect();
    use CallState::{Denied, Done, Rejected};
    assert_eq!(
        states,
        [
            Done, Done, Denied, Denied, Denied, Rejected, Denied, Done, Done
        ]
    );
    for at in [2, 3, 4, 6] {
        assert!(outcomes[at].1.contains("is planning"), "{}", outcomes[at].1);
    }
    assert!(outcomes[5].1.contains("Only b."), "{}", outcomes[5].1);
    assert_eq!(desk.read_file("b.txt").unwrap(), "new\n");
    assert!(desk.read_file("a.txt").is_some() && desk.read_file("c.txt").is_none());
}

/// A person has a session plan first, also while it rests; the model hears of it, and a restart changes nothing.
#[tokio::test]
async fn a_person_wants_a_plan_first() {
    let mut desk = allowing_all([
        say_text("Hello."),
        write("b.txt"),
        say_text("I may not."),
        write("c.txt"),
        say_text("Now I may."),
    ])
    .await;
    desk.start("Hello.").await;
    desk.wait_until_ended().await;
    let set = |desk: &Fixture, on| Op::SetPlanning {
        session: desk.session.clone(),
        on,
    };
    desk.submit(set(&desk, true)).await;
    desk.submit(set(&desk, true)).await;
    let mut desk = desk.restart().await;
    desk.send_message("Write.").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.call_outcomes().await[0].0, CallState::Denied);
    desk.submit(set(&desk, false)).await;
    desk.send_message("Write.").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.call_outcomes().await[1].0, CallState::Done);
    let events = desk.events().await;
    let set = |event: &&protocol::Event| {
        matches!(
            event.body,
            EventBody::Session(SessionEvent::PlanningSet { .. })
        )
    };
    assert_eq!(events.iter().filter(set).count(), 2);
}

/// A sub-agent of an agent that plans, plans as well and has no plan of its own to be accepted.
#[tokio::test]
async fn who_works_for_an_agent_that_plans_changes_nothing() {
    let helper = "---\nname: helper\ndescription: Helps.\n---\nYou help.\n";
    let cast = ScriptedAgents::new(
        [
            call_tool("plan", json!({})),
            call_tool(
                "task",
                json!({ "subagent_type": "helper", "prompt": "Write." }),
            ),
            say_text("Planned."),
        ],
        [(
            "You help.",
            json!([write("b.txt"), exit("Mine."), say_text("I may not.")]),
        )],
    );
    let mut desk = Fixture::with_provider(cast.clone(), Host::Person).await;
    desk.write_rules(ALLOW_ALL);
    desk.write_file(".countersign/agents/helper.md", helper);
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    let events = desk.events().await;
    let children: Vec<_> = events
        .iter()
        .filter(|event| event.session != desk.session)
        .filter_map(|event| match &event.body {
            EventBody::Call {
                change: CallChange::Ended { outcome, .. },
                ..
            } => Some((outcome.state, outcome.text.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(children[0].0, CallState::Denied, "{children:?}");
    assert!(children[0].1.contains("is planning"), "{children:?}");
    assert_eq!(children[1].0, CallState::Failed, "{children:?}");
    assert!(desk.read_file("b.txt").is_none());
    let heard = format!("{:?}", cast.requests_marked("You help."));
    assert!(
        heard.contains("Whoever you work for is planning"),
        "{heard}"
    );
}

/// Nobody accepts a plan where nobody is, whatever was approved beforehand.
#[tokio::test]
async fn without_a_person_no_plan_is_accepted() {
    for host in [HEADLESS, HEADLESS_APPROVED] {
        let turns = [
            call_tool("plan", json!({})),
            exit("Mine."),
            write("b.txt"),
            say_text("End."),
        ];
        let mut desk = Fixture::with_host(turns, host).await;
        desk.write_rules(ALLOW_ALL);
        desk.play().await;
        let outcomes = desk.call_outcomes().await;
        assert!(
            outcomes[1].1.contains("Nobody is here"),
            "{}",
            outcomes[1].1
        );
        assert_eq!(outcomes[2].0, CallState::Denied, "{}", outcomes[2].1);
    }
}

/// `S002-32`: a session that begins with planning holds back from its first call on, and its model is told why.
#[tokio::test]
async fn a_session_can_begin_with_planning() {
    let mut desk = allowing_all([write("b.txt"), say_text("Done.")]).await;
    let op = Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: protocol::ModelChoice {
            provider: "script".into(),
            model: String::new(),
        },
        prompt: Some("Go.".into()),
        output_schema: None,
        temperature: None,
        agent: None,
        planning: true,
        enclosure: None,
        servers: None,
        former: None,
    };
    desk.session = desk.submit(op).await.session.unwrap();
    desk.wait_until_ended().await;
    assert!(planning(&desk).await);
    let outcomes = desk.call_outcomes().await;
    assert_eq!(outcomes[0].0, CallState::Denied);
    assert!(!desk.workspace_root().join("b.txt").exists());
}
