//! Good turns: text, thoughts, calls, usage, and why they ended.

use protocol::Usage;
use protocol::settings::WireFormat;
use provider::{Chunk, ProviderError, Stop};
use serde_json::{Value, json};

use crate::fake_endpoint::{Fake, Item, Reply, Then, WIRES, played, provider};
use crate::stream_formats::{data, event, expected, line, turn};

#[tokio::test]
async fn a_turn_thinks_speaks_and_calls_twice() {
    for wire in WIRES {
        let fake = Fake::start([Reply::frames(&turn(wire), Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        let expected: Vec<Item> = expected(wire).into_iter().map(Ok).collect();
        assert_eq!(items, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn bytes_may_be_torn_anywhere() {
    for wire in WIRES {
        let whole = turn(wire).concat().replace("both.", "bøth. 🦀");
        let torn: Vec<String> = whole.chars().map(String::from).collect();
        let fake = Fake::start([Reply::frames(&torn, Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        let text: String = items
            .iter()
            .filter_map(|item| match item {
                Ok(Chunk::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "I read bøth. 🦀", "{wire:?}");
        assert!(matches!(items.last(), Some(Ok(Chunk::End { .. }))));
    }
}

/// A turn of one word with another reason to stop.
fn stopped(wire: WireFormat, reason: &str) -> Vec<String> {
    match wire {
        WireFormat::Anthropic => vec![
            event(
                "content_block_start",
                &json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}),
            ),
            event(
                "content_block_delta",
                &json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}),
            ),
            event(
                "message_delta",
                &json!({"type":"message_delta","delta":{"stop_reason":reason}}),
            ),
            event("message_stop", &json!({"type":"message_stop"})),
        ],
        WireFormat::Openai => vec![
            data(&json!({"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":reason}]})),
            "data: [DONE]\n\n".to_owned(),
        ],
        WireFormat::Gemini => vec![data(
            &json!({"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":reason}]}),
        )],
        WireFormat::Ollama => vec![line(
            &json!({"message":{"content":"Hi"},"done":true,"done_reason":reason}),
        )],
    }
}

#[tokio::test]
async fn every_end_has_its_reason() {
    let refused = |word: &str| Stop::Refused(word.to_owned());
    for (wire, reason, stop) in [
        (WireFormat::Anthropic, "end_turn", Stop::Finished),
        (WireFormat::Anthropic, "max_tokens", Stop::Length),
        (WireFormat::Anthropic, "refusal", refused("refusal")),
        (
            WireFormat::Anthropic,
            "pause_turn",
            Stop::Other("pause_turn".to_owned()),
        ),
        (WireFormat::Openai, "stop", Stop::Finished),
        (WireFormat::Openai, "length", Stop::Length),
        (
            WireFormat::Openai,
            "content_filter",
            refused("content_filter"),
        ),
        (WireFormat::Gemini, "STOP", Stop::Finished),
        (WireFormat::Gemini, "MAX_TOKENS", Stop::Length),
        (WireFormat::Gemini, "SAFETY", refused("SAFETY")),
        (
            WireFormat::Gemini,
            "MALFORMED_FUNCTION_CALL",
            Stop::Other("MALFORMED_FUNCTION_CALL".to_owned()),
        ),
        (WireFormat::Ollama, "stop", Stop::Finished),
        (WireFormat::Ollama, "length", Stop::Length),
    ] {
        let fake = Fake::start([Reply::frames(&stopped(wire, reason), Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        let usage = Usage {
            cost_usd: Some(0.0),
            ..Usage::default()
        };
        let end = Chunk::End {
            usage,
            opaque: Value::Null,
            stop,
        };
        assert_eq!(
            items,
            [Ok(Chunk::Text("Hi".to_owned())), Ok(end)],
            "{wire:?} {reason}"
        );
    }
}

fn ends_with(items: &[Item], expected: &Stop) {
    match items.last() {
        Some(Ok(Chunk::End { stop, .. })) => assert_eq!(stop, expected),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn refusals_that_the_library_loses_are_heard() {
    let blocked = [data(
        &json!({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},
        "usageMetadata":{"promptTokenCount":4}}),
    )];
    let fake = Fake::start([Reply::frames(&blocked, Then::Close)]).await;
    let items = played(&*provider(WireFormat::Gemini, &fake)).await;
    ends_with(&items, &Stop::Refused("PROHIBITED_CONTENT".to_owned()));

    let refusal = [
        data(&json!({"choices":[{"index":0,"delta":{"refusal":"I will "}}]})),
        data(&json!({"choices":[{"index":0,"delta":{"refusal":"not."},"finish_reason":"stop"}]})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let fake = Fake::start([Reply::frames(&refusal, Then::Close)]).await;
    let items = played(&*provider(WireFormat::Openai, &fake)).await;
    ends_with(&items, &Stop::Refused("I will not.".to_owned()));
}

#[tokio::test]
async fn an_openai_stream_may_leave_out_its_last_mark() {
    let mut frames = turn(WireFormat::Openai);
    frames.pop();
    let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
    let items = played(&*provider(WireFormat::Openai, &fake)).await;
    let expected: Vec<Item> = expected(WireFormat::Openai).into_iter().map(Ok).collect();
    assert_eq!(items, expected);
}

#[tokio::test]
async fn malformed_arguments_come_as_they_are() {
    let frames = [
        data(&json!({"choices":[{"index":0,"delta":{"tool_calls":[
            {"index":0,"id":"call_1","function":{"name":"read","arguments":"{\"path\": oops"}}]},"finish_reason":"tool_calls"}]})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
    let items = played(&*provider(WireFormat::Openai, &fake)).await;
    let call = Chunk::Call {
        id: Some("call_1".to_owned()),
        name: "read".to_owned(),
        arguments: "{\"path\": oops".to_owned(),
    };
    assert_eq!(items[0], Ok(call));
}

#[tokio::test]
async fn an_end_for_calls_without_calls_is_an_error() {
    for (wire, reason) in [
        (WireFormat::Anthropic, "tool_use"),
        (WireFormat::Openai, "tool_calls"),
    ] {
        let fake = Fake::start([Reply::frames(&stopped(wire, reason), Then::Close)]).await;
        let items = played(&*provider(wire, &fake)).await;
        let error = ProviderError::Malformed {
            provider: "Fake".to_owned(),
            what: "it ended its turn for a tool call, and there is none".to_owned(),
        };
        assert_eq!(items, [Ok(Chunk::Text("Hi".to_owned())), Err(error)]);
    }
}

#[tokio::test]
async fn openrouter_says_what_it_cost_and_gets_its_blocks_back() {
    use provider::{MemoryKeyStore, Providers};
    // The built-in entry has its own address, so its shape is played to an own entry: blocks are kept by shape.
    let frames = [
        data(
            &json!({"choices":[{"index":0,"delta":{"content":"Hi","reasoning":"Hm","reasoning_details":[
            {"type":"reasoning.text","index":0,"text":"Hm","signature":"sig"}]},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.5}}),
        ),
        "data: [DONE]\n\n".to_owned(),
    ];
    let fake = Fake::start([Reply::frames(&frames, Then::Close)]).await;
    let items = played(&*provider(WireFormat::Openai, &fake)).await;
    let end = Chunk::End {
        usage: Usage {
            input_tokens: 1,
            cached_tokens: 0,
            output_tokens: 1,
            cost_usd: Some(0.000_003),
        },
        opaque: json!({"provider":"fake","wire":"openai","details":[
            {"type":"reasoning.text","index":0,"text":"Hm","signature":"sig"}]}),
        stop: Stop::Finished,
    };
    assert_eq!(
        items,
        [
            Ok(Chunk::Reasoning("Hm".to_owned())),
            Ok(Chunk::Text("Hi".to_owned())),
            Ok(end)
        ]
    );
    let built_in = Providers::new(&[], std::sync::Arc::new(MemoryKeyStore::new()));
    assert!(built_in.get("openrouter").is_ok());
}
