//! `permissions` of a `settings.json` of Claude Code: three lists, of which deny wins over ask and ask over allow.

use jsonc_parser::ast::Value;
use protocol::{RuleAction, UserError};

use super::json::{find_section, line_at, read_member, value_start};
use super::translated_pattern::{self, TranslatedPattern};
use super::{
    ConfigOwner, ImportedPermission, Translation, parse_error, translate_pattern,
    unsupported_permission,
};

const PRODUCT: &str = "Claude Code";

/// Reads the settings; nothing if they hold no permissions.
pub(super) fn parse_settings(
    text: &str,
    whose: ConfigOwner,
) -> Result<Vec<ImportedPermission>, UserError> {
    let Some((line, value)) = find_section(text, PRODUCT, "permissions")? else {
        return Ok(Vec::new());
    };
    let Some(permissions) = value.as_object() else {
        return Err(parse_error(
            PRODUCT,
            line as usize,
            "`permissions` is not an object",
        ));
    };
    let mut imported = Vec::new();
    for prop in &permissions.properties {
        let (name, line, value) = read_member(text, prop);
        let action = match name.as_str() {
            "allow" => RuleAction::Allow,
            "ask" => RuleAction::Ask,
            "deny" => RuleAction::Deny,
            _ => {
                imported.push(ImportedPermission {
                    written: name,
                    line: Some(line),
                    action: RuleAction::Allow,
                    reading: Translation::Unneeded(
                        "It is not a permission, and is not taken over.".into(),
                    ),
                });
                continue;
            }
        };
        let Some(list) = value.as_array() else {
            return Err(parse_error(
                PRODUCT,
                line as usize,
                &format!("`{name}` is not a list"),
            ));
        };
        for element in &list.elements {
            imported.push(parse_permission(text, element, action, whose)?);
        }
    }
    Ok(imported)
}

fn parse_permission(
    text: &str,
    value: &Value<'_>,
    action: RuleAction,
    whose: ConfigOwner,
) -> Result<ImportedPermission, UserError> {
    let line = line_at(text, value_start(value));
    let Some(written) = value.as_string_lit() else {
        return Err(parse_error(
            PRODUCT,
            line as usize,
            "a permission is a text",
        ));
    };
    let written = written.value.to_string();
    let (tool, specifier) = match written.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (written.as_str(), None),
    };
    let is_whole = specifier.is_some() || !written.contains('(');
    let reading = match is_whole {
        true => translate_permission(tool.trim(), specifier, action, whose),
        false => unsupported_permission(None, "Its bracket is not closed."),
    };
    Ok(ImportedPermission {
        written,
        line: Some(line),
        action,
        reading,
    })
}

fn translate_permission(
    tool: &str,
    specifier: Option<&str>,
    action: RuleAction,
    whose: ConfigOwner,
) -> Translation {
    match tool {
        "Bash" => translate_pattern(
            "bash",
            translated_pattern::translate_command(specifier.unwrap_or("*"), action),
        ),
        "Read" => translate_path("fs.read", specifier, action, whose),
        "Edit" => translate_path("fs.write", specifier, action, whose),
        // There only `EditTool` has a say over which files are written.
        "Write" | "MultiEdit" | "NotebookEdit"
            if specifier.is_some() && action == RuleAction::Allow =>
        {
            unsupported_permission(Some("fs.write"), "It has no effect there: `Edit(…)` has.")
        }
        "Write" | "MultiEdit" | "NotebookEdit" => {
            translate_path("fs.write", specifier, action, whose)
        }
        "WebFetch" => translate_host(specifier),
        "WebSearch" => translate_tool("web_search", specifier),
        "Glob" => translate_tool("glob", specifier),
        "Grep" => translate_tool("grep", specifier),
        "Task" | "Agent" => translate_tool("task", specifier),
        "Skill" => translate_tool("skill", specifier),
        "TodoWrite" => translate_tool("todo", specifier),
        "AskUserQuestion" => Translation::Unneeded("A question is always yours to answer.".into()),
        _ => match tool.strip_prefix("mcp__") {
            Some(name) => translate_server_tool(name, specifier),
            None => Translation::Unneeded("That tool is not known here.".into()),
        },
    }
}

/// A path as in a `.gitignore`, with beginnings of its own: `//` the disk, `~` the home folder, `/` the file's own place.
fn translate_path(
    permission: &str,
    specifier: Option<&str>,
    action: RuleAction,
    whose: ConfigOwner,
) -> Translation {
    let text = specifier.unwrap_or("**");
    if text.starts_with("//") || text.starts_with('~') {
        return Translation::Unneeded(
            "What lies outside the workspace is denied here, whatever rules say.".into(),
        );
    }
    let text = match (text.strip_prefix('/'), whose) {
        (None, _) => text,
        (Some(rest), ConfigOwner::Project) => rest,
        (Some(_), ConfigOwner::Person) => {
            return Translation::Unneeded("It is about the folder of that file itself.".into());
        }
    };
    translate_pattern(
        permission,
        translated_pattern::translate_path_pattern(text, action, false),
    )
}

fn translate_host(specifier: Option<&str>) -> Translation {
    match specifier.map(|text| text.strip_prefix("domain:")) {
        None => translate_pattern("net.fetch", TranslatedPattern::Everything),
        Some(Some(host))
            if translated_pattern::is_plain_word(&host.replacen("*.", "", 1))
                && !host.contains('/') =>
        {
            translate_pattern("net.fetch", TranslatedPattern::Pattern(host.to_owned(), ""))
        }
        Some(_) => unsupported_permission(
            Some("net.fetch"),
            "Only `domain:` and a host can be taken over.",
        ),
    }
}

fn translate_tool(tool: &str, specifier: Option<&str>) -> Translation {
    match specifier {
        None => translate_pattern(tool, TranslatedPattern::Everything),
        Some(_) => {
            unsupported_permission(Some(tool), "Only the tool as a whole can be taken over.")
        }
    }
}

/// `mcp__server__tool`, or all tools of a server.
fn translate_server_tool(name: &str, specifier: Option<&str>) -> Translation {
    let (server, tool) = match name.split_once("__") {
        Some((server, tool)) => (server, tool),
        None => (name, "*"),
    };
    let is_known = !server.is_empty()
        && translated_pattern::is_plain_word(server)
        && translated_pattern::is_plain_word(tool);
    match (tool, specifier) {
        ("*", None) if translated_pattern::is_plain_word(server) && !server.is_empty() => {
            translate_pattern(&format!("{server}__*"), TranslatedPattern::Everything)
        }
        (tool, None) if is_known => {
            translate_pattern(&format!("{server}__{tool}"), TranslatedPattern::Everything)
        }
        _ => unsupported_permission(None, "Only a server, or one tool of it, can be taken over."),
    }
}
