//! Passwords in addresses: `postgres://user:password@host`.

use super::token::Look;
use super::value::{self, Written};
use super::{name::Says, token};

/// Longest name and password of an address, in bytes.
const USER_BYTES_MAX: usize = 512;

/// Looks whether a password stands behind `://`, with which the bytes may begin. `context` is what stands before.
pub(super) fn look(context: &[u8], bytes: &[u8], is_all: bool) -> Look {
    let begins = b"://".as_slice();
    if !bytes.starts_with(begins) || !context.last().is_some_and(u8::is_ascii_alphanumeric) {
        return Look::No;
    }
    let rest = &bytes[begins.len()..];
    let of_user =
        |byte: &u8| token::Of::Unspaced.has(*byte) && !matches!(byte, b'/' | b'?' | b'#' | b',');
    let length = rest
        .iter()
        .take(USER_BYTES_MAX)
        .take_while(|byte| of_user(byte))
        .count();
    if length == rest.len() && length < USER_BYTES_MAX && !is_all {
        return Look::Unsure;
    }
    let Some(end) = rest[..length].iter().rposition(|byte| *byte == b'@') else {
        return Look::No;
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
            value::is_secret(Says::Password, b"", &user[start..], Written::Line)
                || (user.len() - start >= 2 && user[start..].iter().all(u8::is_ascii_alphabetic)),
        ),
        None => (0, value::is_dense(text(user))),
    };
    match is_secret {
        true => Look::Secret {
            kept: begins.len() + start,
            end: begins.len() + end,
            goes_on: None,
        },
        false => Look::No,
    }
}
