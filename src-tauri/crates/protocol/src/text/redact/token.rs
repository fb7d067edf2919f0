//! Secrets that are one word: their prefixes, and the criteria for the rest of the word.

use std::sync::OnceLock;

/// Result of scanning some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanResult {
    /// No secret begins here.
    No,
    /// More bytes are needed to decide.
    Unsure,
    /// A secret begins here. The first `kept` bytes are not part of it; the secret ends after `end` bytes, or goes on
    /// while bytes are of the class `goes_on`.
    Secret {
        kept: usize,
        end: usize,
        goes_on: Option<ByteClass>,
    },
}

/// Class of the bytes that make up a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteClass {
    /// Hexadecimal digits.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// Letters, digits, `_`, `-`, `.`, `~`, `+`, `/` and `=`.
    Bearer,
    /// Capital letters and digits.
    Capital,
    /// Everything before this quote or the end of the line.
    Quoted(u8),
    /// Everything before the next tag or the end of the line.
    Element,
    /// Everything but blanks, quotes, angle brackets, backslashes and semicolons.
    Unspaced,
    /// As `Unspaced`, without `&` and `#`, which end a parameter of an address.
    Parameter,
    /// Everything before a quote or the end of the line.
    Line,
}

impl ByteClass {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Capital => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Bearer => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
            }
            Self::Quoted(quote) => byte != quote && !matches!(byte, b'\n' | b'\r'),
            Self::Element => !matches!(byte, b'<' | b'\n' | b'\r'),
            Self::Unspaced => {
                !byte.is_ascii_whitespace()
                    && !byte.is_ascii_control()
                    && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b';')
            }
            Self::Parameter => Self::Unspaced.contains(byte) && !matches!(byte, b'&' | b'#'),
            Self::Line => !matches!(byte, b'\n' | b'\r' | b'"' | b'\''),
        }
    }

    /// Returns the class for its name in the table of tokens.
    fn from_table_name(name: &str) -> Option<Self> {
        Some(match name {
            "hex" => Self::Hex,
            "alnum" => Self::Alnum,
            "word" => Self::Word,
            "dashed" => Self::Dashed,
            "base64" => Self::Bearer,
            "capital" => Self::Capital,
            _ => return None,
        })
    }
}

/// A kind of secret: its prefix (`?` is any lower-case letter), and the minimum length of the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenKind {
    /// Name of the kind in the table, for tests.
    #[cfg(test)]
    pub id: &'static str,
    pub begins: &'static str,
    pub of: ByteClass,
    pub bytes_min: usize,
    /// Whether a rest of plain words joined by dashes (a name in a style sheet, say) is not a secret.
    pub needs_dense: bool,
}

/// The kinds of tokens that are known by their prefixes, from the table beside this file.
const TOKEN_TABLE: &str = include_str!("tokens.tsv");

/// Returns the kinds of the table.
pub(super) fn token_kinds() -> &'static [TokenKind] {
    static KINDS: OnceLock<Vec<TokenKind>> = OnceLock::new();
    KINDS.get_or_init(|| TOKEN_TABLE.lines().filter_map(parse_token_kind).collect())
}

/// Parses a line of the table; none for a comment. A test verifies that every other line parses.
fn parse_token_kind(line: &'static str) -> Option<TokenKind> {
    let mut columns = line.split('\t');
    let _id = columns.next()?;
    let begins = columns.next()?;
    Some(TokenKind {
        #[cfg(test)]
        id: _id,
        begins,
        of: ByteClass::from_table_name(columns.next()?)?,
        bytes_min: columns.next()?.parse().ok()?,
        needs_dense: columns.next() == Some("dense"),
    })
}

/// Maximum length of a rest that is examined to judge it, in bytes.
const JUDGED_BYTES_MAX: usize = 64;
/// Length of a run of letters and digits that is too long for a word, in bytes.
const DENSE_RUN_BYTES: usize = 16;

