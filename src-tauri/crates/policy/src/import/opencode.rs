//! `permission` of an `opencode.json`: patterns by tool, of which the last that matches wins.

use jsonc_parser::ast::Value;
use protocol::{RuleAction, UserError};

use super::json::{find_section, read_member};
use super::translated_pattern::{self, TranslatedPattern};
use super::{ImportedPermission, Translation, parse_error, translate_pattern};

const PRODUCT: &str = "opencode";

/// Reads the configuration; nothing if it holds no permissions.
pub(super) fn parse_config(text: &str) -> Result<Vec<ImportedPermission>, UserError> {
    let Some((line, value)) = find_section(text, PRODUCT, "permission")? else {
        return Ok(Vec::new());
    };
    let Some(tools) = value.as_object() else {
        return Ok(vec![build_permission(
            "*",
            None,
            parse_action(&value, line)?,
            line,
        )]);
    };
    let mut all = Vec::new();
    for prop in &tools.properties {
        let (tool, line, value) = read_member(text, prop);
        let Some(patterns) = value.as_object() else {
            all.push(build_permission(
                &tool,
                None,
                parse_action(value, line)?,
                line,
            ));
            continue;
        };
        for prop in &patterns.properties {
            let (pattern, line, value) = read_member(text, prop);
            all.push(build_permission(
                &tool,
                Some(&pattern),
                parse_action(value, line)?,
                line,
            ));
        }
    }
    Ok(all)
}

fn parse_action(value: &Value<'_>, line: u32) -> Result<RuleAction, UserError> {
    match value.as_string_lit().map(|text| text.value.as_ref()) {
        Some("allow") => Ok(RuleAction::Allow),
        Some("ask") => Ok(RuleAction::Ask),
        Some("deny") => Ok(RuleAction::Deny),
        Some(_) | None => Err(parse_error(
            PRODUCT,
            line as usize,
            "it says neither allow nor ask nor deny",
        )),
    }
}

fn build_permission(
    tool: &str,
    pattern: Option<&str>,
    action: RuleAction,
    line: u32,
) -> ImportedPermission {
    ImportedPermission {
        written: match pattern {
            Some(pattern) => format!("{tool}: {pattern}"),
            None => tool.to_owned(),
        },
        line: Some(line),
        action,
        reading: translate_permission(tool, pattern.unwrap_or("*"), action),
    }
}

fn translate_permission(tool: &str, pattern: &str, action: RuleAction) -> Translation {
    let everything = || match pattern {
        "*" => TranslatedPattern::Everything,
        _ => TranslatedPattern::Unsupported("Only the tool as a whole can be taken over."),
    };
    let (permission, spelled) = match tool {
        "*" => ("*", everything()),
        "bash" => (
            "bash",
            translated_pattern::translate_command(pattern, action),
        ),
        "read" => ("fs.read", translate_path(pattern, action)),
        "edit" => ("fs.write", translate_path(pattern, action)),
        "webfetch" => ("net.fetch", everything()),
        "websearch" => ("web_search", everything()),
        "glob" | "grep" | "task" | "skill" | "question" => (tool, everything()),
        "todoread" | "todowrite" => ("todo", everything()),
        "external_directory" => {
            return Translation::Unneeded(
                "What lies outside the workspace is denied here, whatever rules say.".into(),
            );
        }
        "doom_loop" => {
            return Translation::Unneeded("A call that repeats itself asks by itself here.".into());
        }
        _ => {
            return Translation::Unneeded("That tool is not known here.".into());
        }
    };
    translate_pattern(permission, spelled)
}

/// A path in which `*` crosses folders.
fn translate_path(pattern: &str, action: RuleAction) -> TranslatedPattern {
    if pattern.starts_with(['~', '/', '$']) {
        return TranslatedPattern::Unsupported("Only paths of the workspace can be taken over.");
    }
    translated_pattern::translate_path_pattern(pattern, action, true)
}
