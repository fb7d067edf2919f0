//! The client that the conformance suite drives: it connects to the address that it is given last, calls what the scenario
//! wants called, and says yes to everything that it is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mcp::{McpServer, ToolPins};
use protocol::server::elicitation::{FieldKind, FormField};
use protocol::server::mcp_servers::{
    OauthClient, ServerSettings, ServerState, ServerTransport, SignInState,
};
use serde_json::{Map, Value, json};
use tools::ElicitationChannel;
use tools::elicitation::{ElicitationKind, ElicitationReply, ElicitationRequest};

use crate::support::{call_asking, ground, led_on, opened, settings, settled, until, waits_at};

/// Where the suite says that the client tells who it is.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// How often a person would sign in before they give up.
const SIGN_INS_MAX: usize = 2;

/// Says yes to everything, with what stands in a form at first.
struct Agreeable;

#[async_trait]
impl ElicitationChannel for Agreeable {
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply {
        match asking.kind {
            ElicitationKind::Form(fields) => {
                ElicitationReply::Filled(fields.iter().filter_map(at_first).collect())
            }
            ElicitationKind::Url { .. } => ElicitationReply::Opened,
            ElicitationKind::Sampling(_) => ElicitationReply::Sampled {
                model: "none".to_owned(),
                text: "Yes.".to_owned(),
                calls: Vec::new(),
                is_cut: false,
            },
        }
    }
}

/// Initial value of a field, or one that fits where it has none.
fn at_first(field: &FormField) -> Option<(String, Value)> {
    let value = match &field.kind {
        FieldKind::Text { default, .. } => default.clone().map_or("x".into(), Value::from),
        FieldKind::Number {
            integer, default, ..
        } => match (integer, default) {
            (true, Some(default)) => json!(*default as i64),
            (false, Some(default)) => json!(default),
            (_, None) => 1.into(),
        },
        FieldKind::Boolean { default } => default.unwrap_or(true).into(),
        FieldKind::Choice { options, default } => {
            let first = options.first().map(|option| option.value.clone());
            default.clone().or(first)?.into()
        }
        FieldKind::Choices { default, .. } => json!(default),
    };
    Some((field.name.clone(), value))
}

/// Arguments that fit a schema, as far as simple ones go.
fn arguments(schema: &Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let values = properties.into_iter().flatten().map(|(name, schema)| {
        let value = match schema.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => 2.into(),
            Some("boolean") => true.into(),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => "text".into(),
        };
        (name.clone(), value)
    });
    Value::Object(values.collect::<Map<_, _>>())
}

/// Calls of the scenario, or one of every tool.
fn calls(server: &McpServer, scenario: &str, context: &Value) -> Vec<(String, Value)> {
    let catalogue = server.catalogue().unwrap();
    let named = context.get("toolCalls").and_then(Value::as_array);
    let named = named.map(|calls| {
        let calls = calls.iter();
        let calls = calls.map(|call| {
            (
                call["name"].as_str().unwrap().to_owned(),
                call["arguments"].clone(),
            )
        });
        calls.collect::<Vec<_>>()
    });
    let tools = catalogue.tools.iter();
    let mut calls = named.unwrap_or_else(|| {
        tools
            .map(|tool| (tool.name.clone(), arguments(&tool.input_schema)))
            .collect()
    });
    if scenario == "json-schema-2020-12-preservation" {
        // It wants to see the first tool's schema as it came.
        let focal = &catalogue.tools.first().unwrap().input_schema;
        for (_, arguments) in &mut calls {
            if arguments.get("schema").is_some() {
                arguments["schema"] = focal.clone();
            }
        }
    }
    calls
}

/// Not run by itself: the suite starts this program with the address of its server behind everything else.
#[tokio::test]
#[ignore = "the conformance suite drives it"]
async fn of_the_suite() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let scenario = variable("MCP_CONFORMANCE_SCENARIO");
    let context = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT"));
    let context: Value = context.unwrap_or_default();
    let given = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let client = given("client_id").map(|id| OauthClient {
        id,
        secret: given("client_secret"),
    });
    let document = || OauthClient {
        id: DOCUMENT.to_owned(),
        secret: None,
    };
    let settings = ServerSettings {
        transport: ServerTransport::Http {
            url: std::env::args().next_back().unwrap(),
            headers: BTreeMap::new(),
            client: Some(client.unwrap_or_else(document)),
        },
        ..settings(&[])
    };
    let server = Arc::new(McpServer::new(settings, ToolPins::default(), ground()));
    for _ in 0..SIGN_INS_MAX {
        if server.retry().await.is_ok() || !signs_in(&server).await {
            break;
        }
    }
    server.retry().await.unwrap();
    server.set_pins(ToolPins::approve_initial(&server.catalogue().unwrap()));
    // One after the other, unless the scenario wants to see that they are told apart.
    let is_together = scenario.starts_with("sep-2322");
    let mut at_work = Vec::new();
    for (name, arguments) in calls(&server, &scenario, &context) {
        let server = server.clone();
        let call = tokio::spawn(async move {
            for _ in 0..SIGN_INS_MAX {
                let asks = Arc::new(Agreeable);
                let said = call_asking(&server, &name, arguments.clone(), asks).await;
                println!("{name}: {said:?}");
                let wants = matches!(server.view().sign_in, Some(SignInState::Needed { .. }));
                if !wants || !signs_in(&server).await {
                    break;
                }
                until(|| server.view().state == ServerState::Ready).await;
            }
        });
        match is_together {
            true => at_work.push(call),
            false => call.await.unwrap(),
        }
    }
    for call in at_work {
        call.await.unwrap();
    }
}

/// Signs in as a person does who opens the address and says yes. False if that cannot begin.
async fn signs_in(server: &McpServer) -> bool {
    if let Err(fault) = server.sign_in().await {
        println!("{fault}");
        return false;
    }
    let page = opened(&led_on(&waits_at(server)).await).await;
    println!("{page:?}");
    let stands = settled(server).await;
    println!("{stands:?}");
    stands == Some(SignInState::Done)
}
