//! Secrets under a name that says so, in text of every shape: `NAME=value`, `name: value`, `"name": "value"`,
//! `<name>value</name>`, `--name value`, `name("name", "value")`.

use crate::text::redact::headers::{scan_authorization, scan_cookies};
use crate::text::redact::line_prefix::{is_blank_separated, is_inside_tag, is_settings_line};
use crate::text::redact::lookahead::Lookahead;
use crate::text::redact::name;
use crate::text::redact::name::{NAME_BYTES_MAX, NameClass, is_name_byte};
use crate::text::redact::quote::{is_quote, read_quoted, take_quote};
use crate::text::redact::token::{ByteClass, ScanResult};
use crate::text::redact::value;
use crate::text::redact::value::ValueContext;

/// Maximum length of the examined context before a name, in bytes, the name itself included.
pub(super) const CONTEXT_BYTES_MAX: usize = 256;
/// Maximum number of blanks between a name and its value.
const BLANKS_MAX: usize = 40;
/// Maximum length of a value that is examined to judge it, in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 256;
/// Maximum length of a type name between a name and its value, in bytes.
const TYPE_BYTES_MAX: usize = 48;

/// Separator between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `=` and its kin, directly after the name.
    Tight,
    /// `=` and its kin, with blanks before.
    Spaced,
    /// `==` and its kin.
    Compared,
    /// `:`.
    Colon,
    /// `,` between two quoted texts.
    Comma,
    /// The end of a tag.
    Tag,
    /// Blanks alone.
    Blank,
}

/// A name with the bytes before it.
pub(super) struct NamedValue<'a> {
    pub name: &'a [u8],
    pub lead: &'a [u8],
    /// The quote around the name.
    pub quote: Option<u8>,
}

/// Looks for a secret after the name that `bytes[0]` is a part of. `context` holds the bytes before.
pub(super) fn scan_assignment(context: &[u8], bytes: &[u8], is_all: bool) -> ScanResult {
    let before = context
        .iter()
        .rev()
        .take(NAME_BYTES_MAX)
        .take_while(|byte| is_name_byte(**byte))
        .count();
    let (lead, begin) = context.split_at(context.len() - before);
    let mut ahead = Lookahead::new(bytes, is_all);
    let rest = match ahead.take_while(NAME_BYTES_MAX - before, is_name_byte) {
        Ok(rest) => rest,
        Err(look) => return look,
    };
    let mut whole = [0; NAME_BYTES_MAX];
    whole[..before].copy_from_slice(begin);
    whole[before..before + rest.len()].copy_from_slice(rest);
    let named = NamedValue {
        name: &whole[..before + rest.len()],
        lead,
        quote: None,
    };
    match scan_value(named, ahead) {
        Ok(look) | Err(look) => look,
    }
}

fn scan_value(
    mut named: NamedValue<'_>,
    mut ahead: Lookahead<'_>,
) -> Result<ScanResult, ScanResult> {
    let open = named.lead.last().copied().filter(|byte| is_quote(*byte));
    if let Some(quote) = open {
        ahead.take_all(b"\\")?;
        if ahead.take(quote)? {
            named.quote = Some(quote);
            ahead.take(b']')?;
        }
    }
    let Some(separator) = read_separator(&named, &mut ahead)? else {
        return Ok(ScanResult::No);
    };
    // The name before the separator is the end of a text in quotes: `'Password: '`.
    let closes = |byte: u8| named.quote.is_none() && open == Some(byte);
    let mut next = ahead;
    next.take_blanks(BLANKS_MAX)?;
    let next = next.peek()?;
    if next.is_some_and(closes) || (separator == Separator::Compared && !next.is_some_and(is_quote))
    {
        return Ok(ScanResult::No);
    }
    let says = name::classify_name(named.name);
    if says == NameClass::Nothing {
        return Ok(ScanResult::No);
    }
    ahead.take_blanks(BLANKS_MAX)?;
    if separator == Separator::Colon || separator == Separator::Blank {
        skip_type(&mut ahead)?;
    }
    if !skip_line_end(&mut ahead, separator)? {
        return Ok(ScanResult::No);
    }
    match says {
        NameClass::Authorization => scan_authorization(ahead, separator),
        NameClass::Cookies => scan_cookies(ahead, separator),
        NameClass::Nothing | NameClass::Maybe | NameClass::Token | NameClass::Password => {
            scan_plain_value(&named, says, ahead, separator)
        }
    }
}

