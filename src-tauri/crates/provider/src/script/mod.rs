//! The script that stands in for a model: read from JSON, with errors that name the turn and the member.

pub(crate) mod scripted_provider;

use protocol::UserError;
use serde_json::{Map, Value};

use crate::limits::{SCRIPT_DELAY_MS_MAX, SCRIPT_TURNS_MAX};

const SCRIPT_EXAMPLE: &str = "A script looks like {\"turns\":[{\"text\":\"…\",\"calls\":[{\"name\":\"read\",\"arguments\":{…}}]}]}.";

/// The output of a scripted model, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The turns, in order; the end of the list ends the run.
    pub turns: Vec<ScriptTurn>,
}

/// One turn. A turn without calls ends the model's run, like a model's last word does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScriptTurn {
    /// Text of the turn.
    pub text: String,
    /// Thoughts before the text.
    pub reasoning: String,
    /// Calls of the turn.
    pub calls: Vec<ScriptCall>,
    /// Milliseconds between two pieces; 0 for as fast as they are read.
    pub delay_ms: u64,
}

/// One call of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCall {
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text. In the script an object; a string is played as it stands, so that malformed
    /// arguments can be scripted.
    pub arguments: String,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// A fault that names the line, or the turn and the member, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            UserError::new(format!("The script is not JSON: {error}."), SCRIPT_EXAMPLE)
        })?;
        read_script(&value)
            .map_err(|problem| UserError::new(format!("The script: {problem}."), SCRIPT_EXAMPLE))
    }
}

fn read_script(value: &Value) -> Result<Script, String> {
    let object = as_object("it", value)?;
    check_members("it", object, &["turns", "delay_ms"])?;
    let delay_ms = optional_delay("it", object)?.unwrap_or(0);
    let turns = object
        .get("turns")
        .ok_or("the member \u{201c}turns\u{201d} is missing")?;
    let turns = as_array("\u{201c}turns\u{201d}", turns)?;
    if turns.len() > SCRIPT_TURNS_MAX {
        return Err(format!("it has more than {SCRIPT_TURNS_MAX} turns"));
    }
    let turns = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| read_turn(&format!("turn {}", index + 1), turn, delay_ms))
        .collect::<Result<_, _>>()?;
    Ok(Script { turns })
}

fn read_turn(place: &str, value: &Value, delay_ms: u64) -> Result<ScriptTurn, String> {
    let object = as_object(place, value)?;
    check_members(place, object, &["text", "reasoning", "calls", "delay_ms"])?;
    let calls = match object.get("calls") {
        None => Vec::new(),
        Some(calls) => as_array(&format!("{place}: \u{201c}calls\u{201d}"), calls)?
            .iter()
            .enumerate()
            .map(|(index, call)| read_call(&format!("{place}, call {}", index + 1), call))
            .collect::<Result<_, _>>()?,
    };
    Ok(ScriptTurn {
        text: optional_text(place, object, "text")?.unwrap_or_default(),
        reasoning: optional_text(place, object, "reasoning")?.unwrap_or_default(),
        calls,
        delay_ms: optional_delay(place, object)?.unwrap_or(delay_ms),
    })
}

fn read_call(place: &str, value: &Value) -> Result<ScriptCall, String> {
    let object = as_object(place, value)?;
    check_members(place, object, &["name", "arguments"])?;
    let name = optional_text(place, object, "name")?
        .ok_or_else(|| format!("{place}: the member \u{201c}name\u{201d} is missing"))?;
    let arguments = match object.get("arguments") {
        Some(Value::Object(arguments)) => Value::Object(arguments.clone()).to_string(),
        Some(Value::String(raw)) => raw.clone(),
        Some(other) => {
            return Err(format!(
                "{place}: \u{201c}arguments\u{201d} is {}, not an object",
                json_type_name(other)
            ));
        }
        None => {
            return Err(format!(
                "{place}: the member \u{201c}arguments\u{201d} is missing"
            ));
        }
    };
    Ok(ScriptCall { name, arguments })
}

fn as_object<'a>(place: &str, value: &'a Value) -> Result<&'a Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{place} is {}, not an object", json_type_name(value)))
}

fn as_array<'a>(place: &str, value: &'a Value) -> Result<&'a Vec<Value>, String> {
    value
        .as_array()
        .ok_or_else(|| format!("{place} is {}, not a list", json_type_name(value)))
}

