//! `permissions` of a `settings.json` of Claude Code: three lists, of which deny wins over ask and ask over allow.

use jsonc_parser::ast::Value;
use protocol::{Action, Fault};

use super::json::{line_of, member, section, start};
use super::spell::{self, Spelled};
use super::{Reading, Said, Whose, of, unsayable, wrong};

const NAME: &str = "Claude Code";

/// Reads the settings; nothing if they hold no permissions.
pub(super) fn read(text: &str, whose: Whose) -> Result<Vec<Said>, Fault> {
    let Some((line, value)) = section(text, NAME, "permissions")? else {
        return Ok(Vec::new());
    };
    let Some(permissions) = value.as_object() else {
        return Err(wrong(NAME, line as usize, "`permissions` is no object"));
    };
    let mut said = Vec::new();
    for prop in &permissions.properties {
        let (name, line, value) = member(text, prop);
        let action = match name.as_str() {
            "allow" => Action::Allow,
            "ask" => Action::Ask,
            "deny" => Action::Deny,
            _ => {
                said.push(Said {
                    written: name,
                    line: Some(line),
                    action: Action::Allow,
                    reading: Reading::Needless(
                        "It is no permission, and is not taken over.".into(),
                    ),
                });
                continue;
            }
        };
        let Some(list) = value.as_array() else {
            return Err(wrong(NAME, line as usize, &format!("`{name}` is no list")));
        };
        for element in &list.elements {
            said.push(permission(text, element, action, whose)?);
        }
    }
    Ok(said)
}

fn permission(text: &str, value: &Value<'_>, action: Action, whose: Whose) -> Result<Said, Fault> {
    let line = line_of(text, start(value));
    let Some(written) = value.as_string_lit() else {
        return Err(wrong(NAME, line as usize, "a permission is a text"));
    };
    let written = written.value.to_string();
    let (tool, specifier) = match written.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (written.as_str(), None),
    };
    let is_whole = specifier.is_some() || !written.contains('(');
    let reading = match is_whole {
        true => reading(tool.trim(), specifier, action, whose),
        false => unsayable(None, "Its bracket is not closed."),
    };
    Ok(Said {
        written,
        line: Some(line),
        action,
        reading,
    })
}

fn reading(tool: &str, specifier: Option<&str>, action: Action, whose: Whose) -> Reading {
    match tool {
        "Bash" => of("bash", spell::command(specifier.unwrap_or("*"), action)),
        "Read" => path("fs.read", specifier, action, whose),
        "Edit" => path("fs.write", specifier, action, whose),
        // There only `Edit` has a say over which files are written.
        "Write" | "MultiEdit" | "NotebookEdit"
            if specifier.is_some() && action == Action::Allow =>
        {
            unsayable(Some("fs.write"), "It has no effect there: `Edit(…)` has.")
        }
        "Write" | "MultiEdit" | "NotebookEdit" => path("fs.write", specifier, action, whose),
        "WebFetch" => host(specifier),
        "WebSearch" => plain("web_search", specifier),
        "Glob" => plain("glob", specifier),
        "Grep" => plain("grep", specifier),
        "Task" | "Agent" => plain("task", specifier),
        "Skill" => plain("skill", specifier),
        "TodoWrite" => plain("todo", specifier),
        "AskUserQuestion" => Reading::Needless("A question is always yours to answer.".into()),
        _ => match tool.strip_prefix("mcp__") {
            Some(name) => of_server(name, specifier),
            None => Reading::Needless("That tool is not known here.".into()),
        },
    }
}

/// A path as in a `.gitignore`, with beginnings of its own: `//` the disk, `~` the home folder, `/` the file's own place.
fn path(permission: &str, specifier: Option<&str>, action: Action, whose: Whose) -> Reading {
    let text = specifier.unwrap_or("**");
    if text.starts_with("//") || text.starts_with('~') {
        return Reading::Needless(
            "What lies outside the workspace is denied here, whatever rules say.".into(),
        );
    }
    let text = match (text.strip_prefix('/'), whose) {
        (None, _) => text,
        (Some(rest), Whose::Project) => rest,
        (Some(_), Whose::Person) => {
            return Reading::Needless("It is about the folder of that file itself.".into());
        }
    };
    of(permission, spell::path(text, action, false))
}

fn host(specifier: Option<&str>) -> Reading {
    match specifier.map(|text| text.strip_prefix("domain:")) {
        None => of("net.fetch", Spelled::Everything),
        Some(Some(host)) if spell::is_plain(&host.replacen("*.", "", 1)) && !host.contains('/') => {
            of("net.fetch", Spelled::As(host.to_owned(), ""))
        }
        Some(_) => unsayable(
            Some("net.fetch"),
            "Only `domain:` and a host can be taken over.",
        ),
    }
}

fn plain(tool: &str, specifier: Option<&str>) -> Reading {
    match specifier {
        None => of(tool, Spelled::Everything),
        Some(_) => unsayable(Some(tool), "Only the tool as a whole can be taken over."),
    }
}

/// `mcp__server__tool`, or all tools of a server.
fn of_server(name: &str, specifier: Option<&str>) -> Reading {
    let (server, tool) = match name.split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (name, "*"),
    };
    let is_known = !server.is_empty() && spell::is_plain(server) && spell::is_plain(tool);
    match (tool, specifier) {
        ("*", None) if spell::is_plain(server) && !server.is_empty() => {
            of(&format!("{server}__*"), Spelled::Everything)
        }
        (tool, None) if is_known => of(&format!("{server}__{tool}"), Spelled::Everything),
        _ => unsayable(None, "Only a server, or one tool of it, can be taken over."),
    }
}
