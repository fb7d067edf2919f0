//! Failures on the wire, before they are put into words for a person.

use genai::webc::StreamTimeout;
use protocol::text::cut::shorten_text;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::limits::{MESSAGE_CHARS_MAX, Timing};

/// A failure of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WireFailure {
    /// The provider answered with an HTTP status that is not a success.
    Status {
        status: u16,
        message: String,
        retry_after_ms: Option<u64>,
        location: Option<String>,
    },
    /// No connection, or it broke before an answer.
    Connection(String),
    /// The answer broke off.
    Truncated,
    /// The answer had nothing of a stream in it: a web page, say.
    NotAStream,
    /// A frame that is not JSON; at its end, maybe, because the answer broke off there.
    Unreadable { why: String, at_end: bool },
    /// A frame that is JSON, but not of the wire format.
    Malformed(String),
    /// Nothing came for so many milliseconds.
    TimedOut(u64),
    /// The provider reported an error inside its stream.
    Event { kind: String, message: String },
    /// A limit of ours.
    TooLarge(String),
    /// The request could not even be made.
    Setup(String),
}

/// Kinds of reported errors that pass by themselves, as the providers spell them.
const TRANSIENT_KINDS: &[&str] = &[
    "overloaded_error",
    "rate_limit_error",
    "api_error",
    "server_error",
    "rate_limit_exceeded",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
    "INTERNAL",
    "429",
    "500",
    "502",
    "503",
    "504",
    "529",
];

impl WireFailure {
    /// Whether the same request may work in a moment. Only asked while nothing has been received.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::Connection(_) | Self::Truncated | Self::NotAStream => true,
            Self::Event { kind, .. } => TRANSIENT_KINDS.contains(&kind.as_str()),
            Self::Unreadable { .. }
            | Self::Malformed(_)
            | Self::TimedOut(_)
            | Self::TooLarge(_)
            | Self::Setup(_) => false,
        }
    }

    /// How long the provider asks to wait.
    pub(crate) fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Status { retry_after_ms, .. } => *retry_after_ms,
            Self::Connection(_)
            | Self::Truncated
            | Self::NotAStream
            | Self::Unreadable { .. }
            | Self::Malformed(_)
            | Self::TimedOut(_)
            | Self::Event { .. }
            | Self::TooLarge(_)
            | Self::Setup(_) => None,
        }
    }

    /// Converts an error of `genai`. Its own texts are not used: they quote whole bodies.
    pub(crate) fn from_genai(error: genai::Error, timing: &Timing) -> Self {
        match error {
            genai::Error::WebStream { error, .. } => Self::from_boxed(error, timing),
            genai::Error::HttpError {
                status,
                body,
                headers,
                ..
            } => Self::Status {
                status: status.as_u16(),
                message: extract_provider_message(&body),
                retry_after_ms: parse_retry_after(&headers),
                location: headers
                    .get("location")
                    .and_then(|value| value.to_str().ok())
                    .map(str::to_owned),
            },
            genai::Error::StreamParse { serde_error, .. } => Self::Unreadable {
                at_end: serde_error.is_eof(),
                why: serde_error.to_string(),
            },
            genai::Error::ChatResponse { body, .. } => reported_failure(&body),
            genai::Error::JsonValueExt(error) => Self::Malformed(error.to_string()),
            genai::Error::SerdeJson(error) => Self::Malformed(error.to_string()),
            other => Self::Setup(shorten_message(&other.to_string())),
        }
    }

    fn from_boxed(error: genai::BoxError, timing: &Timing) -> Self {
        let error = match error.downcast::<genai::Error>() {
            Ok(error) => return Self::from_genai(*error, timing),
            Err(error) => error,
        };
        let error = match error.downcast::<reqwest::Error>() {
            Ok(error) => return Self::from_reqwest(*error, timing.connect_ms),
            Err(error) => error,
        };
        match error.downcast_ref::<StreamTimeout>() {
            Some(StreamTimeout::Headers) => Self::TimedOut(timing.begin_ms),
            Some(StreamTimeout::Read) => Self::TimedOut(timing.idle_ms),
            None if error.is::<std::string::FromUtf8Error>() => {
                Self::Malformed("it is not UTF-8".to_owned())
            }
            None => Self::Connection(shorten_message(&root_cause(error.as_ref()))),
        }
    }

    /// Converts an error of the HTTP client. The URL is left out.
    pub(crate) fn from_reqwest(error: reqwest::Error, timeout_ms: u64) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            Self::Setup(root_cause(&error))
        } else if error.is_timeout() && !error.is_connect() {
            Self::TimedOut(timeout_ms)
        } else if error.is_body() || error.is_decode() {
            Self::Truncated
        } else {
            Self::Connection(shorten_message(&root_cause(&error)))
        }
    }
}

