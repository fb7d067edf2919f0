//! The four wire formats against a fake endpoint that other people wrote (npm `@copilotkit/aimock`), so that we do not
//! only agree with ourselves; it also breaks on purpose.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the fake endpoint is another program, and helpers of tests fail like tests"
)]

#[path = "../../../../tests/aimock/endpoint.rs"]
mod endpoint;

use std::path::Path;
use std::sync::Arc;

use endpoint::FakeEndpoint;
use futures::StreamExt;
use protocol::ToolCall;
use protocol::model::{Message, ToolChoice};
use protocol::settings::{ProviderSettings, WireFormat};
use provider::{
    Chunk, MemoryKeyStore, ModelRequest, Provider, ProviderEnv, ProviderError, Providers, Stop,
    Timing,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const WIRES: [(WireFormat, &str); 4] = [
    (WireFormat::Anthropic, "v1/"),
    (WireFormat::Openai, "v1/"),
    (WireFormat::Gemini, "v1beta/"),
    (WireFormat::Ollama, ""),
];

fn start_endpoint() -> FakeEndpoint {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    FakeEndpoint::start(&root, &root.join("tests/aimock/fixtures"))
}

/// What the tests ask of it.
impl FakeEndpoint {
    fn provider(&self, wire: WireFormat, path: &str) -> Arc<dyn Provider> {
        let settings = ProviderSettings {
            id: "aimock".to_owned(),
            title: "Aimock".to_owned(),
            wire,
            base_url: format!("{}{path}", self.base_url),
            key_env: Some("AIMOCK_KEY".to_owned()),
            input_usd_per_mtok: None,
            output_usd_per_mtok: None,
        };
        let keys = Arc::new(MemoryKeyStore::new().with_env("AIMOCK_KEY", "sk-aimock"));
        let timing = Timing {
            backoff_ms: 0,
            // It asks to wait for a second; tests do not wait.
            retry_after_ms_max: 0,
            ..Timing::default()
        };
        let list = Providers::with_env(&[settings], keys, &ProviderEnv::default(), timing);
        list.get("aimock").unwrap()
    }

    async fn chaos(&self, rates: Value) {
        let url = format!("{}__aimock/chaos", self.base_url);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.delete(&url).send().await.unwrap();
        let set = client.post(url).json(&rates).send().await.unwrap();
        assert!(set.status().is_success(), "{}", set.text().await.unwrap());
    }
}

/// Sum of the items of a turn.
#[derive(Debug, Default, PartialEq)]
struct Turn {
    text: String,
    reasoning: String,
    calls: Vec<(String, Value)>,
    stop: Option<Stop>,
}

async fn play(
    provider: &dyn Provider,
    messages: Vec<Message>,
) -> Result<(Turn, Value), ProviderError> {
    let request = ModelRequest {
        model: "some-model".to_owned(),
        system: "Be brief.".to_owned(),
        messages: Arc::new(messages),
        tools: Arc::default(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        temperature: None,
        effort: None,
        tokens_max: None,
    };
    let mut stream = provider.stream(request, CancellationToken::new()).await?;
    let (mut turn, mut kept) = (Turn::default(), Value::Null);
    while let Some(chunk) = stream.next().await {
        match chunk? {
            Chunk::Text(text) => turn.text.push_str(&text),
            Chunk::Reasoning(text) => turn.reasoning.push_str(&text),
            Chunk::Call {
                name, arguments, ..
            } => {
                let arguments = serde_json::from_str(&arguments).unwrap();
                turn.calls.push((name, arguments));
            }
            Chunk::End { opaque, stop, .. } => (kept, turn.stop) = (opaque, Some(stop)),
        }
    }
    Ok((turn, kept))
}

#[tokio::test]
async fn four_wire_formats_at_somebody_elses_endpoint() {
    if std::env::var_os("COUNTERSIGN_NO_AIMOCK").is_some_and(|value| value == "1") {
        return;
    }
    let aimock = start_endpoint();
    let asked = Message::user("Read both files");
    for (wire, path) in WIRES {
        let provider = aimock.provider(wire, path);
        let (turn, opaque) = play(&*provider, vec![asked.clone()]).await.unwrap();
        let calls = [json!({"path":"a.txt"}), json!({"path":"b.txt"})];
        let expected = Turn {
            text: "I will read both of them.".to_owned(),
            reasoning: "There are two files.".to_owned(),
            calls: calls
                .iter()
                .map(|arguments| ("read".to_owned(), arguments.clone()))
                .collect(),
            stop: Some(Stop::Finished),
        };
        assert_eq!(turn, expected, "{wire:?}");

        let mut messages = vec![
            asked.clone(),
            Message::Assistant {
                text: turn.text,
                calls: calls
                    .iter()
                    .enumerate()
                    .map(|(number, arguments)| ToolCall {
                        id: format!("call_{number}").into(),
                        name: "read".to_owned(),
                        arguments: arguments.as_object().unwrap().clone(),
                    })
                    .collect(),
                opaque,
            },
        ];
        messages.extend((0..2).map(|number| Message::Tool {
            call: format!("call_{number}").into(),
            name: "read".to_owned(),
            text: "hello".to_owned(),
            images: Vec::new(),
            is_error: false,
            at: 0,
        }));
        let (turn, _) = play(&*provider, messages).await.unwrap();
        let expected = Turn {
            text: "Both say hello.".to_owned(),
            stop: Some(Stop::Finished),
            ..Turn::default()
        };
        assert_eq!(turn, expected, "{wire:?}");
        assert!(wire == WireFormat::Gemini || !provider.models().await.unwrap().is_empty());
    }

    for (rates, fits) in [
        (
            json!({"rateLimitRate": 1.0}),
            (|error| matches!(error, ProviderError::Busy { status: 429, .. }))
                as fn(&ProviderError) -> bool,
        ),
        (json!({"dropRate": 1.0}), |error| {
            matches!(
                error,
                ProviderError::Busy {
                    status: 500,
                    attempts: 3,
                    ..
                }
            )
        }),
        (json!({"malformedRate": 1.0}), |error| {
            matches!(
                error,
                ProviderError::Malformed { .. } | ProviderError::Cut { .. }
            )
        }),
        (json!({"disconnectRate": 1.0}), |error| {
            matches!(
                error,
                ProviderError::Unreachable { .. } | ProviderError::Cut { .. }
            )
        }),
    ] {
        aimock.chaos(rates.clone()).await;
        for (wire, path) in WIRES {
            let provider = aimock.provider(wire, path);
            let error = play(&*provider, vec![asked.clone()]).await.unwrap_err();
            assert!(fits(&error), "{rates} {wire:?}: {error:?}");
        }
    }
}
