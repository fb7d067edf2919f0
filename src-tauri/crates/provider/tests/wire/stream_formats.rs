//! Streams in the shape that the four providers send them.

use protocol::Usage;
use protocol::settings::WireFormat;
use provider::{Chunk, Stop};
use serde_json::{Value, json};

/// A server-sent event.
pub fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// A server-sent event without a name.
pub fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A line of NDJSON.
pub fn line(line: &Value) -> String {
    format!("{line}\n")
}

/// A turn that thinks, speaks and calls twice.
pub fn turn(wire: WireFormat) -> Vec<String> {
    match wire {
        WireFormat::Anthropic => anthropic(),
        WireFormat::Openai => openai(),
        WireFormat::Gemini => gemini(),
        WireFormat::Ollama => ollama(),
    }
}

fn anthropic() -> Vec<String> {
    let typed = |value: Value| event(value["type"].as_str().unwrap(), &value);
    let block = |index: u32, block: Value| {
        typed(json!({"type":"content_block_start","index":index,"content_block":block}))
    };
    let delta = |index: u32, delta: Value| {
        typed(json!({"type":"content_block_delta","index":index,"delta":delta}))
    };
    let stop = |index: u32| typed(json!({"type":"content_block_stop","index":index}));
    vec![
        typed(
            json!({"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],
            "usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":0,"output_tokens":1}}}),
        ),
        block(0, json!({"type":"thinking","thinking":"","signature":""})),
        typed(json!({"type":"ping"})),
        delta(0, json!({"type":"thinking_delta","thinking":"Two "})),
        delta(0, json!({"type":"thinking_delta","thinking":"files."})),
        delta(0, json!({"type":"signature_delta","signature":"c2ln"})),
        stop(0),
        block(1, json!({"type":"redacted_thinking","data":"c2VjcmV0"})),
        stop(1),
        block(2, json!({"type":"text","text":""})),
        delta(2, json!({"type":"text_delta","text":"I read "})),
        delta(2, json!({"type":"text_delta","text":"both."})),
        stop(2),
        block(
            3,
            json!({"type":"tool_use","id":"toolu_1","name":"read","input":{}}),
        ),
        delta(3, json!({"type":"input_json_delta","partial_json":""})),
        delta(
            3,
            json!({"type":"input_json_delta","partial_json":"{\"path\":"}),
        ),
        delta(
            3,
            json!({"type":"input_json_delta","partial_json":"\"a.txt\"}"}),
        ),
        stop(3),
        block(
            4,
            json!({"type":"tool_use","id":"toolu_2","name":"list","input":{}}),
        ),
        delta(4, json!({"type":"input_json_delta","partial_json":""})),
        stop(4),
        typed(
            json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":50}}),
        ),
        typed(json!({"type":"message_stop"})),
    ]
}