/// The innermost cause: "connection refused" rather than "error sending request".
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// Returns the wait that a provider asks for, in milliseconds. None if it asks for none, or if what it asks for is no
/// number of seconds in plain digits: then the pauses are ours.
pub(crate) fn parse_retry_after(headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| -> Option<f64> {
        let text = headers.get(name)?.to_str().ok()?.trim();
        let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        is_plain.then(|| text.parse().ok()).flatten()
    };
    let wait_ms = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1000.0))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and the cast saturates"
    )]
    Some(wait_ms.ceil() as u64)
}

/// An error that came as a frame of the stream.
fn reported_failure(body: &Value) -> WireFailure {
    let error = body.get("error").filter(|error| !error.is_null());
    let error = error.unwrap_or(body);
    let kind = ["type", "status", "code"]
        .iter()
        .find_map(|member| match error.get(member) {
            Some(Value::String(kind)) => Some(kind.clone()),
            Some(Value::Number(code)) => Some(code.to_string()),
            _ => None,
        });
    WireFailure::Event {
        kind: kind.unwrap_or_default(),
        message: extract_provider_message(&body.to_string()),
    }
}

/// The provider's own words out of an error body, whatever its shape.
pub(crate) fn extract_provider_message(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return match body.trim() {
            "" => "it gave no reason".to_owned(),
            page if page.starts_with('<') => "it sent a web page instead of an answer".to_owned(),
            text => shorten_message(text),
        };
    };
    let value = match &value {
        Value::Array(items) => items.first().cloned().unwrap_or_default(),
        _ => value,
    };
    let words = ["/error/message", "/message", "/error", "/detail"]
        .iter()
        .find_map(|path| value.pointer(path).and_then(Value::as_str));
    match words {
        Some(words) if !words.trim().is_empty() => shorten_message(words.trim()),
        _ => shorten_message(&value.to_string()),
    }
}

/// Cuts a text to what an error may hold.
pub(crate) fn shorten_message(text: &str) -> String {
    shorten_text(text, MESSAGE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use serde_json::json;

    #[test]
    fn words_are_found_in_every_shape() {
        for (body, words) in [
            (
                r#"{"type":"error","error":{"type":"x","message":"Overloaded"}}"#,
                "Overloaded",
            ),
            (
                r#"{"error":{"message":"bad model","code":404}}"#,
                "bad model",
            ),
            (
                r#"[{"error":{"code":400,"message":"API key not valid"}}]"#,
                "API key not valid",
            ),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"odd":1}"#, r#"{"odd":1}"#),
            ("", "it gave no reason"),
            ("<html>…</html>", "it sent a web page instead of an answer"),
            ("upstream down", "upstream down"),
        ] {
            assert_eq!(extract_provider_message(body), words);
        }
        assert_eq!(shorten_message(&"é".repeat(700)).chars().count(), 601);
    }

    #[test]
    fn waits_are_read() {
        for (name, value, wait_ms) in [
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after-ms", "7", Some(7)),
            ("retry-after", " 2 ", Some(2000)),
            ("retry-after", "0", Some(0)),
            ("retry-after", "99999999999999999999", Some(u64::MAX)),
            ("retry-after", &"9".repeat(400), Some(u64::MAX)),
            ("retry-after", "-1", None),
            ("retry-after", "-0", None),
            ("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("retry-after", "1e400", None),
            ("retry-after", "inf", None),
            ("retry-after", "NaN", None),
            ("retry-after", "2, 3", None),
            ("retry-after", "2s", None),
            ("retry-after", ".", None),
            ("retry-after", "", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
            assert_eq!(parse_retry_after(&headers), wait_ms, "{name}: {value}");
        }
    }

    #[test]
    fn reported_errors_keep_their_kind() {
        let overloaded =
            json!({"type":"error","error":{"type":"overloaded_error","message":"Busy"}});
        let failure = reported_failure(&overloaded);
        assert_eq!(
            failure,
            WireFailure::Event {
                kind: "overloaded_error".to_owned(),
                message: "Busy".to_owned()
            }
        );
        assert!(failure.is_transient());
        assert!(reported_failure(&json!({"error":{"code":502,"message":"x"}})).is_transient());
        assert!(
            !reported_failure(&json!({"message":"no","type":"invalid_request_error"}))
                .is_transient()
        );
    }
}
