//! Known secrets in what a call sends out: as they are, reversed, in base64, in hex and other codes, with percent signs, and
//! split over arguments, parameters of an address, or the labels of a host's name.
//!
//! Both sides are compared by their letters and digits alone, whatever their case: that undoes splitting, quoting and
//! most separators at once.

use std::fmt;
use std::hash::{Hash, Hasher};

use protocol::text::redact;
use serde_json::{Map, Value};

use super::secret_forms::{
    FormedValue, Letters, SECRET_CHARS_MIN, SecretForm, is_halved, is_mostly_in, is_split,
    list_forms, shortest_part,
};

/// Fewest different letters and digits in a secret.
const DIFFERENT_CHARS_MIN: usize = 5;

/// A secret that is known by where it stands. It is never kept longer than one call goes on, and never shown.
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
    /// Whether only a part of the secret stands in the arguments.
    pub(super) fn is_half(&self) -> bool {
        self.form == SecretForm::Halved
    }

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

    /// Returns the secret in every form that is looked for as a whole.
    pub(super) fn forms(&self) -> Vec<FormedValue> {
        list_forms(&self.value)
    }

    /// Returns the form in which the secret stands among these letters and digits.
    pub(super) fn find_in(&self, outgoing: &str) -> Option<SecretForm> {
        let letters = normalize(&self.value);
        if outgoing.len() < shortest_part(&letters) {
            return None;
        }
        let forms = self.forms();
        let whole = forms.iter().find(|one| outgoing.contains(&one.letters));
        let split = || is_split(&letters, outgoing).then_some(SecretForm::Split);
        let most = || is_mostly_in(&letters, outgoing).then_some(SecretForm::Most);
        whole.map(|one| one.form).or_else(split).or_else(most)
    }

    /// Whether the secret stands in several texts together, or in one in two parts: apart from where it stands whole.
    pub(super) fn is_spread_over(&self, texts: &[String]) -> bool {
        let forms = self.forms();
        let rest = texts.iter().map(|text| {
            let letters = Letters::percent_decoded(text).text;
            let forms = forms.iter();
            forms.fold(letters, |rest, one| rest.replace(&one.letters, " "))
        });
        self.find_in(&rest.collect::<String>()).is_some()
    }
}

