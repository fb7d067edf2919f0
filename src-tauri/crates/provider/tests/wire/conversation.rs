//! Requests: the conversation in each wire format, thoughts given back where they came from.

use std::sync::Arc;

use protocol::ToolCall;
use protocol::model::{Effort, Message, ToolChoice, ToolDefinition};
use protocol::settings::WireFormat;
use provider::ModelRequest;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake_endpoint::{Asked, Fake, Reply, Then, provider};
use crate::stream_formats::{opaque, turn};

/// A second turn: the first one's calls and their results.
fn request(wire: WireFormat, opaque: Value) -> ModelRequest {
    let id = |number: u32| match wire {
        WireFormat::Anthropic => format!("toolu_{number}"),
        WireFormat::Openai | WireFormat::Gemini | WireFormat::Ollama => format!("call_{number}"),
    };
    let call = |number, name: &str, arguments: Value| ToolCall {
        id: id(number).into(),
        name: name.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_else(Map::new),
    };
    let result = |number, name: &str, text: &str, is_error| Message::Tool {
        call: id(number).into(),
        name: name.to_owned(),
        text: text.to_owned(),
        images: Vec::new(),
        is_error,
        at: 0,
    };
    ModelRequest {
        model: "some-model".to_owned(),
        system: "Be brief.".to_owned(),
        messages: Arc::new(vec![
            Message::user("Read both."),
            Message::Assistant {
                text: "I read both.".to_owned(),
                calls: vec![
                    call(1, "read", json!({"path":"a.txt"})),
                    call(2, "list", json!({})),
                ],
                opaque,
            },
            result(1, "read", "alpha", false),
            result(2, "list", "no such folder", true),
        ]),
        tools: Arc::new(vec![ToolDefinition {
            name: "read".to_owned(),
            description: "Reads a file.".to_owned(),
            parameters: json!({"type":"object","properties":{"path":{"type":"string"}}}),
            strict: true,
        }]),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        temperature: None,
        effort: None,
        tokens_max: None,
    }
}

async fn sent(wire: WireFormat, request: ModelRequest) -> Asked {
    let fake = Fake::start([Reply::frames(&turn(wire), Then::Close)]).await;
    let stream = provider(wire, &fake)
        .stream(request, CancellationToken::new())
        .await;
    assert!(stream.is_ok());
    fake.asked().remove(0)
}

