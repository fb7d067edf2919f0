//! Calls that a table of names cannot translate.

use serde_json::{Map, Value, json};

use crate::agent_calls::argument_rule::ArgumentRule::{
    self, Command, Folder, Ignored, Only, Path, Same, Timeout,
};
use crate::agent_calls::argument_rule::{text_member, translate_arguments};
use crate::agent_calls::places::CallPlace;
use crate::agent_calls::{AgentCall, OwnCall};

/// What a special call is here.
type Translation = Result<Vec<OwnCall>, String>;

/// Arguments of an edit in all agents.
const EDIT: [ArgumentRule; 11] = [
    Path("file_path", "path"),
    Path("filePath", "path"),
    Same("old_string", "old_string"),
    Same("oldString", "old_string"),
    Same("new_string", "new_string"),
    Same("newString", "new_string"),
    Same("replace_all", "replace_all"),
    Same("replaceAll", "replace_all"),
    Same("allow_multiple", "replace_all"),
    Ignored("instruction"),
    Ignored("expected_replacements"),
];

/// Arguments of Codex's tools that run a program.
const PROCESS: [ArgumentRule; 16] = [
    Command("cmd"),
    Command("command"),
    Folder("workdir"),
    Folder("working_directory"),
    Timeout("timeout_ms"),
    Timeout("timeout"),
    Ignored("justification"),
    Ignored("login"),
    Ignored("max_output_tokens"),
    Ignored("prefix_rule"),
    Ignored("sandbox_permissions"),
    Ignored("with_escalated_permissions"),
    Ignored("tty"),
    Ignored("yield_time_ms"),
    Only("shell", &SHELLS),
    Only("type", &["exec"]),
];

/// Programs that are given a command after one of the options below.
const SHELLS: [&str; 7] = [
    "bash",
    "/bin/bash",
    "/usr/bin/bash",
    "sh",
    "/bin/sh",
    "zsh",
    "/bin/zsh",
];
/// Options before a command.
const SHELL_OPTIONS: [&str; 2] = ["-c", "-lc"];

/// An edit. One that replaces nothing writes the file.
pub(super) fn translate_edit(call: &AgentCall<'_>) -> Translation {
    let place = CallPlace::of_call(call, &EDIT)?;
    let mut arguments = translate_arguments(call.input, &EDIT, &place)?;
    if arguments.get("old_string") != Some(&json!("")) {
        return Ok(vec![own_call("edit", arguments)]);
    }
    arguments.remove("old_string");
    arguments.remove("replace_all");
    let content = arguments.remove("new_string").unwrap_or_default();
    arguments.insert("content".to_owned(), content);
    Ok(vec![own_call("write", arguments)])
}

/// Several edits of one file, one after the other.
pub(super) fn translate_edits(call: &AgentCall<'_>) -> Translation {
    let mut input = call.input.clone();
    let Some(Value::Array(edits)) = input.remove("edits") else {
        return Err("`edits` is not a list.".to_owned());
    };
    let mut calls = Vec::new();
    for edit in edits {
        let Value::Object(edit) = edit else {
            return Err("An edit is not an object.".to_owned());
        };
        let mut input = input.clone();
        input.extend(edit);
        calls.extend(translate_edit(&AgentCall {
            input: &input,
            ..*call
        })?);
    }
    match calls.is_empty() {
        true => Err("There are no edits.".to_owned()),
        false => Ok(calls),
    }
}

/// Gemini CLI's `read_file`: it names the first and the last line.
pub(super) fn translate_line_range(call: &AgentCall<'_>) -> Translation {
    const RULES: [ArgumentRule; 6] = [
        Path("file_path", "path"),
        Path("absolute_path", "path"),
        ArgumentRule::Lines("start_line", "offset"),
        ArgumentRule::Lines("limit", "limit"),
        ArgumentRule::Lines("offset", "offset"),
        Ignored("end_line"),
    ];
    let place = CallPlace::of_call(call, &RULES)?;
    let mut arguments = translate_arguments(call.input, &RULES, &place)?;
    if let Some(end) = call.input.get("end_line").and_then(Value::as_u64) {
        let start = arguments.get("offset").and_then(Value::as_u64).unwrap_or(1);
        let lines = (end + 1).saturating_sub(start).max(1);
        arguments.insert("limit".to_owned(), lines.into());
    }
    Ok(vec![own_call("read", arguments)])
}

