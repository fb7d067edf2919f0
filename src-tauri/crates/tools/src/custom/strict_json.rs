//! Strict JSON as a person wrote it: no duplicate members, and errors with line numbers.

use std::fmt;

use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// An error in a JSON text, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The reason, without a full stop.
    pub reason: String,
}

/// Parses JSON in which no object names a member twice, so that neither of two definitions of one thing is silently
/// lost.
///
/// # Errors
/// If the text is not JSON, nests more than 64 levels deep, or repeats a member.
pub fn parse_strict(text: &str) -> Result<Value, JsonError> {
    match serde_json::from_str::<StrictValue>(text) {
        Ok(StrictValue(value)) if exceeds_depth(&value, DEPTH_MAX) => Err(JsonError {
            line: 1,
            reason: format!("it is nested more than {DEPTH_MAX} levels deep"),
        }),
        Ok(StrictValue(value)) => Ok(value),
        Err(error) => {
            let reason = error.to_string();
            let at = format!(" at line {} column {}", error.line(), error.column());
            Err(JsonError {
                line: error.line().max(1),
                reason: reason.strip_suffix(&at).unwrap_or(&reason).to_owned(),
            })
        }
    }
}

struct StrictValue(Value);

impl<'de> Deserialize<'de> for StrictValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(UniqueMembersVisitor)
            .map(StrictValue)
    }
}

struct UniqueMembersVisitor;

impl<'de> Visitor<'de> for UniqueMembersVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(StrictValue(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format!(
                    "the member `{name}` is there twice"
                )));
            }
            let StrictValue(value) = members.next_value()?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

/// Returns the line, from 1, of the member that `path` leads to from the root, or of the deepest member on the way that
/// exists. `text` must be JSON; for any other text the result is an arbitrary line of it.
pub fn find_line(text: &str, path: &[&str]) -> usize {
    let mut at = LineScanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut start = 0;
    'members: for name in path {
        at.skip_whitespace();
        if at.next_byte() != Some(b'{') {
            break;
        }
        loop {
            at.skip_whitespace();
            let begins = at.at;
            let Some(key) = at.scan_string() else {
                break 'members;
            };
            at.skip_whitespace();
            at.next_byte();
            if serde_json::from_str::<String>(key).is_ok_and(|key| key == *name) {
                start = begins;
                continue 'members;
            }
            at.scan_value();
            at.skip_whitespace();
            if at.next_byte() != Some(b',') {
                break 'members;
            }
        }
    }
    let before = &at.bytes[..start.min(at.bytes.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Skips over valid JSON without building values.
struct LineScanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> LineScanner<'a> {
    fn next_byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn skip_whitespace(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Scans a string and returns it with its quotes; `None` if there is no string here.
    fn scan_string(&mut self) -> Option<&'a str> {
        let begins = self.at;
        if self.bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        self.at += 1;
        loop {
            match self.next_byte()? {
                b'\\' => self.at += 1,
                b'"' => return std::str::from_utf8(self.bytes.get(begins..self.at)?).ok(),
                _ => {}
            }
        }
    }

    fn scan_value(&mut self) {
        self.skip_whitespace();
        let mut depth = 0_usize;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    if self.scan_string().is_none() {
                        return;
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b'}' | b']') | None => return,
                Some(b',') if depth == 0 => return,
                Some(_) => self.at += 1,
            }
            if depth == 0 && matches!(self.bytes.get(self.at), Some(b',' | b'}' | b']') | None) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_named_with_its_line() {
        let wrong = parse_strict("{\n \"a\": {\"b\": 1,\n  \"b\": 2}}").unwrap_err();
        assert_eq!(
            (wrong.line, wrong.reason.as_str()),
            (3, "the member `b` is there twice")
        );
        let wrong = parse_strict("{\n\"a\": }").unwrap_err();
        assert_eq!((wrong.line, wrong.reason.as_str()), (2, "expected value"));
        let deep = "[".repeat(10_000);
        assert!(
            parse_strict(&deep)
                .unwrap_err()
                .reason
                .contains("recursion")
        );
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse_strict(&nested(64)).is_ok());
        assert!(
            parse_strict(&nested(65))
                .unwrap_err()
                .reason
                .contains("64 levels")
        );
        let text = r#"{"b":[1,-2,1.5,"x",null,true],"a":{}}"#;
        assert_eq!(parse_strict(text).unwrap().to_string(), text);
    }

    #[test]
    fn the_line_of_a_member() {
        let text =
            "{\n \"x\": [{\"a\": \"}\\\"\"}, 2],\n \"a\": {\"q\": 1,\n  \"b\":\n {\"c\": 1}}\n}";
        for (path, line) in [
            (&[][..], 1),
            (&["x"], 2),
            (&["a"], 3),
            (&["a", "q"], 3),
            (&["a", "b"], 4),
            (&["a", "b", "c"], 5),
            (&["a", "nothing"], 3),
            (&["nothing"], 1),
        ] {
            assert_eq!(find_line(text, path), line, "{path:?}");
        }
        for broken in ["", "{", "{\"a", "{\"a\"", "{\"a\":", "[]", "{\"a\":{"] {
            find_line(broken, &["a", "b"]);
        }
    }
}
