//! The one scan: takes pieces, returns them without the secrets, and holds back only the bytes that it is not sure of.

use std::ops::Range;

use crate::text::redact::MASK;
use crate::text::redact::assignment::CONTEXT_BYTES_MAX;
use crate::text::redact::pem;
use crate::text::redact::pem::KeyBodyScan;
use crate::text::redact::token;
use crate::text::redact::token::{ByteClass, ScanResult};
use crate::text::redact::triggers::triggers;

/// Masks a stream. The concatenated output is the same, however the text is cut into pieces.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    /// Bytes returned last, kept as context for a secret, followed by bytes that may be the beginning of a secret.
    held: Vec<u8>,
    /// Number of bytes in `held` that were already returned.
    context: usize,
    /// Number of bytes before `held`.
    passed: usize,
    /// End of the last secret, counted from the beginning of the stream.
    secret_end: Option<usize>,
    /// Position up to which the other half of a key pair may stand.
    pair_until: usize,
    inside: MaskState,
    count: u32,
    /// Ranges of the secrets, if requested.
    found: Option<Vec<Range<usize>>>,
}

/// State of the scan.
#[derive(Debug, Clone, Copy, Default)]
enum MaskState {
    #[default]
    Nothing,
    /// Within a secret that goes on while the bytes are of this class.
    Token(ByteClass),
    /// Within a private key, this many bytes after its first mark.
    Key(usize),
}

impl Masker {
    /// Takes a piece and returns the bytes that are certain by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.scan(false)
    }

    /// Takes a piece of text and returns the text that is certain by now. A character that was whole in the piece is
    /// never cut.
    pub fn push_text(&mut self, piece: &str) -> String {
        String::from_utf8_lossy(&self.push(piece.as_bytes())).into_owned()
    }

    /// Returns the remaining bytes and ends the stream. Later pieces begin a new one.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.scan(true);
        self.passed += self.held.len();
        self.held.clear();
        (self.context, self.inside) = (0, MaskState::Nothing);
        (self.secret_end, self.pair_until) = (None, 0);
        rest
    }

    /// Returns a masker that remembers the ranges of the secrets.
    pub(super) fn with_positions() -> Self {
        Self {
            found: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Returns the ranges of the secrets, if they were remembered.
    pub(super) fn into_positions(self) -> Vec<Range<usize>> {
        self.found.unwrap_or_default()
    }

    /// Returns the number of secrets found.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Records a secret in this range, or the continuation of the last one.
    fn record_secret(&mut self, start: usize, end: usize, is_new: bool) {
        let (start, end) = (self.passed + start, self.passed + end);
        self.secret_end = Some(end);
        self.count += u32::from(is_new);
        if let Some(found) = &mut self.found {
            match found.last_mut().filter(|_| !is_new) {
                Some(last) => last.end = end,
                None => found.push(start..end),
            }
        }
    }

    fn scan(&mut self, is_all: bool) -> Vec<u8> {
        let buffer = std::mem::take(&mut self.held);
        let mut out = Vec::with_capacity(buffer.len());
        let mut at = self.context;
        while at < buffer.len() {
            if let Some(length) = self.continue_secret(&buffer[at..], at, is_all) {
                at += length;
                // Bytes that cannot be told apart yet are held back.
                match self.inside {
                    MaskState::Key(_) => break,
                    MaskState::Nothing | MaskState::Token(_) => continue,
                }
            }
            let plain = self.plain_prefix_len(&buffer, at, is_all);
            out.extend_from_slice(&buffer[at..at + plain]);
            at += plain;
            if at == buffer.len() {
                break;
            }
            match self.scan_at(&buffer, at, is_all) {
                ScanResult::No => {
                    out.push(buffer[at]);
                    at += 1;
                }
                ScanResult::Unsure => break,
                ScanResult::Secret { kept, end, goes_on } => {
                    out.extend_from_slice(&buffer[at..at + kept]);
                    out.extend_from_slice(MASK.as_bytes());
                    self.record_secret(at + kept, at + end, true);
                    self.inside = match (buffer[at], goes_on) {
                        (b'-', _) => MaskState::Key(0),
                        (_, Some(of)) => MaskState::Token(of),
                        (_, None) => MaskState::Nothing,
                    };
                    at += end;
                }
            }
        }
        let kept_from = at.saturating_sub(CONTEXT_BYTES_MAX);
        self.held.extend_from_slice(&buffer[kept_from..]);
        self.context = at - kept_from;
        self.passed += kept_from;
        out
    }

    /// Returns how many of the next bytes still belong to the current secret; none if the scan is not within one.
    fn continue_secret(&mut self, rest: &[u8], at: usize, is_all: bool) -> Option<usize> {
        let length = match self.inside {
            MaskState::Nothing => return None,
            MaskState::Token(of) => {
                let length = rest.iter().take_while(|byte| of.contains(**byte)).count();
                if length < rest.len() {
                    self.inside = MaskState::Nothing;
                }
                length
            }
            MaskState::Key(seen) => match pem::scan_key_body(rest, seen, is_all) {
                KeyBodyScan::Continues(length) => {
                    self.inside = MaskState::Key(seen + length);
                    length
                }
                KeyBodyScan::EndsAt(length) => {
                    self.inside = MaskState::Nothing;
                    length
                }
            },
        };
        self.record_secret(at, at + length, false);
        Some(length)
    }

    /// Returns how many of the next bytes certainly begin no secret, given the bytes directly before and after them.
    fn plain_prefix_len(&self, buffer: &[u8], at: usize, is_all: bool) -> usize {
        let run = triggers().plain_prefix_len(buffer, at, is_all, |place| {
            self.is_word_start(buffer, place)
        });
        let paired = self.pair_until.saturating_sub(self.passed).min(at + run);
        let half = (at..paired).find(|place| self.is_half_start(buffer, *place));
        half.map_or(run, |place| place - at)
    }

    fn scan_at(&mut self, buffer: &[u8], at: usize, is_all: bool) -> ScanResult {
        let is_start = self.is_word_start(buffer, at);
        if at < self.pair_until.saturating_sub(self.passed) && self.is_half_start(buffer, at) {
            let look = token::scan_secret_key(&buffer[at..], is_all);
            if look != ScanResult::No {
                return look;
            }
        }
        let context = &buffer[at.saturating_sub(CONTEXT_BYTES_MAX)..at];
        let look = triggers().scan(context, &buffer[at..], is_start, is_all);
        let is_key_id = token::KEY_ID_PREFIXES
            .iter()
            .any(|id| buffer[at..].starts_with(id.as_bytes()));
        if let ScanResult::Secret { end, .. } = look
            && is_key_id
        {
            self.pair_until = self.passed + at + end + token::PAIR_BYTES_MAX;
        }
        look
    }

    /// Returns whether the other half of a key pair may begin at a place.
    fn is_half_start(&self, buffer: &[u8], at: usize) -> bool {
        let of_half = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        of_half(&buffer[at])
            && (at == 0 || !of_half(&buffer[at - 1]) || self.is_word_start(buffer, at))
    }

    /// Returns whether a word may begin at a place: `task-1` has no `sk-` in it. An escaped line end (`\n`) ends a
    /// word, too.
    fn is_word_start(&self, buffer: &[u8], at: usize) -> bool {
        if self.secret_end == Some(self.passed + at) {
            return true;
        }
        match buffer[..at] {
            [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., byte] => !(byte.is_ascii_alphanumeric() || byte == b'_'),
            [] => true,
        }
    }
}

/// Returns whether a whole text holds nothing that may begin a secret, which is the common case.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    Masker::default().plain_prefix_len(bytes, 0, true) == bytes.len()
}
