//! Forms of a secret in a text, compared by their letters and digits alone.

use std::ops::Range;

use data_encoding::{BASE32, BASE64, HEXLOWER};

/// Shortest secret that is looked for, in letters and digits. Shorter ones stand in texts by chance.
pub(super) const SECRET_CHARS_MIN: usize = 8;

/// Shortest part of a secret that is looked for, in letters and digits.
pub(super) const PART_CHARS_MIN: usize = 5;

/// Shortest part of a secret that is looked for in what earlier calls sent, in letters and digits: there is much more of
/// that, and shorter parts stand in it by chance.
const HALF_CHARS_MIN: usize = 8;

/// Form in which a secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretForm {
    /// Something that looks like a key, and stands nowhere that is known.
    Unknown,
    Plain,
    Reversed,
    Base64,
    Base64Twice,
    Base32,
    Hex,
    /// Each letter as the one thirteen places on.
    Rotated,
    /// Each letter as a number: its code in decimal, octal, or binary, or an escape with its code.
    Numbers,
    Split,
    /// All but a few letters at one end.
    Most,
    /// One part stands in what was sent before.
    Halved,
}

impl SecretForm {
    /// Whether hardly any text has a secret in this form.
    pub(super) fn is_rare(self) -> bool {
        matches!(
            self,
            Self::Base64Twice | Self::Base32 | Self::Rotated | Self::Numbers
        )
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Unknown | Self::Plain => "",
            Self::Reversed => ", reversed",
            Self::Base64 => ", in base64",
            Self::Base64Twice => ", in base64 twice",
            Self::Base32 => ", in base32",
            Self::Hex => ", in hex",
            Self::Rotated => ", with its letters rotated",
            Self::Numbers => ", as the numbers of its letters",
            Self::Split => ", in two parts",
            Self::Most => ", most of it",
            Self::Halved => ", one part here and one in an earlier call",
        }
    }
}

/// A value in one form.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct FormedValue {
    pub form: SecretForm,
    /// Letters and digits of the value in this form.
    pub letters: String,
}

/// Returns a value in every form that is looked for as a whole.
pub(super) fn list_forms(value: &str) -> Vec<FormedValue> {
    let reversed: String = value.chars().rev().collect();
    let base64 = |value: &str| [0, 1, 2].map(|offset| base64_at(value, offset));
    let plain = [
        (SecretForm::Plain, value.to_owned()),
        (SecretForm::Reversed, reversed.clone()),
        (SecretForm::Rotated, rotate(value)),
    ];
    let hex = [value, &reversed].map(|it| (SecretForm::Hex, HEXLOWER.encode(it.as_bytes())));
    let once = base64(value);
    let twice = once.iter().flat_map(|inner| base64(inner));
    let formed = plain
        .into_iter()
        .chain(hex)
        .chain(once.clone().map(|it| (SecretForm::Base64, it)))
        .chain(base64(&reversed).map(|it| (SecretForm::Base64, it)))
        .chain(twice.map(|it| (SecretForm::Base64Twice, it)))
        .chain((0..5).map(|offset| (SecretForm::Base32, base32_at(value, offset))))
        .chain(list_numbers(value).map(|it| (SecretForm::Numbers, it)));
    let formed = formed.map(|(form, text)| FormedValue {
        form,
        letters: Letters::as_written(&text).text,
    });
    formed
        .filter(|formed| formed.letters.len() >= PART_CHARS_MIN)
        .collect()
}

