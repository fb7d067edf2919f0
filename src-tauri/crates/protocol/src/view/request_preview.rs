//! A request as a person sees it before it is sent: everything that leaves the machine, with each secret replaced by
//! the name of its reference.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Digest;
use crate::text::display_text::{DisplaySpan, join_spans};

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestPreview {
    /// HTTP method: `GET`, `POST`.
    pub method: String,
    /// The whole address, hidden characters named.
    pub address: Vec<DisplaySpan>,
    /// Arguments of the call, read through the tool's own schema.
    pub given: Vec<RequestField>,
    /// The headers, in the order in which they are sent.
    pub headers: Vec<RequestHeader>,
    /// Body of the request; none if it has no body.
    pub body: Option<RequestBody>,
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestField {
    /// Name of the field as the service knows it, hidden characters named.
    pub name: Vec<DisplaySpan>,
    /// Place of the field: `path`, `query`, `header`, `cookie`, `body`.
    pub place: String,
    /// Description of the field from the service's document; empty if it has none.
    pub about: String,
    /// Value of the field, hidden characters named, cut where it is long.
    pub value: Vec<DisplaySpan>,
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestHeader {
    /// Name of the header.
    pub name: String,
    /// Value of the header, or the name of the reference that stands for a secret, hidden characters named.
    pub value: Vec<DisplaySpan>,
    /// Whether the value is a secret, which is looked up when the request is sent.
    pub secret: bool,
}

/// Body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestBody {
    /// Media type of the body.
    pub media: String,
    /// Beginning of the body as text, hidden characters named; empty if the body is not text.
    pub text: Vec<DisplaySpan>,
    /// Length of the body in bytes.
    pub bytes: u64,
    /// Whether the body is longer than `text`.
    pub cut: bool,
    /// Digest of the exact body: another body is another request.
    pub digest: Digest,
}

impl RequestPreview {
    /// Returns the request as text: the first line, the headers, the body, with hidden characters named.
    pub fn summary(&self) -> String {
        let mut told = format!("{} {}", self.method, join_spans(&self.address));
        for header in &self.headers {
            told.push_str(&format!("\n{}: {}", header.name, join_spans(&header.value)));
        }
        if let Some(body) = &self.body {
            told.push_str("\n\n");
            match join_spans(&body.text) {
                text if text.is_empty() => told.push_str(&format!("[{} bytes]", body.bytes)),
                text => told.push_str(&text),
            }
            if body.cut {
                told.push_str(&format!("\n[cut here, {} bytes in all]", body.bytes));
            }
        }
        told
    }
}
