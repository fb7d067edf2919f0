//! Questions of a server that are passed on to the client: only where nobody of ours is asked, of the kinds that whoever
//! started the gateway named, and to a client of 2025 that says that it answers them.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; servers and clients of today use it"
)]

use async_trait::async_trait;
use protocol::server::elicitation::{FieldKind, FormField, FormOption, TextFormat};
use protocol::server::mcp_servers::ServerId;
use protocol::text::display_text::join_spans;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction,
};
use rmcp::service::{ElicitationMode, Peer, RoleServer};
use serde_json::{Map, Value, json};
use tools::elicitation::{
    ElicitationChannel, ElicitationKind, ElicitationReply, ElicitationRequest, SamplingRequest,
};

/// Which questions of a server are passed on to the client where nobody is asked here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedQuestions {
    /// Forms and addresses for a person.
    pub elicitation: bool,
    /// Questions for a model.
    pub sampling: bool,
}

/// The client, as the one who answers.
pub(super) struct ClientQuestions {
    peer: Peer<RoleServer>,
    passed: PassedQuestions,
}

impl ClientQuestions {
    /// Returns the client; none if no question is passed on.
    pub fn new(peer: &Peer<RoleServer>, passed: PassedQuestions) -> Option<Self> {
        let is_any = passed.elicitation || passed.sampling;
        is_any.then(|| Self {
            peer: peer.clone(),
            passed,
        })
    }

    async fn ask_person(&self, params: Value, mode: ElicitationMode) -> Option<ElicitResult> {
        let is_known = self.peer.supported_elicitation_modes().contains(&mode);
        let params: ElicitRequestParams = serde_json::from_value(params).ok()?;
        if !self.passed.elicitation || !is_known {
            return None;
        }
        let answer = self.peer.create_elicitation(params).await;
        answer
            .inspect_err(|error| tracing::info!(%error, "a client answered no question"))
            .ok()
    }

    async fn ask_model(&self, request: &SamplingRequest) -> Option<CreateMessageResult> {
        let client = self.peer.peer_info()?;
        if !self.passed.sampling || client.capabilities.sampling.is_none() {
            return None;
        }
        let params: CreateMessageRequestParams =
            serde_json::from_value(sampling_params(request)).ok()?;
        let answer = self.peer.create_message(params).await;
        answer
            .inspect_err(|error| tracing::info!(%error, "a client answered no question"))
            .ok()
    }
}

#[async_trait]
impl ElicitationChannel for ClientQuestions {
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply {
        let message = named_message(&asking.server, &asking.message);
        match &asking.kind {
            ElicitationKind::Form(fields) => {
                let params = json!({ "mode": "form", "message": message, "requestedSchema": form_schema(fields) });
                let answer = self.ask_person(params, ElicitationMode::Form).await;
                person_reply(answer, |content| match content {
                    Some(Value::Object(values)) => ElicitationReply::Filled(values),
                    Some(_) | None => ElicitationReply::Filled(Map::new()),
                })
            }
            ElicitationKind::Url { url, .. } => {
                let params =
                    json!({ "mode": "url", "message": message, "url": url, "elicitationId": url });
                let answer = self.ask_person(params, ElicitationMode::Url).await;
                person_reply(answer, |_| ElicitationReply::Opened)
            }
            ElicitationKind::Sampling(request) => match self.ask_model(request).await {
                Some(answer) => model_reply(answer),
                None => ElicitationReply::Declined,
            },
        }
    }
}

/// Returns a message with the server that it comes from: the client knows this gateway alone.
fn named_message(server: &ServerId, message: &str) -> String {
    format!("{server}: {message}")
}

fn person_reply(
    answer: Option<ElicitResult>,
    accepted: impl FnOnce(Option<Value>) -> ElicitationReply,
) -> ElicitationReply {
    let Some(answer) = answer else {
        return ElicitationReply::Declined;
    };
    match answer.action {
        ElicitationAction::Accept => accepted(answer.content),
        ElicitationAction::Cancel => ElicitationReply::Dismissed,
        _ => ElicitationReply::Declined,
    }
}

