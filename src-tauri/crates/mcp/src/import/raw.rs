//! The files of other products, each to the same raw shape.

use std::collections::BTreeMap;
use std::path::Path;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use protocol::Fault;
use protocol::depth::{DEPTH_MAX, exceeds};
use serde_json::{Map, Value};

use super::{Product, formats};

/// A server as it is written elsewhere, its values as they stand there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Raw {
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

pub(super) type Read = Result<Raw, String>;

/// The servers of a file, each or why it cannot be taken, in the order of the file.
pub(super) fn read(product: Product, text: &str) -> Result<Vec<(String, Read)>, Fault> {
    servers_of(product, &whole(product, text)?)
}

/// The servers that Claude Code has for one folder alone: `projects["/abs/dir"].mcpServers` of `.claude.json`. It files them
/// under the folder that it was started in, so those of the folders above hold too.
pub(super) fn read_local(text: &str, folder: &Path) -> Result<Vec<(String, Read)>, Fault> {
    let whole = whole(Product::ClaudeCode, text)?;
    let projects = whole.get("projects").and_then(Value::as_object);
    let mut all: Vec<(String, Read)> = Vec::new();
    for above in folder.ancestors() {
        let project = above.to_str().and_then(|name| projects?.get(name));
        let Some(project) = project else { continue };
        for (name, read) in servers_of(Product::ClaudeCode, project)? {
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, read));
            }
        }
    }
    Ok(all)
}

fn whole(product: Product, text: &str) -> Result<Value, Fault> {
    match product {
        Product::Codex => toml(text),
        Product::Goose => yaml(text),
        Product::ClaudeCode
        | Product::ClaudeDesktop
        | Product::Cline
        | Product::Cursor
        | Product::GeminiCli
        | Product::Opencode
        | Product::VsCode
        | Product::Windsurf
        | Product::Zed => json(text),
    }
}

fn servers_of(product: Product, whole: &Value) -> Result<Vec<(String, Read)>, Fault> {
    let (section, of) = match product {
        Product::ClaudeCode | Product::ClaudeDesktop | Product::Cursor | Product::Windsurf => (
            "mcpServers",
            formats::common as fn(&Map<String, Value>) -> Read,
        ),
        Product::Cline => ("mcpServers", formats::cline as _),
        Product::GeminiCli => ("mcpServers", formats::gemini_cli as _),
        Product::VsCode => ("servers", formats::common as _),
        Product::Opencode => ("mcp", formats::opencode as _),
        Product::Codex => ("mcp_servers", formats::codex as _),
        Product::Zed => ("context_servers", formats::zed as _),
        Product::Goose => ("extensions", formats::goose as _),
    };
    let servers = match whole.get(section) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(wrong(&format!("`{section}` is no object"))),
    };
    let servers = servers
        .iter()
        .filter(|(_, server)| product != Product::Goose || !formats::is_part_of_goose(server));
    let servers = servers.map(|(name, server)| {
        let read = server.as_object().map(of);
        let read = read.unwrap_or_else(|| Err("It is no object.".to_owned()));
        (name.clone(), read)
    });
    Ok(servers.collect())
}

fn wrong(what: &str) -> Fault {
    Fault::new(
        format!("The file cannot be read: {what}."),
        "Look at it in the product that writes it.",
    )
}

fn toml(text: &str) -> Result<Value, Fault> {
    let read: Result<Value, _> = ::toml::from_str(text);
    read.map_err(|error| wrong(error.message()))
}

fn yaml(text: &str) -> Result<Value, Fault> {
    let read: Result<Value, _> = serde_saphyr::from_str(text);
    let value = read.map_err(|error| {
        let told = error.to_string();
        wrong(
            told.lines()
                .next()
                .unwrap_or_default()
                .trim_end_matches('.'),
        )
    })?;
    match exceeds(&value, DEPTH_MAX) {
        true => Err(wrong("it is nested too deep")),
        false => Ok(value),
    }
}

/// People write comments into these files, and commas where none belong.
fn json(text: &str) -> Result<Value, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    let options = ParseOptions::default();
    let read = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| wrong(&format!("line {}: {}", error.line_display(), error.kind())))?;
    let value = read.value.map_or(Value::Null, |value| plain(&value));
    match exceeds(&value, DEPTH_MAX) {
        true => Err(wrong("it is nested too deep")),
        false => Ok(value),
    }
}

fn plain(value: &Ast<'_>) -> Value {
    match value {
        Ast::StringLit(text) => Value::String(text.value.to_string()),
        Ast::NumberLit(number) => serde_json::from_str(number.value).unwrap_or(Value::Null),
        Ast::BooleanLit(is) => Value::Bool(is.value),
        Ast::Object(object) => {
            let members = object.properties.iter();
            let members = members.map(|one| (one.name.as_str().to_owned(), plain(&one.value)));
            Value::Object(members.collect())
        }
        Ast::Array(array) => Value::Array(array.elements.iter().map(plain).collect()),
        Ast::NullKeyword(_) => Value::Null,
    }
}

/// A member that is a text; an error if it is something else.
pub(super) fn text(server: &Map<String, Value>, member: &str) -> Result<Option<String>, String> {
    match server.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("Its `{member}` is no text.")),
    }
}

pub(super) fn texts(server: &Map<String, Value>, member: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("Its `{member}` is no list of texts.");
    match server.get(member) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| value(item).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

pub(super) fn named(
    server: &Map<String, Value>,
    member: &str,
) -> Result<BTreeMap<String, String>, String> {
    let wrong = || format!("Its `{member}` holds something that is no text.");
    match server.get(member) {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(all)) => all
            .iter()
            .map(|(name, item)| Ok((name.clone(), value(item).ok_or_else(wrong)?)))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// A text, or what a program would be given as one.
fn value(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(super) fn note_on(server: &Map<String, Value>, members: &[&str]) -> Vec<String> {
    let there = members
        .iter()
        .filter(|member| server.contains_key(**member));
    there
        .map(|member| format!("Its `{member}` is not taken over."))
        .collect()
}
