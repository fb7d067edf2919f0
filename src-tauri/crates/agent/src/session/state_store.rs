//! A session's state: outputs stored for later calls to read (`S004-12`, `S004-13`, `S004-48`).
//!
//! A call writes with `_outputPath`, or because its tool says so, and reads with `{"_state": "report.title"}` in place
//! of any argument. With `_instance` it writes only the state of that instance, and reads from there before the state
//! that all instances share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::ToolError;
use protocol::event::StateLocation;
use serde_json::{Map, Value};
use tools::custom::StatePath;
use tools::custom::definition::{INSTANCE, OUTPUT_PATH};
use tools::limits::INSTANCE_CHARS_MAX;

use crate::session::Session;

/// Member of an object that refers to a path in the state.
pub(crate) const STATE_REFERENCE: &str = "_state";

/// Values that the calls of a session wrote, by instance; `None` is the state that all instances share.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateStore(BTreeMap<Option<String>, Map<String, Value>>);

impl StateStore {
    /// Returns the initial state of a session: the state of each instance of its request (`S004-13`).
    pub fn new(instances: &Map<String, Value>) -> Self {
        let states = instances.iter().filter_map(|(name, state)| {
            let state = state.as_object()?;
            Some((Some(name.clone()), state.clone()))
        });
        Self(states.collect())
    }

    /// Writes a value to its path, and replaces any earlier one.
    pub fn write(&mut self, place: &StateLocation, value: Value) {
        let mut at = self.0.entry(place.instance.clone()).or_default();
        let mut names = place.path.split('.').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                at.insert(name.to_owned(), value);
                return;
            }
            let below = at.entry(name).or_insert(Value::Null);
            if !below.is_object() {
                *below = Value::Object(Map::new());
            }
            let Value::Object(below) = below else { return };
            at = below;
        }
    }

    /// Returns the value at a path: the instance's own, or else the shared one.
    pub fn read(&self, path: &StatePath, instance: Option<&str>) -> Option<&Value> {
        let own = instance.map(|name| Some(name.to_owned()));
        [own, Some(None)].into_iter().flatten().find_map(|whose| {
            let mut names = path.names();
            let first = self.0.get(&whose)?.get(names.next()?)?;
            names.try_fold(first, |at, name| at.get(name))
        })
    }

    pub fn size_bytes(&self) -> usize {
        let whose = |state: &Map<String, Value>| {
            serde_json::to_string(state).map_or(usize::MAX, |text| text.len())
        };
        self.0.values().map(whose).sum()
    }

    fn list_names(&self) -> String {
        let names: Vec<String> = self
            .0
            .values()
            .flat_map(Map::keys)
            .map(|name| format!("`{name}`"))
            .collect();
        match names.is_empty() {
            true => "Nothing was written yet.".to_owned(),
            false => format!("There is {}.", names.join(", ")),
        }
    }
}

/// Arguments of a call about how it is carried out (`S004-20`).
#[derive(Debug, Default, PartialEq)]
pub(crate) struct StateArguments {
    pub path: Option<StatePath>,
    pub instance: Option<String>,
}

/// Reads `_outputPath` and `_instance`. `fixed` is the path that the tool itself names.
pub(crate) fn parse_state_arguments(
    arguments: &Map<String, Value>,
    fixed: Option<&str>,
) -> Result<StateArguments, ToolError> {
    let invalid = |why: String| Err(ToolError::InvalidArgs(why));
    let output_path = match arguments.get(OUTPUT_PATH) {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) => Some(path.as_str()),
        Some(_) => return invalid(format!("`{OUTPUT_PATH}` must be a text")),
    };
    if let (Some(output_path), Some(fixed)) = (output_path, fixed)
        && output_path != fixed
    {
        return invalid(format!("`{OUTPUT_PATH}` of this tool is always `{fixed}`"));
    }
    let path = output_path.or(fixed).map(StatePath::parse).transpose();
    let instance = match arguments.get(INSTANCE) {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Number(number)) if number.is_u64() => Some(number.to_string()),
        Some(_) => return invalid(format!("`{INSTANCE}` must be a text or a whole number")),
    };
    match &instance {
        Some(name) if name.is_empty() || name.chars().count() > INSTANCE_CHARS_MAX => invalid(
            format!("`{INSTANCE}` must have 1 to {INSTANCE_CHARS_MAX} characters"),
        ),
        _ => Ok(StateArguments {
            path: path.map_err(ToolError::InvalidArgs)?,
            instance,
        }),
    }
}

/// Whether a call reads or writes the state: such a call runs in order, and never in parallel with others.
pub(crate) fn uses_state(arguments: &Map<String, Value>, fixed: Option<&str>) -> bool {
    fn has_reference(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                parse_reference(members).is_some() || members.values().any(has_reference)
            }
            Value::Array(items) => items.iter().any(has_reference),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    fixed.is_some() || arguments.contains_key(OUTPUT_PATH) || arguments.values().any(has_reference)
}

/// Returns the path that an object refers to: exactly `{"_state": "…"}`.
fn parse_reference(members: &Map<String, Value>) -> Option<&str> {
    match members.get(STATE_REFERENCE) {
        Some(Value::String(path)) if members.len() == 1 => Some(path),
        _ => None,
    }
}

/// Returns the arguments with every reference replaced by its value in the state. This happens before validation, so
/// the values must fit the schema like any other.
pub(crate) fn resolve_references<'a>(
    session: &Session,
    arguments: &'a Map<String, Value>,
    fixed: Option<&str>,
) -> Result<Cow<'a, Map<String, Value>>, ToolError> {
    let meta = parse_state_arguments(arguments, fixed)?;
    check_instance(session, meta.instance.as_deref())?;
    if !uses_state(arguments, None) {
        return Ok(Cow::Borrowed(arguments));
    }
    session.with_conversation(|conversation| {
        let state = &conversation.state;
        let mut resolved = arguments.clone();
        for value in resolved.values_mut() {
            replace_references(value, state, meta.instance.as_deref())?;
        }
        Ok(Cow::Owned(resolved))
    })
}