fn model_reply(answer: CreateMessageResult) -> ElicitationReply {
    let content = serde_json::to_value(&answer.message).unwrap_or_default();
    let text = content.pointer("/content/text").and_then(Value::as_str);
    match text {
        Some(text) => ElicitationReply::Sampled {
            model: answer.model,
            text: text.to_owned(),
            is_cut: answer.stop_reason.as_deref() == Some("maxTokens"),
        },
        None => ElicitationReply::Failed("The client's model answered with no text.".to_owned()),
    }
}

fn sampling_params(request: &SamplingRequest) -> Value {
    let messages = request.messages.iter().map(|(by_model, text)| {
        let role = if *by_model { "assistant" } else { "user" };
        json!({ "role": role, "content": { "type": "text", "text": text } })
    });
    let mut params =
        json!({ "messages": messages.collect::<Vec<_>>(), "maxTokens": request.tokens_max });
    if !request.system.is_empty() {
        params["systemPrompt"] = request.system.clone().into();
    }
    if let Some(temperature) = request.temperature {
        params["temperature"] = temperature.into();
    }
    params
}

/// Returns the schema of a form.
fn form_schema(fields: &[FormField]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.clone(), field_schema(field)))
        .collect();
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn field_schema(field: &FormField) -> Value {
    let schema = match &field.kind {
        FieldKind::Text {
            format,
            chars_min,
            chars_max,
            default,
        } => {
            let format = format.map(|format| match format {
                TextFormat::Email => "email",
                TextFormat::Uri => "uri",
                TextFormat::Date => "date",
                TextFormat::DateTime => "date-time",
            });
            json!({ "type": "string", "format": format, "minLength": chars_min, "maxLength": chars_max, "default": default })
        }
        FieldKind::Number {
            integer,
            min,
            max,
            default,
        } => {
            let kind = if *integer { "integer" } else { "number" };
            let number = |value: &Option<f64>| match value {
                // The library takes no fraction there, not even `.0`.
                Some(value) if *integer => json!(*value as i64),
                value => json!(value),
            };
            json!({ "type": kind, "minimum": number(min), "maximum": number(max), "default": number(default) })
        }
        FieldKind::Boolean { default } => json!({ "type": "boolean", "default": default }),
        FieldKind::Choice { options, default } => {
            let (key, options) = option_schemas(options, "oneOf");
            json!({ "type": "string", key: options, "default": default })
        }
        FieldKind::Choices {
            options,
            items_min,
            items_max,
            default,
        } => {
            let items = match option_schemas(options, "anyOf") {
                ("enum", values) => json!({ "type": "string", "enum": values }),
                (key, options) => json!({ key: options }),
            };
            json!({ "type": "array", "items": items, "minItems": items_min, "maxItems": items_max, "default": default })
        }
    };
    let named = [
        ("title", join_spans(&field.title)),
        ("description", join_spans(&field.description)),
    ];
    let mut members = Map::new();
    members.extend(schema.as_object().cloned().unwrap_or_default());
    members.retain(|_, value| !value.is_null());
    for (name, text) in named {
        if !text.is_empty() {
            members.insert(name.to_owned(), text.into());
        }
    }
    Value::Object(members)
}

/// Returns the keyword and the value that list these options: the plain values where no option has another title, so that
/// a client that knows no titles understands them; otherwise each with its title, below `titled`.
fn option_schemas(options: &[FormOption], titled: &'static str) -> (&'static str, Value) {
    let title = |option: &FormOption| join_spans(&option.title);
    match options.iter().all(|option| title(option) == option.value) {
        true => (
            "enum",
            options.iter().map(|option| option.value.as_str()).collect(),
        ),
        false => {
            let schema =
                |option: &FormOption| json!({ "const": &option.value, "title": title(option) });
            (titled, options.iter().map(schema).collect())
        }
    }
}
