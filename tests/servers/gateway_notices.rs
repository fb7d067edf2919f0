//! What a server behind a gateway tells unasked: changes of resources that a client subscribed to by a judged call, and log
//! messages from the level on that the client wants.

#![allow(
    deprecated,
    reason = "clients of 2025 subscribe, and set the level of log messages, by requests of their own"
)]

use protocol::CallState;
use rmcp::model::{
    CallToolRequestParams, LoggingLevel, RequestMetaObject, ServerNotification,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::Subscription;
use serde_json::{Value, json};
use support::rule_text;

use super::gateway_client::{ALLOW, Client, given, given_with_variable, modern, open_headless};
use super::gateway_reads::recorded;

/// The traits of a server of each era.
const ERAS: [&[&str]; 2] = [
    &["few", "resources", "telling"],
    &["modern", "few", "resources", "telling"],
];

async fn listen(client: &Client, uri: &str) -> Subscription {
    let filter = SubscriptionFilter::builder().resource_subscription(uri);
    client.service.listen(filter.build()).await.unwrap()
}

#[tokio::test]
async fn a_client_of_2025_is_told_of_the_changes_of_a_resource_while_it_subscribes() {
    for traits in ERAS {
        let mut desk = open_headless(ALLOW).await;
        let mut client = Client::of_engine(&desk.engine, &given(&desk, traits)).await;
        let resources = &client.service.peer_info().unwrap().capabilities.resources;
        assert_eq!(resources.as_ref().unwrap().subscribe, Some(true));
        assert!(!client.called("update", json!({})).await.1);
        let request = SubscribeRequestParams::new("demo://told");
        client.service.subscribe(request).await.unwrap();
        for _ in 0..2 {
            assert!(!client.called("update", json!({})).await.1);
            assert_eq!(
                client.hear().await,
                "demo://told changed",
                "and nothing before"
            );
        }
        let request = UnsubscribeRequestParams::new("demo://told");
        client.service.unsubscribe(request).await.unwrap();
        assert!(!client.called("update", json!({})).await.1);
        assert!(!client.called("change", json!({})).await.1);
        let told = [client.hear().await, client.hear().await];
        assert!(
            !told.contains(&"demo://told changed".to_owned()),
            "{told:?}"
        );
        let done = |tool: &str| (format!("given__{tool}"), CallState::Done);
        let calls = [
            "update",
            "read_resource",
            "update",
            "update",
            "update",
            "change",
        ]
        .map(done);
        assert_eq!(recorded(&mut desk).await, calls);
    }
}

#[tokio::test]
async fn a_client_of_2026_is_told_of_the_changes_of_a_resource_while_it_listens() {
    for traits in ERAS {
        let mut desk = open_headless(ALLOW).await;
        let request = given(&desk, traits);
        let client = Client::of_engine_as(&desk.engine, &request, modern()).await;
        let mut changes = listen(&client, "demo://told").await;
        // The call that subscribes may come after the answer that it listens.
        let told = loop {
            assert!(!client.called("update", json!({})).await.1);
            tokio::select! {
                biased;
                told = changes.next() => break told.unwrap().unwrap(),
                () = tokio::task::yield_now() => {}
            }
        };
        match told {
            ServerNotification::ResourceUpdatedNotification(update) => {
                assert_eq!(update.params.uri, "demo://told");
            }
            other => panic!("{other:?}"),
        }
        let calls = recorded(&mut desk).await;
        let read = ("given__read_resource".to_owned(), CallState::Done);
        assert_eq!(calls.iter().filter(|call| **call == read).count(), 1);
    }
}

#[tokio::test]
async fn a_rule_against_reading_a_resource_keeps_a_client_from_subscribing_to_it() {
    let rules = format!(
        "{ALLOW}\n{}",
        rule_text("given__read_resource", "*", "deny")
    );
    for traits in ERAS {
        let desk = open_headless(&rules).await;
        let request = given(&desk, traits);
        let client = Client::of_engine(&desk.engine, &request).await;
        let subscribing = SubscribeRequestParams::new("demo://told");
        let denied = client.service.subscribe(subscribing).await.unwrap_err();
        let denied = denied.to_string();
        assert!(denied.contains("given__read_resource"), "{denied}");

        let client = Client::of_engine_as(&desk.engine, &request, modern()).await;
        let denied = listen(&client, "demo://told")
            .await
            .next()
            .await
            .unwrap_err();
        let denied = denied.to_string();
        assert!(denied.contains("given__read_resource"), "{denied}");
    }
}

#[tokio::test]
async fn a_subscription_to_an_address_of_this_machine_asks_as_a_read_does() {
    let desk = open_headless(ALLOW).await;
    let client = Client::of_engine(&desk.engine, &given(&desk, ERAS[0])).await;
    let request = SubscribeRequestParams::new("http://127.0.0.1/");
    let denied = client.service.subscribe(request).await.unwrap_err();
    let denied = denied.to_string();
    assert!(denied.contains("nobody is there to ask"), "{denied}");
}

#[tokio::test]
async fn a_subscription_outlives_a_server_that_dies() {
    for traits in [
        &["resources", "telling"][..],
        &["modern", "resources", "telling"],
    ] {
        let desk = open_headless(ALLOW).await;
        let mut client = Client::of_engine(&desk.engine, &given(&desk, traits)).await;
        let request = SubscribeRequestParams::new("demo://told");
        client.service.subscribe(request).await.unwrap();
        assert!(client.called("crash", json!({})).await.1);
        // It may have changed while nobody listened.
        client.hears("demo://told changed").await;
        while client.called("update", json!({})).await.1 {}
        client.hears("demo://told changed").await;
    }
}

/// Calls the tool that logs, as a client of 2026 that wants messages from this level on.
async fn log_from(client: &Client, level: Option<LoggingLevel>) {
    let mut call = CallToolRequestParams::new("log");
    call.meta = level.map(|level| {
        let mut meta = RequestMetaObject::new();
        meta.set_log_level(level);
        meta
    });
    client.service.call_tool(call).await.unwrap();
}

fn messages(levels: &[&str]) -> Vec<String> {
    let message = |level: &&str| {
        let data = json!({ "said": level, "with": "by the gateway" });
        format!("{level} {data}")
    };
    levels.iter().map(message).collect()
}

#[tokio::test]
async fn a_client_of_2025_is_told_the_log_from_the_level_on_that_it_sets() {
    for traits in ERAS {
        let desk = open_headless(ALLOW).await;
        let mut client = Client::of_engine(&desk.engine, &given(&desk, traits)).await;
        for (level, wanted) in [
            (None, &["debug", "info", "warning", "error"][..]),
            (Some(LoggingLevel::Warning), &["warning", "error"]),
            (Some(LoggingLevel::Info), &["info", "warning", "error"]),
        ] {
            if let Some(level) = level {
                let request = SetLevelRequestParams::new(level);
                client.service.set_level(request).await.unwrap();
            }
            assert!(!client.called("log", json!({})).await.1);
            for message in messages(wanted) {
                assert_eq!(client.hear().await, message);
            }
        }
    }
}

#[tokio::test]
async fn a_client_of_2026_is_told_the_log_during_a_call_that_names_a_level() {
    for traits in ERAS {
        let desk = open_headless(ALLOW).await;
        let request = given(&desk, traits);
        let mut client = Client::of_engine_as(&desk.engine, &request, modern()).await;
        log_from(&client, None).await;
        log_from(&client, Some(LoggingLevel::Error)).await;
        log_from(&client, Some(LoggingLevel::Info)).await;
        log_from(&client, None).await;
        let wanted = [
            messages(&["error"]),
            messages(&["info", "warning", "error"]),
        ];
        let mut told = Vec::new();
        while told.len() < 4 {
            told.push(client.hear().await);
        }
        assert_eq!(told, wanted.concat());
        assert_eq!(client.heard(), Vec::<String>::new());
        let level = SetLevelRequestParams::new(LoggingLevel::Info);
        assert!(
            client.service.set_level(level).await.is_err(),
            "it is not of 2026"
        );
    }
}

#[tokio::test]
async fn a_secret_in_a_log_message_is_masked() {
    let desk = open_headless(ALLOW).await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let request = given_with_variable(&desk, ERAS[0], &secret);
    let mut client = Client::of_engine(&desk.engine, &request).await;
    assert!(!client.called("log", json!({})).await.1);
    let message = client.hear().await;
    let data: Value = serde_json::from_str(message.split_once(' ').unwrap().1).unwrap();
    assert_eq!(data, json!({ "said": "debug", "with": "***" }));
}

#[tokio::test]
async fn a_level_that_is_none_is_refused() {
    let desk = open_headless(ALLOW).await;
    let client = Client::of_engine(&desk.engine, &given(&desk, ERAS[0])).await;
    let wrong =
        rmcp::model::CustomRequest::new("logging/setLevel", Some(json!({ "level": "loud" })));
    let wrong = rmcp::model::ClientRequest::CustomRequest(wrong);
    let refused = client.service.send_request(wrong).await.unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("The parameters of `logging/setLevel`"),
        "{refused}"
    );
}
