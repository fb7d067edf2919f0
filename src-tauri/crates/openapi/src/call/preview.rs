//! Preview of a request for a person: the exact content, with the names of references in place of secrets.

use protocol::text::display_text::to_spans;
use protocol::view::request_preview::{RequestBody, RequestField, RequestHeader, RequestPreview};
use protocol::{Digest, Preview};
use serde_json::{Map, Value};
use tools::text::{DecodedText, decode, truncate_chars};

use crate::call::credentials::Credential;
use crate::call::request::ApiRequest;
use crate::call::style::{join_pairs, scalar_to_text};
use crate::document::operation::{Operation, ParameterLocation};
use crate::limits::{MEMBER_CHARS_MAX, PREVIEW_BYTES_MAX, TARGET_CHARS_MAX};

/// Builds the preview of a call for its card.
pub(crate) fn build_request_preview(
    operation: &Operation,
    arguments: &Map<String, Value>,
    request: &ApiRequest,
    credentials: &[Credential],
) -> Preview {
    let located = |place: ParameterLocation| {
        credentials
            .iter()
            .filter(move |credential| credential.location == place)
    };
    let mut query = join_pairs(&request.query);
    for credential in located(ParameterLocation::Query) {
        let separator = if query.is_empty() { "" } else { "&" };
        query.push_str(&format!(
            "{separator}{}=[{}]",
            credential.name,
            credential.secret.display_text()
        ));
    }
    let address = match query.is_empty() {
        true => request.address.clone(),
        false => format!("{}?{query}", request.address),
    };
    let is_credential = |name: &str| {
        located(ParameterLocation::Header)
            .any(|credential| credential.name.eq_ignore_ascii_case(name))
    };
    let plain = request
        .headers
        .iter()
        .filter(|(name, _)| !is_credential(name));
    let mut headers: Vec<RequestHeader> = plain
        .map(|(name, value)| RequestHeader {
            name: name.clone(),
            value: to_spans(value),
            secret: false,
        })
        .collect();
    headers.extend(
        located(ParameterLocation::Header).map(|credential| RequestHeader {
            name: credential.name.clone(),
            value: to_spans(&credential.secret.display_text()),
            secret: true,
        }),
    );
    let secret = located(ParameterLocation::Cookie).next().is_some();
    let cookies = request
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let credential_cookies = located(ParameterLocation::Cookie)
        .map(|credential| format!("{}=[{}]", credential.name, credential.secret.display_text()));
    let cookies: Vec<String> = cookies.chain(credential_cookies).collect();
    if !cookies.is_empty() {
        headers.push(RequestHeader {
            name: "Cookie".to_owned(),
            value: to_spans(&cookies.join("; ")),
            secret,
        });
    }
    Preview::Request(Box::new(RequestPreview {
        method: request.method.as_str().to_owned(),
        address: to_spans(&address),
        given: request_fields(operation, arguments),
        headers,
        body: request.body.as_ref().map(|body| {
            let head = body.bytes.get(..PREVIEW_BYTES_MAX).unwrap_or(&body.bytes);
            let cut = head.len() < body.bytes.len();
            let head = match std::str::from_utf8(head) {
                Err(error) if cut => head.get(..error.valid_up_to()).unwrap_or_default(),
                _ => head,
            };
            RequestBody {
                media: body.media.clone(),
                text: match decode(head) {
                    DecodedText::Utf8(text) => to_spans(text),
                    DecodedText::Binary(_) | DecodedText::NotUtf8 { .. } => Vec::new(),
                },
                bytes: body.bytes.len() as u64,
                cut,
                digest: Digest::from_bytes(&body.bytes),
            }
        }),
    }))
}

/// Returns the arguments that the call gives, in the order of the document.
fn request_fields(operation: &Operation, arguments: &Map<String, Value>) -> Vec<RequestField> {
    let about = |at: &Value| {
        let text = ["description", "title"]
            .into_iter()
            .find_map(|name| at.get(name)?.as_str());
        let line = text
            .and_then(|text| text.lines().next())
            .unwrap_or_default();
        truncate_chars(line, TARGET_CHARS_MAX)
    };
    let schema = |argument: &str| operation.input_schema.get("properties")?.get(argument);
    let value = |value: &Value| {
        let text = scalar_to_text(value).unwrap_or_else(|| "null".to_owned());
        to_spans(&truncate_chars(&text, MEMBER_CHARS_MAX))
    };
    let parameters = operation.parameters.iter().filter_map(|parameter| {
        let argument = arguments.get(&parameter.argument)?;
        Some(RequestField {
            name: to_spans(&parameter.name),
            place: parameter.place.as_str().to_owned(),
            about: schema(&parameter.argument).map(about).unwrap_or_default(),
            value: value(argument),
        })
    });
    let mut all: Vec<RequestField> = parameters.collect();
    let Some((body, content)) = operation
        .body
        .as_ref()
        .and_then(|body| Some((body, arguments.get(&body.argument)?)))
    else {
        return all;
    };
    let members = schema(&body.argument).and_then(|schema| schema.get("properties"));
    let field = |name: &str, about: String, argument: &Value| RequestField {
        name: to_spans(name),
        place: "body".to_owned(),
        about,
        value: value(argument),
    };
    match content {
        Value::Object(content) => all.extend(content.iter().map(|(name, argument)| {
            let about = members.and_then(|members| members.get(name)).map(about);
            field(name, about.unwrap_or_default(), argument)
        })),
        scalar => all.push(field(&body.argument, String::new(), scalar)),
    }
    all
}
