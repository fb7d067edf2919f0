//! Converts a server's requests from the protocol to our types, and the replies back.

use protocol::text::display_text::{is_hidden, to_single_line};
use serde_json::{Map, Value, json};
use tools::elicitation::{ElicitationKind, ElicitationReply};
use url::{Host, Url};

use crate::limits::{ELICITATION_CHARS_MAX, ELICITATION_URL_CHARS_MAX, NAME_CHARS_MAX};
use crate::{form, sampling};

/// Method of elicitation: a question to the person.
pub(crate) const ELICITATION: &str = "elicitation/create";
/// Method of sampling: a request to a model.
pub(crate) const SAMPLING: &str = "sampling/createMessage";

/// Reason why a request is answered with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    /// The reason, a sentence.
    pub why: String,
    /// Whether the request cannot be parsed.
    pub is_unreadable: bool,
}

impl RequestRefusal {
    pub(crate) fn invalid_params(why: String) -> Self {
        Self {
            why,
            is_unreadable: true,
        }
    }

    fn rejected(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            is_unreadable: false,
        }
    }
}

/// Parses a request into its message and its kind.
///
/// # Errors
/// The reason why the request cannot be shown to a person, as a sentence.
pub(crate) fn parse_server_request(
    method: &str,
    params: &Value,
) -> Result<(String, ElicitationKind), String> {
    match method {
        ELICITATION => parse_elicitation(params),
        SAMPLING => {
            let request = sampling::parse_sampling(params)?;
            Ok((String::new(), ElicitationKind::Sampling(request)))
        }
        other => Err(format!(
            "`{}` is nothing that this client answers.",
            to_single_line(other, NAME_CHARS_MAX)
        )),
    }
}

/// Returns the answer to a request about which nobody is asked.
///
/// # Errors
/// The request is for a model: that is refused with an error.
pub(crate) fn declined_answer(method: &str, why: &str) -> Result<Value, RequestRefusal> {
    match method {
        SAMPLING => Err(RequestRefusal::rejected(format!(
            "No model was asked: {why}"
        ))),
        _ => Ok(action_result("decline")),
    }
}

/// Returns the answer to a request that the server cancelled itself.
pub(crate) fn cancelled_answer(method: &str) -> Value {
    match method {
        ELICITATION => action_result("cancel"),
        _ => Value::Null,
    }
}

/// Encodes a reply for the server.
///
/// # Errors
/// The protocol allows only an error for this reply.
pub(crate) fn encode_reply(reply: ElicitationReply, method: &str) -> Result<Value, RequestRefusal> {
    match reply {
        ElicitationReply::Filled(values) => {
            Ok(json!({ "action": "accept", "content": Value::Object(values) }))
        }
        ElicitationReply::Opened => Ok(action_result("accept")),
        ElicitationReply::Declined if method == SAMPLING => {
            Err(RequestRefusal::rejected("The person did not allow it."))
        }
        ElicitationReply::Dismissed if method == SAMPLING => {
            Err(RequestRefusal::rejected("The person did not answer."))
        }
        ElicitationReply::Declined => Ok(action_result("decline")),
        ElicitationReply::Dismissed => Ok(action_result("cancel")),
        ElicitationReply::Failed(why) => Err(RequestRefusal::rejected(why)),
        ElicitationReply::Sampled {
            model,
            text,
            calls,
            is_cut,
        } => Ok(sampling::encode_answer(&model, &text, &calls, is_cut)),
    }
}

fn action_result(action: &str) -> Value {
    json!({ "action": action })
}

/// Parses a request to ask the person, as MCP and ACP have it, into its message and its kind.
///
/// # Errors
/// The reason why the person cannot be asked, as a sentence.
pub fn parse_elicitation(params: &Value) -> Result<(String, ElicitationKind), String> {
    let none = Map::new();
    let params = params.as_object().unwrap_or(&none);
    let text = |member: &str| params.get(member).and_then(Value::as_str);
    let Some(message) = text("message") else {
        return Err("It does not say what it wants to know.".to_owned());
    };
    if message.chars().count() > ELICITATION_CHARS_MAX {
        return Err(format!(
            "What it says that it wants is longer than {ELICITATION_CHARS_MAX} characters."
        ));
    }
    let kind = match text("mode").unwrap_or("form") {
        "form" => {
            let schema = params.get("requestedSchema");
            let schema = schema.ok_or("There is no schema of the form.".to_owned())?;
            ElicitationKind::Form(form::parse_form(schema)?)
        }
        "url" => parse_elicitation_url(text("url").unwrap_or_default())?,
        other => {
            return Err(format!(
                "Nobody can be asked in the way `{}` here.",
                to_single_line(other, NAME_CHARS_MAX)
            ));
        }
    };
    Ok((message.to_owned(), kind))
}

