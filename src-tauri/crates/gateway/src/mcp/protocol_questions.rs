//! Questions of a server in the words of the protocol, for a client that answers them.

#![allow(
    deprecated,
    reason = "sampling is being removed from the protocol; servers and clients of today use it"
)]

use protocol::server::elicitation::{FieldKind, FormField, FormOption, TextFormat};
use protocol::server::mcp_servers::ServerId;
use protocol::text::display_text::join_spans;
use rmcp::model::{ClientCapabilities, ElicitResult, ElicitationAction, InputRequest};
use serde_json::{Map, Value, json};
use tools::elicitation::{ElicitationKind, ElicitationReply, ElicitationRequest};

use super::sampling_questions::{model_reply, sampling_params};

/// Which questions of a server are passed on to the client where nobody is asked here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassedQuestions {
    /// Forms and addresses for a person.
    pub elicitation: bool,
    /// Questions for a model.
    pub sampling: bool,
}

impl PassedQuestions {
    /// Whether any are passed on.
    pub(super) fn is_any(self) -> bool {
        self.elicitation || self.sampling
    }
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionKind {
    /// A form that a person fills in.
    Form,
    /// An address that a person opens.
    Url,
    /// The answer of a model.
    Sampling {
        /// Whether it may call tools of the server, or has called some before.
        with_tools: bool,
    },
}

/// A question in the words of the protocol.
pub(super) struct ProtocolQuestion {
    pub kind: QuestionKind,
    /// The parameters of the request.
    pub params: Value,
}

impl ProtocolQuestion {
    /// Returns the question of a server, with the server's name before it: the client knows this gateway alone.
    pub fn new(asked: &ElicitationRequest) -> Self {
        let message = named_message(&asked.server, &asked.message);
        let (kind, params) = match &asked.kind {
            ElicitationKind::Form(fields) => (
                QuestionKind::Form,
                json!({ "mode": "form", "message": message, "requestedSchema": form_schema(fields) }),
            ),
            ElicitationKind::Url { url, .. } => (
                QuestionKind::Url,
                json!({ "mode": "url", "message": message, "url": url, "elicitationId": url }),
            ),
            ElicitationKind::Sampling(request) => (
                QuestionKind::Sampling {
                    with_tools: request.has_tools(),
                },
                sampling_params(request),
            ),
        };
        Self { kind, params }
    }

    /// Whether it is passed on, and a client with these capabilities answers it.
    pub fn can_be_passed_on(
        &self,
        passed: PassedQuestions,
        client: Option<&ClientCapabilities>,
    ) -> bool {
        let elicitation = client.and_then(|client| client.elicitation.as_ref());
        match self.kind {
            // One that names no kind of question answers forms.
            QuestionKind::Form => {
                passed.elicitation
                    && elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
            }
            QuestionKind::Url => {
                passed.elicitation && elicitation.is_some_and(|modes| modes.url.is_some())
            }
            QuestionKind::Sampling { with_tools } => {
                let sampling = client.and_then(|client| client.sampling.as_ref());
                passed.sampling
                    && sampling.is_some_and(|offers| !with_tools || offers.tools.is_some())
            }
        }
    }

    /// Returns the request that a client of 2026 is answered with.
    pub fn to_input_request(&self) -> Option<InputRequest> {
        let method = match self.kind {
            QuestionKind::Form | QuestionKind::Url => "elicitation/create",
            QuestionKind::Sampling { .. } => "sampling/createMessage",
        };
        serde_json::from_value(json!({ "method": method, "params": self.params })).ok()
    }

    /// Reads the client's answer; none if it is no answer to such a question.
    pub fn read_answer(&self, answer: Value) -> Option<ElicitationReply> {
        Some(match self.kind {
            QuestionKind::Form => {
                let answer: ElicitResult = serde_json::from_value(answer).ok()?;
                person_reply(answer.action, || match answer.content {
                    Some(Value::Object(values)) => ElicitationReply::Filled(values),
                    Some(_) | None => ElicitationReply::Filled(Map::new()),
                })
            }
            QuestionKind::Url => {
                let answer: ElicitResult = serde_json::from_value(answer).ok()?;
                person_reply(answer.action, || ElicitationReply::Opened)
            }
            QuestionKind::Sampling { .. } => model_reply(serde_json::from_value(answer).ok()?),
        })
    }
}

fn named_message(server: &ServerId, message: &str) -> String {
    format!("{server}: {message}")
}

fn person_reply(
    action: ElicitationAction,
    accepted: impl FnOnce() -> ElicitationReply,
) -> ElicitationReply {
    match action {
        ElicitationAction::Accept => accepted(),
        ElicitationAction::Cancel => ElicitationReply::Dismissed,
        _ => ElicitationReply::Declined,
    }
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