/// Reads the separator between the name and a value; none if there is no separator.
fn read_separator(
    named: &NamedValue<'_>,
    ahead: &mut Lookahead<'_>,
) -> Result<Option<Separator>, ScanResult> {
    if ahead.peek()? == Some(b'[') && named.quote.is_none() {
        let start = *ahead;
        ahead.at += 1;
        ahead.take_while(8, |byte| byte.is_ascii_digit())?;
        if !ahead.take(b']')? {
            *ahead = start;
        }
    }
    let blanks = ahead.take_blanks(BLANKS_MAX)?;
    let Some(next) = ahead.peek()? else {
        return Ok(None);
    };
    let assigned = match blanks {
        0 => Separator::Tight,
        _ => Separator::Spaced,
    };
    let separator = match next {
        b'=' => {
            let sign = ahead.take_while(3, |byte| matches!(byte, b'=' | b'>'))?;
            match sign.len() > 1 && sign.ends_with(b"=") {
                true => Some(Separator::Compared),
                false => Some(assigned),
            }
        }
        b':' if ahead.peek_at(1)? == Some(b':') => None,
        b':' => {
            ahead.at += 1;
            match ahead.take(b'=')? {
                true => Some(assigned),
                false => Some(Separator::Colon),
            }
        }
        b'?' if ahead.peek_at(1)? == Some(b':') => {
            ahead.at += 2;
            Some(Separator::Colon)
        }
        b'!' if ahead.take_all(b"!=")? => {
            ahead.take(b'=')?;
            Some(Separator::Compared)
        }
        b'?' | b'+' | b'.' if ahead.peek_at(1)? == Some(b'=') => {
            ahead.at += 2;
            Some(assigned)
        }
        b'|' if ahead.take_all(b"||=")? => Some(assigned),
        b'-' if named.quote.is_some() && ahead.take_all(b"->")? => Some(Separator::Spaced),
        b',' if named.quote.is_some() => {
            ahead.at += 1;
            Some(Separator::Comma)
        }
        b'>' if named.quote.is_some() || is_inside_tag(named.lead) => {
            ahead.at += 1;
            Some(Separator::Tag)
        }
        b'<' if ahead.take_all(b"</key>")? => {
            ahead.take_while(BLANKS_MAX, |byte| byte.is_ascii_whitespace())?;
            ahead.take_all(b"<string>")?.then_some(Separator::Tag)
        }
        b'v' if named.quote.is_some() && ahead.take_all(b"value=")? => Some(Separator::Tight),
        _ if blanks > 0 && is_blank_separated(named, next) => Some(Separator::Blank),
        // `var token string = "…"`
        _ if blanks > 0 && next.is_ascii_alphabetic() => {
            let start = ahead.at;
            skip_type(ahead)?;
            (ahead.at > start).then_some(Separator::Spaced)
        }
        _ => None,
    };
    Ok(separator)
}

/// Skips a type name and the `=` after it, if both come next.
fn skip_type(ahead: &mut Lookahead<'_>) -> Result<(), ScanResult> {
    let mut past = *ahead;
    let of_type = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'&' | b'<' | b'>' | b'[' | b']' | b'.' | b'|' | b' ' | b'?' | b':'
            )
    };
    let name = past.take_while(TYPE_BYTES_MAX, of_type)?;
    let is_type = name
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'&')
        && name.ends_with(b" ");
    if is_type && past.peek()? == Some(b'=') && !matches!(past.peek_at(1)?, Some(b'=' | b'>')) {
        past.at += 1;
        past.take_blanks(BLANKS_MAX)?;
        *ahead = past;
    }
    Ok(())
}

/// Skips the end of a line if the value is on the next one: in quotes, or as a block of YAML. Returns `false` if there
/// is no value.
fn skip_line_end(ahead: &mut Lookahead<'_>, separator: Separator) -> Result<bool, ScanResult> {
    let is_end = |byte: Option<u8>| matches!(byte, Some(b'\n' | b'\r'));
    let is_block = separator == Separator::Colon && matches!(ahead.peek()?, Some(b'|' | b'>'));
    if is_block {
        ahead.take_while(3, |byte| {
            matches!(byte, b'|' | b'>' | b'-' | b'+') || byte.is_ascii_digit()
        })?;
        ahead.take_blanks(BLANKS_MAX)?;
    }
    match (is_end(ahead.peek()?), is_block) {
        (false, false) => return Ok(true),
        (false, true) => return Ok(false),
        (true, _) => {}
    }
    ahead.take_while(2, |byte| matches!(byte, b'\n' | b'\r'))?;
    let indent = ahead.take_blanks(BLANKS_MAX)?;
    let is_quoted = ahead.peek()?.is_some_and(is_quote);
    Ok(match is_block {
        true => indent > 0,
        false => is_quoted || separator == Separator::Tag,
    })
}

