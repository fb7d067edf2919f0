//! Decodes bytes into characters: by their byte order mark, by the declared encoding, otherwise as UTF-8 or as
//! Windows-1252.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use protocol::text::display_text::to_single_line;

/// Number of leading bytes of a page that are searched for a declared encoding.
const CHARSET_SCAN_BYTES: usize = 4 * 1024;

/// Decodes the body, with a note if its characters are not in the declared encoding.
pub(super) fn decode_body(
    body: &[u8],
    content_type: &str,
    is_html: bool,
) -> (String, Option<String>) {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        let (text, _, _) = encoding.decode(body);
        return (text.into_owned(), None);
    }
    let label = find_declared_charset(content_type.as_bytes());
    let label = match label {
        None if is_html => find_declared_charset(&body[..body.len().min(CHARSET_SCAN_BYTES)]),
        label => label,
    };
    let Some(label) = label else {
        return (guess_and_decode(body), None);
    };
    let name = to_single_line(&label, 40);
    let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
        let note =
            format!("It says that its characters are `{name}`, which is not a known encoding.");
        return (guess_and_decode(body), Some(note));
    };
    let (text, _, is_wrong) = encoding.decode(body);
    match is_wrong {
        false => (text.into_owned(), None),
        true => {
            let note =
                format!("It says that its characters are `{name}`, and some of them are not.");
            let text = match encoding == UTF_8 && !is_nearly_utf8(body) {
                true => WINDOWS_1252.decode(body).0,
                false => text,
            };
            (text.into_owned(), Some(note))
        }
    }
}

/// Returns the encoding declared after `charset=`, if there is one.
fn find_declared_charset(text: &[u8]) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mark = b"charset";
    let start = lower.windows(mark.len()).position(|at| at == mark)?;
    let rest = lower.get(start + mark.len()..)?.trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest
        .strip_prefix(b"\"")
        .or_else(|| rest.strip_prefix(b"'"))
        .unwrap_or(rest);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+".contains(byte);
    let label: Vec<u8> = rest.iter().copied().take_while(is_part).collect();
    (!label.is_empty()).then(|| String::from_utf8_lossy(&label).into_owned())
}

fn guess_and_decode(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(_) if is_nearly_utf8(body) => String::from_utf8_lossy(body).into_owned(),
        Err(_) => WINDOWS_1252.decode(body).0.into_owned(),
    }
}

/// Whether more characters beyond ASCII are valid than broken.
fn is_nearly_utf8(body: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    for chunk in body.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole > broken
}
