//! Known secrets in what a call sends out: as they are, reversed, in base64, in hex, with percent signs, and split over
//! arguments or the labels of a host's name.
//!
//! Both sides are compared by their letters and digits alone, whatever their case: that undoes splitting, quoting and
//! most separators at once.

use std::fmt;
use std::hash::{Hash, Hasher};

use data_encoding::{BASE64, HEXLOWER};
use protocol::text::redact;
use serde_json::{Map, Value};

/// Shortest secret that is looked for, in letters and digits. Shorter ones stand in texts by chance.
const SECRET_CHARS_MIN: usize = 8;

/// Shortest part of a secret that is looked for, in letters and digits.
const PART_CHARS_MIN: usize = 5;

/// Fewest different letters and digits in a secret.
const DIFFERENT_CHARS_MIN: usize = 5;

/// A secret that is known by where it stands. It is never kept longer than one call is judged, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// Where it stands: `API_KEY` in `.env`.
    pub origin: String,
    value: String,
}

impl fmt::Debug for KnownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecret")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// By its value alone, wherever that stands.
impl Hash for KnownSecret {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

/// A secret that a call sends out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingSecret {
    /// The secret.
    pub secret: KnownSecret,
    form: SecretForm,
}

impl OutgoingSecret {
    /// Describes the secrets for a person, each once: `the secret `API_KEY` in `.env`, reversed`.
    pub fn describe_all<'a>(secrets: impl IntoIterator<Item = &'a Self>) -> String {
        let mut described: Vec<String> = Vec::new();
        for Self { secret, form } in secrets {
            let text = match form {
                SecretForm::Unknown => secret.origin.clone(),
                known => format!("the secret {}{}", secret.origin, known.describe()),
            };
            if !described.contains(&text) {
                described.push(text);
            }
        }
        described.join(" and ")
    }
}

/// Form in which a secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretForm {
    /// Something that looks like a key, and stands nowhere that is known.
    Unknown,
    Plain,
    Reversed,
    Base64,
    Hex,
    Split,
}

impl SecretForm {
    fn describe(self) -> &'static str {
        match self {
            Self::Unknown | Self::Plain => "",
            Self::Reversed => ", reversed",
            Self::Base64 => ", in base64",
            Self::Hex => ", in hex",
            Self::Split => ", in two parts",
        }
    }
}

impl KnownSecret {
    /// Finds the secrets in a file: values under names that say so, what looks like a key, and the lines of key files.
    /// Values that are too short, or words that stand everywhere, are left out.
    pub fn find_in_file(path: &str, content: &[u8]) -> Vec<Self> {
        let mut secrets = Vec::new();
        for range in redact::find_secrets(content) {
            let text = String::from_utf8_lossy(&content[range.clone()]);
            let name = name_before(&content[..range.start]);
            let origin = match name {
                Some(name) => format!("`{name}` in `{path}`"),
                None => format!("`{path}`"),
            };
            // A key in many lines is known by each of them.
            for line in text
                .lines()
                .map(str::trim)
                .filter(|line| !line.starts_with("-----"))
            {
                secrets.extend(is_distinctive(line).then(|| Self {
                    origin: origin.clone(),
                    value: line.to_owned(),
                }));
            }
        }
        secrets
    }

    /// Finds the secrets in what a key store keeps: a key, or a sign-in with its tokens.
    pub fn find_in_key(origin: &str, key: &str) -> Vec<Self> {
        let tokens = redact::find_secrets(key.as_bytes()).into_iter();
        let tokens = tokens.filter_map(|range| key.get(range));
        let whole = Some(key).filter(|key| !key.contains('"'));
        let values = tokens.chain(whole).filter(|value| is_distinctive(value));
        let secrets = values.map(|value| Self {
            origin: origin.to_owned(),
            value: value.to_owned(),
        });
        secrets.collect()
    }

    fn find_in(&self, outgoing: &str) -> Option<SecretForm> {
        let reversed: String = self.value.chars().rev().collect();
        let hex = HEXLOWER.encode(self.value.as_bytes());
        if outgoing.contains(&normalize(&self.value)) {
            return Some(SecretForm::Plain);
        }
        if outgoing.contains(&normalize(&reversed)) {
            return Some(SecretForm::Reversed);
        }
        if outgoing.contains(&hex) {
            return Some(SecretForm::Hex);
        }
        if is_split(&normalize(&self.value), outgoing) {
            return Some(SecretForm::Split);
        }
        let base64 = (0..3).any(|offset| {
            let inner = normalize(&base64_at(&self.value, offset));
            inner.len() >= SECRET_CHARS_MIN && outgoing.contains(&inner)
        });
        base64.then_some(SecretForm::Base64)
    }
}