#[tokio::test]
async fn anthropic_gets_thoughts_back_and_results_together() {
    let asked = sent(
        WireFormat::Anthropic,
        request(WireFormat::Anthropic, opaque(WireFormat::Anthropic)),
    )
    .await;
    assert_eq!(asked.path, "/messages");
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    let mark = json!({"type":"ephemeral"});
    assert_eq!(
        asked.body["messages"],
        json!([
            {"role":"user","content":[{"type":"text","text":"Read both.","cache_control":mark}]},
            {"role":"assistant","content":[
                {"type":"thinking","thinking":"Two files.","signature":"c2ln"},
                {"type":"redacted_thinking","data":"c2VjcmV0"},
                {"type":"text","text":"I read both."},
                {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.txt"}},
                {"type":"tool_use","id":"toolu_2","name":"list","input":{}}]},
            {"role":"user","content":[
                {"type":"tool_result","content":"alpha","tool_use_id":"toolu_1"},
                {"type":"tool_result","tool_use_id":"toolu_2","content":"no such folder","is_error":true,"cache_control":mark}]}
        ])
    );
    assert_eq!(asked.body["system"], "Be brief.");
    assert_eq!(asked.body["tools"][0]["name"], "read");
    assert_eq!(asked.body["model"], "some-model");
}

#[tokio::test]
async fn openai_gets_reasoning_back_beside_calls() {
    let asked = sent(
        WireFormat::Openai,
        request(WireFormat::Openai, opaque(WireFormat::Openai)),
    )
    .await;
    assert_eq!(asked.path, "/chat/completions");
    assert_eq!(
        asked.body["messages"],
        json!([
            {"role":"system","content":"Be brief."},
            {"role":"user","content":"Read both."},
            {"role":"assistant","content":"I read both.","tool_calls":[
                {"type":"function","id":"call_1","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},
                {"type":"function","id":"call_2","function":{"name":"list","arguments":"{}"}}],
                "reasoning_content":"Two files."},
            {"role":"tool","content":"alpha","tool_call_id":"call_1"},
            {"role":"tool","content":"no such folder","tool_call_id":"call_2"}
        ])
    );
    assert_eq!(asked.body["stream_options"], json!({"include_usage":true}));
    assert_eq!(asked.body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn gemini_gets_signatures_back_on_their_calls() {
    let asked = sent(
        WireFormat::Gemini,
        request(WireFormat::Gemini, opaque(WireFormat::Gemini)),
    )
    .await;
    assert_eq!(
        asked.path,
        "/models/some-model:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        asked.body["contents"],
        json!([
            {"role":"user","parts":[{"text":"Read both."}]},
            {"role":"model","parts":[
                {"text":"I read both."},
                {"functionCall":{"name":"read","args":{"path":"a.txt"}},"thoughtSignature":"c2ln"},
                {"functionCall":{"name":"list","args":{}}}]},
            {"role":"user","parts":[
                {"functionResponse":{"name":"read","response":{"name":"read","content":"alpha"}}},
                {"functionResponse":{"name":"list","response":{"name":"list","content":"no such folder"}}}]}
        ])
    );
}

#[tokio::test]
async fn ollama_gets_each_result_and_its_thoughts_beside_calls() {
    let asked = sent(
        WireFormat::Ollama,
        request(WireFormat::Ollama, opaque(WireFormat::Ollama)),
    )
    .await;
    assert_eq!(asked.path, "/api/chat");
    assert_eq!(
        asked.body["messages"],
        json!([
            {"role":"system","content":"Be brief."},
            {"role":"user","content":"Read both."},
            {"role":"assistant","content":"I read both.","thinking":"Two files.","tool_calls":[
                {"function":{"name":"read","arguments":{"path":"a.txt"}}},
                {"function":{"name":"list","arguments":{}}}]},
            {"role":"tool","content":"alpha"},
            {"role":"tool","content":"no such folder"}
        ])
    );
}

#[tokio::test]
async fn thoughts_of_another_provider_are_not_given_away() {
    let mut foreign = opaque(WireFormat::Anthropic);
    foreign["provider"] = json!("anthropic");
    let asked = sent(
        WireFormat::Anthropic,
        request(WireFormat::Anthropic, foreign),
    )
    .await;
    assert_eq!(
        asked.body["messages"][1]["content"][0],
        json!({"type":"text","text":"I read both."})
    );
    assert!(!asked.body.to_string().contains("c2ln"));
}

#[tokio::test]
async fn names_that_end_like_an_effort_stay_whole() {
    let mut request = request(WireFormat::Openai, Value::Null);
    request.model = "mistral-medium".to_owned();
    let asked = sent(WireFormat::Openai, request).await;
    assert_eq!(asked.body["model"], "mistral-medium");
    assert_eq!(asked.body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn a_claude_thinks_when_its_name_says_so() {
    let mut request = request(WireFormat::Anthropic, Value::Null);
    request.model = "claude-sonnet-4-6-high".to_owned();
    let asked = sent(WireFormat::Anthropic, request).await;
    assert_eq!(asked.body["model"], "claude-sonnet-4-6");
    assert_eq!(asked.body["thinking"]["type"], "adaptive");
    assert_eq!(asked.body["output_config"]["effort"], "high");
}

/// Each wire says in its own words how much a model is to think; what was asked for is stronger than the model's name.
#[tokio::test]
async fn an_effort_goes_out_in_the_words_of_the_wire() {
    for (wire, model, effort, place, value) in [
        (
            WireFormat::Anthropic,
            "claude-sonnet-4-6-high",
            Effort::Low,
            "/output_config/effort",
            json!("low"),
        ),
        (
            WireFormat::Openai,
            "gpt-5",
            Effort::Medium,
            "/reasoning_effort",
            json!("medium"),
        ),
        (
            WireFormat::Gemini,
            "gemini-3-pro-preview",
            Effort::High,
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!("HIGH"),
        ),
        (
            WireFormat::Ollama,
            "qwen3",
            Effort::High,
            "/think",
            json!("high"),
        ),
        (
            WireFormat::Ollama,
            "qwen3",
            Effort::None,
            "/think",
            json!(false),
        ),
    ] {
        let request = ModelRequest {
            model: model.to_owned(),
            effort: Some(effort),
            ..request(wire, Value::Null)
        };
        let asked = sent(wire, request).await;
        assert_eq!(asked.body.pointer(place), Some(&value), "{}", asked.body);
    }
}

/// Each wire says in its own words that the answer is wanted in a schema, where it can say it without asking for more.
#[tokio::test]
async fn a_schema_for_the_answer_goes_out_where_it_can() {
    let schema = json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false});
    for (wire, place, value) in [
        (
            WireFormat::Gemini,
            "/generationConfig/responseJsonSchema",
            schema.clone(),
        ),
        (
            WireFormat::Openai,
            "/response_format/json_schema/schema",
            schema.clone(),
        ),
        (WireFormat::Ollama, "/format", json!("json")),
        (WireFormat::Anthropic, "/output_config", Value::Null),
    ] {
        let request = ModelRequest {
            tools: Arc::default(),
            tool_choice: ToolChoice::Auto,
            response_schema: Some(Arc::new(schema.clone())),
            temperature: Some(0.5),
            tokens_max: Some(77),
            ..request(wire, Value::Null)
        };
        let asked = sent(wire, request).await;
        let sent = asked.body.pointer(place).cloned().unwrap_or_default();
        assert_eq!(sent, value, "{wire:?} {}", asked.body);
        assert!(
            asked.body.to_string().contains("\"temperature\":0.5"),
            "{wire:?}"
        );
        assert!(asked.body.to_string().contains(":77"), "{wire:?}");
    }
}

/// `S003-17`, `S003-58`: a tool that is to be strict goes out as such where the wire has a word for it and can hold its
/// schema, with the reason asked for; where not, and where the tool does not want it, as it is.
#[tokio::test]
async fn tools_go_out_strict_where_they_can() {
    let schema = |required: &[&str]| {
        json!({"type":"object","additionalProperties":false,"required":required,"properties":{
            "_reasoningForCall":{"type":"string"},"path":{"type":"string","maxLength":9}}})
    };
    let held = json!({"type":"object","additionalProperties":false,"required":["_reasoningForCall","path"],"properties":{
        "_reasoningForCall":{"type":"string"},"path":{"type":"string","description":"(maxLength 9)"}}});
    let loose = json!({"type":"object","properties":{}});
    let tool = |name: &str, parameters: &Value, strict| ToolDefinition {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        parameters: parameters.clone(),
        strict,
    };
    let whole = schema(&["path"]);
    let tools = [
        tool("held", &whole, true),
        tool("unwanted", &whole, false),
        tool("open", &loose, true),
    ];
    for (wire, model, strict, at, schemas) in [
        (
            WireFormat::Openai,
            "gpt-5-mini",
            [json!(true), json!(false), json!(false)],
            "/function",
            "parameters",
        ),
        (
            WireFormat::Anthropic,
            "claude-sonnet-4-5",
            [json!(true), Value::Null, Value::Null],
            "",
            "input_schema",
        ),
        (
            WireFormat::Anthropic,
            "claude-3-5-haiku-latest",
            [Value::Null, Value::Null, Value::Null],
            "",
            "input_schema",
        ),
        (
            WireFormat::Ollama,
            "qwen3",
            [Value::Null, Value::Null, Value::Null],
            "/function",
            "parameters",
        ),
    ] {
        let request = ModelRequest {
            model: model.to_owned(),
            tools: Arc::new(tools.to_vec()),
            ..request(wire, Value::Null)
        };
        let asked = sent(wire, request).await;
        for (n, strict) in strict.iter().enumerate() {
            let sent = asked.body["tools"][n].pointer(at).unwrap();
            assert_eq!(
                sent.get("strict").unwrap_or(&Value::Null),
                strict,
                "{wire:?} {sent}"
            );
            let wanted = match (strict, n) {
                (Value::Bool(true), _) => &held,
                (_, 2) => &loose,
                _ => &whole,
            };
            assert_eq!(&sent[schemas], wanted, "{wire:?}");
        }
    }
}

/// An image in a result, with a model that is shown it and one that is not.
#[tokio::test]
async fn images_go_where_each_format_has_room_for_them() {
    let seen = |wire, model: &str| {
        let mut asked = request(wire, Value::Null);
        asked.model = model.to_owned();
        let messages = Arc::make_mut(&mut asked.messages);
        for message in messages.iter_mut() {
            if let Message::Tool { images, .. } = message {
                images.push(protocol::Content::Image {
                    mime: "image/png".to_owned(),
                    base64: "AAAA".to_owned(),
                });
                break;
            }
        }
        sent(wire, asked)
    };
    let asked = seen(WireFormat::Anthropic, "claude-sonnet-4-6").await;
    assert_eq!(
        asked.body["messages"][2]["content"][0],
        json!({"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":[
            {"type":"text","text":"alpha"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]})
    );
    let asked = seen(WireFormat::Openai, "gpt-5-mini").await;
    let messages = asked.body["messages"].as_array().unwrap();
    assert_eq!(messages[4]["role"], "tool", "results stand together");
    assert_eq!(
        messages[5],
        json!({"role":"user","content":[
            {"type":"text","text":"The image that `read` gave back:"},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]})
    );
    let asked = seen(WireFormat::Gemini, "gemini-3-pro").await;
    let last = asked.body["contents"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(
        last["parts"].as_array().unwrap().last().unwrap(),
        &json!({"inline_data":{"mime_type":"image/png","data":"AAAA"}})
    );
    let asked = seen(WireFormat::Ollama, "qwen3").await;
    assert!(!asked.body.to_string().contains("AAAA"));
    assert!(
        asked.body["messages"][3]["content"]
            .as_str()
            .unwrap()
            .contains("cannot be shown it")
    );
}

/// An image that the person gave, with a model that is shown it and one that is not.
#[tokio::test]
async fn images_of_the_person_stand_beside_their_words() {
    let seen = async |wire, model: &str| {
        let mut asked = request(wire, Value::Null);
        asked.model = model.to_owned();
        if let Some(Message::User { images, .. }) = Arc::make_mut(&mut asked.messages).first_mut() {
            images.push(protocol::Content::Image {
                mime: "image/png".to_owned(),
                base64: "AAAA".to_owned(),
            });
        }
        sent(wire, asked).await.body
    };
    let asked = seen(WireFormat::Anthropic, "claude-sonnet-4-6").await;
    let content = &asked["messages"][0]["content"];
    assert_eq!(content[0], json!({"type":"text","text":"Read both."}));
    assert_eq!(content[1]["type"], "image");
    let source = json!({"type":"base64","media_type":"image/png","data":"AAAA"});
    assert_eq!(content[1]["source"], source);
    let asked = seen(WireFormat::Openai, "gpt-5-mini").await;
    assert_eq!(
        asked["messages"][1]["content"],
        json!([
            {"type":"text","text":"Read both."},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}])
    );
    let asked = seen(WireFormat::Gemini, "gemini-3-pro").await;
    assert_eq!(
        asked["contents"][0]["parts"],
        json!([{"text":"Read both."}, {"inline_data":{"mime_type":"image/png","data":"AAAA"}}])
    );
    let asked = seen(WireFormat::Ollama, "qwen3").await;
    let said = asked["messages"][1]["content"].as_str().unwrap();
    assert!(
        said.starts_with("Read both.\n\n[An image (image/png"),
        "{said}"
    );
}

#[tokio::test]
async fn a_model_is_told_whether_it_has_to_call_a_tool() {
    for (wire, place, required, none) in [
        (WireFormat::Anthropic, "/tool_choice/type", "any", "none"),
        (WireFormat::Openai, "/tool_choice", "required", "none"),
        (
            WireFormat::Gemini,
            "/toolConfig/functionCallingConfig/mode",
            "ANY",
            "NONE",
        ),
    ] {
        for (tool_choice, told) in [
            (ToolChoice::Auto, Value::Null),
            (ToolChoice::Required, required.into()),
            (ToolChoice::None, none.into()),
        ] {
            let request = ModelRequest {
                tool_choice,
                ..request(wire, Value::Null)
            };
            let asked = sent(wire, request).await;
            let sent = asked.body.pointer(place).cloned().unwrap_or_default();
            assert_eq!(sent, told, "{wire:?} {}", asked.body);
        }
    }
    let without = ModelRequest {
        tool_choice: ToolChoice::None,
        ..request(WireFormat::Ollama, Value::Null)
    };
    let asked = sent(WireFormat::Ollama, without).await;
    assert_eq!(asked.body.get("tools"), None);
}
