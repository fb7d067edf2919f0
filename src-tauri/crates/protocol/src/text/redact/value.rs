//! Judges the value after a secret's name: a secret, or code, a reference, a label.

use crate::text::redact::name::NameClass;
use crate::text::word_set::WordSet;

/// Notation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueContext {
    /// In quotes, or as the content of an element.
    Quoted,
    /// As a quoted item of a list, next to the name: `("token", "value")`.
    Beside,
    /// As a whole line of a settings file, as far as can be told, or after an option.
    Line,
    /// Between other text.
    Bare,
}

/// Words that stand for values in code and in templates.
static PLACEHOLDER_WORDS: WordSet = WordSet::new(
    "any array bool boolean buffer bytes char cstring false float func function hidden input \
     int integer interface invalid key map new nil no none null number object off on optional \
     pass passwd password pw pwd redacted required secret secrets secretstr secretstring self \
     some str string struct text this todo token tokens true type undefined unknown usize \
     value varchar vec void yes example placeholder default uuid",
);
/// Words that occur in sentences.
static SENTENCE_WORDS: WordSet = WordSet::new(
    "a and are at be by can do for from has in is must not of on or please should that the \
     this to too was will with you your",
);
/// Minimum length of a value that can look random, in bytes.
const DENSE_BYTES_MIN: usize = 16;

/// Returns whether a value under a name of this class is a secret.
pub(super) fn is_secret(says: NameClass, name: &[u8], value: &[u8], context: ValueContext) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return says == NameClass::Password && context != ValueContext::Bare;
    };
    let text = text.trim();
    if text.is_empty() || is_placeholder(text) || is_word(text) || repeats_name(name, text) {
        return false;
    }
    let is_code =
        context != ValueContext::Quoted && context != ValueContext::Beside && is_code(text);
    match says {
        NameClass::Nothing | NameClass::Cookies | NameClass::Authorization => false,
        NameClass::Maybe => !is_code && is_dense(text),
        NameClass::Token => match context {
            ValueContext::Quoted => is_token(text),
            ValueContext::Beside => {
                is_dense(text) || (text.len() >= 8 && is_token(text) && has_digit(text))
            }
            ValueContext::Line | ValueContext::Bare => !is_code && is_token(text),
        },
        NameClass::Password => match context {
            ValueContext::Quoted => is_password(text),
            ValueContext::Beside => text.len() >= 6 && !is_wordy(text) && is_password(text),
            ValueContext::Line => !is_code && is_password(text),
            ValueContext::Bare => {
                let is_plain = is_identifier(text) || is_wordy(text) || is_numeric(text);
                !is_code && is_password(text) && (is_dense(text) || !is_plain)
            }
        },
    }
}

/// Returns whether a text stands for a value stored elsewhere, or for no value.
fn is_placeholder(text: &str) -> bool {
    let first = text.as_bytes()[0];
    let all = |set: &str| text.chars().all(|c| set.contains(c));
    let is_variable = first == b'$'
        && text.len() > 1
        && text[1..]
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'{' | b'(' | b'_'))
        && !text[1..].contains(['!', '@', '#', '%', '^', '&', '*', '/']);
    is_variable
        || text.starts_with("{{")
        || text.starts_with("<%")
        || (first == b'{' && text.ends_with('}'))
        || (first == b'<' && text.ends_with('>'))
        || (first == b'%' && text.len() > 2 && text.ends_with('%'))
        || (first == b'[' && text.ends_with(']'))
        || text.starts_with("%(")
        || all("*xX.-_ •…#")
        || text.starts_with("keychain:")
        || text.starts_with("op://")
        || text.starts_with("vault:")
}

fn is_word(text: &str) -> bool {
    let word = text.trim_end_matches([',', ';', '?', '|']);
    PLACEHOLDER_WORDS.contains(&word.to_ascii_lowercase())
}

/// Returns whether a value only repeats its name: `password: "Password"`, `token = new_token`.
fn repeats_name(name: &[u8], text: &str) -> bool {
    let plain = |bytes: &[u8]| -> Vec<u8> {
        let kept = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric());
        kept.map(u8::to_ascii_lowercase).collect()
    };
    let (name, value) = (plain(name), plain(text.as_bytes()));
    name == value
        || (name.len() >= 4 && is_identifier(text) && value.ends_with(&name))
        || name.ends_with(&value) && value.len() >= 4
}

