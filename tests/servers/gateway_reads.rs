//! Resources, prompts, and completions of a server behind a gateway: read by calls that pass, are recorded, and obey rules.

#![allow(
    deprecated,
    reason = "clients of 2025 subscribe by a request of its own"
)]

use protocol::CallState;
use protocol::EventBody;
use protocol::event::SessionEvent;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, CompletionContext, GetPromptRequestParams, JsonObject,
    ReadResourceRequestParams, Reference, SubscribeRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ServiceError};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS, rule_text};

use super::gateway_client::{Client, given, given_with_variable, modern, open_headless};

async fn read(client: &Client, uri: &str) -> Result<Value, ServiceError> {
    let read = client
        .service
        .read_resource(ReadResourceRequestParams::new(uri))
        .await?;
    Ok(serde_json::to_value(read).unwrap()["contents"].clone())
}

async fn prompt(client: &Client, file: &str) -> Result<Value, ServiceError> {
    let arguments = JsonObject::from_iter([("file".to_owned(), file.into())]);
    let request = GetPromptRequestParams::new("review").with_arguments(arguments);
    let got = client.service.get_prompt(request).await?;
    Ok(serde_json::to_value(got).unwrap()["messages"].clone())
}

/// A completion of the argument of the prompt, which has another argument already.
fn completion(begun: &str) -> CompleteRequestParams {
    let argument = ArgumentInfo::new("file", begun);
    let filled = [("lang".to_owned(), "rust".to_owned())].into();
    CompleteRequestParams::new(Reference::for_prompt("review"), argument)
        .with_context(CompletionContext::with_arguments(filled))
}

/// The calls of the last session that a client opened: tool and state.
pub(crate) async fn recorded(desk: &mut Fixture) -> Vec<(String, CallState)> {
    let opened = desk
        .wait_for_event("a session of a client", |body| {
            matches!(body, EventBody::Session(SessionEvent::Opened { .. }))
        })
        .await;
    desk.session = opened.session;
    let calls = desk.calls().await.into_iter();
    calls
        .map(|view| (view.tool.to_string(), view.state))
        .collect()
}

#[tokio::test]
async fn resources_and_prompts_are_passed_on_and_each_read_is_on_record() {
    for traits in [
        &["few", "resources", "templates", "prompts"][..],
        &["modern", "few", "resources", "templates", "prompts"],
    ] {
        // No rule speaks of them.
        let mut desk = open_headless("").await;
        let client = Client::of_engine(&desk.engine, &given(&desk, traits)).await;
        let info = client.service.peer_info().unwrap();
        assert_eq!(
            serde_json::to_value(&info.capabilities).unwrap(),
            json!({ "tools": { "listChanged": true }, "resources": { "listChanged": true },
                "prompts": { "listChanged": true }, "logging": {} })
        );
        let resources = client.service.list_all_resources().await.unwrap();
        let addresses: Vec<&str> = resources.iter().map(|one| one.uri.as_str()).collect();
        assert_eq!(addresses, ["demo://1", "demo://told"]);
        let templates = client.service.list_all_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "demo://{n}");
        let prompts = client.service.list_all_prompts().await.unwrap();
        assert_eq!(prompts[0].name, "review");

        let contents =
            json!([{ "uri": "demo://told", "mimeType": "text/plain", "text": "by the gateway" }]);
        assert_eq!(read(&client, "demo://told").await.unwrap(), contents);
        let messages =
            json!([{ "role": "user", "content": { "type": "text", "text": "Look at a.rs." } }]);
        assert_eq!(prompt(&client, "a.rs").await.unwrap(), messages);
        let unknown = read(&client, "demo://none").await.unwrap_err();
        assert!(
            unknown.to_string().contains("no such resource"),
            "{unknown}"
        );
        let calls = [
            ("given__read_resource".to_owned(), CallState::Done),
            ("given__get_prompt".to_owned(), CallState::Done),
            ("given__read_resource".to_owned(), CallState::Failed),
        ];
        assert_eq!(recorded(&mut desk).await, calls);
        // They are no tools of the server.
        assert_eq!(client.tools().await.len(), 5);
    }
}

