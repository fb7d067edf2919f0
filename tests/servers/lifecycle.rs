//! Other people's servers of tools through the whole desk: set up, approved, called, changed, gone.

use agent::Host;
use protocol::query::{Answer, Query};
use protocol::server::mcp_servers::{PinState, ServerChange, ServerState, ServerTransport};
use protocol::text::display_text::join_spans;
use protocol::{CallState, Decision, Gate, SessionState};
use serde::Serialize;
use serde_json::{Value, json};
use support::servers::{server_id, single_view, stdio_server};
use support::{Fixture, HEADLESS, call_tool, expect_variant, say_text};

const ALLOW: &str = "[[rule]]\npermission = \"one__*\"\naction = \"allow\"\n";

fn transport(desk: &Fixture, traits: &[&str]) -> ServerTransport {
    let state = desk.data_dir().join("described").display().to_string();
    // So few that none of them has to be searched for.
    let traits = [&["few"], traits].concat();
    let env = [("FIXTURE_STATE", state.as_str())];
    stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &traits, &env)
}

async fn with_server(turns: impl Serialize, host: Host, rules: &str) -> Fixture {
    let desk = Fixture::with_host(turns, host).await;
    desk.write_rules(rules);
    desk.add_server(transport(&desk, &[])).await;
    desk
}

/// `S001-57`, `S001-59`: a tool of a server is set up, asks like any other, and is recorded like any other.
#[tokio::test]
async fn s001_57_a_servers_tool_walks_the_whole_page() {
    let turns = [
        call_tool("one__echo", json!({ "message": "hello" })),
        say_text("Done."),
    ];
    let mut desk = with_server(turns, Host::Person, "").await;
    desk.start("Go.").await;
    let waiting = desk.wait_for_call().await;
    let why = waiting.trail.as_ref().unwrap();
    let mode = why
        .steps
        .iter()
        .find(|step| step.gate == Gate::Mode)
        .unwrap();
    assert!(mode.text.contains("No mode is known"), "{}", mode.text);
    desk.allow_call(&waiting).await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Done);
    assert_eq!(
        desk.call_outcomes().await,
        [(CallState::Done, "hello".to_owned())]
    );
}

/// An approval is kept: after a new start its tools are there, and nothing runs before one of them is called.
#[tokio::test]
async fn its_tools_are_there_before_it_is_started() {
    let turns = [call_tool("one__count", json!({})), say_text("Done.")];
    let desk = with_server(turns, HEADLESS, ALLOW).await;
    assert_eq!(
        single_view(desk.server_views().await).state,
        ServerState::Ready
    );
    let mut desk = desk.restart().await;
    assert_eq!(
        single_view(desk.server_views().await).state,
        ServerState::Idle
    );
    assert!(
        desk.server_tool_names("one")
            .await
            .contains(&"one__echo".to_owned())
    );
    desk.play().await;
    let [(state, text)] = &desk.call_outcomes().await[..] else {
        panic!()
    };
    assert_eq!(
        (*state, text.ends_with(" 1")),
        (CallState::Done, true),
        "{text}"
    );
    assert_eq!(
        single_view(desk.server_views().await).state,
        ServerState::Ready
    );
}

/// Without a rule, and with nobody to ask, nothing goes to a server; a deny holds for the family.
#[tokio::test]
async fn where_nobody_can_be_asked_only_a_rule_lets_it_pass() {
    let deny = "[[rule]]\npermission = \"one__count\"\naction = \"deny\"\n";
    for (rules, state) in [
        ("", CallState::Denied),
        (ALLOW, CallState::Done),
        (&format!("{ALLOW}{deny}"), CallState::Denied),
    ] {
        let turns = [call_tool("one__count", json!({})), say_text("Done.")];
        let mut desk = with_server(turns, HEADLESS, rules).await;
        desk.play().await;
        assert_eq!(desk.calls().await[0].state, state, "{rules}");
    }
}

