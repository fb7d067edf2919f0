//! The text of an agent's configuration with our hooks, and without them.
//!
//! An edit of text is not trusted: the result is read again, and must say exactly what it should.

use serde_json::{Value, json};

use super::agents::{ConfigFormat, ConnectableAgent};
use super::edit_error::EditError;
use super::hook_command::HookTarget;
use super::hook_entries::{HOOKS, PathStep, entries_for, paths_of_own_hooks, remove_value};
use super::json_layout::{INDENT, format_json};
use super::json_text::{append_json_hook, parse_json, remove_json_part};
use super::plugin;
use super::toml_text::{append_toml_hook, parse_toml, remove_toml_part};

/// Mark that some editors begin a file with.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A configuration without our hooks.
#[derive(Debug, PartialEq)]
pub(super) struct BareConfig {
    /// The text.
    pub(super) text: String,
    /// Whether nothing else is left in it than a new file begins with.
    pub(super) is_empty: bool,
}

/// Reads a configuration; an empty one is an empty object.
pub(super) fn parse_config(agent: &ConnectableAgent, text: &str) -> Result<Value, EditError> {
    let (_, body) = split_mark(text);
    match agent.format {
        ConfigFormat::Json => Ok(parse_json(body)?.unwrap_or_else(|| json!({}))),
        ConfigFormat::Toml => parse_toml(body),
        ConfigFormat::Plugin => Ok(Value::Null),
    }
}

/// Returns a configuration, which has none of our hooks, with those that call a program.
pub(super) fn add_hooks(
    agent: &ConnectableAgent,
    text: &str,
    target: &HookTarget,
) -> Result<String, EditError> {
    let unfit = || EditError::UnknownForm(target.program.display().to_string());
    if agent.format == ConfigFormat::Plugin {
        return match text.is_empty() {
            true => plugin::format_plugin(target, agent).ok_or_else(unfit),
            false => Err(EditError::Foreign),
        };
    }
    let (mark, body) = split_mark(text);
    let mut edited = start_text(agent, body)?;
    let mut expected = parse_config(agent, &edited)?;
    for (event, entry) in entries_for(agent, target).ok_or_else(unfit)? {
        edited = match agent.format {
            ConfigFormat::Toml => append_toml_hook(&edited, &event, &entry)?,
            ConfigFormat::Json | ConfigFormat::Plugin => append_json_hook(&edited, &event, &entry)?,
        };
        append_value(&mut expected, &event, entry);
    }
    check_meaning(agent, &edited, &expected)?;
    Ok(format!("{mark}{edited}"))
}

/// Returns a configuration without our hooks. `before` is what it was when they came into it: what is empty without them
/// goes too, unless it was there before.
pub(super) fn remove_hooks(
    agent: &ConnectableAgent,
    text: &str,
    before: Option<&str>,
) -> Result<BareConfig, EditError> {
    if agent.format == ConfigFormat::Plugin {
        let is_empty = plugin::parse_target(text, agent).is_some();
        let text = if is_empty { "" } else { text }.to_owned();
        return Ok(BareConfig { text, is_empty });
    }
    let before = before
        .map(|before| parse_config(agent, before))
        .transpose()?;
    let (mark, body) = split_mark(text);
    let mut edited = body.to_owned();
    let mut expected = parse_config(agent, body)?;
    for path in paths_of_own_hooks(&expected, before.as_ref(), agent) {
        edited = remove_part(agent, &edited, &path)?;
        remove_value(&mut expected, &path);
    }
    check_meaning(agent, &edited, &expected)?;
    Ok(BareConfig {
        text: format!("{mark}{edited}"),
        is_empty: expected == Value::Object(agent.start.clone()),
    })
}

/// Returns the mark that a text begins with, if it does, and the text behind it.
pub(super) fn split_mark(text: &str) -> (&'static str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    }
}

/// Returns a text that hooks can be put into: where it has no value yet, what a new file begins with is added.
fn start_text(agent: &ConnectableAgent, text: &str) -> Result<String, EditError> {
    if agent.format != ConfigFormat::Json || parse_json(text)?.is_some() {
        return Ok(text.to_owned());
    }
    let start = format_json(&Value::Object(agent.start.clone()), INDENT);
    Ok(format!("{text}{start}\n"))
}

fn append_value(config: &mut Value, event: &str, entry: Value) {
    let hooks = config
        .as_object_mut()
        .map(|config| config.entry(HOOKS).or_insert_with(|| json!({})));
    let events = hooks.and_then(Value::as_object_mut);
    let list = events.map(|events| events.entry(event).or_insert_with(|| json!([])));
    if let Some(Value::Array(entries)) = list {
        entries.push(entry);
    }
}

fn remove_part(
    agent: &ConnectableAgent,
    text: &str,
    path: &[PathStep],
) -> Result<String, EditError> {
    match agent.format {
        ConfigFormat::Toml => remove_toml_part(text, path),
        ConfigFormat::Json | ConfigFormat::Plugin => remove_json_part(text, path),
    }
}

fn check_meaning(agent: &ConnectableAgent, text: &str, expected: &Value) -> Result<(), EditError> {
    match parse_config(agent, text)? == *expected {
        true => Ok(()),
        false => Err(EditError::Inexact),
    }
}
