//! Masks the secrets that a call sends out, in everything that is shown of the call or put on record.

use protocol::view::masked_call::mask_diffs;
use protocol::{Preview, Trail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::outgoing_secrets::{
    OutgoingSecret, collect_argument_texts, collect_letters, join_parameters,
};
use super::secret_places::{MaskedSecret, SecretPlace, find_places};

/// Mask of one call's secrets: in the place of each stands a mark that names it. The mask keeps the secrets themselves,
/// and no longer than the call goes on.
#[derive(Clone, Default)]
pub struct SecretMask {
    secrets: Vec<MaskedSecret>,
    /// Mark that replaces the arguments as a whole, because they hold a secret in pieces that are too small to be told
    /// from other text, or could not be searched.
    whole: Option<String>,
}

impl SecretMask {
    /// Returns the mask of the secrets that were found in these arguments.
    pub fn new(found: &[OutgoingSecret], arguments: &Map<String, Value>) -> Self {
        let texts = collect_argument_texts(arguments);
        let parameters = texts.iter().filter_map(|text| join_parameters(text));
        let sent: Vec<String> = texts.iter().cloned().chain(parameters).collect();
        let secrets = found
            .iter()
            .map(|one| MaskedSecret::new(&one.secret, &sent));
        let mut mask = Self {
            secrets: secrets.collect(),
            whole: None,
        };
        let is_shown = |secret: &&MaskedSecret| {
            let hidden = texts.iter().map(|text| secret.count_hidden(text));
            secret.is_spread && hidden.sum::<usize>() < secret.letters_len()
        };
        let mut shown = found.iter().zip(&mask.secrets);
        let shown = shown.find(|(one, secret)| one.is_half() || is_shown(secret));
        mask.whole = shown.map(|(_, secret)| secret.mark.clone());
        mask
    }

    /// Returns the mask of arguments that could not be searched: it replaces all of them.
    pub fn unsearched() -> Self {
        Self {
            secrets: Vec::new(),
            whole: Some("[not searched for secrets]".to_owned()),
        }
    }

    /// Adds the secrets of another mask.
    pub fn add(&mut self, other: &Self) {
        for secret in &other.secrets {
            if !self.secrets.contains(secret) {
                self.secrets.push(secret.clone());
            }
        }
        self.whole = self.whole.take().or_else(|| other.whole.clone());
    }

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.whole.is_none()
    }

    /// Whether a text holds a secret.
    pub fn is_in(&self, text: &str) -> bool {
        !find_places(&self.secrets, text).is_empty()
    }

    /// Masks a text.
    pub fn mask_text(&self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for SecretPlace { bytes, mark } in find_places(&self.secrets, text) {
            masked.push_str(&text[end..bytes.start]);
            masked.push_str(mark);
            end = bytes.end;
        }
        masked.push_str(&text[end..]);
        masked
    }

    /// Masks the target of a call.
    pub fn mask_target(&self, target: &str) -> String {
        match &self.whole {
            Some(mark) => mark.clone(),
            None => self.mask_text(target),
        }
    }

    /// Masks arguments, their names and numbers included.
    pub fn mask_arguments(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        match &self.whole {
            Some(mark) => Map::from_iter([("arguments".to_owned(), mark.as_str().into())]),
            None => mask_members(arguments, &|text| self.mask_text(text)),
        }
    }

    /// Masks every text of a value. Returns none if the value would no longer have its form.
    pub fn mask_value<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        let value = serde_json::to_value(value).ok()?;
        let masked = mask_json(&value, &|text| self.mask_text(text));
        serde_json::from_value(masked).ok().or_else(|| {
            // A word may say what the value is, and no secret is a word alone.
            let masked = mask_json(&value, &|text| match is_word(text) {
                true => text.to_owned(),
                false => self.mask_text(text),
            });
            serde_json::from_value(masked).ok()
        })
    }

    /// Masks the reasons of a verdict. Of reasons that would no longer have their form the first is left.
    pub fn mask_trail(&self, trail: &Trail) -> Trail {
        self.mask_value(trail).unwrap_or_else(|| Trail {
            verdict: trail.verdict,
            lead: self.mask_text(&trail.lead),
            otherwise: String::new(),
            steps: Vec::new(),
        })
    }

    /// Masks a preview. One that would still hold a secret is replaced with nothing.
    pub fn mask_preview(&self, preview: &Preview) -> Preview {
        let mut preview = preview.clone();
        mask_diffs(&mut preview, &|text| self.mask_text(text));
        self.mask_whole(&preview).unwrap_or(Preview::Nothing)
    }

    /// Masks a value whose texts are read together. Returns none if they would still hold a secret.
    pub fn mask_whole<T: Serialize + DeserializeOwned>(&self, value: &T) -> Option<T> {
        let masked = self.whole.is_none().then(|| self.mask_value(value));
        masked.flatten().filter(|masked| !self.is_spread_in(masked))
    }

    /// Whether the texts of a value hold a secret together, though none of them does alone.
    fn is_spread_in<T: Serialize>(&self, value: &T) -> bool {
        let Ok(Value::Object(members)) = serde_json::to_value(value) else {
            return true;
        };
        let letters = collect_letters(&members);
        self.secrets
            .iter()
            .any(|secret| secret.is_whole_in(&letters))
    }

    /// Puts the secrets back into arguments that a person wrote over the masked ones: each mark stands for what it
    /// replaced in the same text. Returns none if there is a mark where nothing was replaced.
    pub fn restore_arguments(
        &self,
        written: &Map<String, Value>,
        arguments: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        match *written == self.mask_arguments(arguments) {
            true => Some(arguments.clone()),
            false => self.restore_members(written, arguments),
        }
    }

    fn restore_members(
        &self,
        written: &Map<String, Value>,
        real: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        let members = written.iter().map(|(name, value)| {
            let mut real = real.iter();
            let real = real.find(|(known, _)| self.mask_text(known) == *name);
            match real {
                Some((known, real)) => Some((known.clone(), self.restore_value(value, real)?)),
                None if self.holds_mark(name) => None,
                None => Some((name.clone(), self.keep_value(value)?)),
            }
        });
        members.collect()
    }

    fn restore_value(&self, written: &Value, real: &Value) -> Option<Value> {
        match (written, real) {
            (Value::String(written), Value::String(real)) => {
                self.restore_text(written, real).map(Value::String)
            }
            (Value::String(written), Value::Number(number))
                if *written == self.mask_text(&number.to_string()) =>
            {
                Some(real.clone())
            }
            (Value::Object(written), Value::Object(real)) => {
                self.restore_members(written, real).map(Value::Object)
            }
            (Value::Array(written), Value::Array(real)) => {
                let items = written.iter().enumerate();
                let items = items.map(|(at, item)| {
                    self.restore_value(item, real.get(at).unwrap_or(&Value::Null))
                });
                items.collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            (written, _) => self.keep_value(written),
        }
    }

    fn restore_text(&self, written: &str, real: &str) -> Option<String> {
        if written == self.mask_text(real) {
            return Some(real.to_owned());
        }
        let places = find_places(&self.secrets, real);
        let mut restored = written.to_owned();
        for SecretPlace { bytes, mark } in &places {
            let replaced = &real[bytes.clone()];
            let same = places.iter().filter(|place| place.mark == *mark);
            let is_certain = same
                .into_iter()
                .all(|place| real[place.bytes.clone()] == *replaced);
            // What the agent wrote itself stands for nothing.
            if is_certain && !real.contains(mark) {
                restored = restored.replace(mark, replaced);
            }
        }
        (!self.holds_mark(&restored)).then_some(restored)
    }

    /// Returns a value that the person wrote anew; none if there is a mark in it.
    fn keep_value(&self, written: &Value) -> Option<Value> {
        let is_free = match written {
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::String(text) => !self.holds_mark(text),
            Value::Array(items) => items.iter().all(|item| self.keep_value(item).is_some()),
            Value::Object(members) => members
                .iter()
                .all(|(name, value)| !self.holds_mark(name) && self.keep_value(value).is_some()),
        };
        is_free.then(|| written.clone())
    }

    fn holds_mark(&self, text: &str) -> bool {
        let marks = self.secrets.iter().map(|secret| &secret.mark);
        let mut marks = marks.chain(&self.whole);
        marks.any(|mark| text.contains(mark))
    }
}