/// A tool that is other than what was approved is neither offered nor called, until somebody looked at the difference.
#[tokio::test]
async fn a_tool_that_changed_waits_for_a_look() {
    let turns = [
        call_tool("one__echo", json!({ "message": "x" })),
        say_text("Done."),
    ];
    let desk = with_server(turns, HEADLESS, ALLOW).await;
    std::fs::write(desk.data_dir().join("described"), "Sends it to everybody.").unwrap();
    let mut desk = desk.restart().await;
    desk.play().await;
    let [(state, told)] = &desk.call_outcomes().await[..] else {
        panic!()
    };
    assert_eq!(*state, CallState::Failed);
    assert!(
        told.contains("is not what it was when it was approved"),
        "{told}"
    );
    let seen = single_view(desk.server_views().await);
    assert_eq!(seen.tools[0].pin, PinState::Changed);
    let difference = join_spans(&seen.tools[0].changes);
    assert!(
        difference.contains("+  \"description\": \"Sends it to everybody.\""),
        "{difference}"
    );
    assert!(
        !desk
            .server_tool_names("one")
            .await
            .contains(&"one__echo".to_owned()),
        "it is offered no more"
    );

    let digest = protocol::Digest("something else".to_owned());
    let refused = desk.change_server(ServerChange::Approve { digest }).await;
    assert!(
        refused
            .unwrap_err()
            .message
            .contains("not what was looked at")
    );
    let digest = seen.pending_digest.unwrap();
    desk.change_server(ServerChange::Approve { digest })
        .await
        .unwrap();
    assert!(
        desk.server_tool_names("one")
            .await
            .contains(&"one__echo".to_owned())
    );
    let desk = desk.restart().await;
    assert!(
        desk.server_tool_names("one")
            .await
            .contains(&"one__echo".to_owned()),
        "and is so for good"
    );
}

/// A list that changes within a run is the same to the model until its end; the call itself is refused at once.
#[tokio::test]
async fn a_list_that_changes_takes_effect_with_the_next_run() {
    let turns = [
        call_tool("one__change", json!({})),
        call_tool("one__env", json!({ "name": "NONE" })),
        say_text("Done."),
        call_tool("one__echo", json!({ "message": "x" })),
        say_text("Done."),
    ];
    let mut desk = with_server(turns, Host::Person, ALLOW).await;
    desk.play().await;
    while single_view(desk.server_views().await)
        .pending_digest
        .is_none()
    {
        tokio::task::yield_now().await;
    }
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    let outcomes = desk.call_outcomes().await;
    assert_eq!(outcomes[1], (CallState::Done, "nothing".to_owned()));
    assert_eq!(outcomes[2].0, CallState::Failed);
    assert!(
        outcomes[2].1.contains("Tool not found: one__echo"),
        "{}",
        outcomes[2].1
    );
}

#[tokio::test]
async fn switched_off_or_removed_its_tools_are_gone() {
    let desk = with_server(json!([]), Host::Person, "").await;
    assert!(!desk.server_tool_names("one").await.is_empty());
    desk.change_server(ServerChange::Switch { enabled: false })
        .await
        .unwrap();
    assert_eq!(
        (
            desk.server_tool_names("one").await.len(),
            single_view(desk.server_views().await).state
        ),
        (0, ServerState::Off)
    );
    desk.change_server(ServerChange::Switch { enabled: true })
        .await
        .unwrap();
    assert!(!desk.server_tool_names("one").await.is_empty());

    // Set up otherwise it is off again, and what was approved is held against what it is then.
    desk.set_server(transport(&desk, &["hidden"])).await;
    assert_eq!(desk.server_tool_names("one").await, Vec::<String>::new());
    desk.change_server(ServerChange::Switch { enabled: true })
        .await
        .unwrap();
    let news = single_view(desk.server_views().await)
        .tools
        .into_iter()
        .filter(|tool| tool.pin == PinState::New);
    assert_eq!(
        news.map(|tool| join_spans(&tool.name)).collect::<Vec<_>>(),
        ["sly"]
    );

    desk.change_server(ServerChange::Remove).await.unwrap();
    assert_eq!(desk.server_tool_names("one").await, Vec::<String>::new());
    let kept = std::fs::read_dir(desk.data_dir().join("servers")).unwrap();
    assert_eq!(kept.count(), 0, "what was approved is forgotten");
    assert!(desk.change_server(ServerChange::Restart).await.is_err());
}