/// Returns a value with each letter as the one thirteen places on.
fn rotate(value: &str) -> String {
    let rotated = value.chars().map(|c| match c {
        'a'..='m' | 'A'..='M' => char::from(c as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(c as u8 - 13),
        other => other,
    });
    rotated.collect()
}

/// Returns a value as the codes of its bytes, as `101`, `\x65`, `\u0065`, `0x65`, `\145`, and `01100101` write them.
fn list_numbers(value: &str) -> [String; 6] {
    let join = |write: fn(u8) -> String| value.bytes().map(write).collect();
    [
        join(|byte| byte.to_string()),
        join(|byte| format!("x{byte:02x}")),
        join(|byte| format!("u{byte:04x}")),
        join(|byte| format!("0x{byte:02x}")),
        join(|byte| format!("{byte:03o}")),
        join(|byte| format!("{byte:08b}")),
    ]
}

/// Whether a text holds a value in two parts, one after the other, with something else between.
pub(super) fn is_split(value: &str, text: &str) -> bool {
    let last = value.len().saturating_sub(PART_CHARS_MIN);
    (PART_CHARS_MIN..=last).any(|at| {
        let (first, second) = value.split_at(at);
        let found = text.find(first).map(|found| found + first.len());
        found.is_some_and(|end| text[end..].contains(second))
    })
}

/// Returns how many letters and digits of a value a text has to hold at the least: three quarters.
pub(super) fn shortest_part(value: &str) -> usize {
    value.len() - value.len() / 4
}

/// Whether a text holds three quarters of a value or more, from one of its ends.
pub(super) fn is_mostly_in(value: &str, text: &str) -> bool {
    let most = shortest_part(value);
    let (start, end) = (&value[..most], &value[value.len() - most..]);
    most >= HALF_CHARS_MIN && (text.contains(start) || text.contains(end))
}

/// Whether one part of a value stands in one text, and the rest in another.
pub(super) fn is_halved(value: &str, one: &str, other: &str) -> bool {
    let is_parted = |first_in: &str, second_in: &str| {
        let last = value.len().saturating_sub(HALF_CHARS_MIN);
        let places = HALF_CHARS_MIN..=last;
        let mut starts = places.take_while(|at| first_in.contains(&value[..*at]));
        starts.any(|at| second_in.contains(&value[at..]))
    };
    is_parted(one, other) || is_parted(other, one)
}

/// The letters and digits of a text, in lower case, and where each stands.
pub(super) struct Letters {
    pub text: String,
    /// The bytes of each letter or digit in the text as it is written.
    pub places: Vec<Range<usize>>,
}

impl Letters {
    /// Takes a text as it is written.
    pub(super) fn as_written(text: &str) -> Self {
        let bytes = text.bytes().enumerate();
        Self::collect(bytes.map(|(at, byte)| (byte, at..at + 1)))
    }

    /// Takes a text with `%41` for `A`. What is no such sign stays.
    pub(super) fn percent_decoded(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut at = 0;
        Self::collect(std::iter::from_fn(|| {
            let first = *bytes.get(at)?;
            let digits = bytes.get(at + 1..at + 3).filter(|_| first == b'%');
            let decoded =
                digits.and_then(|digits| HEXLOWER.decode(&digits.to_ascii_lowercase()).ok());
            let (byte, length) = match decoded.as_deref() {
                Some(&[byte]) => (byte, 3),
                Some(_) | None => (first, 1),
            };
            at += length;
            Some((byte, at - length..at))
        }))
    }

    fn collect(bytes: impl Iterator<Item = (u8, Range<usize>)>) -> Self {
        let letters = bytes.filter(|(byte, _)| byte.is_ascii_alphanumeric());
        let (text, places) = letters
            .map(|(byte, place)| (char::from(byte.to_ascii_lowercase()), place))
            .unzip();
        Self { text, places }
    }
}

/// Returns the part of a value in base64 that does not depend on what stands before and after it, where the value begins
/// this many bytes after a group of three.
fn base64_at(value: &str, offset: usize) -> String {
    encoded_at(value, offset, 6, |bytes| BASE64.encode(bytes))
}

/// Returns the same in base32, where the value begins this many bytes after a group of five.
fn base32_at(value: &str, offset: usize) -> String {
    encoded_at(value, offset, 5, |bytes| BASE32.encode(bytes))
}

/// Returns the part of an encoded value of which each sign tells this many bits of the value alone.
fn encoded_at(value: &str, offset: usize, bits: usize, encode: impl Fn(&[u8]) -> String) -> String {
    let padded = [&[0; 4][..offset], value.as_bytes()].concat();
    let start = (offset * 8).div_ceil(bits);
    let end = padded.len() * 8 / bits;
    let encoded = encode(&padded);
    encoded.get(start..end).unwrap_or_default().to_owned()
}
