//! Secrets in the arguments of a call that sends nothing out: shown letter for letter while the call waits, masked once it is
//! over.

use protocol::event::{CallChange, CallProposal};
use protocol::query::Query;
use protocol::{CallState, CallView, Decision, EventBody};
use serde_json::json;
use support::{Fixture, call_bash, call_write};

/// Written in two halves, so that no scanner of repositories takes this file for a leak.
const SECRET: &str = concat!("AKIA", "IOSFODNN7EXAMPLE");

fn json_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Every way in which the window and the command line look at a call.
async fn views_of(desk: &Fixture, view: &CallView) -> Vec<String> {
    let (session, call) = (desk.session.clone(), view.call.id.clone());
    let queries = [
        Query::CallEvents {
            session: session.clone(),
            call: call.clone(),
        },
        Query::Account { session, call },
        Query::History {
            offset: 0,
            limit: 100,
        },
        Query::Search {
            text: "echo".to_owned(),
            offset: 0,
            limit: 100,
        },
    ];
    let mut views = vec![json_of(&desk.transcript().await)];
    for query in queries {
        views.push(json_of(&desk.query(query).await));
    }
    views
}

/// A card shows what is agreed to; the settled call is masked everywhere, and the model's own words stay for a resumed session.
#[tokio::test]
async fn a_secret_in_arguments_is_masked_once_the_call_is_over() {
    let command = format!("echo 'X-Api-Key: {SECRET}' > request.txt");
    let mut desk = Fixture::new([call_bash(&command)]).await;
    desk.start("Go.").await;
    let view = desk.wait_for_call().await;
    assert_eq!(view.call.arguments["command"], *command, "a card shows it");
    assert!(json_of(&view.preview).contains(SECRET));
    desk.decide_call(&view, Decision::reject("")).await.unwrap();
    desk.wait_until_ended().await;

    let settled = desk.find_call(view.call.id.as_str()).await;
    assert_eq!(settled.state, CallState::Rejected);
    let masked = "echo 'X-Api-Key: ***' > request.txt";
    assert_eq!(settled.call.arguments["command"], masked);
    assert_eq!(settled.target, masked);
    for view in views_of(&desk, &settled).await {
        assert!(!view.contains(SECRET), "{view}");
    }

    let desk = desk.restart().await;
    let raw = desk
        .events()
        .await
        .into_iter()
        .find_map(|event| match event.body {
            EventBody::Proposal(CallProposal { call, .. }) => Some(call.arguments),
            _ => None,
        });
    assert_eq!(
        raw.unwrap()["command"],
        *command,
        "from which the session resumes"
    );
}

/// Arguments that the person wrote in the place of the model's are masked as well, and so is the decision.
#[tokio::test]
async fn a_secret_in_edited_arguments_is_masked() {
    let mut desk = Fixture::new([call_bash("echo > request.txt")]).await;
    desk.start("Go.").await;
    let edited = format!("echo 'X-Api-Key: {SECRET}' > request.txt");
    desk.edit_next(json!({ "command": edited })).await;
    let view = desk.wait_for_call().await;
    assert!(json_of(&view.edited).contains(SECRET));
    desk.decide_call(&view, Decision::reject("")).await.unwrap();
    desk.wait_until_ended().await;
    for view in views_of(&desk, &view).await {
        assert!(!view.contains(SECRET), "{view}");
    }
}

/// A difference is masked across the parts of a line, and the file itself has what was agreed to.
#[tokio::test]
async fn a_secret_that_is_written_is_masked_in_the_difference() {
    let content = format!("[service]\napi_key = \"{SECRET}\"\n");
    let mut desk = Fixture::new([call_write("service.toml", &content)]).await;
    desk.write_file("service.toml", "[service]\napi_key = \"\"\n");
    desk.play().await;
    assert_eq!(desk.read_file("service.toml").unwrap(), content);
    let calls = desk.calls().await;
    assert_eq!(calls[0].state, CallState::Done);
    for view in views_of(&desk, &calls[0]).await {
        assert!(!view.contains(SECRET), "{view}");
    }
}

/// A call that waited while the app was closed is masked when it ends; so is one that was under way.
#[tokio::test]
async fn a_secret_is_masked_after_a_restart() {
    let command = format!("echo 'X-Api-Key: {SECRET}' > request.txt");
    let mut desk = Fixture::new([call_bash(&command)]).await;
    desk.start("Go.").await;
    let before = desk.wait_for_call().await;
    let mut desk = desk.restart().await;
    let view = desk.wait_for_call().await;
    assert_eq!((&view.call.id, &view.target), (&before.call.id, &command));
    desk.decide_call(&view, Decision::reject("")).await.unwrap();
    desk.wait_until_ended().await;
    for view in views_of(&desk, &view).await {
        assert!(!view.contains(SECRET), "{view}");
    }
}

/// Arguments without a secret are left alone.
#[tokio::test]
async fn other_arguments_stay() {
    let mut desk = Fixture::new([call_bash("echo token; true")]).await;
    desk.start("Go.").await;
    let view = desk.reject_next("").await;
    desk.wait_until_ended().await;
    let settled = desk.find_call(view.call.id.as_str()).await;
    assert_eq!(settled.call.arguments["command"], "echo token; true");
    let ended = desk
        .events()
        .await
        .into_iter()
        .find_map(|event| match event.body {
            EventBody::Call {
                change: CallChange::Ended { masked, .. },
                ..
            } => Some(masked),
            _ => None,
        });
    assert_eq!(ended.unwrap(), None);
}
