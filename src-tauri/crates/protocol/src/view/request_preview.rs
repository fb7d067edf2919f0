//! A request as a person sees it before it is sent: everything that leaves, with secrets by the names of their references.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Digest;
use crate::text::display_text::{DisplaySpan, join_spans};

/// A request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestPreview {
    /// `GET`, `POST`.
    pub method: String,
    /// The whole address, hidden characters named.
    pub address: Vec<DisplaySpan>,
    /// What the call gives, read through the tool's own schema.
    pub given: Vec<RequestField>,
    /// The headers, in the order in which they are sent.
    pub headers: Vec<RequestHeader>,
    /// What is sent with it; none if nothing is.
    pub body: Option<RequestBody>,
}

/// Something that a call gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestField {
    /// As the service knows it, hidden characters named.
    pub name: Vec<DisplaySpan>,
    /// Where it goes: `path`, `query`, `header`, `cookie`, `body`.
    pub place: String,
    /// What the document says of it; empty if it says nothing.
    pub about: String,
    /// Its value, hidden characters named, cut where it is long.
    pub value: Vec<DisplaySpan>,
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestHeader {
    /// Its name.
    pub name: String,
    /// Its value, or how what stands there is referred to, hidden characters named.
    pub value: Vec<DisplaySpan>,
    /// Whether a secret stands there, which is looked up when it is sent.
    pub secret: bool,
}

/// What is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RequestBody {
    /// Its media type.
    pub media: String,
    /// Its beginning as text, hidden characters named; empty if it is no text.
    pub text: Vec<DisplaySpan>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether there is more of it than `text`.
    pub cut: bool,
    /// Exactly what is sent: another body is another request.
    pub digest: Digest,
}

impl RequestPreview {
    /// All of it as text: the first line, the headers, the body, with hidden characters named.
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
