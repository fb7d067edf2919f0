//! What bytes from a site are: by what they say and by how they begin.

/// What can be done with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A page.
    Html,
    /// Text that is given as it is: plain, Markdown, JSON, XML and their kin.
    Text,
    /// A PDF document.
    Pdf,
    /// No text; what it is.
    Other(String),
}

/// Bytes at the start that are looked at.
const SNIFFED_BYTES: usize = 8 * 1024;

/// Types beside `text/…` that are text.
const TEXTS: [&str; 14] = [
    "application/json",
    "application/ld+json",
    "application/x-ndjson",
    "application/jsonl",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/graphql",
    "application/sql",
    "application/x-sh",
];

/// What they are. How they begin counts where they do not say, and where they say text and are none.
pub(super) fn of(content_type: &str, body: &[u8]) -> Kind {
    let said = content_type.split(';').next().unwrap_or_default();
    let said = said.trim().to_ascii_lowercase();
    let start = body.trim_ascii_start();
    if start.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    let told = match said.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        ""
        | "application/octet-stream"
        | "binary/octet-stream"
        | "text/plain"
        | "unknown/unknown" => by_start(start),
        _ if is_text(&said) => Kind::Text,
        _ => return Kind::Other(named(&said)),
    };
    match told {
        Kind::Html | Kind::Text if is_binary(body) => {
            Kind::Other(match crate::text::decode(body) {
                crate::text::Text::Binary(what) => what.to_owned(),
                crate::text::Text::Utf8(_) | crate::text::Text::NotUtf8 { .. } => {
                    "a binary file".to_owned()
                }
            })
        }
        Kind::Html | Kind::Text | Kind::Pdf | Kind::Other(_) => told,
    }
}

fn by_start(start: &[u8]) -> Kind {
    let head = start.iter().take(64).map(u8::to_ascii_lowercase);
    let head: Vec<u8> = head.collect();
    match head.starts_with(b"<!doctype html") || head.starts_with(b"<html") {
        true => Kind::Html,
        false => Kind::Text,
    }
}

fn is_text(said: &str) -> bool {
    said.starts_with("text/")
        || said.ends_with("+json")
        || said.ends_with("+xml")
        || said.ends_with("+yaml")
        || TEXTS.contains(&said)
}

/// A zero byte is in no text but UTF-16, which says so at its start; other formats are known by theirs.
fn is_binary(body: &[u8]) -> bool {
    let is_wide = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let zero = body.iter().take(SNIFFED_BYTES).any(|byte| *byte == 0);
    let named = matches!(crate::text::decode(body), crate::text::Text::Binary(what) if what != "a binary file");
    !is_wide && (zero || named)
}

fn named(said: &str) -> String {
    let told = protocol::shown::in_a_sentence(said, 80);
    match said.split('/').next() {
        Some("image") => format!("an image (`{told}`)"),
        Some("audio") => format!("a sound (`{told}`)"),
        Some("video") => format!("a video (`{told}`)"),
        Some("font") => format!("a font (`{told}`)"),
        _ => format!("a file of the type `{told}`"),
    }
}