/// Judges a value that is neither credentials in a header nor cookies.
fn scan_plain_value(
    named: &NamedValue<'_>,
    says: NameClass,
    mut ahead: Lookahead<'_>,
    separator: Separator,
) -> Result<ScanResult, ScanResult> {
    if let Some(b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'$') = ahead.peek()? {
        let next = ahead.peek_at(1)?;
        ahead.at += usize::from(matches!(next, Some(b'"' | b'\'')));
    }
    let quote = take_quote(&mut ahead)?;
    let value_start = ahead.at;
    if separator == Separator::Comma && quote.is_none() {
        return Ok(ScanResult::No);
    }
    let of = match (quote, separator) {
        (Some(quote), _) => ByteClass::Quoted(quote.byte),
        (None, Separator::Tag) => ByteClass::Element,
        (None, _) if matches!(named.lead.last(), Some(b'?' | b'&')) => ByteClass::Parameter,
        (None, _) => ByteClass::Unspaced,
    };
    let mut value = match quote {
        Some(quote) => read_quoted(&mut ahead, quote, VALUE_BYTES_MAX)?,
        None => ahead.take_while(VALUE_BYTES_MAX, |byte| of.contains(byte))?,
    };
    // A private key is found by its mark.
    if value.starts_with(b"-----BEGIN") {
        return Ok(ScanResult::No);
    }
    let is_whole = value.len() < VALUE_BYTES_MAX;
    let mut written = match (of, separator) {
        (_, Separator::Comma) => ValueContext::Beside,
        (ByteClass::Quoted(_) | ByteClass::Element, _) => ValueContext::Quoted,
        _ if is_settings_line(named, separator) => ValueContext::Line,
        _ => ValueContext::Bare,
    };
    if quote.is_none() && of != ByteClass::Element {
        let cut = value.trim_ascii_end();
        let kept_of = cut
            .iter()
            .rposition(|byte| !matches!(byte, b',' | b';' | b':' | b')' | b'}' | b']'));
        let trimmed = &cut[..kept_of.map_or(0, |last| last + 1)];
        if written == ValueContext::Line && is_whole {
            let ends_as_code = trimmed.len() < cut.len() && separator != Separator::Tight;
            let is_alone = matches!(separator, Separator::Tight | Separator::Blank);
            if ends_as_code || (!is_alone && has_more_on_line(&ahead)?) {
                written = ValueContext::Bare;
            }
        }
        // A bracket that opens within the value closes there.
        let opens = trimmed
            .iter()
            .any(|byte| matches!(byte, b'(' | b'{' | b'['));
        if is_whole && !opens {
            ahead.at -= value.len() - trimmed.len();
            value = trimmed;
        }
    }
    // A backslash that closes a quote with it is no part of the value.
    if quote.is_some() && is_whole && value.ends_with(b"\\") {
        value = &value[..value.len() - 1];
        ahead.at -= 1;
    }
    let is_secret = value::is_secret(says, named.name, value, written);
    Ok(secret_result(is_secret, value_start, value, of, &ahead))
}

/// Returns the result for a value that begins at the place `kept`; a value longer than the examined part goes on.
pub(super) fn secret_result(
    is_secret: bool,
    value_start: usize,
    value: &[u8],
    of: ByteClass,
    ahead: &Lookahead<'_>,
) -> ScanResult {
    match is_secret && !value.is_empty() {
        false => ScanResult::No,
        true => ScanResult::Secret {
            kept: value_start,
            end: ahead.at,
            goes_on: (value.len() >= VALUE_BYTES_MAX).then_some(of),
        },
    }
}

/// Returns whether anything but a comment follows on the line.
fn has_more_on_line(ahead: &Lookahead<'_>) -> Result<bool, ScanResult> {
    let mut rest = *ahead;
    rest.take_blanks(BLANKS_MAX)?;
    Ok(match rest.peek()? {
        None | Some(b'\n' | b'\r' | b'#' | b'\\' | b'"' | b'\'') => false,
        Some(b';' | b'/') => rest.at == ahead.at,
        Some(_) => true,
    })
}
