//! Headers whose value is a secret: credentials behind their scheme, and cookies.

use super::ahead::Ahead;
use super::assigned::{Separator, VALUE_BYTES_MAX, secret};
use super::name::{Says, is_of_name};
use super::quote::take_quote;
use super::token::{Look, Of};
use super::value::{self, Written};

/// How credentials in a header begin; what stands behind `Bearer` is looked at by itself.
const SCHEMES: [&str; 14] = [
    "apikey",
    "api-key",
    "basic",
    "bot",
    "digest",
    "geniekey",
    "hawk",
    "key",
    "mac",
    "negotiate",
    "ntlm",
    "oauth",
    "ssws",
    "token",
];

/// The value of a header with credentials: behind its scheme, if it has one.
pub(super) fn authorization(mut ahead: Ahead<'_>, separator: Separator) -> Result<Look, Look> {
    let is_quoted = take_quote(&mut ahead)?.is_some();
    let mut behind = ahead;
    let word = behind.take_while(24, |byte| byte.is_ascii_alphabetic() || byte == b'-')?;
    let is_scheme = |scheme: &&str| scheme.as_bytes().eq_ignore_ascii_case(word);
    let has_scheme = SCHEMES.iter().any(is_scheme) && behind.take_blanks(4)? > 0;
    if has_scheme {
        ahead = behind;
    }
    let kept = ahead.at;
    let of = Of::Unspaced;
    let value = ahead.take_while(VALUE_BYTES_MAX, |byte| of.has(byte))?;
    let is_header = is_quoted || separator == Separator::Colon;
    let has_mark = value.iter().any(|byte| !byte.is_ascii_alphabetic());
    let is_variable = value.iter().any(|byte| b"{$(<[%".contains(byte));
    let is_secret = match has_scheme {
        true => value.len() >= 6 && (has_mark || value.len() >= 16) && !is_variable,
        false => value::is_secret(Says::Maybe, b"", value, Written::Bare),
    };
    Ok(secret(is_secret && is_header, kept, value, of, &ahead))
}

/// The value of a header of cookies: all of the line.
pub(super) fn cookies(mut ahead: Ahead<'_>, separator: Separator) -> Result<Look, Look> {
    let quote = take_quote(&mut ahead)?;
    let kept = ahead.at;
    let of = quote.map_or(Of::Line, |quote| Of::Quoted(quote.byte));
    let value = ahead.take_while(VALUE_BYTES_MAX, |byte| of.has(byte))?;
    let set = value.iter().position(|byte| *byte == b'=');
    let name = set.map(|at| &value[..at]);
    let is_set =
        name.is_some_and(|name| !name.is_empty() && name.iter().all(|byte| is_of_name(*byte)));
    let is_secret =
        separator == Separator::Colon && is_set && !value.contains(&b'{') && !value.contains(&b'(');
    Ok(secret(is_secret, kept, value, of, &ahead))
}
