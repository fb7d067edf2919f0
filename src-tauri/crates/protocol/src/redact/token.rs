//! Secrets that are one word: what they begin with, and what makes the rest of it one.

/// What a look at some bytes says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// No secret begins here.
    No,
    /// More bytes are needed to say.
    Unsure,
    /// A secret begins here. The first `kept` bytes are no part of it; it ends after `end` bytes, or goes on while bytes
    /// are `of` its kind.
    Secret {
        kept: usize,
        end: usize,
        goes_on: Option<Of>,
    },
}

/// Which bytes a secret is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Letters and digits.
    Alnum,
    /// Those and `_`.
    Word,
    /// Those and `-`.
    Dashed,
    /// Those, `.`, `~`, `+`, `/` and `=`.
    Bearer,
    /// Capital letters and digits.
    Capital,
}

impl Of {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Bearer => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
            }
        }
    }
}

/// A kind of secret: its beginning (`?` is any letter), and a rest that is at least so long.
struct Kind {
    begins: &'static [u8],
    of: Of,
    bytes_min: usize,
    /// Whether a rest of plain words joined by dashes (a name in a style sheet, say) is no secret.
    needs_dense: bool,
}

const fn kind(begins: &'static str, of: Of, bytes_min: usize) -> Kind {
    Kind {
        begins: begins.as_bytes(),
        of,
        bytes_min,
        needs_dense: false,
    }
}

const KINDS: [Kind; 13] = [
    Kind {
        needs_dense: true,
        ..kind("sk-", Of::Dashed, 16)
    },
    kind("sk_live_", Of::Alnum, 10),
    kind("sk_test_", Of::Alnum, 10),
    kind("rk_live_", Of::Alnum, 10),
    kind("gh?_", Of::Alnum, 16),
    kind("github_pat_", Of::Word, 16),
    kind("glpat-", Of::Dashed, 16),
    kind("xox?-", Of::Dashed, 10),
    kind("npm_", Of::Alnum, 30),
    kind("hf_", Of::Alnum, 30),
    kind("AIza", Of::Dashed, 35),
    Kind {
        needs_dense: true,
        ..kind("eyJ", Of::Bearer, 40)
    },
    kind("xapp-", Of::Dashed, 16),
];

/// How much of a rest is looked at to judge it.
const SURE_BYTES: usize = 64;
/// A run of letters and digits that is too long for a word.
const DENSE_BYTES: usize = 16;

/// Whether a secret may begin with a byte and the next one; none is one that has not come yet, or the end.
pub(super) fn may_begin(byte: u8, next: Option<u8>) -> bool {
    let Some(next) = next else {
        return byte.is_ascii_alphabetic();
    };
    match byte {
        b's' | b'r' => next == b'k',
        b'g' => matches!(next, b'h' | b'i' | b'l'),
        b'x' => matches!(next, b'o' | b'a'),
        b'n' => next == b'p',
        b'h' => next == b'f',
        b'e' => next == b'y',
        b'A' => matches!(next, b'I' | b'K' | b'S'),
        b'B' | b'b' => next.eq_ignore_ascii_case(&b'e'),
        _ => false,
    }
}

/// Looks whether a secret begins with `bytes[0]`, which nothing that belongs to a word stands before. `is_all` says that
/// no more bytes will come.
pub(super) fn look(bytes: &[u8], is_all: bool) -> Look {
    let Some(first) = bytes.first() else {
        return Look::No;
    };
    match first {
        b'A' if matches!(bytes.get(1), None | Some(b'K' | b'S')) => key_id(bytes, is_all),
        b'B' | b'b' => bearer(bytes, is_all),
        b's' | b'r' | b'g' | b'x' | b'n' | b'h' | b'A' | b'e' => {
            let mut unsure = false;
            for kind in &KINDS {
                match word(kind, bytes, is_all) {
                    Look::No => {}
                    Look::Unsure => unsure = true,
                    found @ Look::Secret { .. } => return found,
                }
            }
            match unsure {
                true => Look::Unsure,
                false => Look::No,
            }
        }
        _ => Look::No,
    }
}