/// Returns how many bytes of a prefix are there; none if the bytes differ from it.
fn match_prefix(pattern: &[u8], bytes: &[u8]) -> Option<usize> {
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

/// Looks for a secret of this kind at `bytes[0]`, which begins a word. `is_all` says that no more bytes will come.
pub(super) fn scan_token(kind: &TokenKind, bytes: &[u8], is_all: bool) -> ScanResult {
    let open = |look| match is_all {
        true => ScanResult::No,
        false => look,
    };
    let start = kind.begins.len();
    match match_prefix(kind.begins.as_bytes(), bytes) {
        None => return ScanResult::No,
        Some(length) if length < start => return open(ScanResult::Unsure),
        Some(_) => {}
    }
    let rest = &bytes[start..];
    let length = rest
        .iter()
        .take_while(|byte| kind.of.contains(**byte))
        .count();
    let ends = length < rest.len() || is_all;
    if !ends && length < JUDGED_BYTES_MAX.max(kind.bytes_min) {
        return ScanResult::Unsure;
    }
    // Judged by its start alone, so that it does not matter how much of it has come.
    let start_of = &rest[..length.min(JUDGED_BYTES_MAX.max(kind.bytes_min))];
    let is_dense = !kind.needs_dense || is_dense(start_of);
    match length >= kind.bytes_min && is_dense {
        true => ScanResult::Secret {
            kept: 0,
            end: start + length,
            goes_on: (!ends).then_some(kind.of),
        },
        false => ScanResult::No,
    }
}

/// Returns whether there is a digit, or a run that is not a word.
fn is_dense(rest: &[u8]) -> bool {
    rest.iter().any(u8::is_ascii_digit)
        || rest
            .split(|byte| !byte.is_ascii_alphanumeric())
            .any(|run| run.len() >= DENSE_RUN_BYTES)
}

/// Prefixes of the ids of Amazon access keys.
pub(super) const KEY_ID_PREFIXES: [&str; 4] = ["AKIA", "ASIA", "ABIA", "ACCA"];

/// Looks for the id of an Amazon access key: a prefix such as `AKIA` or `ASIA` and exactly sixteen capital letters and
/// digits.
pub(super) fn scan_key_id(bytes: &[u8], is_all: bool) -> ScanResult {
    let fits = KEY_ID_PREFIXES
        .iter()
        .find_map(|id| match_prefix(id.as_bytes(), bytes));
    let Some(length) = fits else {
        return ScanResult::No;
    };
    let rest = &bytes[length..];
    let run = rest
        .iter()
        .take(17)
        .take_while(|byte| ByteClass::Capital.contains(**byte))
        .count();
    let next_is_word = rest
        .get(run)
        .is_some_and(|byte| ByteClass::Word.contains(*byte));
    match (rest.len() > run || is_all, run) {
        (false, 0..=16) => ScanResult::Unsure,
        (true, 16) if length == 4 && !next_is_word => ScanResult::Secret {
            kept: 0,
            end: 20,
            goes_on: None,
        },
        _ => ScanResult::No,
    }
}

/// Text between the number of a Telegram bot and the rest of its token.
pub(super) const BOT_TOKEN_MARK: &str = ":AA";

/// Looks for the token of a Telegram bot: eight to ten digits, at the end of `context`, `:AA`, and 33 more letters,
/// digits and signs.
pub(super) fn scan_bot_token(context: &[u8], bytes: &[u8], is_all: bool) -> ScanResult {
    const REST_BYTES: usize = 33;
    let digits = context.iter().rev().take(11);
    let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
    if !(8..=10).contains(&digits) || !bytes.starts_with(BOT_TOKEN_MARK.as_bytes()) {
        return ScanResult::No;
    }
    let rest = &bytes[BOT_TOKEN_MARK.len()..];
    let run = rest
        .iter()
        .take(REST_BYTES + 1)
        .take_while(|byte| ByteClass::Dashed.contains(**byte))
        .count();
    match run {
        REST_BYTES if run < rest.len() || is_all => ScanResult::Secret {
            kept: 1,
            end: BOT_TOKEN_MARK.len() + run,
            goes_on: None,
        },
        0..=REST_BYTES if run == rest.len() && !is_all => ScanResult::Unsure,
        _ => ScanResult::No,
    }
}

/// Looks for `Bearer`, a blank, and a word that is not an English one.
pub(super) fn scan_bearer(bytes: &[u8], is_all: bool) -> ScanResult {
    const NAME: &[u8] = b"bearer";
    let open = match is_all {
        true => ScanResult::No,
        false => ScanResult::Unsure,
    };
    let same = |(wanted, byte): (&u8, &u8)| wanted.eq_ignore_ascii_case(byte);
    if !NAME.iter().zip(bytes).all(same) {
        return ScanResult::No;
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
        return ScanResult::No;
    }
    let rest = &after[blanks..];
    let length = rest
        .iter()
        .take_while(|byte| ByteClass::Bearer.contains(**byte))
        .count();
    let ends = length < rest.len() || is_all;
    if !ends && length < JUDGED_BYTES_MAX {
        return ScanResult::Unsure;
    }
    // A stop at the end belongs to the sentence. Judged by its start alone, as above.
    let word = rest[..length.min(JUDGED_BYTES_MAX)]
        .iter()
        .rposition(|byte| *byte != b'.')
        .map_or(&rest[..0], |last| &rest[..=last]);
    let has_mark = word
        .iter()
        .any(|byte| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric());
    match word.len() >= 8 && (has_mark || word.len() >= 20) {
        true => ScanResult::Secret {
            kept: NAME.len() + blanks,
            end: NAME.len()
                + blanks
                + if length < JUDGED_BYTES_MAX {
                    word.len()
                } else {
                    length
                },
            goes_on: (!ends).then_some(ByteClass::Bearer),
        },
        false => ScanResult::No,
    }
}

/// Maximum distance between the id of an access key and the key itself, in bytes.
pub(super) const PAIR_BYTES_MAX: usize = 160;

/// Looks for the other half of an Amazon key pair: exactly forty bytes of Base64, with capitals, small letters and
/// digits.
pub(super) fn scan_secret_key(bytes: &[u8], is_all: bool) -> ScanResult {
    const HALF_BYTES: usize = 40;
    let of_half = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let run = bytes
        .iter()
        .take(HALF_BYTES + 1)
        .take_while(|byte| of_half(byte))
        .count();
    if run == bytes.len() && run <= HALF_BYTES && !is_all {
        return ScanResult::Unsure;
    }
    let half = &bytes[..run];
    let has = |is_so: fn(&u8) -> bool| half.iter().any(is_so);
    let is_half = run == HALF_BYTES
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit);
    match is_half {
        true => ScanResult::Secret {
            kept: 0,
            end: HALF_BYTES,
            goes_on: None,
        },
        false => ScanResult::No,
    }
}
