//! The one scan: takes pieces, gives them back without the secrets, and holds back only what it is not sure of.

use std::ops::Range;

use crate::text::redact::MASK;
use crate::text::redact::assignment::CONTEXT_BYTES_MAX;
use crate::text::redact::pem;
use crate::text::redact::pem::KeyBodyScan;
use crate::text::redact::token;
use crate::text::redact::token::{ByteClass, ScanResult};
use crate::text::redact::triggers::triggers;

/// Masks a stream. However a text is cut into pieces, what comes out of all of them together is the same.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    /// What was given back last, for what stands before a secret, and behind it bytes that may be the beginning of one.
    held: Vec<u8>,
    /// How many of them were given back.
    context: usize,
    /// How many bytes came before `held`.
    passed: usize,
    /// Where the last secret ended, counted from the beginning of all.
    secret_end: Option<usize>,
    /// Up to where the other half of a pair of keys may stand.
    pair_until: usize,
    inside: MaskState,
    count: u32,
    /// Where the secrets stand, if somebody wants to know.
    found: Option<Vec<Range<usize>>>,
}

/// Where the scan is.
#[derive(Debug, Clone, Copy, Default)]
enum MaskState {
    #[default]
    Nothing,
    /// Within a secret that goes on while bytes are of a kind.
    Token(ByteClass),
    /// Within a private key, so many bytes behind its first mark.
    Key(usize),
}

impl Masker {
    /// Takes a piece; gives what is sure by now.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.scan(false)
    }

    /// The same for text. Nothing is cut within a character that was whole when it came.
    pub fn push_text(&mut self, piece: &str) -> String {
        String::from_utf8_lossy(&self.push(piece.as_bytes())).into_owned()
    }

    /// Gives what is left: no more will come. What comes later begins anew.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.scan(true);
        self.passed += self.held.len();
        self.held.clear();
        (self.context, self.inside) = (0, MaskState::Nothing);
        (self.secret_end, self.pair_until) = (None, 0);
        rest
    }

    /// One that remembers where the secrets stand.
    pub(super) fn with_positions() -> Self {
        Self {
            found: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Where the secrets stood, if that was noted.
    pub(super) fn into_positions(self) -> Vec<Range<usize>> {
        self.found.unwrap_or_default()
    }

    /// How many secrets were found.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Keeps that a secret stands there, or goes on.
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
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::with_capacity(held.len());
        let mut at = self.context;
        while at < held.len() {
            if let Some(length) = self.continue_secret(&held[at..], at, is_all) {
                at += length;
                // What cannot be told yet is held back.
                match self.inside {
                    MaskState::Key(_) => break,
                    MaskState::Nothing | MaskState::Token(_) => continue,
                }
            }
            let plain = self.plain_prefix_len(&held, at, is_all);
            out.extend_from_slice(&held[at..at + plain]);
            at += plain;
            if at == held.len() {
                break;
            }
            match self.scan_at(&held, at, is_all) {
                ScanResult::No => {
                    out.push(held[at]);
                    at += 1;
                }
                ScanResult::Unsure => break,
                ScanResult::Secret { kept, end, goes_on } => {
                    out.extend_from_slice(&held[at..at + kept]);
                    out.extend_from_slice(MASK.as_bytes());
                    self.record_secret(at + kept, at + end, true);
                    self.inside = match (held[at], goes_on) {
                        (b'-', _) => MaskState::Key(0),
                        (_, Some(of)) => MaskState::Token(of),
                        (_, None) => MaskState::Nothing,
                    };
                    at += end;
                }
            }
        }
        let kept_from = at.saturating_sub(CONTEXT_BYTES_MAX);
        self.held.extend_from_slice(&held[kept_from..]);
        self.context = at - kept_from;
        self.passed += kept_from;
        out
    }

    /// How many of the next bytes still belong to the secret that the scan is in; none if it is in none.
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

    /// How many of the next bytes surely begin no secret, by themselves and what stands right before and behind them.
    fn plain_prefix_len(&self, held: &[u8], at: usize, is_all: bool) -> usize {
        let run =
            triggers().plain_prefix_len(held, at, is_all, |place| self.is_word_start(held, place));
        let paired = self.pair_until.saturating_sub(self.passed).min(at + run);
        let half = (at..paired).find(|place| self.is_half_start(held, *place));
        half.map_or(run, |place| place - at)
    }

    fn scan_at(&mut self, held: &[u8], at: usize, is_all: bool) -> ScanResult {
        let is_start = self.is_word_start(held, at);
        if at < self.pair_until.saturating_sub(self.passed) && self.is_half_start(held, at) {
            let look = token::scan_secret_key(&held[at..], is_all);
            if look != ScanResult::No {
                return look;
            }
        }
        let context = &held[at.saturating_sub(CONTEXT_BYTES_MAX)..at];
        let look = triggers().scan(context, &held[at..], is_start, is_all);
        let is_key_id = token::KEY_ID_PREFIXES
            .iter()
            .any(|id| held[at..].starts_with(id.as_bytes()));
        if let ScanResult::Secret { end, .. } = look
            && is_key_id
        {
            self.pair_until = self.passed + at + end + token::PAIR_BYTES_MAX;
        }
        look
    }

    /// Whether the other half of a pair of keys may begin at a place.
    fn is_half_start(&self, held: &[u8], at: usize) -> bool {
        let of_half = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        of_half(&held[at]) && (at == 0 || !of_half(&held[at - 1]) || self.is_word_start(held, at))
    }

    /// Whether a word may begin at a place: `task-1` has no `sk-` in it. An escaped line end (`\n`) ends a word, too.
    fn is_word_start(&self, held: &[u8], at: usize) -> bool {
        if self.secret_end == Some(self.passed + at) {
            return true;
        }
        match held[..at] {
            [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., byte] => !(byte.is_ascii_alphanumeric() || byte == b'_'),
            [] => true,
        }
    }
}

/// Whether a whole text holds nothing that may begin a secret: what most texts are.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    Masker::default().plain_prefix_len(bytes, 0, true) == bytes.len()
}