/// How far a beginning is there: none if it is not.
fn begins(pattern: &[u8], bytes: &[u8]) -> Option<usize> {
    let fits = |(wanted, byte): (&u8, &u8)| match wanted {
        b'?' => byte.is_ascii_lowercase(),
        _ => wanted == byte,
    };
    pattern
        .iter()
        .zip(bytes)
        .all(fits)
        .then(|| pattern.len().min(bytes.len()))
}

fn word(kind: &Kind, bytes: &[u8], is_all: bool) -> Look {
    let open = |look| match is_all {
        true => Look::No,
        false => look,
    };
    let start = kind.begins.len();
    match begins(kind.begins, bytes) {
        None => return Look::No,
        Some(length) if length < start => return open(Look::Unsure),
        Some(_) => {}
    }
    let rest = &bytes[start..];
    let length = rest.iter().take_while(|byte| kind.of.has(**byte)).count();
    let ends = length < rest.len() || is_all;
    if !ends && length < SURE_BYTES.max(kind.bytes_min) {
        return Look::Unsure;
    }
    // Judged by its start alone, so that it does not matter how much of it has come.
    let start_of = &rest[..length.min(SURE_BYTES.max(kind.bytes_min))];
    let is_dense = !kind.needs_dense || is_dense(start_of);
    match length >= kind.bytes_min && is_dense {
        true => Look::Secret {
            kept: 0,
            end: start + length,
            goes_on: (!ends).then_some(kind.of),
        },
        false => Look::No,
    }
}

/// Whether there is a digit, or a run that is no word.
fn is_dense(rest: &[u8]) -> bool {
    rest.iter().any(u8::is_ascii_digit)
        || rest
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|run| run.len() >= DENSE_BYTES)
}

/// `AKIA` or `ASIA` and sixteen capital letters and digits, no more.
fn key_id(bytes: &[u8], is_all: bool) -> Look {
    let fits = begins(b"AKIA", bytes).or_else(|| begins(b"ASIA", bytes));
    let Some(length) = fits else {
        return Look::No;
    };
    let rest = &bytes[length..];
    let run = rest
        .iter()
        .take(17)
        .take_while(|byte| Of::Capital.has(**byte))
        .count();
    let next_is_word = rest.get(run).is_some_and(|byte| Of::Word.has(*byte));
    match (rest.len() > run || is_all, run) {
        (false, 0..=16) => Look::Unsure,
        (true, 16) if length == 4 && !next_is_word => Look::Secret {
            kept: 0,
            end: 20,
            goes_on: None,
        },
        _ => Look::No,
    }
}

/// `Bearer`, a blank, and a word that is no English one.
fn bearer(bytes: &[u8], is_all: bool) -> Look {
    const NAME: &[u8] = b"bearer";
    let open = match is_all {
        true => Look::No,
        false => Look::Unsure,
    };
    let same = |(wanted, byte): (&u8, &u8)| wanted.eq_ignore_ascii_case(byte);
    if !NAME.iter().zip(bytes).all(same) {
        return Look::No;
    }
    let Some(after) = bytes.get(NAME.len()..) else {
        return open;
    };
    let blanks = after
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    if after.len() == blanks {
        return open;
    }
    if blanks == 0 {
        return Look::No;
    }
    let rest = &after[blanks..];
    let length = rest
        .iter()
        .take_while(|byte| Of::Bearer.has(**byte))
        .count();
    let ends = length < rest.len() || is_all;
    if !ends && length < SURE_BYTES {
        return Look::Unsure;
    }
    // A stop at the end belongs to the sentence. Judged by its start alone, as above.
    let word = rest[..length.min(SURE_BYTES)]
        .iter()
        .rposition(|byte| *byte != b'.')
        .map_or(&rest[..0], |last| &rest[..=last]);
    let has_mark = word
        .iter()
        .any(|byte| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric());
    match word.len() >= 8 && (has_mark || word.len() >= 20) {
        true => Look::Secret {
            kept: NAME.len() + blanks,
            end: NAME.len()
                + blanks
                + if length < SURE_BYTES {
                    word.len()
                } else {
                    length
                },
            goes_on: (!ends).then_some(Of::Bearer),
        },
        false => Look::No,
    }
}
