//! Questions of a server for a model (sampling): texts, tools that the server runs itself, and what these calls came to.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; servers of today use it"
)]

use std::collections::{BTreeSet, HashMap};

use protocol::model::{Message, ToolChoice, ToolDefinition};
use protocol::text::display_text::{to_sentence, to_single_line};
use protocol::{CallId, ToolCall};
use rmcp::model::{
    ContentBlock, CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock,
    ToolResultContent,
};
use serde_json::{Value, json};
use tools::elicitation::SamplingRequest;

use crate::limits::{
    NAME_CHARS_MAX, SAMPLING_CHARS_MAX, SAMPLING_MESSAGES_MAX, SAMPLING_TOOL_NAME_CHARS_MAX,
    SAMPLING_TOOLS_MAX,
};

/// What a model is sent, in a refusal of anything else.
const SENT_KINDS: &str =
    "A model is sent texts, calls of tools with their results, and nothing else.";

/// Parses the parameters of a sampling request.
///
/// # Errors
/// The reason why no model can be asked, as a sentence.
pub(crate) fn parse_sampling(params: &Value) -> Result<SamplingRequest, String> {
    let Some(messages) = params.get("messages").and_then(Value::as_array) else {
        return Err("It does not say what the model is to be sent.".to_owned());
    };
    let tokens_max = match params.get("maxTokens").and_then(Value::as_u64) {
        None | Some(0) => return Err("It does not say how much the model may answer.".to_owned()),
        Some(tokens_max) => u32::try_from(tokens_max).unwrap_or(u32::MAX),
    };
    let messages: Result<Vec<_>, _> = messages.iter().map(parse_message).collect();
    let asked = CreateMessageRequestParams::new(messages?, tokens_max);
    asked.validate().map_err(|why| {
        format!(
            "Its calls and their results do not fit: {}",
            to_sentence(&why)
        )
    })?;
    let mut request = SamplingRequest {
        system: params["systemPrompt"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        messages: Vec::new(),
        tokens_max,
        temperature: params["temperature"].as_f64(),
        tools: parse_tools(&params["tools"])?,
        tool_choice: parse_tool_choice(&params["toolChoice"])?,
    };
    if request.tool_choice == ToolChoice::Required && request.tools.is_empty() {
        return Err("It demands the call of a tool, and gives none.".to_owned());
    }
    let mut names = HashMap::new();
    for message in asked.messages {
        push_messages(message, &mut names, &mut request.messages)?;
    }
    check_size(&request)?;
    Ok(request)
}

/// Encodes the answer of a model for the server.
pub(crate) fn encode_answer(model: &str, text: &str, calls: &[ToolCall], is_cut: bool) -> Value {
    let words = json!({ "type": "text", "text": text });
    let (content, stop_reason) = match calls {
        [] if is_cut => (words, "maxTokens"),
        [] => (words, "endTurn"),
        calls => {
            let words = (!text.is_empty()).then_some(words);
            let calls = calls.iter().map(|call| {
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments })
            });
            (words.into_iter().chain(calls).collect(), "toolUse")
        }
    };
    json!({ "role": "assistant", "content": content, "model": model, "stopReason": stop_reason })
}

fn parse_message(message: &Value) -> Result<SamplingMessage, String> {
    let role = match message["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("user") => Role::User,
        _ => return Err("A message for the model says not whose it is.".to_owned()),
    };
    let parts = match &message["content"] {
        Value::Array(parts) => parts.as_slice(),
        part => std::slice::from_ref(part),
    };
    let parts: Result<Vec<_>, _> = parts
        .iter()
        .map(|part| serde_json::from_value(part.clone()))
        .collect();
    match parts {
        Ok(parts) if !parts.is_empty() => Ok(SamplingMessage::new_multiple(role, parts)),
        Ok(_) | Err(_) => Err(SENT_KINDS.to_owned()),
    }
}

/// Adds a message in our form: each result of a call is a message of its own. `names` has the tools of the calls so far.
fn push_messages(
    message: SamplingMessage,
    names: &mut HashMap<String, String>,
    messages: &mut Vec<Message>,
) -> Result<(), String> {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    for part in message.content.into_vec() {
        match part {
            SamplingMessageContentBlock::Text(text) => texts.push(text.text),
            SamplingMessageContentBlock::ToolUse(call) => {
                names.insert(call.id.clone(), call.name.clone());
                calls.push(ToolCall {
                    id: CallId(call.id),
                    name: call.name,
                    arguments: call.input,
                });
            }
            SamplingMessageContentBlock::ToolResult(result) => {
                let name = names.get(&result.tool_use_id).cloned().unwrap_or_default();
                results.push(parse_result(result, name)?);
            }
            _ => return Err(SENT_KINDS.to_owned()),
        }
    }
    let text = texts.join("\n");
    match message.role {
        Role::Assistant => messages.push(Message::Assistant {
            text,
            calls,
            opaque: Value::Null,
        }),
        Role::User if results.is_empty() => messages.push(Message::user(text)),
        Role::User => messages.extend(results),
    }
    Ok(())
}