/// Parses a URL as it would be opened.
fn parse_elicitation_url(address: &str) -> Result<ElicitationKind, String> {
    if address.chars().count() > ELICITATION_URL_CHARS_MAX || address.chars().any(is_hidden) {
        return Err("The address is too long, or hides something.".to_owned());
    }
    let url = Url::parse(address).map_err(|_| "The address is none.".to_owned())?;
    let is_safe = match url.scheme() {
        "https" => true,
        "http" => false,
        other => {
            let other = to_single_line(other, NAME_CHARS_MAX);
            return Err(format!("Addresses of the kind `{other}` are not opened."));
        }
    };
    let Some(host) = url.host() else {
        return Err("The address has no host.".to_owned());
    };
    let mut warnings = Vec::new();
    match &host {
        Host::Domain(name) if name.split('.').any(|part| part.starts_with("xn--")) => warnings.push(
            "Its host is spelt with letters that may look like others: it is shown as machines write it.".to_owned(),
        ),
        Host::Domain(_) => {}
        Host::Ipv4(_) | Host::Ipv6(_) => {
            warnings.push("Its host is a number, not a name.".to_owned());
        }
    }
    if !is_safe {
        warnings.push("What is sent there is not encrypted: it is http, not https.".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        warnings.push("What stands before the @ is not part of its host.".to_owned());
    }
    Ok(ElicitationKind::Url {
        host: host.to_string(),
        url: url.to_string(),
        warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(params: Value) -> Result<ElicitationKind, String> {
        parse_server_request(ELICITATION, &params).map(|(_, wants)| wants)
    }

    #[test]
    fn an_address_is_told_as_it_would_be_opened() {
        for (written, is, warned) in [
            (
                "https://example.org/a?b=c#d",
                "https://example.org/a?b=c#d",
                0,
            ),
            ("https://EXAMPLE.org", "https://example.org/", 0),
            ("http://example.org/", "http://example.org/", 1),
            ("https://exаmple.org/", "https://xn--exmple-4nf.org/", 1),
            (
                "https://good.org@evil.org/",
                "https://good.org@evil.org/",
                1,
            ),
            ("http://127.0.0.1:8000/x", "http://127.0.0.1:8000/x", 2),
        ] {
            let params =
                json!({ "mode": "url", "message": "m", "url": written, "elicitationId": "1" });
            match wanted(params) {
                Ok(ElicitationKind::Url { url, warnings, .. }) => {
                    assert_eq!((url.as_str(), warnings.len()), (is, warned), "{warnings:?}");
                }
                other => panic!("{written}: {other:?}"),
            }
        }
    }

    /// Bad input: a request that cannot be shown to a person is refused with a sentence.
    #[test]
    fn what_cannot_be_asked_is_refused() {
        let long = "x".repeat(ELICITATION_CHARS_MAX + 1);
        for (params, told) in [
            (json!(null), "does not say"),
            (
                json!({ "message": long, "requestedSchema": {} }),
                "longer than",
            ),
            (json!({ "message": "m" }), "no schema"),
            (
                json!({ "message": "m", "mode": "voice" }),
                "in the way `voice`",
            ),
            (
                json!({ "message": "m", "requestedSchema": { "type": "array" } }),
                "not that of an object",
            ),
            (json!({ "message": "m", "mode": "url" }), "is none"),
            (
                json!({ "message": "m", "mode": "url", "url": "javascript:alert(1)" }),
                "kind `javascript`",
            ),
            (
                json!({ "message": "m", "mode": "url", "url": "file:///etc/passwd" }),
                "kind `file`",
            ),
            (
                json!({ "message": "m", "mode": "url", "url": "https://a/\u{202e}b" }),
                "hides something",
            ),
        ] {
            let why = wanted(params.clone()).unwrap_err();
            assert!(why.contains(told), "{params}: {why}");
        }
    }
}
