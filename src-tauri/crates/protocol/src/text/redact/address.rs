//! Passwords in addresses: `postgres://user:password@host`.

use crate::text::redact::name::NameClass;
use crate::text::redact::token;
use crate::text::redact::token::ScanResult;
use crate::text::redact::value;
use crate::text::redact::value::ValueContext;

/// Maximum length of the name and password of an address, in bytes.
const USER_BYTES_MAX: usize = 512;

/// Looks for a password after `://`, with which the bytes may begin. `context` holds the bytes before.
pub(super) fn scan_address(context: &[u8], bytes: &[u8], is_all: bool) -> ScanResult {
    let begins = b"://".as_slice();
    if !bytes.starts_with(begins) || !context.last().is_some_and(u8::is_ascii_alphanumeric) {
        return ScanResult::No;
    }
    let rest = &bytes[begins.len()..];
    let of_user = |byte: &u8| {
        token::ByteClass::Unspaced.contains(*byte) && !matches!(byte, b'/' | b'?' | b'#' | b',')
    };
    let length = rest
        .iter()
        .take(USER_BYTES_MAX)
        .take_while(|byte| of_user(byte))
        .count();
    if length == rest.len() && length < USER_BYTES_MAX && !is_all {
        return ScanResult::Unsure;
    }
    let Some(end) = rest[..length].iter().rposition(|byte| *byte == b'@') else {
        return ScanResult::No;
    };
    let user = &rest[..end];
    let start = user
        .iter()
        .position(|byte| *byte == b':')
        .map(|colon| colon + 1);
    let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    let (start, is_secret) = match start {
        Some(start) => (
            start,
            value::is_secret(NameClass::Password, b"", &user[start..], ValueContext::Line)
                || (user.len() - start >= 2 && user[start..].iter().all(u8::is_ascii_alphabetic)),
        ),
        None => (0, value::is_dense(text(user))),
    };
    match is_secret {
        true => ScanResult::Secret {
            kept: begins.len() + start,
            end: begins.len() + end,
            goes_on: None,
        },
        false => ScanResult::No,
    }
}
