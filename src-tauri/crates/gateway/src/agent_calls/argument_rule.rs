//! How one argument of another agent's tool becomes one of ours.

use serde_json::{Map, Value};
use tools::limits::COMMAND_TIMEOUT_MS_MAX;

use crate::agent_calls::places::CallPlace;

/// Rule for one argument. The first name is the agent's, the second one ours.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentRule {
    /// Any value, as it is.
    Same(&'static str, &'static str),
    /// A path.
    Path(&'static str, &'static str),
    /// The folder to look in; the agent's own if it is left out.
    SearchFolder(&'static str),
    /// A pattern for paths below the folder to look in; one that may leave it is unknown.
    Glob(&'static str),
    /// A number of lines or the number of a line, at least 1.
    Lines(&'static str, &'static str),
    /// A time limit in milliseconds.
    Timeout(&'static str),
    /// A command for the shell.
    Command(&'static str),
    /// The folder that the command runs in.
    Folder(&'static str),
    /// A list of things to do, whose items have their text under this name.
    Todos(&'static str, &'static str),
    /// Questions to the person.
    Questions(&'static str),
    /// It changes nothing about what the call may reach.
    Ignored(&'static str),
    /// It may reach more than ours does, unless it is left out, false, or one of these.
    Only(&'static str, &'static [&'static str]),
    /// A value of ours that the agent's tool has always.
    Fixed(&'static str, &'static str),
}

impl ArgumentRule {
    /// Returns the agent's name of the argument.
    pub(super) const fn theirs(&self) -> Option<&'static str> {
        match self {
            Self::Same(theirs, _)
            | Self::Path(theirs, _)
            | Self::SearchFolder(theirs)
            | Self::Glob(theirs)
            | Self::Lines(theirs, _)
            | Self::Timeout(theirs)
            | Self::Command(theirs)
            | Self::Folder(theirs)
            | Self::Todos(theirs, _)
            | Self::Questions(theirs)
            | Self::Ignored(theirs)
            | Self::Only(theirs, _) => Some(theirs),
            Self::Fixed(..) => None,
        }
    }

    /// Adds what the argument is here.
    fn apply(
        &self,
        input: &Map<String, Value>,
        place: &CallPlace<'_>,
        ours: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let value = self.theirs().and_then(|theirs| input.get(theirs));
        let value = value.filter(|value| !value.is_null());
        let added: Option<(&str, Value)> = match (self, value) {
            (Self::Fixed(name, value), _) => Some((name, (*value).into())),
            (Self::SearchFolder(_), None) => place.folder().map(|path| ("path", path.into())),
            (_, None) | (Self::Ignored(_) | Self::Folder(_), Some(_)) => None,
            (Self::Same(_, name), Some(value)) => Some((name, value.clone())),
            (Self::Path(theirs, name), Some(value)) => {
                Some((name, place.path(text(theirs, value)?)?.into()))
            }
            (Self::SearchFolder(theirs), Some(value)) => {
                Some(("path", place.path(text(theirs, value)?)?.into()))
            }
            (Self::Glob(theirs), Some(value)) => {
                Some(("pattern", pattern_below(text(theirs, value)?)?.into()))
            }
            (Self::Lines(_, name), Some(value)) => Some((name, whole_number(value))),
            (Self::Timeout(_), Some(value)) => {
                let limit = whole_number(value).as_u64();
                limit.map(|limit| ("timeout_ms", limit.min(COMMAND_TIMEOUT_MS_MAX).into()))
            }
            (Self::Command(theirs), Some(value)) => {
                Some(("command", place.command(text(theirs, value)?)?.into()))
            }
            (Self::Todos(_, content), Some(value)) => Some(("items", todo_items(value, content))),
            (Self::Questions(_), Some(value)) => Some(("questions", questions(value))),
            (Self::Only(theirs, allowed), Some(value)) => {
                let known = *value == Value::Bool(false)
                    || value.as_str().is_some_and(|one| allowed.contains(&one));
                if !known {
                    return Err(format!(
                        "`{theirs}` has a value that is not known: {value}."
                    ));
                }
                None
            }
        };
        let replaced = added.and_then(|(name, value)| ours.insert(name.to_owned(), value));
        match replaced {
            Some(_) => Err("It gives one argument under two names.".to_owned()),
            None => Ok(()),
        }
    }
}

/// Translates all arguments of a call.
///
/// # Errors
/// If an argument has no rule, or a value that its rule does not know.
pub(super) fn translate_arguments(
    input: &Map<String, Value>,
    rules: &[ArgumentRule],
    place: &CallPlace<'_>,
) -> Result<Map<String, Value>, String> {
    let is_known = |name: &str| rules.iter().any(|rule| rule.theirs() == Some(name));
    let given = input.iter().filter(|(_, value)| !value.is_null());
    if let Some((unknown, _)) = given.into_iter().find(|(name, _)| !is_known(name)) {
        return Err(format!(
            "It has an argument that is not known: `{unknown}`."
        ));
    }
    let mut ours = Map::new();
    for rule in rules {
        rule.apply(input, place, &mut ours)?;
    }
    Ok(ours)
}

/// Returns a text among the arguments, if it is there.
pub(super) fn text_member<'a>(
    input: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, String> {
    let value = input.get(name).filter(|value| !value.is_null());
    value.map(|value| text(name, value)).transpose()
}

fn text<'a>(name: &str, value: &'a Value) -> Result<&'a str, String> {
    let is_no_text = || format!("`{name}` is not a text.");
    value.as_str().ok_or_else(is_no_text)
}

/// Returns a pattern that matches only what is below the folder it is looked for in.
fn pattern_below(pattern: &str) -> Result<&str, String> {
    let leaves = pattern.starts_with(['/', '\\', '~'])
        || pattern.contains(':')
        || pattern
            .split(['/', '\\', '{', ',', '}'])
            .any(|part| part == "..");
    match leaves {
        true => Err(format!(
            "The pattern `{pattern}` may lead out of its folder."
        )),
        false => Ok(pattern),
    }
}

/// Returns a number as a whole one of at least 1; anything else as it is, to be refused by the tool.
fn whole_number(value: &Value) -> Value {
    let float = || value.as_f64().filter(|number| (0.0..9e15).contains(number));
    let whole = value
        .as_u64()
        .or_else(|| float().map(|number| number as u64));
    whole.map_or_else(|| value.clone(), |number| number.max(1).into())
}

fn todo_items(todos: &Value, content: &str) -> Value {
    let item = |todo: &Value| {
        let status = match todo.get("status").and_then(Value::as_str) {
            Some("completed" | "cancelled") => "completed",
            Some("in_progress") => "in_progress",
            Some(_) | None => "pending",
        };
        serde_json::json!({ "content": todo.get(content), "status": status })
    };
    let todos = todos.as_array().into_iter().flatten();
    todos.map(item).collect()
}

fn questions(questions: &Value) -> Value {
    let question = |question: &Value| {
        let mut ours = keep_members(question, &["question", "header"]);
        if let Some(Value::Array(options)) = question.get("options") {
            let options = options.iter();
            let options = options.map(|one| keep_members(one, &["label", "description"]).into());
            ours.insert("options".to_owned(), options.collect::<Vec<Value>>().into());
        }
        if let Some(Value::Bool(many)) = question.get("multiSelect") {
            ours.insert("multi_select".to_owned(), (*many).into());
        }
        Value::Object(ours)
    };
    let questions = questions.as_array().into_iter().flatten();
    questions.map(question).collect()
}

fn keep_members(value: &Value, names: &[&str]) -> Map<String, Value> {
    let kept = names.iter().filter_map(|name| {
        let value = value.get(name)?;
        Some(((*name).to_owned(), value.clone()))
    });
    kept.collect()
}
