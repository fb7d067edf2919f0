//! Places of a call's secrets in a text.

use std::ops::Range;

use super::outgoing_secrets::KnownSecret;
use super::secret_forms::{FormedValue, Letters, PART_CHARS_MIN, SECRET_CHARS_MIN, SecretForm};

/// Shortest beginning of a secret that is found at the end of a text that was cut, in letters and digits.
const CUT_CHARS_MIN: usize = 4;

/// Sign at the end of a text that was cut.
const CUT_SIGN: char = '…';

/// A secret that is replaced wherever it stands.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct MaskedSecret {
    /// Text that stands in its place: `[API_KEY in .env]`.
    pub mark: String,
    forms: Vec<FormedValue>,
    /// Whether short parts of the secret are replaced as well, because it was found in parts.
    pub is_spread: bool,
}

/// A secret's place in a text.
pub(super) struct SecretPlace<'a> {
    pub bytes: Range<usize>,
    pub mark: &'a str,
}

impl MaskedSecret {
    /// Takes a secret that was found in these texts. Forms that are rare are looked for only if it was found in them.
    pub fn new(secret: &KnownSecret, texts: &[String]) -> Self {
        let letters = Letters::percent_decoded(&texts.concat()).text;
        let mut forms = secret.forms();
        forms.retain(|one| !one.form.is_rare() || letters.contains(&one.letters));
        Self {
            mark: format!("[{}]", secret.origin.replace('`', "")),
            forms,
            is_spread: secret.is_spread_over(texts),
        }
    }

    /// Whether these letters and digits hold the whole secret in some form.
    pub fn is_whole_in(&self, letters: &str) -> bool {
        self.forms.iter().any(|one| letters.contains(&one.letters))
    }

    /// Returns how many letters and digits the secret has as it is.
    pub fn letters_len(&self) -> usize {
        self.forms.first().map_or(0, |form| form.letters.len())
    }

    /// Returns how many letters and digits of the secret are replaced in a text.
    pub fn count_hidden(&self, text: &str) -> usize {
        let places = find_places(std::slice::from_ref(self), text);
        let hidden = places.iter().map(|place| &text[place.bytes.clone()]);
        let letters = hidden.map(|hidden| Letters::percent_decoded(hidden).text.len());
        letters.sum()
    }

    /// Returns how many letters and digits at the beginning of a text are a part of the secret in this form; 0 if they
    /// are too few.
    fn count_matching(&self, form: &FormedValue, text: &str, is_cut: bool) -> usize {
        let letters = &form.letters;
        if is_cut && text.len() >= CUT_CHARS_MIN && letters.starts_with(text) {
            return text.len();
        }
        let part_min = match self.is_spread {
            true => PART_CHARS_MIN,
            false => SECRET_CHARS_MIN.max(letters.len() / 2),
        };
        let is_part = |chars: usize| text.get(..chars).is_some_and(|part| letters.contains(part));
        let counts = (part_min.min(letters.len())..).take_while(|chars| is_part(*chars));
        counts.last().unwrap_or(0)
    }
}

/// Finds the places of secrets in a text, in order and apart from each other: the secrets in every form, and every part
/// of them that is long enough to be told from other text. A mark is no place of a secret, whatever its name.
pub(super) fn find_places<'a>(secrets: &'a [MaskedSecret], text: &str) -> Vec<SecretPlace<'a>> {
    let mut places = find_among(secrets, text, &Letters::percent_decoded(text));
    if text.contains('%') {
        places.extend(find_among(secrets, text, &Letters::as_written(text)));
    }
    places.sort_by_key(|place| place.bytes.start);
    let marks = secrets.iter().flat_map(|secret| {
        let marks = text.match_indices(&secret.mark);
        marks.map(|(at, mark)| at..at + mark.len())
    });
    let marks: Vec<Range<usize>> = marks.collect();
    let is_in = |place: &Range<usize>, mark: &Range<usize>| {
        mark.start <= place.start && place.end <= mark.end
    };
    places.retain(|place| !marks.iter().any(|mark| is_in(&place.bytes, mark)));
    places.dedup_by(|next, place| {
        let is_next = place.mark == next.mark
            && text
                .get(place.bytes.end..next.bytes.start)
                .is_some_and(|between| between.trim().is_empty());
        let is_one = is_next || next.bytes.start < place.bytes.end;
        if is_one {
            place.bytes.end = place.bytes.end.max(next.bytes.end);
        }
        is_one
    });
    places
}

fn find_among<'a>(
    secrets: &'a [MaskedSecret],
    text: &str,
    letters: &Letters,
) -> Vec<SecretPlace<'a>> {
    let is_cut = text.trim_end().ends_with(CUT_SIGN);
    let mut places = Vec::new();
    let mut at = 0;
    while at < letters.text.len() {
        let rest = &letters.text[at..];
        let forms = secrets
            .iter()
            .flat_map(|secret| secret.forms.iter().map(move |form| (secret, form)));
        let found = forms
            .map(|(secret, form)| (secret.count_matching(form, rest, is_cut), secret, form.form))
            .max_by_key(|(chars, ..)| *chars);
        let Some((chars @ 1.., secret, form)) = found else {
            at += 1;
            continue;
        };
        let bytes = letters.places[at].start..letters.places[at + chars - 1].end;
        let bytes = match form {
            SecretForm::Base64 | SecretForm::Base64Twice | SecretForm::Base32 => {
                widen_base64(text, bytes)
            }
            SecretForm::Unknown
            | SecretForm::Plain
            | SecretForm::Reversed
            | SecretForm::Hex
            | SecretForm::Rotated
            | SecretForm::Numbers
            | SecretForm::Split
            | SecretForm::Most
            | SecretForm::Halved => bytes,
        };
        let mark = &secret.mark;
        places.push(SecretPlace { bytes, mark });
        at += chars;
    }
    places
}

/// Returns the place of a value in base64 or base32 with what belongs to the same run: a letter there also tells of its
/// neighbours.
fn widen_base64(text: &str, place: Range<usize>) -> Range<usize> {
    let is_inside = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'+';
    let bytes = text.as_bytes();
    let before = bytes[..place.start].iter().rev().take_while(is_inside);
    let after = bytes[place.end..].iter();
    let after = after.take_while(|byte| is_inside(byte) || **byte == b'=');
    place.start - before.count()..place.end + after.count()
}
