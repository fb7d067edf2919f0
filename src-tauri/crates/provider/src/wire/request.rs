//! From our conversation to `genai`'s request, with what each wire format needs to be told differently.

use std::sync::Arc;

use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec,
    ReasoningEffort, Tool,
};
use protocol::model::{Effort, ToolChoice, ToolDefinition};
use protocol::settings::WireFormat;
use serde_json::Value;

use crate::ModelRequest;
use crate::limits::{Timing, duration_from_ms};
use crate::wire::conversation::WireConversation;
use crate::wire::frame_tap::FrameTap;
use crate::wire::strict_schema::{StrictToolBudget, without_text_bounds};

/// Everything that one attempt sends.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingRequest {
    /// The model's name as the provider gets it.
    pub model: String,
    /// The path below the base URL.
    pub path: String,
    /// The conversation.
    pub chat: ChatRequest,
    pub effort: Option<ReasoningEffort>,
    pub format: Option<ChatResponseFormat>,
    pub temperature: Option<f64>,
    pub tokens_max: Option<u32>,
    tool_choice: Option<genai::chat::ToolChoice>,
    wire: WireFormat,
}

impl OutgoingRequest {
    pub(crate) fn new(provider: &str, wire: WireFormat, request: ModelRequest) -> Self {
        let (model, of_name) = split_effort(wire, &request.model);
        let effort = request.effort.map(to_reasoning_effort).or(of_name);
        let path = match wire {
            WireFormat::Anthropic => "messages".to_owned(),
            WireFormat::Openai => "chat/completions".to_owned(),
            WireFormat::Gemini => format!("models/{model}:streamGenerateContent?alt=sse"),
            WireFormat::Ollama => "api/chat".to_owned(),
        };
        let mut messages = WireConversation::new(provider, wire, &model)
            .into_wire_messages(Arc::unwrap_or_clone(request.messages));
        if wire == WireFormat::Anthropic {
            mark_for_cache(&mut messages);
        }
        let mut chat = ChatRequest::new(messages);
        if !request.system.is_empty() {
            chat = chat.with_system(request.system);
        }
        // Ollama has no word for a choice: a model that must call no tool is told of none.
        let offers_tools = !request.tools.is_empty()
            && (wire != WireFormat::Ollama || request.tool_choice != ToolChoice::None);
        if offers_tools {
            let mut strict = StrictToolBudget::new(wire, &model);
            let tools = Arc::unwrap_or_clone(request.tools).into_iter();
            let tools = tools.map(|definition| wire_tool(&mut strict, definition));
            chat = chat.with_tools(tools.collect::<Vec<_>>());
        }
        let format = request.response_schema.as_deref();
        Self {
            model,
            path,
            chat,
            effort,
            format: format.and_then(|schema| response_format(wire, schema)),
            temperature: request.temperature,
            tokens_max: request.tokens_max,
            tool_choice: wire_tool_choice(request.tool_choice).filter(|_| offers_tools),
            wire,
        }
    }

    /// The options of one attempt.
    pub(crate) fn chat_options(&self, tap: &Arc<FrameTap>, timing: &Timing) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_stream_header_timeout(duration_from_ms(timing.begin_ms))
            .with_stream_read_timeout(duration_from_ms(timing.idle_ms))
            .with_raw_frame_sink_arc(tap.clone());
        let keep_thoughts = match self.wire {
            WireFormat::Anthropic => true,
            // For Gemini this also asks for thoughts, which models that have none refuse.
            WireFormat::Gemini => ["gemini-1", "gemini-2.0", "gemma", "learnlm"]
                .iter()
                .all(|old| !self.model.starts_with(old)),
            WireFormat::Openai | WireFormat::Ollama => false,
        };
        if keep_thoughts {
            options = options.with_capture_reasoning_content(true);
        }
        let effort = match (&self.effort, self.wire) {
            (Some(effort), _) => Some(effort.clone()),
            // `genai` reads an effort out of any name and would send `mistral-medium` as `mistral`. A budget, which
            // this wire format does not have, keeps it from looking.
            (None, WireFormat::Openai) => Some(ReasoningEffort::Budget(0)),
            (None, WireFormat::Anthropic | WireFormat::Gemini | WireFormat::Ollama) => None,
        };
        if let Some(effort) = effort {
            options = options.with_reasoning_effort(effort);
        }
        if let Some(format) = &self.format {
            options = options.with_response_format(format.clone());
        }
        if let Some(temperature) = self.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(tokens_max) = self.tokens_max {
            options = options.with_max_tokens(tokens_max);
        }
        if let Some(choice) = &self.tool_choice {
            options = options.with_tool_choice(choice.clone());
        }
        options
    }
}

/// How a provider is told to hold its model to a schema; none where it cannot be, or would be held to another one.
fn response_format(wire: WireFormat, schema: &Value) -> Option<ChatResponseFormat> {
    let spec = |schema| JsonSpec::new("answer", schema).into();
    match wire {
        WireFormat::Gemini => Some(spec(schema.clone())),
        // OpenAI takes a schema only if all members of all objects are required: the model would have to make up values
        // for what it would leave out.
        WireFormat::Openai => {
            requires_all_members(schema).then(|| spec(without_text_bounds(schema)))
        }
        WireFormat::Ollama => Some(ChatResponseFormat::JsonMode),
        // Only some of its models know the member, and the others refuse it.
        WireFormat::Anthropic => None,
    }
}

