//! Headers whose value is a secret: credentials after their scheme, and cookies.

use crate::text::redact::assignment::{Separator, VALUE_BYTES_MAX, secret_result};
use crate::text::redact::lookahead::Lookahead;
use crate::text::redact::name::{NameClass, is_name_byte};
use crate::text::redact::quote::take_quote;
use crate::text::redact::token::{ByteClass, ScanResult};
use crate::text::redact::value;
use crate::text::redact::value::ValueContext;
use crate::text::word_set::WordSet;

/// Schemes with which credentials in a header begin. `Bearer` is not among them: it has a scan of its own.
static AUTH_SCHEMES: WordSet = WordSet::new(
    "apikey api-key basic bot digest geniekey hawk key mac negotiate ntlm oauth ssws token",
);

/// Judges the value of a header with credentials: the part after its scheme, if it has one.
pub(super) fn scan_authorization(
    mut ahead: Lookahead<'_>,
    separator: Separator,
) -> Result<ScanResult, ScanResult> {
    let is_quoted = take_quote(&mut ahead)?.is_some();
    let mut behind = ahead;
    let word = behind.take_while(24, |byte| byte.is_ascii_alphabetic() || byte == b'-')?;
    let scheme = String::from_utf8_lossy(word).to_ascii_lowercase();
    let has_scheme = AUTH_SCHEMES.contains(&scheme) && behind.take_blanks(4)? > 0;
    if has_scheme {
        ahead = behind;
    }
    let value_start = ahead.at;
    let of = ByteClass::Unspaced;
    let value = ahead.take_while(VALUE_BYTES_MAX, |byte| of.contains(byte))?;
    let is_header = is_quoted || separator == Separator::Colon;
    let has_mark = value.iter().any(|byte| !byte.is_ascii_alphabetic());
    let is_variable = value.iter().any(|byte| b"{$(<[%".contains(byte));
    let is_secret = match has_scheme {
        true => value.len() >= 6 && (has_mark || value.len() >= 16) && !is_variable,
        false => value::is_secret(NameClass::Maybe, b"", value, ValueContext::Bare),
    };
    Ok(secret_result(
        is_secret && is_header,
        value_start,
        value,
        of,
        &ahead,
    ))
}

/// Judges the value of a cookie header: the whole line.
pub(super) fn scan_cookies(
    mut ahead: Lookahead<'_>,
    separator: Separator,
) -> Result<ScanResult, ScanResult> {
    let quote = take_quote(&mut ahead)?;
    let value_start = ahead.at;
    let of = quote.map_or(ByteClass::Line, |quote| ByteClass::Quoted(quote.byte));
    let value = ahead.take_while(VALUE_BYTES_MAX, |byte| of.contains(byte))?;
    let set = value.iter().position(|byte| *byte == b'=');
    let name = set.map(|at| &value[..at]);
    let is_set =
        name.is_some_and(|name| !name.is_empty() && name.iter().all(|byte| is_name_byte(*byte)));
    let is_secret =
        separator == Separator::Colon && is_set && !value.contains(&b'{') && !value.contains(&b'(');
    Ok(secret_result(is_secret, value_start, value, of, &ahead))
}