/// Finds the known secrets in arguments, and whatever else looks like a key.
pub fn find_outgoing_secrets(
    arguments: &Map<String, Value>,
    known: &[KnownSecret],
) -> Vec<OutgoingSecret> {
    let mut texts = Vec::new();
    for value in arguments.values() {
        collect_texts(value, &mut texts);
    }
    let outgoing = normalize(&percent_decode(&texts.concat()));
    let mut found: Vec<OutgoingSecret> = known
        .iter()
        .filter_map(|secret| {
            let form = secret.find_in(&outgoing)?;
            let secret = secret.clone();
            Some(OutgoingSecret { secret, form })
        })
        .collect();
    for text in &texts {
        for range in redact::find_secrets(text.as_bytes()) {
            let value = String::from_utf8_lossy(&text.as_bytes()[range]).into_owned();
            let normal = normalize(&value);
            let is_known = |one: &OutgoingSecret| normal.contains(&normalize(&one.secret.value));
            if !found.iter().any(is_known) {
                let origin = "something that looks like a key".to_owned();
                found.push(OutgoingSecret {
                    secret: KnownSecret { origin, value },
                    form: SecretForm::Unknown,
                });
            }
        }
    }
    found
}

/// Collects every text and number of a value, in order.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => texts.push(number.to_string()),
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => members
            .values()
            .for_each(|value| collect_texts(value, texts)),
    }
}

/// Returns the letters and digits of a text, in lower case.
fn normalize(text: &str) -> String {
    let chars = text.chars().filter(char::is_ascii_alphanumeric);
    chars.map(|c| c.to_ascii_lowercase()).collect()
}