/// Whether a text is a word or a name, such as the kind of a value.
fn is_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_lowercase() || c == '-' || c == '_')
}

fn mask_members(members: &Map<String, Value>, mask: &dyn Fn(&str) -> String) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|(name, value)| (mask(name), mask_json(value, mask)))
        .collect()
}

/// Masks the texts and names of a value, and each number that is changed as a text.
fn mask_json(value: &Value, mask: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            let masked = mask(&text);
            match masked == text {
                true => value.clone(),
                false => Value::String(masked),
            }
        }
        Value::String(text) => Value::String(mask(text)),
        Value::Array(items) => items.iter().map(|item| mask_json(item, mask)).collect(),
        Value::Object(members) => Value::Object(mask_members(members, mask)),
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::{BASE64, HEXLOWER};
    use protocol::text::display_text::DisplaySpan;
    use protocol::view::preview::{ResponsePreview, TodoItem, TodoStatus};
    use serde_json::json;

    use super::*;
    use crate::watchdogs::{KnownSecret, find_outgoing_secrets};

    const VALUE: &str = "qX7pL2mZ9vRt4KwS";
    const MARK: &str = "[API_KEY in .env]";

    fn members(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn mask_for(arguments: &Map<String, Value>) -> SecretMask {
        mask_with(&format!("API_KEY={VALUE}\n"), arguments)
    }

    fn mask_with(env: &str, arguments: &Map<String, Value>) -> SecretMask {
        let known = KnownSecret::find_in_file(".env", env.as_bytes());
        SecretMask::new(&find_outgoing_secrets(arguments, &known), arguments)
    }

    #[test]
    fn a_secret_is_replaced_in_every_form_and_what_is_around_it_stays() {
        let reversed: String = VALUE.chars().rev().collect();
        let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let base64 = BASE64.encode(format!("x{VALUE}y").as_bytes());
        let (first, second) = VALUE.split_at(9);
        for (text, shown) in [
            (
                format!("https://h.example/?k={VALUE}&x=1"),
                format!("https://h.example/?k={MARK}&x=1"),
            ),
            (format!("a {reversed} b"), format!("a {MARK} b")),
            (
                format!("a {} b", HEXLOWER.encode(VALUE.as_bytes())),
                format!("a {MARK} b"),
            ),
            (format!("?k={percent}&x=%20"), format!("?k={MARK}&x=%20")),
            (format!("?k={base64}&x=1"), format!("?k={MARK}&x=1")),
            (
                format!("https://{first}.{second}.h.example"),
                format!("https://{MARK}.h.example"),
            ),
            (format!("{VALUE} and {VALUE}"), format!("{MARK} and {MARK}")),
            (format!("é{VALUE}é"), format!("é{MARK}é")),
        ] {
            let arguments = members(json!({ "a": text, "n": 1 }));
            let mask = mask_for(&arguments);
            let expected = members(json!({ "a": shown, "n": 1 }));
            assert_eq!(mask.mask_arguments(&arguments), expected, "{text}");
            assert_eq!(mask.mask_arguments(&expected), expected, "masked once more");
        }
    }

    #[test]
    fn parts_of_a_secret_are_replaced_and_arguments_whole_where_the_parts_are_too_small() {
        for (arguments, shown) in [
            (
                json!({ "a": "qX7pL2mZ", "b": "9vRt4KwS" }),
                json!({ "a": MARK, "b": MARK }),
            ),
            (
                json!({ "a": "qX7pL", "b": ["2mZ9vRt4KwS"] }),
                json!({ "a": MARK, "b": [MARK] }),
            ),
            (
                json!({ "a": "qX7p", "b": "L2mZ", "c": "9vRt", "d": "4KwS" }),
                json!({ "arguments": MARK }),
            ),
            (
                json!({ "a": "qX7pL2", "b": "mZ9vRt", "c": "4KwS" }),
                json!({ "arguments": MARK }),
            ),
            (json!({ "qX7pL2mZ9vRt4KwS": 1 }), json!({ MARK: 1 })),
        ] {
            let arguments = members(arguments);
            let mask = mask_for(&arguments);
            assert_eq!(mask.mask_arguments(&arguments), members(shown));
        }
    }

    #[test]
    fn a_key_in_many_lines_is_one_mark_and_what_looks_like_a_key_is_masked() {
        let key = ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].concat();
        let lines = [
            "MIIEpAIBAAKCAQEA3Tz2mr7SZiAM",
            "fQyuvBjM9Oi8Xb7JzKq1aLw93vTe",
        ];
        let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} PRIVATE KEY-----"));
        let pem = format!("{begin}\n{}\n{end}\n", lines.join("\n"));
        let arguments = members(json!({ "a": lines.join("\n"), "b": format!("x={key}") }));
        let shown = json!({ "a": "[.env]", "b": "x=[something that looks like a key]" });
        let mask = mask_with(&pem, &arguments);
        assert_eq!(Value::Object(mask.mask_arguments(&arguments)), shown);
    }

    #[test]
    fn what_is_left_of_a_secret_at_the_end_of_a_cut_text_is_replaced() {
        let mask = mask_for(&members(json!({ "a": VALUE })));
        for (text, shown) in [
            (
                "https://h.example/?k=qX7pL…",
                format!("https://h.example/?k={MARK}…"),
            ),
            (
                "https://h.example/?k=qX7pL2mZ9v…",
                format!("https://h.example/?k={MARK}…"),
            ),
            (
                "https://h.example/?k=qX7p",
                "https://h.example/?k=qX7p".to_owned(),
            ),
            ("nothing of it…", "nothing of it…".to_owned()),
        ] {
            assert_eq!(mask.mask_text(text), shown);
        }
    }

    #[test]
    fn a_value_keeps_its_form() {
        let mask = mask_with(
            "API_KEY=in-progress9\n",
            &members(json!({ "a": "in-progress9" })),
        );
        let todo = |content: String| Preview::Todo {
            items: vec![TodoItem {
                content,
                status: TodoStatus::InProgress,
            }],
        };
        let preview = todo("send in-progress9".to_owned());
        assert_eq!(mask.mask_preview(&preview), todo(format!("send {MARK}")));
    }

    #[test]
    fn a_preview_that_would_still_hold_a_secret_is_left_out() {
        let mask = mask_for(&members(json!({ "a": VALUE })));
        let pieces = ["qX7pL2m", "Z9vRt4K", "wS"];
        let preview = Preview::Response(ResponsePreview {
            hosts: Vec::new(),
            text: pieces
                .map(|text| DisplaySpan {
                    text: text.to_owned(),
                    control: false,
                })
                .to_vec(),
        });
        assert_eq!(mask.mask_preview(&preview), Preview::Nothing);
    }

    #[test]
    fn what_a_person_leaves_as_it_is_gets_back_what_stood_there() {
        let url = |key: &str, rest: &str| json!(format!("https://h.example/?k={key}{rest}"));
        let real =
            members(json!({ "url": url(VALUE, ""), "n": 1, "list": [VALUE, "b"], "x": MARK }));
        let mask = mask_for(&real);
        let shown = json!({ "url": url(MARK, ""), "n": 1, "list": [MARK, "b"], "x": MARK });
        assert_eq!(Value::Object(mask.mask_arguments(&real)), shown);
        for (name, written, restored) in [
            ("n", json!(2), Some(json!(2))),
            ("list", json!([MARK, "c"]), Some(json!([VALUE, "c"]))),
            ("url", url(MARK, "&n=2"), Some(url(VALUE, "&n=2"))),
            (
                "url",
                json!("https://h.example/"),
                Some(json!("https://h.example/")),
            ),
            // A mark stands for nothing where none stood, and where the agent wrote it itself.
            ("list", json!(["b", MARK]), None),
            ("n", json!(MARK), None),
            ("list", json!({ MARK: 1 }), None),
            ("x", json!(format!("{MARK}!")), None),
        ] {
            let mut edited = members(shown.clone());
            edited.insert(name.to_owned(), written);
            let expected = restored.map(|value| {
                let mut expected = real.clone();
                expected.insert(name.to_owned(), value);
                expected
            });
            assert_eq!(
                mask.restore_arguments(&edited, &real),
                expected,
                "{edited:?}"
            );
        }
    }
}