fn openai() -> Vec<String> {
    let delta = |delta: Value| {
        data(
            &json!({"id":"c1","object":"chat.completion.chunk","model":"some-model",
            "choices":[{"index":0,"delta":delta,"finish_reason":null}]}),
        )
    };
    vec![
        delta(json!({"role":"assistant","content":""})),
        ": still there\n\n".to_owned(),
        delta(json!({"reasoning_content":"Two "})),
        delta(json!({"reasoning_content":"files."})),
        delta(json!({"content":"I read "})),
        delta(json!({"content":"both."})),
        delta(
            json!({"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]}),
        ),
        delta(
            json!({"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"list","arguments":""}}]}),
        ),
        delta(json!({"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]})),
        delta(json!({"tool_calls":[{"index":0,"function":{"arguments":"\"a.txt\"}"}}]})),
        data(&json!({"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]})),
        data(
            &json!({"id":"c1","choices":[],"usage":{"prompt_tokens":110,"completion_tokens":50,"total_tokens":160,
            "prompt_tokens_details":{"cached_tokens":100}}}),
        ),
        "data: [DONE]\n\n".to_owned(),
    ]
}

fn gemini() -> Vec<String> {
    let part = |part: Value| {
        data(
            &json!({"candidates":[{"content":{"role":"model","parts":[part]}}],"modelVersion":"some-model",
            "usageMetadata":{"promptTokenCount":110,"totalTokenCount":110}}),
        )
    };
    vec![
        part(json!({"text":"Two ","thought":true})),
        part(json!({"text":"files.","thought":true})),
        part(json!({"text":"I read "})),
        part(json!({"text":"both."})),
        data(&json!({"candidates":[{"content":{"role":"model","parts":[
                {"functionCall":{"name":"read","args":{"path":"a.txt"}},"thoughtSignature":"c2ln"},
                {"functionCall":{"name":"list"}}]},"finishReason":"STOP"}],
            "usageMetadata":{"promptTokenCount":110,"cachedContentTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":160}})),
    ]
}

fn ollama() -> Vec<String> {
    let message =
        |message: Value| line(&json!({"model":"some-model","message":message,"done":false}));
    vec![
        message(json!({"role":"assistant","content":"","thinking":"Two "})),
        message(json!({"role":"assistant","content":"","thinking":"files."})),
        message(json!({"role":"assistant","content":"I read "})),
        message(json!({"role":"assistant","content":"both."})),
        message(json!({"role":"assistant","content":"","tool_calls":[
            {"id":"call_1","function":{"name":"read","arguments":{"path":"a.txt"}}},
            {"id":"call_2","function":{"name":"list","arguments":{}}}]})),
        line(
            &json!({"model":"some-model","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",
            "prompt_eval_count":110,"prompt_eval_cached_count":100,"eval_count":50}),
        ),
    ]
}

/// The chunks of [`turn`].
pub fn expected(wire: WireFormat) -> Vec<Chunk> {
    let ids = match wire {
        WireFormat::Anthropic => [Some("toolu_1"), Some("toolu_2")],
        WireFormat::Openai | WireFormat::Ollama => [Some("call_1"), Some("call_2")],
        WireFormat::Gemini => [None, None],
    };
    let call = |id: Option<&str>, name: &str, arguments: &str| Chunk::Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    vec![
        Chunk::Reasoning("Two ".to_owned()),
        Chunk::Reasoning("files.".to_owned()),
        Chunk::Text("I read ".to_owned()),
        Chunk::Text("both.".to_owned()),
        call(ids[0], "read", r#"{"path":"a.txt"}"#),
        call(ids[1], "list", "{}"),
        Chunk::End {
            usage: Usage {
                input_tokens: 110,
                cached_tokens: 100,
                output_tokens: 50,
                cost_usd: Some(0.000_21),
            },
            opaque: opaque(wire),
            stop: Stop::Finished,
        },
    ]
}

/// Opaque data that [`turn`] wants back.
pub fn opaque(wire: WireFormat) -> Value {
    match wire {
        WireFormat::Anthropic => json!({"provider":"fake","wire":"anthropic","thoughts":[
            {"signed":{"text":"Two files.","signature":"c2ln"}},
            {"block":{"type":"redacted_thinking","data":"c2VjcmV0"}}]}),
        WireFormat::Openai | WireFormat::Ollama => {
            json!({"provider":"fake","wire":"openai","reasoning":"Two files."})
        }
        WireFormat::Gemini => json!({"provider":"fake","wire":"gemini","signatures":[],
            "calls":[{"signatures":["c2ln"]},{}]}),
    }
}

/// A frame in place of one that should be JSON.
pub fn malformed(wire: WireFormat) -> String {
    match wire {
        WireFormat::Anthropic => {
            "event: content_block_delta\ndata: {\"type\": oops}\n\n".to_owned()
        }
        WireFormat::Openai | WireFormat::Gemini => "data: {\"type\": oops}\n\n".to_owned(),
        WireFormat::Ollama => "{\"type\": oops}\n".to_owned(),
    }
}

/// How many frames of [`turn`] come up to and with its first text.
pub fn frames_to_text(wire: WireFormat) -> usize {
    match wire {
        WireFormat::Anthropic => 11,
        WireFormat::Openai => 5,
        WireFormat::Gemini | WireFormat::Ollama => 3,
    }
}