/// Replaces `%41` by `A`. What is no such sign stays.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        match digits.and_then(|digits| HEXLOWER.decode(&digits.to_ascii_lowercase()).ok()) {
            Some(decoded) => {
                bytes.extend(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the part of a value in base64 that does not depend on what stands before and after it, where the value begins
/// this many bytes after a group of three.
fn base64_at(value: &str, offset: usize) -> String {
    let padded = [&[0; 2][..offset], value.as_bytes()].concat();
    let encoded = BASE64.encode(&padded);
    let start = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    encoded.get(start..end).unwrap_or_default().to_owned()
}

/// Whether a text holds a value in two parts, one after the other, with something else between.
fn is_split(value: &str, text: &str) -> bool {
    let last = value.len().saturating_sub(PART_CHARS_MIN);
    (PART_CHARS_MIN..=last).any(|at| {
        let (first, second) = value.split_at(at);
        let found = text.find(first).map(|found| found + first.len());
        found.is_some_and(|end| text[end..].contains(second))
    })
}

/// Whether a value is long and mixed enough that it does not stand in a text by chance.
fn is_distinctive(value: &str) -> bool {
    let normal = normalize(value);
    let mut different: Vec<char> = normal.chars().collect();
    different.sort_unstable();
    different.dedup();
    let is_word = value
        .chars()
        .all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    normal.len() >= SECRET_CHARS_MIN && different.len() >= DIFFERENT_CHARS_MIN && !is_word
}

/// Returns the name that a value is assigned to: the last word before `=` or `:`.
fn name_before(before: &[u8]) -> Option<String> {
    let line = before.rsplit(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let named = line
        .trim_end_matches(['"', '\'', ' ', '\t'])
        .strip_suffix(['=', ':'])?;
    let name = named.trim_end_matches(['"', '\'', ' ', '\t']);
    let word = name.rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    word.into_iter()
        .next()
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ENV: &str = "PORT=3000\nAPI_KEY=qX7pL2mZ9vRt4KwS\nNODE_ENV=development\nTOKEN=short\nPASSWORD=placeholder\n";
    const VALUE: &str = "qX7pL2mZ9vRt4KwS";

    fn check(arguments: Value) -> Option<String> {
        let secrets = KnownSecret::find_in_file(".env", ENV.as_bytes());
        let found = find_outgoing_secrets(arguments.as_object().unwrap(), &secrets);
        (!found.is_empty()).then(|| OutgoingSecret::describe_all(&found))
    }

    #[test]
    fn secrets_are_known_by_where_they_stand_and_never_shown() {
        let secrets = KnownSecret::find_in_file(".env", ENV.as_bytes());
        let origins: Vec<_> = secrets
            .iter()
            .map(|secret| secret.origin.as_str())
            .collect();
        assert_eq!(origins, ["`API_KEY` in `.env`"]);
        assert!(!format!("{secrets:?}").contains(VALUE));
        let reason = check(json!({ "url": format!("https://h.example/?k={VALUE}") })).unwrap();
        assert_eq!(reason, "the secret `API_KEY` in `.env`");
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        let reversed: String = VALUE.chars().rev().collect();
        let hex = HEXLOWER.encode(VALUE.as_bytes());
        let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let (first, second) = VALUE.split_at(7);
        for (arguments, form) in [
            (json!({ "a": VALUE.to_lowercase() }), "`.env`"),
            (json!({ "a": reversed }), "`.env`, reversed"),
            (json!({ "a": hex.to_uppercase() }), "`.env`, in hex"),
            (json!({ "a": percent }), "`.env`"),
            (json!({ "a": first, "b": { "c": [second] } }), "`.env`"),
            (
                json!({ "host": format!("{first}.{second}.h.example") }),
                "`.env`",
            ),
            (
                json!({ "url": format!("https://{first}.h.example/{second}") }),
                "`.env`, in two parts",
            ),
            (
                json!({ "a": BASE64.encode(VALUE.as_bytes()) }),
                "`.env`, in base64",
            ),
            (
                json!({ "a": BASE64.encode(format!("x{VALUE}yz").as_bytes()) }),
                "`.env`, in base64",
            ),
            (
                json!({ "a": BASE64.encode(format!("xy{VALUE}").as_bytes()) }),
                "`.env`, in base64",
            ),
        ] {
            let reason = check(arguments.clone());
            let reason = reason.unwrap_or_else(|| panic!("passed: {arguments}"));
            assert!(reason.ends_with(form), "{arguments}: {reason}");
        }
    }

    #[test]
    fn words_that_stand_everywhere_are_no_secrets() {
        for arguments in [
            json!({ "q": "development on port 3000 with a short placeholder" }),
            json!({ "q": "", "n": 5, "b": true, "x": null }),
            json!({ "q": "100% of it, %zz" }),
        ] {
            assert_eq!(check(arguments.clone()), None, "{arguments}");
        }
    }

    #[test]
    fn each_line_of_a_key_is_known() {
        let line = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi8Xb7JzKq1";
        let key =
            format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\n-----END RSA PRIVATE KEY-----\n");
        let secrets = KnownSecret::find_in_file("key.pem", key.as_bytes());
        let arguments = json!({ "text": line });
        let found = find_outgoing_secrets(arguments.as_object().unwrap(), &secrets);
        assert_eq!(OutgoingSecret::describe_all(&found), "the secret `key.pem`");
    }

    #[test]
    fn a_key_that_the_app_keeps_is_known_and_so_are_the_tokens_of_a_sign_in() {
        let sign_in = format!(r#"{{"url":"https://far.example","access_token":"{VALUE}"}}"#);
        for kept in [VALUE, &sign_in] {
            let known = KnownSecret::find_in_key("`far` in the system keychain", kept);
            for (text, is_found) in [(VALUE, true), ("https://far.example", false)] {
                let arguments = json!({ "text": text });
                let found = find_outgoing_secrets(arguments.as_object().unwrap(), &known);
                assert_eq!(!found.is_empty(), is_found, "{kept} {text}");
            }
        }
    }

    #[test]
    fn what_looks_like_a_key_asks_wherever_it_comes_from() {
        let key = ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].concat();
        let reason = check(json!({ "header": key })).unwrap();
        assert_eq!(reason, "something that looks like a key");
        // One that is known is not said twice, and one beside it is not kept from the person.
        let known = KnownSecret::find_in_file("notes", format!("token={key}\n").as_bytes());
        let other = key.replace("wWPw5k4a", "qZ81nB0x");
        for (arguments, told) in [
            (json!({ "a": key }), "the secret `token` in `notes`"),
            (
                json!({ "a": key, "b": other }),
                "the secret `token` in `notes` and something that looks like a key",
            ),
        ] {
            let found = find_outgoing_secrets(arguments.as_object().unwrap(), &known);
            assert_eq!(OutgoingSecret::describe_all(&found), told);
        }
    }
}
