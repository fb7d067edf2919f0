//! The one scan: takes pieces, gives them back without the secrets, and holds back only what it is not sure of.

use super::MASK;
use std::ops::Range;

use super::pem::{self, Within};
use super::token::{self, Look, Of};

/// Masks a stream. However a text is cut into pieces, what comes out of all of them together is the same.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
    /// The two bytes before them; 0 where there was none.
    before: [u8; 2],
    inside: Inside,
    count: u32,
    /// How many bytes came before `held`.
    passed: usize,
    /// Where the secrets stand, if somebody wants to know.
    found: Option<Vec<Range<usize>>>,
}

/// Where the scan is.
#[derive(Debug, Clone, Copy, Default)]
enum Inside {
    #[default]
    Nothing,
    /// Within a secret that goes on while bytes are of a kind.
    Token(Of),
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
        (self.before, self.inside) = ([0; 2], Inside::Nothing);
        rest
    }

    /// One that remembers where the secrets stand.
    pub(super) fn noting() -> Self {
        Self {
            found: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Where the secrets stood, if that was noted.
    pub(super) fn into_found(self) -> Vec<Range<usize>> {
        self.found.unwrap_or_default()
    }

    fn note(&mut self, start: usize, end: usize, is_new: bool) {
        let (start, end) = (self.passed + start, self.passed + end);
        if let Some(found) = &mut self.found {
            match found.last_mut().filter(|_| !is_new) {
                Some(last) => last.end = end,
                None => found.push(start..end),
            }
        }
    }

    /// How many secrets were found.
    pub fn count(&self) -> u32 {
        self.count
    }

    fn scan(&mut self, is_all: bool) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::with_capacity(held.len());
        let mut at = 0;
        while at < held.len() {
            let rest = &held[at..];
            match self.inside {
                Inside::Token(of) => {
                    let length = rest.iter().take_while(|byte| of.has(**byte)).count();
                    if length < rest.len() {
                        self.inside = Inside::Nothing;
                    }
                    self.note(at, at + length, false);
                    at += length;
                    self.before = [b'*'; 2];
                    continue;
                }
                Inside::Key(seen) => {
                    let (length, is_over) = match pem::within(rest, seen, is_all) {
                        Within::So(length) => (length, false),
                        Within::Until(length) => (length, true),
                    };
                    self.note(at, at + length, false);
                    at += length;
                    self.before = [b'*'; 2];
                    match is_over {
                        true => self.inside = Inside::Nothing,
                        false => {
                            self.inside = Inside::Key(seen + length);
                            break;
                        }
                    }
                    continue;
                }
                Inside::Nothing => {}
            }
            let plain = self.plain_run(rest);
            if plain > 0 {
                out.extend_from_slice(&rest[..plain]);
                at += plain;
                continue;
            }
            let look = match rest[0] {
                b'-' => pem::look(rest, is_all),
                _ => token::look(rest, is_all),
            };
            match look {
                Look::No => {
                    out.push(rest[0]);
                    self.before = [self.before[1], rest[0]];
                    at += 1;
                }
                Look::Unsure => break,
                Look::Secret { kept, end, goes_on } => {
                    out.extend_from_slice(&rest[..kept]);
                    out.extend_from_slice(MASK.as_bytes());
                    self.count += 1;
                    self.note(at + kept, at + end, true);
                    self.inside = match (rest[0], goes_on) {
                        (b'-', _) => Inside::Key(0),
                        (_, Some(of)) => Inside::Token(of),
                        (_, None) => Inside::Nothing,
                    };
                    self.before = [b'*'; 2];
                    at += end;
                }
            }
        }
        self.passed += at;
        self.held.extend_from_slice(&held[at..]);
        out
    }

    /// How many of the next bytes surely begin no secret, by themselves and what stands right before and behind them.
    fn plain_run(&mut self, bytes: &[u8]) -> usize {
        let mut before = self.before;
        let run = bytes.iter().enumerate().position(|(at, byte)| {
            let next = bytes.get(at + 1).copied();
            let may_begin = match byte {
                b'-' => pem::may_begin(next),
                _ => token::may_begin(*byte, next) && is_word_start(before),
            };
            if !may_begin {
                before = [before[1], *byte];
            }
            may_begin
        });
        self.before = before;
        run.unwrap_or(bytes.len())
    }
}

/// Whether a word may begin behind these two bytes: `task-1` has no `sk-` in it. An escaped line end (`\n`) ends a word,
/// too.
fn is_word_start(before: [u8; 2]) -> bool {
    match before {
        [b'\\', b'n' | b'r' | b't'] => true,
        [_, byte] => !(byte.is_ascii_alphanumeric() || byte == b'_'),
    }
}

/// Whether a whole text holds nothing that may begin a secret: what most texts are.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    Masker::default().plain_run(bytes) == bytes.len()
}