#[tokio::test]
async fn what_the_server_does_not_have_is_not_offered() {
    let desk = open_headless("").await;
    let client = Client::of_engine(&desk.engine, &given(&desk, &["few"])).await;
    let info = client.service.peer_info().unwrap();
    let capabilities = serde_json::to_value(&info.capabilities).unwrap();
    // The fixture has a log whatever its traits are.
    let offered = json!({ "tools": { "listChanged": true }, "logging": {} });
    assert_eq!(capabilities, offered);
    let service = &client.service;
    let refused = [
        read(&client, "demo://1").await.err(),
        prompt(&client, "a.rs").await.err(),
        service.complete(completion("a")).await.err(),
        service
            .subscribe(SubscribeRequestParams::new("demo://1"))
            .await
            .err(),
    ];
    for error in refused {
        let error = error.unwrap().to_string();
        assert!(error.contains("The server does not offer this."), "{error}");
    }
}

#[tokio::test]
async fn a_rule_denies_a_read_and_says_why() {
    let desk = Fixture::with_host(json!([]), HEADLESS).await;
    desk.write_rules(rule_text("given__read_resource", "*", "deny"));
    let client = Client::of_engine(&desk.engine, &given(&desk, &["few", "resources"])).await;
    let denied = read(&client, "demo://1").await.unwrap_err();
    assert!(
        denied.to_string().contains("given__read_resource"),
        "{denied}"
    );
}

#[tokio::test]
async fn an_argument_is_completed_by_the_server_and_each_completion_is_on_record() {
    for traits in [
        &["few", "prompts", "completes"][..],
        &["modern", "few", "prompts", "completes"],
    ] {
        for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
            let mut desk = open_headless("").await;
            let request = given(&desk, traits);
            let client = Client::of_engine_as(&desk.engine, &request, lifecycle).await;
            let info = client.service.peer_info().unwrap();
            assert!(info.capabilities.completions.is_some());
            let completed = client.service.complete(completion("main")).await.unwrap();
            let values = ["main.rs", "review", r#"{"lang":"rust"}"#];
            assert_eq!(completed.completion.values, values);
            let template = Reference::for_resource("demo://{n}");
            let argument = ArgumentInfo::new("n", "");
            let of_template = CompleteRequestParams::new(template, argument);
            let completed = client.service.complete(of_template).await.unwrap();
            assert_eq!(completed.completion.values, [".rs", "demo://{n}", "null"]);
            let calls =
                ["given__complete_argument"; 2].map(|tool| (tool.to_owned(), CallState::Done));
            assert_eq!(recorded(&mut desk).await, calls);
        }
    }
}

#[tokio::test]
async fn a_rule_keeps_a_completion_from_the_server() {
    let desk = open_headless(&rule_text("given__complete_argument", "*", "deny")).await;
    let request = given(&desk, &["few", "prompts", "completes"]);
    let client = Client::of_engine(&desk.engine, &request).await;
    let denied = client
        .service
        .complete(completion("main"))
        .await
        .unwrap_err();
    let denied = denied.to_string();
    assert!(denied.contains("given__complete_argument"), "{denied}");
}

#[tokio::test]
async fn a_secret_in_a_resource_is_masked() {
    let desk = open_headless("").await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let request = given_with_variable(&desk, &["few", "resources", "templates"], &secret);
    let client = Client::of_engine(&desk.engine, &request).await;
    assert_eq!(
        read(&client, "demo://told").await.unwrap()[0]["text"],
        "***"
    );
}

#[tokio::test]
async fn a_client_hears_that_resources_and_prompts_changed() {
    let allow = rule_text("given__*", "*", "allow");
    for traits in [
        &["few", "resources", "prompts"][..],
        &["modern", "few", "resources", "prompts"],
    ] {
        let desk = open_headless(&allow).await;
        let mut client = Client::of_engine(&desk.engine, &given(&desk, traits)).await;
        assert!(!client.called("change", json!({})).await.1);
        client
            .hears_all(&["the resources changed", "the prompts changed"])
            .await;
    }
}