/// Checks that a call is for one of the instances that the request names, or for all (`S004-13`).
fn check_instance(session: &Session, instance: Option<&str>) -> Result<(), ToolError> {
    let Some(name) = instance else { return Ok(()) };
    session.with_conversation(|conversation| {
        let known = &conversation.options.instances;
        if known.is_empty() || known.contains_key(name) {
            return Ok(());
        }
        let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
        Err(ToolError::InvalidArgs(format!(
            "this request has no instance `{name}`. It has {}.",
            names.join(", ")
        )))
    })
}

fn replace_references(
    value: &mut Value,
    state: &StateStore,
    instance: Option<&str>,
) -> Result<(), ToolError> {
    if let Value::Object(members) = value
        && let Some(text) = parse_reference(members)
    {
        let path = StatePath::parse(text).map_err(ToolError::InvalidArgs)?;
        let Some(found) = state.read(&path, instance) else {
            return Err(ToolError::InvalidArgs(format!(
                "nothing stands at `{path}` in the state. {}",
                state.list_names()
            )));
        };
        *value = found.clone();
        return Ok(());
    }
    match value {
        Value::Object(members) => members
            .values_mut()
            .try_for_each(|member| replace_references(member, state, instance)),
        Value::Array(items) => items
            .iter_mut()
            .try_for_each(|item| replace_references(item, state, instance)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(path: &str, instance: Option<&str>) -> StateLocation {
        StateLocation {
            path: path.to_owned(),
            instance: instance.map(str::to_owned),
        }
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    /// `S004-12`, `S004-13`: what one instance writes no other reads; what all share every instance reads.
    #[test]
    fn state_is_written_and_read_by_instance() {
        let mut state = StateStore::default();
        state.write(&place("report.title", None), json!("Shared"));
        state.write(&place("report.title", Some("2")), json!("Own"));
        state.write(&place("report.size", None), json!(3));
        let read = |path, instance| {
            state
                .read(&StatePath::parse(path).unwrap(), instance)
                .cloned()
        };
        for (path, instance, value) in [
            ("report.title", None, Some(json!("Shared"))),
            ("report.title", Some("2"), Some(json!("Own"))),
            ("report.title", Some("3"), Some(json!("Shared"))),
            ("report.size", Some("2"), Some(json!(3))),
            (
                "report",
                None,
                Some(json!({ "title": "Shared", "size": 3 })),
            ),
            ("report.title.x", None, None),
            ("nothing", None, None),
        ] {
            assert_eq!(read(path, instance), value, "{path} {instance:?}");
        }
        state.write(&place("report", None), json!(1));
        state.write(&place("report.new", None), json!(2));
        assert_eq!(
            state.read(&StatePath::parse("report").unwrap(), None),
            Some(&json!({ "new": 2 }))
        );
    }

    #[test]
    fn references_are_replaced_wherever_they_stand() {
        let mut state = StateStore::default();
        state.write(&place("a", None), json!([1, 2]));
        let mut value = json!({ "x": { "_state": "a" }, "y": [{ "_state": "a" }], "z": { "_state": "a", "more": 1 } });
        replace_references(&mut value, &state, None).unwrap();
        assert_eq!(
            value,
            json!({ "x": [1, 2], "y": [[1, 2]], "z": { "_state": "a", "more": 1 } })
        );
        for (reference, told) in [
            ("b", "nothing stands at `b` in the state. There is `a`."),
            ("a b", "`a b` is not a place in the state"),
        ] {
            let mut value = json!({ "_state": reference });
            let error = replace_references(&mut value, &state, None)
                .unwrap_err()
                .to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_a_call_says_of_its_state_is_checked() {
        for (given, fixed, meta_is) in [
            (json!({}), None, Ok((None, None))),
            (
                json!({ "_outputPath": "a.b", "_instance": 2 }),
                None,
                Ok((Some("a.b"), Some("2"))),
            ),
            (
                json!({ "_outputPath": "a" }),
                Some("a"),
                Ok((Some("a"), None)),
            ),
            (json!({}), Some("a"), Ok((Some("a"), None))),
            (json!({ "_outputPath": "b" }), Some("a"), Err("always `a`")),
            (
                json!({ "_outputPath": 1 }),
                None,
                Err("`_outputPath` must be a text"),
            ),
            (
                json!({ "_outputPath": "a..b" }),
                None,
                Err("is not a place in the state"),
            ),
            (
                json!({ "_instance": {} }),
                None,
                Err("`_instance` must be a text"),
            ),
            (json!({ "_instance": "" }), None, Err("1 to 64 characters")),
        ] {
            let given = object(given);
            match (parse_state_arguments(&given, fixed), meta_is) {
                (Ok(meta), Ok((path, instance))) => {
                    let is = (
                        meta.path.as_ref().map(StatePath::as_str),
                        meta.instance.as_deref(),
                    );
                    assert_eq!(is, (path, instance));
                }
                (Err(error), Err(told)) => assert!(error.to_string().contains(told), "{error}"),
                (is, expected) => panic!("{given:?} gave {is:?}, not {expected:?}"),
            }
        }
        let reads = object(json!({ "x": [{ "_state": "a" }] }));
        assert!(uses_state(&reads, None) && !uses_state(&object(json!({ "x": {} })), None));
    }
}