fn check_members(place: &str, object: &Map<String, Value>, members: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !members.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "{place} has the unknown member \u{201c}{key}\u{201d} (known: {})",
            members.join(", ")
        )),
    }
}

fn optional_text(
    place: &str,
    object: &Map<String, Value>,
    member: &str,
) -> Result<Option<String>, String> {
    match object.get(member) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!(
            "{place}: \u{201c}{member}\u{201d} is {}, not a text",
            json_type_name(other)
        )),
    }
}

fn optional_delay(place: &str, object: &Map<String, Value>) -> Result<Option<u64>, String> {
    match object.get("delay_ms") {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .filter(|delay_ms| *delay_ms <= SCRIPT_DELAY_MS_MAX)
            .map(Some)
            .ok_or_else(|| {
                format!(
                    "{place}: \u{201c}delay_ms\u{201d} is not a whole number from 0 to {SCRIPT_DELAY_MS_MAX}"
                )
            }),
    }
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read() {
        let script = Script::parse(
            r#"{"delay_ms":5,"turns":[
                {"text":"Reading.","reasoning":"Hm.","calls":[{"name":"read","arguments":{"path":"a.txt"}}]},
                {"calls":[{"name":"read","arguments":"{\"path\":"}],"delay_ms":0},
                {"text":"Done."}]}"#,
        )
        .unwrap();
        let call = |arguments: &str| ScriptCall {
            name: "read".to_owned(),
            arguments: arguments.to_owned(),
        };
        let expected = Script {
            turns: vec![
                ScriptTurn {
                    text: "Reading.".to_owned(),
                    reasoning: "Hm.".to_owned(),
                    calls: vec![call(r#"{"path":"a.txt"}"#)],
                    delay_ms: 5,
                },
                ScriptTurn {
                    calls: vec![call(r#"{"path":"#)],
                    ..ScriptTurn::default()
                },
                ScriptTurn {
                    text: "Done.".to_owned(),
                    delay_ms: 5,
                    ..ScriptTurn::default()
                },
            ],
        };
        assert_eq!(script, expected);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("{", "not JSON: EOF"),
            ("[]", "it is a list, not an object"),
            ("{}", "the member \u{201c}turns\u{201d} is missing"),
            (
                r#"{"turns":{}}"#,
                "\u{201c}turns\u{201d} is an object, not a list",
            ),
            (
                r#"{"turns":[],"seed":1}"#,
                "unknown member \u{201c}seed\u{201d}",
            ),
            (
                r#"{"turns":[{"text":"a"},7]}"#,
                "turn 2 is a number, not an object",
            ),
            (
                r#"{"turns":[{"txt":"a"}]}"#,
                "turn 1 has the unknown member \u{201c}txt\u{201d}",
            ),
            (
                r#"{"turns":[{"text":1}]}"#,
                "turn 1: \u{201c}text\u{201d} is a number",
            ),
            (
                r#"{"turns":[{"calls":{}}]}"#,
                "turn 1: \u{201c}calls\u{201d} is an object, not a list",
            ),
            (
                r#"{"turns":[{},{"calls":[{"name":"read","arguments":{}},{"arguments":{}}]}]}"#,
                "turn 2, call 2: the member \u{201c}name\u{201d} is missing",
            ),
            (
                r#"{"turns":[{"calls":[{"name":"read"}]}]}"#,
                "turn 1, call 1: the member \u{201c}arguments\u{201d} is missing",
            ),
            (
                r#"{"turns":[{"calls":[{"name":"read","arguments":[]}]}]}"#,
                "turn 1, call 1: \u{201c}arguments\u{201d} is a list, not an object",
            ),
            (
                r#"{"turns":[{"calls":[{"name":"read","arguments":{},"id":"x"}]}]}"#,
                "turn 1, call 1 has the unknown member \u{201c}id\u{201d}",
            ),
            (
                r#"{"turns":[{"delay_ms":-1}]}"#,
                "turn 1: \u{201c}delay_ms\u{201d} is not a whole number",
            ),
        ] {
            let fault = Script::parse(text).unwrap_err();
            assert!(
                fault.message.contains(named),
                "{text} gave: {}",
                fault.message
            );
            assert!(!fault.hint.is_empty());
        }
    }
}