/// Gemini CLI's `web_fetch`: the addresses stand in a prompt.
pub(super) fn translate_fetch_prompt(call: &AgentCall<'_>) -> Translation {
    let known = ["prompt", "url"];
    if let Some(name) = call
        .input
        .keys()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(format!("It has an argument that is not known: `{name}`."));
    }
    let mut calls = Vec::new();
    for name in known {
        let text = text_member(call.input, name)?.unwrap_or_default();
        let urls = text.split_whitespace().filter(|word| word.contains("://"));
        calls.extend(urls.map(|url| own_call("web_fetch", members([("url", url.into())]))));
    }
    match calls.is_empty() {
        true => Err("It names no address.".to_owned()),
        false => Ok(calls),
    }
}

/// Codex's `exec_command`, `shell`, `shell_command` and `local_shell`: a command, or the words of one.
pub(super) fn translate_process(call: &AgentCall<'_>) -> Translation {
    let names = ["cmd", "command"]
        .iter()
        .filter(|name| call.input.contains_key(**name));
    let names: Vec<&str> = names.copied().collect();
    let [name] = names.as_slice() else {
        return Err("It does not name one command.".to_owned());
    };
    let mut input = call.input.clone();
    if let Some(Value::Array(words)) = input.get(*name) {
        let command = join_words(words)?;
        input.insert((*name).to_owned(), command.into());
    }
    let place = CallPlace::of_call(call, &PROCESS)?;
    let arguments = translate_arguments(&input, &PROCESS, &place)?;
    let command = text_member(&input, name)?.unwrap_or_default();
    match patch_in_command(command) {
        Some(patch) => Ok(vec![patch_call(&patch, &place)?]),
        None => Ok(vec![own_call("bash", arguments)]),
    }
}

/// A patch under one of its names.
pub(super) fn translate_patch(call: &AgentCall<'_>) -> Translation {
    let place = CallPlace::of_call(call, &[])?;
    let mut texts = call.input.iter();
    match (texts.next(), texts.next()) {
        (Some((name, Value::String(patch))), None)
            if matches!(name.as_str(), "input" | "patch" | "patchText" | "command") =>
        {
            Ok(vec![patch_call(patch, &place)?])
        }
        _ => Err("It is not one patch.".to_owned()),
    }
}

/// Returns the command of a list of words: that of a shell, or the words as one would type them.
fn join_words(words: &[Value]) -> Result<String, String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    match words.as_deref() {
        None | Some([]) => Err("Its command is not a list of words.".to_owned()),
        Some([shell, option, command])
            if SHELLS.contains(shell) && SHELL_OPTIONS.contains(option) =>
        {
            Ok((*command).to_owned())
        }
        Some(words) => shlex::try_join(words.iter().copied()).map_err(|error| error.to_string()),
    }
}

/// Returns the patch of a line that does nothing but apply it: Codex carries out such a line itself.
fn patch_in_command(command: &str) -> Option<String> {
    let rest = command
        .trim()
        .strip_prefix("apply_patch")?
        .trim_start_matches(' ');
    if let Some(rest) = rest.strip_prefix("<<") {
        // In quotes, so that the shell changes nothing in the text.
        let (word, rest) = rest.split_once('\n')?;
        let mark = word.strip_prefix('\'')?.strip_suffix('\'')?;
        let patch = rest.strip_suffix(mark)?.strip_suffix('\n')?;
        let ends_early = patch.lines().any(|line| line == mark);
        return (!ends_early).then(|| patch.to_owned());
    }
    match shlex::split(rest)?.as_slice() {
        [patch] if rest.starts_with('\'') => Some(patch.clone()),
        _ => None,
    }
}

/// Builds the call of a patch whose paths are relative to the agent's folder.
fn patch_call(patch: &str, place: &CallPlace<'_>) -> Result<OwnCall, String> {
    const HEADS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    if !patch.trim_start().starts_with("*** Begin Patch") {
        return Err("Its patch does not begin as one.".to_owned());
    }
    let mut lines = Vec::new();
    for line in patch.split('\n') {
        let head = HEADS
            .iter()
            .find(|head| line.trim_start().starts_with(**head));
        lines.push(match head {
            Some(head) => match line.strip_prefix(head) {
                Some(path) => format!("{head}{}", place.path(path.trim())?),
                // Some agents take it for a file's part and we would not.
                None => return Err("A file's part of its patch does not begin a line.".to_owned()),
            },
            None => line.to_owned(),
        });
    }
    let patch = lines.join("\n");
    Ok(own_call("apply_patch", members([("patch", patch.into())])))
}

fn own_call(tool: &str, arguments: Map<String, Value>) -> OwnCall {
    OwnCall {
        tool: tool.to_owned(),
        arguments,
    }
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
