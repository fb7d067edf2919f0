//! Finds secrets in a piece of a file together with its surroundings: a secret that a range cuts in two is masked in
//! both.

use std::ops::Range;

use protocol::text::redact;
use protocol::text::redact::MASK;

/// Bytes of context before a piece: longer than any private key in use.
pub(in crate::builtin) const CONTEXT_BYTES_BEFORE: u64 = 16 * 1024;
/// Bytes of context after a piece.
pub(in crate::builtin) const CONTEXT_BYTES_AFTER: u64 = 4 * 1024;

/// Byte ranges of the secrets in a piece and its surroundings.
#[derive(Debug, Default)]
pub(in crate::builtin) struct SecretRanges(Vec<Range<usize>>);

impl SecretRanges {
    /// Finds the secrets in the bytes; none if `masks` is false.
    pub fn find(bytes: &[u8], masks: bool) -> Self {
        match masks {
            true => Self(redact::find_secrets(bytes)),
            false => Self::default(),
        }
    }

    fn overlapping(&self, range: &Range<usize>) -> impl Iterator<Item = &Range<usize>> {
        let (start, end) = (range.start, range.end);
        self.0
            .iter()
            .filter(move |span| span.start < end && span.end > start)
    }

    /// Counts the secrets that overlap a range.
    pub fn count_in(&self, range: Range<usize>) -> u32 {
        u32::try_from(self.overlapping(&range).count()).unwrap_or(u32::MAX)
    }

    /// Masks the secrets in a text that begins at offset `at`.
    pub fn mask_text(&self, text: &str, at: usize) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        for span in self.overlapping(&(at..at + text.len())) {
            shown.push_str(&text[from..span.start.saturating_sub(at).max(from)]);
            shown.push_str(MASK);
            from = (span.end - at).min(text.len());
        }
        shown.push_str(&text[from..]);
        shown
    }
}
