//! Quoted values: with plain quotes, with a backslash before each quote, or with triple quotes.

use crate::text::redact::lookahead::Lookahead;
use crate::text::redact::token::{ByteClass, ScanResult};

/// The quote with which a value begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub byte: u8,
    /// Whether a backslash stands before the quote, because the whole is within quotes itself.
    pub is_escaped: bool,
}

/// Reads a value up to its closing quote, at most `bytes_max` bytes.
pub(super) fn read_quoted<'a>(
    ahead: &mut Lookahead<'a>,
    quote: Quote,
    bytes_max: usize,
) -> Result<&'a [u8], ScanResult> {
    let mut cursor = *ahead;
    let of = ByteClass::Quoted(quote.byte);
    loop {
        let seen = cursor.at - ahead.at;
        let piece = cursor.take_while(bytes_max - seen, |byte| of.contains(byte))?;
        let slashes = piece
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        let is_inner = !quote.is_escaped && slashes % 2 == 1 && cursor.peek()? == Some(quote.byte);
        if !is_inner || cursor.at - ahead.at >= bytes_max {
            break;
        }
        cursor.at += 1;
    }
    ahead.take_exactly(cursor.at - ahead.at)
}

/// Reads the quote with which a value begins, with a backslash before it or triple.
pub(super) fn take_quote(ahead: &mut Lookahead<'_>) -> Result<Option<Quote>, ScanResult> {
    let is_escaped = ahead.peek()? == Some(b'\\') && ahead.peek_at(1)?.is_some_and(is_quote);
    ahead.at += usize::from(is_escaped);
    let Some(byte) = ahead.peek()?.filter(|byte| is_quote(*byte)) else {
        return Ok(None);
    };
    ahead.at += 1;
    let is_threefold = ahead.peek()? == Some(byte) && ahead.peek_at(1)? == Some(byte);
    ahead.at += 2 * usize::from(is_threefold);
    Ok(Some(Quote { byte, is_escaped }))
}

/// Returns whether a byte is a quote.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