/// Parses the result of a call. Structured content is told as text where there is no other.
fn parse_result(result: ToolResultContent, name: String) -> Result<Message, String> {
    let texts = result.content.into_iter().map(|part| match part {
        ContentBlock::Text(text) => Ok(text.text),
        _ => Err(SENT_KINDS.to_owned()),
    });
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    let text = match (texts.is_empty(), result.structured_content) {
        (true, Some(structured)) => structured.to_string(),
        _ => texts.join("\n"),
    };
    Ok(Message::Tool {
        call: CallId(result.tool_use_id),
        name,
        text,
        images: Vec::new(),
        is_error: result.is_error.unwrap_or_default(),
        at: 0,
    })
}

fn parse_tools(tools: &Value) -> Result<Vec<ToolDefinition>, String> {
    let tools: Option<Vec<rmcp::model::Tool>> =
        serde_json::from_value(tools.clone()).map_err(|error| {
            format!(
                "Its tools cannot be read: {}",
                to_sentence(&error.to_string())
            )
        })?;
    let tools = tools.unwrap_or_default();
    if tools.len() > SAMPLING_TOOLS_MAX {
        return Err(format!(
            "A model is given at most {SAMPLING_TOOLS_MAX} tools."
        ));
    }
    let mut names = BTreeSet::new();
    for tool in &tools {
        let shown = to_single_line(&tool.name, NAME_CHARS_MAX);
        if !is_sendable_name(&tool.name) {
            return Err(format!(
                "No model takes a tool named `{shown}`: a name has 1 to {SAMPLING_TOOL_NAME_CHARS_MAX} letters, digits, `_` and `-`."
            ));
        }
        if !names.insert(tool.name.clone()) {
            return Err(format!("Two of its tools are named `{shown}`."));
        }
    }
    let definitions = tools.into_iter().map(|tool| ToolDefinition {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        parameters: Value::Object((*tool.input_schema).clone()),
        strict: false,
    });
    Ok(definitions.collect())
}

/// Whether all providers take a tool of this name.
fn is_sendable_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=SAMPLING_TOOL_NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(is_plain)
}

fn parse_tool_choice(choice: &Value) -> Result<ToolChoice, String> {
    match &choice["mode"] {
        Value::Null => Ok(ToolChoice::Auto),
        mode => serde_json::from_value(mode.clone())
            .map_err(|_| "Its choice of tools is neither auto, required, nor none.".to_owned()),
    }
}

/// Checks that a request is one that a person can look through.
fn check_size(request: &SamplingRequest) -> Result<(), String> {
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text.chars().count(),
        Message::Assistant { text, calls, .. } => {
            text.chars().count() + calls.iter().map(count_call_chars).sum::<usize>()
        }
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.description.chars().count() + tool.parameters.to_string().chars().count());
    let chars = request.system.chars().count() + messages.sum::<usize>() + tools.sum::<usize>();
    if request.messages.is_empty()
        || request.messages.len() > SAMPLING_MESSAGES_MAX
        || chars > SAMPLING_CHARS_MAX
    {
        return Err(format!(
            "A model is sent 1 to {SAMPLING_MESSAGES_MAX} messages with at most {SAMPLING_CHARS_MAX} characters in all, those of tools counted."
        ));
    }
    Ok(())
}

