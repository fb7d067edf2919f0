//! Detects the kind of a fetched body: by its declared type and by its first bytes.

/// The kind of a body, which decides how it is processed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// An HTML page.
    Html,
    /// Text that is passed on as it is: plain, Markdown, JSON, XML and similar.
    Text,
    /// A PDF document.
    Pdf,
    /// Not text; the name of its format.
    Other(String),
}

/// Number of leading bytes that are inspected.
const SNIFFED_BYTES: usize = 8 * 1024;

/// Media types besides `text/…` that are text.
const TEXT_TYPES: [&str; 14] = [
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

/// Detects the kind of a body. The first bytes count where no type is declared, and where text is declared but the
/// bytes are not text.
pub(super) fn detect_kind(content_type: &str, body: &[u8]) -> ContentKind {
    let media_type = content_type.split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let start = body.trim_ascii_start();
    if start.starts_with(b"%PDF-") {
        return ContentKind::Pdf;
    }
    let kind = match media_type.as_str() {
        "text/html" | "application/xhtml+xml" => ContentKind::Html,
        "application/pdf" | "application/x-pdf" => ContentKind::Pdf,
        ""
        | "application/octet-stream"
        | "binary/octet-stream"
        | "text/plain"
        | "unknown/unknown" => detect_by_prefix(start),
        _ if is_text_type(&media_type) => ContentKind::Text,
        _ => return ContentKind::Other(describe_type(&media_type)),
    };
    match kind {
        ContentKind::Html | ContentKind::Text if is_binary(body) => {
            ContentKind::Other(match crate::text::decode(body) {
                crate::text::DecodedText::Binary(what) => what.to_owned(),
                crate::text::DecodedText::Utf8(_) | crate::text::DecodedText::NotUtf8 { .. } => {
                    "a binary file".to_owned()
                }
            })
        }
        ContentKind::Html | ContentKind::Text | ContentKind::Pdf | ContentKind::Other(_) => kind,
    }
}

fn detect_by_prefix(start: &[u8]) -> ContentKind {
    let head = start.iter().take(64).map(u8::to_ascii_lowercase);
    let head: Vec<u8> = head.collect();
    match head.starts_with(b"<!doctype html") || head.starts_with(b"<html") {
        true => ContentKind::Html,
        false => ContentKind::Text,
    }
}

fn is_text_type(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || media_type.ends_with("+yaml")
        || TEXT_TYPES.contains(&media_type)
}

/// Whether a body is binary. A zero byte occurs in no text but UTF-16, which is marked at its start; other formats are
/// known by their first bytes.
fn is_binary(body: &[u8]) -> bool {
    let is_wide = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
    let zero = body.iter().take(SNIFFED_BYTES).any(|byte| *byte == 0);
    let named = matches!(crate::text::decode(body), crate::text::DecodedText::Binary(what) if what != "a binary file");
    !is_wide && (zero || named)
}

fn describe_type(media_type: &str) -> String {
    let name = protocol::text::display_text::to_single_line(media_type, 80);
    match media_type.split('/').next() {
        Some("image") => format!("an image (`{name}`)"),
        Some("audio") => format!("a sound (`{name}`)"),
        Some("video") => format!("a video (`{name}`)"),
        Some("font") => format!("a font (`{name}`)"),
        _ => format!("a file of the type `{name}`"),
    }
}
