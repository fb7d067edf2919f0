//! `permission` of an `opencode.json`: patterns by tool, of which the last that matches wins.

use jsonc_parser::ast::Value;
use protocol::{Action, Fault};

use super::json::{member, section};
use super::spell::{self, Spelled};
use super::{Reading, Said, of, wrong};

const NAME: &str = "opencode";

/// Reads the configuration; nothing if it holds no permissions.
pub(super) fn read(text: &str) -> Result<Vec<Said>, Fault> {
    let Some((line, value)) = section(text, NAME, "permission")? else {
        return Ok(Vec::new());
    };
    let Some(tools) = value.as_object() else {
        return Ok(vec![said("*", None, action(&value, line)?, line)]);
    };
    let mut all = Vec::new();
    for prop in &tools.properties {
        let (tool, line, value) = member(text, prop);
        let Some(patterns) = value.as_object() else {
            all.push(said(&tool, None, action(value, line)?, line));
            continue;
        };
        for prop in &patterns.properties {
            let (pattern, line, value) = member(text, prop);
            all.push(said(&tool, Some(&pattern), action(value, line)?, line));
        }
    }
    Ok(all)
}

fn action(value: &Value<'_>, line: u32) -> Result<Action, Fault> {
    match value.as_string_lit().map(|text| text.value.as_ref()) {
        Some("allow") => Ok(Action::Allow),
        Some("ask") => Ok(Action::Ask),
        Some("deny") => Ok(Action::Deny),
        Some(_) | None => Err(wrong(
            NAME,
            line as usize,
            "it says neither allow nor ask nor deny",
        )),
    }
}

fn said(tool: &str, pattern: Option<&str>, action: Action, line: u32) -> Said {
    Said {
        written: match pattern {
            Some(pattern) => format!("{tool}: {pattern}"),
            None => tool.to_owned(),
        },
        line: Some(line),
        action,
        reading: reading(tool, pattern.unwrap_or("*"), action),
    }
}

fn reading(tool: &str, pattern: &str, action: Action) -> Reading {
    let everything = || match pattern {
        "*" => Spelled::Everything,
        _ => Spelled::Not("Only the tool as a whole can be taken over."),
    };
    let (permission, spelled) = match tool {
        "*" => ("*", everything()),
        "bash" => ("bash", spell::command(pattern, action)),
        "read" => ("fs.read", path(pattern, action)),
        "edit" => ("fs.write", path(pattern, action)),
        "webfetch" => ("net.fetch", everything()),
        "websearch" => ("web_search", everything()),
        "glob" | "grep" | "task" | "skill" | "question" => (tool, everything()),
        "todoread" | "todowrite" => ("todo", everything()),
        "external_directory" => {
            return Reading::Needless(
                "What lies outside the workspace is denied here, whatever rules say.".into(),
            );
        }
        "doom_loop" => {
            return Reading::Needless("A call that repeats itself asks by itself here.".into());
        }
        _ => {
            return Reading::Needless("That tool is not known here.".into());
        }
    };
    of(permission, spelled)
}

/// A path in which `*` crosses folders.
fn path(pattern: &str, action: Action) -> Spelled {
    if pattern.starts_with(['~', '/', '$']) {
        return Spelled::Not("Only paths of the workspace can be taken over.");
    }
    spell::path(pattern, action, true)
}