fn count_call_chars(call: &ToolCall) -> usize {
    let arguments = call.arguments.iter();
    let arguments =
        arguments.map(|(name, value)| name.chars().count() + value.to_string().chars().count());
    call.name.chars().count() + arguments.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(content: Value) -> Value {
        json!({ "role": "user", "content": content })
    }

    fn model(content: Value) -> Value {
        json!({ "role": "assistant", "content": content })
    }

    fn text(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    fn tool(name: &str) -> Value {
        json!({ "name": name, "description": "Counts.", "inputSchema": { "type": "object" } })
    }

    fn tool_use(id: &str) -> Value {
        json!({ "type": "tool_use", "id": id, "name": "count", "input": { "of": "lines" } })
    }

    fn tool_result(id: &str) -> Value {
        json!({ "type": "tool_result", "toolUseId": id, "content": [text("4")], "isError": true })
    }

    #[test]
    fn texts_are_read_as_they_are_sent() {
        let both = model(json!([text("Hi"), text("Hi")]));
        let asked = json!({ "messages": [user(text("Hi")), both], "systemPrompt": "s", "maxTokens": 9, "temperature": 0.5, "tools": [] });
        let read = SamplingRequest {
            system: "s".to_owned(),
            messages: vec![
                Message::user("Hi"),
                Message::Assistant {
                    text: "Hi\nHi".to_owned(),
                    calls: Vec::new(),
                    opaque: Value::Null,
                },
            ],
            tokens_max: 9,
            temperature: Some(0.5),
            ..SamplingRequest::default()
        };
        assert_eq!(parse_sampling(&asked), Ok(read));
    }

    #[test]
    fn tools_calls_and_results_are_read_as_they_are_sent() {
        let messages = [
            user(text("How many?")),
            model(json!([text("I count."), tool_use("a"), tool_use("b")])),
            user(json!([tool_result("a"), tool_result("b")])),
        ];
        let asked = json!({ "messages": messages, "maxTokens": 9, "tools": [tool("count")], "toolChoice": { "mode": "required" } });
        let read = parse_sampling(&asked).unwrap();
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "count".to_owned(),
            arguments: json!({ "of": "lines" }).as_object().unwrap().clone(),
        };
        let result = |id: &str| Message::Tool {
            call: id.into(),
            name: "count".to_owned(),
            text: "4".to_owned(),
            images: Vec::new(),
            is_error: true,
            at: 0,
        };
        assert_eq!(
            read.messages,
            [
                Message::user("How many?"),
                Message::Assistant {
                    text: "I count.".to_owned(),
                    calls: vec![call("a"), call("b")],
                    opaque: Value::Null,
                },
                result("a"),
                result("b"),
            ]
        );
        assert_eq!(read.tool_choice, ToolChoice::Required);
        assert_eq!(
            read.tools,
            [ToolDefinition {
                name: "count".to_owned(),
                description: "Counts.".to_owned(),
                parameters: json!({ "type": "object" }),
                strict: false,
            }]
        );
    }

    #[test]
    fn an_answer_with_calls_stops_for_the_tools() {
        let call = ToolCall {
            id: "a".into(),
            name: "count".to_owned(),
            arguments: json!({ "of": "lines" }).as_object().unwrap().clone(),
        };
        let calls = [call];
        let answer = encode_answer("m", "", &calls, false);
        assert_eq!(
            answer,
            json!({ "role": "assistant", "content": [tool_use("a")], "model": "m", "stopReason": "toolUse" })
        );
        let answer = encode_answer("m", "I count.", &calls, false);
        assert_eq!(answer["content"], json!([text("I count."), tool_use("a")]));
        let answer = encode_answer("m", "Four", &[], true);
        assert_eq!(
            (&answer["content"], &answer["stopReason"]),
            (&text("Four"), &json!("maxTokens"))
        );
    }

    /// Bad input: what no model can be sent is refused with a sentence.
    #[test]
    fn what_a_model_is_not_sent_is_refused() {
        let image = user(json!({ "type": "image", "data": "", "mimeType": "image/png" }));
        let shown = json!({ "type": "tool_result", "toolUseId": "a", "content": [{ "type": "image", "data": "", "mimeType": "image/png" }] });
        let many: Vec<Value> = (0..=SAMPLING_TOOLS_MAX)
            .map(|n| tool(&format!("t{n}")))
            .collect();
        let long = "x".repeat(SAMPLING_CHARS_MAX + 1);
        let ask = |messages: Value| json!({ "messages": messages, "maxTokens": 9 });
        let with = |tools: Value| json!({ "messages": [user(text("Hi"))], "maxTokens": 9, "tools": tools });
        let choose = |mode: &str| json!({ "messages": [user(text("Hi"))], "maxTokens": 9, "toolChoice": { "mode": mode } });
        let described = json!({ "name": "a", "description": long, "inputSchema": {} });
        for (params, told) in [
            (json!({ "maxTokens": 9 }), "does not say what"),
            (json!({ "messages": [user(text("Hi"))] }), "how much"),
            (ask(json!([])), "1 to"),
            (ask(json!([user(text(&long))])), "at most"),
            (ask(json!([image])), "nothing else"),
            (
                ask(json!([{ "role": "user", "content": [] }])),
                "nothing else",
            ),
            (
                ask(json!([{ "role": "system", "content": text("Hi") }])),
                "whose",
            ),
            (
                ask(json!([user(tool_use("a"))])),
                "only allowed in assistant",
            ),
            (ask(json!([model(tool_use("a"))])), "not balanced"),
            (ask(json!([user(tool_result("a"))])), "no matching"),
            (
                ask(json!([
                    model(tool_use("a")),
                    user(json!([tool_result("a"), text("Hi")]))
                ])),
                "other content",
            ),
            (
                ask(json!([model(tool_use("a")), user(shown)])),
                "nothing else",
            ),
            (with(json!([{}])), "cannot be read"),
            (with(json!({})), "cannot be read"),
            (with(json!([tool("a b")])), "`a b`"),
            (
                with(json!([tool("a"), tool("a")])),
                "Two of its tools are named `a`",
            ),
            (with(many.into()), "at most 64 tools"),
            (with(json!([described])), "at most"),
            (choose("always"), "neither auto"),
            (choose("required"), "gives none"),
        ] {
            let why = parse_sampling(&params).unwrap_err();
            assert!(why.contains(told), "{told}: {why}");
        }
    }
}
