//! Parsing of one line of a client: into a message, or an error answer.

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Value, json};

/// JSON-RPC: the line is not JSON.
const PARSE_ERROR: i32 = -32_700;
/// JSON-RPC: the line is not a message.
const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC: an internal error kept the request from being answered.
const INTERNAL_ERROR: i32 = -32_603;

/// Result of parsing a line.
#[derive(Debug)]
pub(super) enum ParsedLine {
    /// A message, to be handled.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Not a message; contains the answers, one for each request in the line.
    Answers(Vec<Value>),
    /// The line needs no answer.
    Ignored,
}

impl ParsedLine {
    /// Parses a line. `id` is the id that could be found without parsing the line.
    pub fn parse(line: &[u8], id: Option<&Value>) -> Self {
        let line = line
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(line)
            .trim_ascii();
        if line.is_empty() {
            return Self::Ignored;
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => return Self::Answers(vec![parse_error_response(&error, id)]),
        };
        let members = match &value {
            Value::Array(items) => return reject_batch(items),
            Value::Object(members) => members,
            _ => {
                return Self::Answers(vec![invalid_request_response(
                    None,
                    "A message is an object.",
                )]);
            }
        };
        let is_request = members.contains_key("method") && members.contains_key("id");
        let is_notification = members.contains_key("method") && !members.contains_key("id");
        let id = members
            .get("id")
            .filter(|id| id.is_string() || id.is_number());
        let id = id.cloned();
        match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line) {
            // A message with an id waits for an answer, however the library reads it.
            Ok(JsonRpcMessage::Notification(_)) if is_request => {
                Self::Answers(vec![invalid_request_response(id, INVALID_ID_MESSAGE)])
            }
            Ok(message) => Self::Message(Box::new(message)),
            // Nobody waits for an answer to a notification.
            Err(_) if is_notification => Self::Ignored,
            Err(error) => {
                let what = protocol::text::display_text::to_single_line(&error.to_string(), 200);
                let text = format!("This is not a readable JSON-RPC 2.0 message: {what}.");
                Self::Answers(vec![invalid_request_response(id, &text)])
            }
        }
    }

    /// Returns the result for a line that is longer than a message may be.
    pub fn too_long_response(id: Option<&Value>, bytes_max: usize) -> Self {
        let mebibytes = bytes_max / (1024 * 1024);
        let text = format!(
            "The message is longer than {bytes_max} bytes ({mebibytes} MiB) and was not read. Send less at once."
        );
        Self::Answers(vec![invalid_request_response(id.cloned(), &text)])
    }
}

const INVALID_ID_MESSAGE: &str = "The id of a request is a text or a whole number.";

/// Returns the answer to a line that is not JSON, or is nested too deeply to be parsed.
fn parse_error_response(error: &serde_json::Error, id: Option<&Value>) -> Value {
    let id = id.cloned();
    if error.to_string().contains("recursion limit") {
        return invalid_request_response(
            id,
            "The message is nested more than 127 levels deep and was not read.",
        );
    }
    let place = format!("line {} column {}", error.line(), error.column());
    error_response(
        PARSE_ERROR,
        id,
        &format!("This is not JSON: it cannot be read from {place} on."),
    )
}

/// Rejects a batch of messages, which the protocol no longer has: each request in the batch is answered.
fn reject_batch(items: &[Value]) -> ParsedLine {
    let no_batch = "Several messages in one are not read. Send each in its own line.";
    let requests = items.iter().filter(|item| item.get("method").is_some());
    let ids = requests.filter_map(|item| item.get("id").cloned());
    let ids = ids.map(|id| (id.is_string() || id.is_number()).then_some(id));
    let mut answers: Vec<Value> = ids
        .map(|id| invalid_request_response(id, no_batch))
        .collect();
    if answers.is_empty() {
        answers.push(invalid_request_response(None, no_batch));
    }
    ParsedLine::Answers(answers)
}

/// Returns the answer to a request whose id is that of another open request.
pub(super) fn id_in_use_response(id: &RequestId) -> Value {
    let text = "Another request with this id is not answered yet, so this one was not carried out. Give each its own id.";
    invalid_request_response(Some(id.clone().into_json_value()), text)
}

/// Returns the answer to a request that was still open when the connection ended.
pub(super) fn unanswered_response(id: &RequestId) -> Value {
    let text = "The connection ended before this was answered. Connect again and repeat it if it is still wanted.";
    error_response(INTERNAL_ERROR, Some(id.clone().into_json_value()), text)
}

fn invalid_request_response(id: Option<Value>, text: &str) -> Value {
    error_response(INVALID_REQUEST, id, text)
}

fn error_response(code: i32, id: Option<Value>, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } })
}

/// Returns the id of the request that the message cancels, if the message is a cancellation.
pub(super) fn cancelled_request_id(message: &RxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Notification(told) => match &told.notification {
            ClientNotification::CancelledNotification(cancelled) => {
                cancelled.params.request_id.as_ref()
            }
            _ => None,
        },
        JsonRpcMessage::Request(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
    }
}