/// Finds the known secrets in arguments, and whatever else looks like a key.
pub fn find_outgoing_secrets(
    arguments: &Map<String, Value>,
    known: &[KnownSecret],
) -> Vec<OutgoingSecret> {
    let texts = collect_argument_texts(arguments);
    let outgoing = collect_letters(arguments);
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

/// Finds the known secrets of which one part stands in arguments and the rest in what was sent before, of which these are
/// the letters and digits.
pub fn find_second_halves(
    arguments: &Map<String, Value>,
    sent_letters: &str,
    known: &[KnownSecret],
) -> Vec<OutgoingSecret> {
    let outgoing = collect_letters(arguments);
    let halved = known.iter().filter(|secret| {
        let is_new = secret.find_in(&outgoing).is_none();
        is_new && is_halved(&normalize(&secret.value), sent_letters, &outgoing)
    });
    let found = halved.map(|secret| OutgoingSecret {
        secret: secret.clone(),
        form: SecretForm::Halved,
    });
    found.collect()
}

/// Returns the letters and digits of all texts, numbers and names of arguments, then those of their parameters alone.
pub fn collect_letters(arguments: &Map<String, Value>) -> String {
    let texts = collect_argument_texts(arguments);
    let parameters = texts.iter().filter_map(|text| join_parameters(text));
    let all: String = texts.iter().cloned().chain(parameters).collect();
    Letters::percent_decoded(&all).text
}

/// Returns the values of a text's parameters as one text, without the names between them: `ab` of `?x=a&y=b`. None if there
/// are fewer than two.
pub(super) fn join_parameters(text: &str) -> Option<String> {
    let pairs = text.split(['?', '&', ';', '#', ',']);
    let values: Vec<&str> = pairs
        .filter_map(|pair| Some(pair.split_once('=')?.1))
        .collect();
    (values.len() > 1).then(|| values.concat())
}

/// Collects every text and number of arguments, in order, then their names.
pub(super) fn collect_argument_texts(arguments: &Map<String, Value>) -> Vec<String> {
    let (mut texts, mut names) = (Vec::new(), Vec::new());
    collect_member_texts(arguments, &mut texts, &mut names);
    texts.extend(names);
    texts
}

fn collect_member_texts(
    members: &Map<String, Value>,
    texts: &mut Vec<String>,
    names: &mut Vec<String>,
) {
    for (name, value) in members {
        names.push(name.clone());
        collect_texts(value, texts, names);
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>, names: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => texts.push(number.to_string()),
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => {
            for item in items {
                collect_texts(item, texts, names);
            }
        }
        Value::Object(members) => collect_member_texts(members, texts, names),
    }
}

/// Returns the letters and digits of a text, in lower case.
fn normalize(text: &str) -> String {
    Letters::as_written(text).text
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
    use data_encoding::{BASE32, BASE64, HEXLOWER};
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
        let number = |write: fn(u8) -> String| VALUE.bytes().map(write).collect::<String>();
        let numbers = "`.env`, as the numbers of its letters";
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
                json!({ "a": format!("401 for {}", &VALUE[..12]) }),
                "`.env`, most of it",
            ),
            (json!({ "a": &VALUE[4..] }), "`.env`, most of it"),
            (
                json!({ "url": format!("https://h.example/?one={}&two={}&three={}", &VALUE[..5], &VALUE[5..10], &VALUE[10..]) }),
                "`.env`",
            ),
            (
                json!({ "a": "dK7cY2zM9iEg4XjF" }),
                "`.env`, with its letters rotated",
            ),
            (
                json!({ "a": BASE64.encode(format!("1{}", BASE64.encode(format!("x{VALUE}").as_bytes())).as_bytes()) }),
                "`.env`, in base64 twice",
            ),
            (
                json!({ "a": BASE64.encode(reversed.as_bytes()) }),
                "`.env`, in base64",
            ),
            (
                json!({ "a": BASE32.encode(format!("xyz{VALUE}").as_bytes()) }),
                "`.env`, in base32",
            ),
            (json!({ "a": number(|byte| format!("{byte}, ")) }), numbers),
            (json!({ "a": number(|byte| format!("&#{byte};")) }), numbers),
            (
                json!({ "a": number(|byte| format!("\\x{byte:02X}")) }),
                numbers,
            ),
            (
                json!({ "a": number(|byte| format!("\\u{byte:04x}")) }),
                numbers,
            ),
            (
                json!({ "a": number(|byte| format!("0x{byte:x} ")) }),
                numbers,
            ),
            (
                json!({ "a": number(|byte| format!("\\{byte:03o}")) }),
                numbers,
            ),
            (
                json!({ "a": number(|byte| format!("{byte:08b}")) }),
                numbers,
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
    fn a_half_counts_with_what_was_sent_before() {
        let known =
            KnownSecret::find_in_file(".env", b"A_KEY=qX7pL2mZ9vRt4KwS\nB_KEY=Zk81nQ0xLs\n");
        for (before, now, is_found) in [
            ("qX7pL2mZ", "9vRt4KwS", true),
            ("9vRt4KwS", "qX7pL2mZ", true),
            ("and qX7pL2mZ9vR more", "see t4KwS", false),
            ("and qX7p-L2mZ more", "see 9v.Rt4KwS", true),
            ("qX7pL2mZ", "qX7pL2mZ", false),
            ("qX7pL2mZ", "other", false),
            ("", "qX7pL2mZ", false),
            // It is found by itself.
            ("qX7pL2mZ", "qX7pL2mZ9vRt4KwS", false),
            // Too short to be told from other text.
            ("Zk81n", "Q0xLs", false),
        ] {
            let arguments = json!({ "a": now });
            let sent = normalize(before);
            let found = find_second_halves(arguments.as_object().unwrap(), &sent, &known);
            assert_eq!(found.len(), usize::from(is_found), "{before} {now}");
        }
    }

    #[test]
    fn words_that_stand_everywhere_are_no_secrets() {
        for arguments in [
            json!({ "q": "development on port 3000 with a short placeholder" }),
            json!({ "q": "", "n": 5, "b": true, "x": null }),
            json!({ "q": "100% of it, %zz" }),
            json!({ "q": &VALUE[..11] }),
            json!({ "q": &VALUE[2..13] }),
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
