//! Parses the files of other products into the same raw shape.

use std::collections::BTreeMap;
use std::path::Path;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use protocol::UserError;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use serde_json::{Map, Value};

use super::{ServerImportProduct, formats};

/// A server as another product's file defines it, with its values as written there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RawServer {
    pub command: Option<String>,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub folder: Option<String>,
    pub url: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub timeout_ms: Option<u32>,
    /// Variables whose values the product keeps in a keychain of its own.
    pub secret_env: Vec<String>,
    pub notes: Vec<String>,
}

pub(super) type RawServerResult = Result<RawServer, String>;

/// Returns the servers of a file in its order, each as a server or as the reason why it cannot be imported.
pub(super) fn parse_raw_servers(
    product: ServerImportProduct,
    text: &str,
) -> Result<Vec<(String, RawServerResult)>, UserError> {
    find_servers(product, &parse_file(product, text)?)
}

/// Returns the servers that Claude Code has for one folder alone: `projects["/abs/dir"].mcpServers` of `.claude.json`.
/// Claude Code files servers under the folder in which it was started, so those of the parent folders apply too.
pub(super) fn parse_local_servers(
    text: &str,
    folder: &Path,
) -> Result<Vec<(String, RawServerResult)>, UserError> {
    let whole = parse_file(ServerImportProduct::ClaudeCode, text)?;
    let projects = whole.get("projects").and_then(Value::as_object);
    let mut all: Vec<(String, RawServerResult)> = Vec::new();
    for above in folder.ancestors() {
        let project = above.to_str().and_then(|name| projects?.get(name));
        let Some(project) = project else { continue };
        for (name, read) in find_servers(ServerImportProduct::ClaudeCode, project)? {
            if !all.iter().any(|(other, _)| *other == name) {
                all.push((name, read));
            }
        }
    }
    Ok(all)
}

fn parse_file(product: ServerImportProduct, text: &str) -> Result<Value, UserError> {
    match product {
        ServerImportProduct::Codex => parse_toml(text),
        ServerImportProduct::Goose => parse_yaml(text),
        ServerImportProduct::ClaudeCode
        | ServerImportProduct::ClaudeDesktop
        | ServerImportProduct::Cline
        | ServerImportProduct::Cursor
        | ServerImportProduct::GeminiCli
        | ServerImportProduct::Opencode
        | ServerImportProduct::VsCode
        | ServerImportProduct::Windsurf
        | ServerImportProduct::Zed => parse_json(text),
    }
}

fn find_servers(
    product: ServerImportProduct,
    whole: &Value,
) -> Result<Vec<(String, RawServerResult)>, UserError> {
    let (section, of) = match product {
        ServerImportProduct::ClaudeCode
        | ServerImportProduct::ClaudeDesktop
        | ServerImportProduct::Cursor
        | ServerImportProduct::Windsurf => (
            "mcpServers",
            formats::parse_common as fn(&Map<String, Value>) -> RawServerResult,
        ),
        ServerImportProduct::Cline => ("mcpServers", formats::parse_cline as _),
        ServerImportProduct::GeminiCli => ("mcpServers", formats::parse_gemini_cli as _),
        ServerImportProduct::VsCode => ("servers", formats::parse_common as _),
        ServerImportProduct::Opencode => ("mcp", formats::parse_opencode as _),
        ServerImportProduct::Codex => ("mcp_servers", formats::parse_codex as _),
        ServerImportProduct::Zed => ("context_servers", formats::parse_zed as _),
        ServerImportProduct::Goose => ("extensions", formats::parse_goose as _),
    };
    let servers = match whole.get(section) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(format_error(&format!("`{section}` is not an object"))),
    };
    let servers = servers.iter().filter(|(_, server)| {
        product != ServerImportProduct::Goose || !formats::is_part_of_goose(server)
    });
    let servers = servers.map(|(name, server)| {
        let read = server.as_object().map(of);
        let read = read.unwrap_or_else(|| Err("It is not an object.".to_owned()));
        (name.clone(), read)
    });
    Ok(servers.collect())
}

fn format_error(what: &str) -> UserError {
    UserError::new(
        format!("The file cannot be read: {what}."),
        "Look at it in the product that writes it.",
    )
}

fn parse_toml(text: &str) -> Result<Value, UserError> {
    let read: Result<Value, _> = ::toml::from_str(text);
    read.map_err(|error| format_error(error.message()))
}

fn parse_yaml(text: &str) -> Result<Value, UserError> {
    let read: Result<Value, _> = serde_saphyr::from_str(text);
    let value = read.map_err(|error| {
        let message = error.to_string();
        format_error(
            message
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches('.'),
        )
    })?;
    match exceeds_depth(&value, DEPTH_MAX) {
        true => Err(format_error("it is nested too deep")),
        false => Ok(value),
    }
}

/// Parses JSON with comments and trailing commas, which people write into these files.
fn parse_json(text: &str) -> Result<Value, UserError> {
    let text = text.trim_start_matches('\u{feff}');
    let read = parse_to_serde_value(text, &ParseOptions::default());
    let value: Value = read.map_err(|error| {
        format_error(&format!("line {}: {}", error.line_display(), error.kind()))
    })?;
    match exceeds_depth(&value, DEPTH_MAX) {
        true => Err(format_error("it is nested too deep")),
        false => Ok(value),
    }
}

/// Returns a member that is a string; an error if it has another type.
pub(super) fn text_member(
    server: &Map<String, Value>,
    member: &str,
) -> Result<Option<String>, String> {
    match server.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("Its `{member}` is not text.")),
    }
}

pub(super) fn text_list_member(
    server: &Map<String, Value>,
    member: &str,
) -> Result<Vec<String>, String> {
    let error = || format!("Its `{member}` is not a list of texts.");
    match server.get(member) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| scalar_to_text(item).ok_or_else(error))
            .collect(),
        Some(_) => Err(error()),
    }
}

pub(super) fn text_map_member(
    server: &Map<String, Value>,
    member: &str,
) -> Result<BTreeMap<String, String>, String> {
    let error = || format!("Its `{member}` holds something that is not text.");
    match server.get(member) {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(all)) => all
            .iter()
            .map(|(name, item)| Ok((name.clone(), scalar_to_text(item).ok_or_else(error)?)))
            .collect(),
        Some(_) => Err(error()),
    }
}

/// Returns a string, or a scalar as the string that a program would be given.
fn scalar_to_text(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn notes_on_members(server: &Map<String, Value>, members: &[&str]) -> Vec<String> {
    let present = members
        .iter()
        .filter(|member| server.contains_key(**member));
    present
        .map(|member| format!("Its `{member}` is not taken over."))
        .collect()
}