/// Returns whether a text reads as an expression of a programming language.
fn is_code(text: &str) -> bool {
    let bytes = text.as_bytes();
    if matches!(bytes[0], b'(' | b'[' | b'{' | b'&' | b'|' | b'`') {
        return true;
    }
    if (bytes[0] == b'!' || bytes[0] == b'*') && bytes.get(1).is_some_and(u8::is_ascii_lowercase) {
        return true;
    }
    let head = bytes.iter().position(|byte| {
        !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'?' | b'$'))
    });
    let starts_as_name = bytes[0].is_ascii_alphabetic() || bytes[0] == b'_';
    match head {
        _ if !starts_as_name => false,
        Some(at) => {
            let rest = &bytes[at..];
            matches!(rest[0], b'(' | b'[' | b'{' | b'<')
                || rest.starts_with(b"::")
                || rest.starts_with(b"->")
                || (rest[0] == b'!' && matches!(rest.get(1), Some(b'(' | b'[' | b'{')))
                || rest.starts_with(b"|")
        }
        // A member of something: `args.password`.
        None => {
            let parts: Vec<&str> = text.split('.').collect();
            let is_name = |part: &&str| {
                part.bytes()
                    .next()
                    .is_some_and(|byte| !byte.is_ascii_digit())
            };
            parts.len() > 1 && is_wordy(&parts[0].replace('$', "_")) && parts.iter().all(is_name)
        }
    }
}

fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes[0].is_ascii_digit()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn is_numeric(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a text consists of words and the signs that join words.
fn is_wordy(text: &str) -> bool {
    let mut parts = text.split(|c: char| {
        matches!(
            c,
            '-' | '_' | '.' | ' ' | '/' | ':' | ',' | '\'' | '!' | '?' | '…'
        )
    });
    parts.all(|part| {
        let is_letters = part.chars().all(char::is_alphabetic);
        let capitals = part.chars().filter(|c| c.is_uppercase()).count();
        let is_one_case = capitals == 0 || capitals == part.chars().count();
        is_letters && part.len() < 32 && (is_one_case || capitals * 3 <= part.len())
    })
}

/// Returns whether a text can be a token: no words, no sentence, no address.
fn is_token(text: &str) -> bool {
    let is_address =
        text.contains("://") || text.starts_with('/') && is_wordy(text) || text.starts_with("./");
    let is_number = text.len() < 12 && is_numeric(text);
    let has_blank = text.contains(char::is_whitespace);
    let is_colour = text.len() <= 9 && text.starts_with('#');
    let is_named = is_identifier(text) && !is_dense(text) && text.contains('_');
    text.len() >= 6
        && !has_blank
        && !is_address
        && !is_number
        && !is_colour
        && !is_wordy(text)
        && !is_named
        && !text.contains(['(', '{', '<'])
        && !is_digest(text)
}

/// Returns whether a text can be a password: anything but a label or a sentence.
fn is_password(text: &str) -> bool {
    let is_label = is_wordy(text) && text.starts_with(char::is_uppercase);
    let mut words = text.split_whitespace();
    let is_sentence = words.any(|word| SENTENCE_WORDS.contains(&word.to_lowercase()));
    let is_number =
        text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit()) || text.starts_with("0x");
    let is_named = is_identifier(text) && text.contains('_') && !has_digit(text);
    !is_label && !is_sentence && !is_number && !is_named && text.len() >= 2
}

/// Returns whether a text looks random: long, of letters and digits, and not a word, path, address or digest.
pub(super) fn is_dense(text: &str) -> bool {
    let of_token = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b':' | b'%'
            )
    };
    let has = |is_so: fn(&u8) -> bool| text.bytes().any(|byte| is_so(&byte));
    let has_letter = has(u8::is_ascii_alphabetic);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    // Names with a number in them have fewer.
    let digits_min = if is_mixed { 2 } else { 3 };
    text.len() >= DENSE_BYTES_MIN
        && text.bytes().all(of_token)
        && has_letter
        && digits >= digits_min
        && !text.starts_with('/')
        && !text.contains("://")
        && !is_digest(text)
        && !is_uuid(text)
        && mean_run_len(text) >= 5
        && entropy_millibits(text) >= 2_900
}

/// Returns whether a text is the digest of a file, in the notation of lock files.
fn is_digest(text: &str) -> bool {
    [
        "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:", "sha1:", "md5:", "h1:",
        "blake3:",
    ]
    .iter()
    .any(|begin| text.starts_with(begin))
}

fn is_uuid(text: &str) -> bool {
    let mut parts = text.split('-').map(str::len);
    text.len() == 36
        && [8, 4, 4, 4, 12]
            .iter()
            .all(|wanted| parts.next() == Some(*wanted))
}

/// Returns the mean length of the runs of letters and digits: names and dates have short ones.
fn mean_run_len(text: &str) -> usize {
    let runs = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|run| !run.is_empty());
    let (count, bytes) = runs.fold((0, 0), |(count, bytes), run| (count + 1, bytes + run.len()));
    bytes / count.max(1)
}

/// Returns the entropy of a text per byte, in thousandths of a bit.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measure that is compared with a limit"
)]
fn entropy_millibits(text: &str) -> u32 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / all;
            -share * share.log2()
        })
        .sum();
    (bits * 1_000.0) as u32
}