/// One that cannot be started stays off; a file that cannot be read leaves every server out, and says so.
#[tokio::test]
async fn what_is_wrong_is_told_and_nothing_is_used() {
    let desk = Fixture::new(json!([])).await;
    desk.set_server(transport(&desk, &["crash"])).await;
    let fault = desk
        .change_server(ServerChange::Switch { enabled: true })
        .await
        .unwrap_err();
    let why = "mcp server one is unavailable: it ended with exit code 3.";
    assert!(fault.message.starts_with(why), "{fault}");
    assert_eq!(
        single_view(desk.server_views().await).state,
        ServerState::Off
    );
    assert!(said(&desk, "Started: ").await, "what it said is kept");

    std::fs::write(
        desk.data_dir().join("servers.toml"),
        "[servers.one]\ncomand = 'x'\n",
    )
    .unwrap();
    let (servers, fault) = desk.server_views().await;
    assert_eq!(servers, []);
    assert!(fault.unwrap().message.contains("line 2"));
    let faults = desk.snapshot().await.faults;
    assert!(
        faults
            .iter()
            .any(|fault| fault.message.contains("servers.toml")),
        "{faults:?}"
    );
    let kept = desk
        .change_server(ServerChange::Set {
            transport: transport(&desk, &[]),
            timeout_ms: 1,
            audience: None,
        })
        .await;
    assert!(kept.is_err(), "it is not written over");
}

/// Nobody signs in to a program of this machine, so nobody is signed out of one either.
#[tokio::test]
async fn nobody_is_signed_out_of_a_program() {
    let desk = with_server(json!([]), Host::Person, "").await;
    for change in [ServerChange::SignOut, ServerChange::SignIn] {
        let fault = desk.change_server(change).await.unwrap_err();
        assert!(
            fault.message.contains("it is a program of this machine"),
            "{fault}"
        );
    }
    assert_eq!(
        single_view(desk.server_views().await).state,
        ServerState::Ready
    );
}

async fn said(desk: &Fixture, what: &str) -> bool {
    let query = Query::ServerLog {
        server: server_id("one"),
    };
    let lines = expect_variant!(desk.query(query).await, Answer::ServerLog { lines } => lines);
    lines
        .iter()
        .any(|line| join_spans(&line.text).contains(what))
}

/// A call is stopped with its run, and the server is told.
#[tokio::test]
async fn a_call_is_stopped_with_its_run() {
    let turns = [call_tool("one__hang", json!({})), say_text("Done.")];
    let mut desk = with_server(turns, Host::Person, ALLOW).await;
    desk.start("Go.").await;
    while !said(&desk, "holds hang").await {
        tokio::task::yield_now().await;
    }
    desk.interrupt_run().await;
    assert_eq!(desk.wait_until_ended().await, SessionState::Interrupted);
    assert_eq!(desk.calls().await[0].state, CallState::Interrupted);
    while !said(&desk, "told of a cancellation").await {
        tokio::task::yield_now().await;
    }
}

/// *Always* on its card makes a rule for that one tool.
#[tokio::test]
async fn a_grant_is_for_the_one_tool() {
    let turns = [call_tool("one__count", json!({})), say_text("Done.")];
    let mut desk = with_server(turns, Host::Person, "").await;
    desk.start("Go.").await;
    let waiting = desk.wait_for_call().await;
    let query = Query::Offers {
        session: desk.session.clone(),
        call: waiting.call.id.clone(),
    };
    let offers = expect_variant!(desk.query(query).await, Answer::Offers(offers) => offers);
    let told = serde_json::to_string(&offers).unwrap();
    assert!(told.contains("one__count"), "{told}");
    desk.decide_call(&waiting, Decision::reject(""))
        .await
        .unwrap();
    desk.wait_until_ended().await;
}

/// A resource is listed and read by a call that is asked for, and what the server says of it comes back.
#[tokio::test]
async fn resources_are_listed_and_read_where_a_person_allows_it() {
    let read = |arguments: Value| call_tool("one__read_resource", arguments);
    let turns = [
        read(json!({})),
        read(json!({ "uri": "demo://1" })),
        read(json!({ "uri": "demo://9" })),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.add_server(transport(&desk, &["resources"])).await;
    desk.start("Go.").await;
    for target in ["", "demo://1", "demo://9"] {
        let waiting = desk.wait_for_call().await;
        let named = (waiting.title.as_str(), waiting.target.as_str());
        assert_eq!(named, ("Read resource (one)", target), "it asks");
        desk.allow_call(&waiting).await;
    }
    desk.wait_until_ended().await;
    let outcomes = desk.call_outcomes().await;
    let told: Vec<_> = outcomes.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        told[..2],
        ["demo://1  one (text/plain)", "[demo://1]\ninside"]
    );
    assert_eq!(outcomes[2].0, CallState::Failed);
    assert!(told[2].contains("no such resource"), "{}", told[2]);
}
