//! The context before a name, and its meaning for the value that follows: a tag, an option, a line of settings.

use crate::text::redact::assignment::{NamedValue, Separator};
use crate::text::redact::name::is_name_byte;

/// Returns whether a tag begins directly before a name.
pub(super) fn is_inside_tag(lead: &[u8]) -> bool {
    let name = lead
        .iter()
        .rev()
        .take_while(|byte| is_name_byte(**byte) || **byte == b':')
        .count();
    lead[..lead.len() - name].ends_with(b"<")
}

/// Returns whether only blanks separate the value from its name: an option, a line of a `Dockerfile`, a `.netrc`.
pub(super) fn is_blank_separated(named: &NamedValue<'_>, next: u8) -> bool {
    let lead = named.lead.trim_ascii_end();
    let has_blank = lead.len() < named.lead.len();
    let word = lead
        .rsplit(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    let is_option = named.name.starts_with(b"-") && next != b'-';
    let is_defined =
        has_blank && [b"#define".as_slice(), b"ENV", b"ARG", b"setenv"].contains(&word);
    let is_netrc = named.name == b"password" && contains_bytes(named.lead, b"login ");
    let is_sql = named.name.eq_ignore_ascii_case(b"password") && next == b'\'';
    is_option || is_defined || is_netrc || is_sql || named.name == b"requirepass"
}

fn contains_bytes(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// Returns whether name and value stand alone, as far as the context before them tells: a line of a settings file, a
/// variable of a command, an option, a part of an address.
pub(super) fn is_settings_line(named: &NamedValue<'_>, separator: Separator) -> bool {
    if named.quote.is_some() {
        return false;
    }
    let is_variable = !named.name.iter().any(u8::is_ascii_lowercase) && named.name.len() > 2;
    let is_option = named.name.starts_with(b"-");
    match separator {
        Separator::Blank => return true,
        Separator::Tight if is_variable || is_option => return true,
        Separator::Tight if matches!(named.lead.last(), Some(b'?' | b'&' | b';')) => return true,
        _ => {}
    }
    let line = named
        .lead
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.trim_ascii();
    let last = line
        .rsplit(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    // A listing numbers its lines; a difference marks them; a search names the file.
    let is_numbered = last.iter().any(u8::is_ascii_digit)
        && last
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'|'));
    let found = last.strip_suffix(b":").and_then(<[u8]>::last);
    let is_found = found.is_some_and(u8::is_ascii_digit);
    let before: [&[u8]; 9] = [
        b"", b"-", b"+", b"export", b"set", b"ENV", b"ARG", b"-e", b"--env",
    ];
    is_numbered
        || is_found
        || before.contains(&last)
        || last.ends_with(b"\\n")
        || is_npmrc_path(last)
}

/// Returns whether a word is the beginning of a line of `.npmrc`: `//host/:`.
fn is_npmrc_path(word: &[u8]) -> bool {
    word.starts_with(b"//") && word.ends_with(b":")
}