/// Whether every object of a schema requires all members that it has.
fn requires_all_members(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let members = keywords.get("properties").and_then(Value::as_object);
            let required = keywords.get("required").and_then(Value::as_array);
            let required: Vec<&str> = required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let all = members
                .into_iter()
                .flatten()
                .all(|(name, _)| required.contains(&name.as_str()));
            all && keywords.values().all(requires_all_members)
        }
        Value::Array(items) => items.iter().all(requires_all_members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn to_reasoning_effort(effort: Effort) -> ReasoningEffort {
    match effort {
        Effort::None => ReasoningEffort::Zero,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
    }
}

/// An effort behind the name of a Claude or Gemini model; other names stay as they are.
fn split_effort(wire: WireFormat, model: &str) -> (String, Option<ReasoningEffort>) {
    let ours = match wire {
        WireFormat::Anthropic => model.starts_with("claude-"),
        WireFormat::Gemini => model.starts_with("gemini-"),
        WireFormat::Openai | WireFormat::Ollama => false,
    };
    let split = model.rsplit_once('-').filter(|_| ours);
    match split.and_then(|(name, word)| Some((name, ReasoningEffort::from_keyword(word)?))) {
        Some((name, effort)) => (name.to_owned(), Some(effort)),
        None => (model.to_owned(), None),
    }
}

fn wire_tool(strict: &mut StrictToolBudget, definition: ToolDefinition) -> Tool {
    let held = strict.strict_schema(&definition);
    let tool = Tool::new(definition.name).with_description(definition.description);
    match held {
        Some(schema) => tool.with_schema(schema).with_strict(true),
        None => tool.with_schema(definition.parameters),
    }
}

/// How a provider is told whether its model has to call a tool; none where it may.
fn wire_tool_choice(choice: ToolChoice) -> Option<genai::chat::ToolChoice> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(genai::chat::ToolChoice::Required),
        ToolChoice::None => Some(genai::chat::ToolChoice::None),
    }
}

/// Anthropic caches what stands before a mark. One mark is the end of this request; the other the end of the last one,
/// so that a turn with many results still finds what is cached.
fn mark_for_cache(messages: &mut [ChatMessage]) {
    let assistant = messages
        .iter()
        .rposition(|message| message.role == genai::chat::ChatRole::Assistant);
    let ends = [
        assistant.and_then(|position| position.checked_sub(1)),
        messages.len().checked_sub(1),
    ];
    for position in ends.into_iter().flatten() {
        if let Some(message) = messages.get_mut(position) {
            message.options = Some(CacheControl::Ephemeral.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn efforts_are_split_off_where_they_mean_something() {
        for (wire, model, name, effort) in [
            (
                WireFormat::Anthropic,
                "claude-sonnet-4-6-high",
                "claude-sonnet-4-6",
                Some("high"),
            ),
            (
                WireFormat::Anthropic,
                "claude-sonnet-4-6",
                "claude-sonnet-4-6",
                None,
            ),
            (
                WireFormat::Gemini,
                "gemini-3-pro-preview-low",
                "gemini-3-pro-preview",
                Some("low"),
            ),
            (WireFormat::Openai, "mistral-medium", "mistral-medium", None),
            (WireFormat::Ollama, "qwen-max", "qwen-max", None),
        ] {
            let (split, got) = split_effort(wire, model);
            let got = got.map(|effort| effort.to_string());
            assert_eq!((split.as_str(), got.as_deref()), (name, effort));
        }
    }

    #[test]
    fn bounds_that_openai_refuses_are_told_instead() {
        let schema = json!({ "type": "object", "required": ["minLength"], "properties": {
            "minLength": { "type": "string", "minLength": 1, "description": "A text." } } });
        let told = json!({ "type": "object", "required": ["minLength"], "properties": {
            "minLength": { "type": "string", "description": "A text. (minLength 1)" } } });
        let Some(ChatResponseFormat::JsonSpec(spec)) = response_format(WireFormat::Openai, &schema)
        else {
            panic!("it is asked for");
        };
        assert_eq!(spec.schema, told);
    }

    #[test]
    fn a_schema_is_asked_for_where_it_can_be() {
        let strict = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
        let loose = json!({ "anyOf": [{ "type": "object", "properties": { "a": {} } }] });
        for (wire, schema, asked) in [
            (WireFormat::Gemini, &loose, "spec"),
            (WireFormat::Openai, &strict, "spec"),
            (WireFormat::Openai, &loose, ""),
            (WireFormat::Ollama, &strict, "json"),
            (WireFormat::Anthropic, &strict, ""),
        ] {
            let format = match response_format(wire, schema) {
                None => "",
                Some(ChatResponseFormat::JsonMode) => "json",
                Some(ChatResponseFormat::JsonSpec(spec)) => {
                    assert_eq!(&spec.schema, schema);
                    "spec"
                }
            };
            assert_eq!(format, asked, "{wire:?} {schema}");
        }
    }
}
