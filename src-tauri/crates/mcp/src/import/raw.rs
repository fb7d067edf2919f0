//! The files of other products, each to the same raw shape.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use protocol::Fault;
use protocol::depth::{DEPTH_MAX, exceeds};
use serde_json::{Map, Value};

use super::Product;

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
    pub notes: Vec<String>,
}

type Read = Result<Raw, String>;

/// The servers of a file, each or why it cannot be taken, in the order of the file.
pub(super) fn read(product: Product, text: &str) -> Result<Vec<(String, Read)>, Fault> {
    let whole = match product {
        Product::Codex => toml(text)?,
        Product::ClaudeCode
        | Product::ClaudeDesktop
        | Product::Cursor
        | Product::VsCode
        | Product::Opencode => json(text)?,
    };
    let (section, of) = match product {
        Product::ClaudeCode | Product::ClaudeDesktop | Product::Cursor => {
            ("mcpServers", common as fn(&Map<String, Value>) -> Read)
        }
        Product::VsCode => ("servers", common as _),
        Product::Opencode => ("mcp", opencode as _),
        Product::Codex => ("mcp_servers", codex as _),
    };
    let servers = match whole.get(section) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(wrong(&format!("`{section}` is no object"))),
    };
    let servers = servers.iter().map(|(name, server)| {
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
fn text(server: &Map<String, Value>, member: &str) -> Result<Option<String>, String> {
    match server.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("Its `{member}` is no text.")),
    }
}

fn texts(server: &Map<String, Value>, member: &str) -> Result<Vec<String>, String> {
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

fn named(server: &Map<String, Value>, member: &str) -> Result<BTreeMap<String, String>, String> {
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

fn note_on(server: &Map<String, Value>, members: &[&str]) -> Vec<String> {
    let there = members
        .iter()
        .filter(|member| server.contains_key(**member));
    there
        .map(|member| format!("Its `{member}` is not taken over."))
        .collect()
}

/// `mcpServers` and `servers`: `command`, `args`, `env`, `cwd`, or `url`, `headers`.
fn common(server: &Map<String, Value>) -> Read {
    if text(server, "type")?.as_deref() == Some("sse") {
        return Err(
            "It speaks the older HTTP with SSE, which is not spoken here; ask its maker for streamable HTTP."
                .to_owned(),
        );
    }
    Ok(Raw {
        command: text(server, "command")?,
        args: texts(server, "args")?,
        env: named(server, "env")?,
        folder: text(server, "cwd")?,
        url: text(server, "url")?.or(text(server, "serverUrl")?),
        headers: named(server, "headers")?,
        timeout_ms: server
            .get("timeout")
            .and_then(Value::as_u64)
            .and_then(|ms| u32::try_from(ms).ok()),
        notes: note_on(
            server,
            &["envFile", "oauth", "auth", "autoApprove", "alwaysAllow"],
        ),
    })
}

/// `mcp` of opencode: one list for the command, `environment`, `{env:NAME}`.
fn opencode(server: &Map<String, Value>) -> Read {
    let mut words = texts(server, "command")?.into_iter();
    let turned = |values: BTreeMap<String, String>| {
        let values = values.into_iter();
        values
            .map(|(name, value)| (name, value.replace("{env:", "${env:")))
            .collect()
    };
    Ok(Raw {
        command: words.next(),
        args: words.map(|word| word.replace("{env:", "${env:")).collect(),
        env: turned(named(server, "environment")?),
        folder: text(server, "cwd")?,
        url: text(server, "url")?,
        headers: turned(named(server, "headers")?),
        timeout_ms: server
            .get("timeout")
            .and_then(Value::as_u64)
            .and_then(|ms| u32::try_from(ms).ok()),
        notes: note_on(server, &["oauth"]),
    })
}

/// `[mcp_servers.x]` of Codex: variables may be passed on by name, and headers be made of them.
fn codex(server: &Map<String, Value>) -> Read {
    let mut env = named(server, "env")?;
    for name in texts(server, "env_vars")? {
        env.entry(name.clone()).or_insert(format!("${{{name}}}"));
    }
    let mut headers = named(server, "http_headers")?;
    for (header, name) in named(server, "env_http_headers")? {
        headers.insert(header, format!("${{{name}}}"));
    }
    if let Some(name) = text(server, "bearer_token_env_var")? {
        headers.insert("Authorization".to_owned(), format!("Bearer ${{{name}}}"));
    }
    let seconds = server.get("tool_timeout_sec").and_then(Value::as_f64);
    Ok(Raw {
        command: text(server, "command")?,
        args: texts(server, "args")?,
        env,
        folder: text(server, "cwd")?,
        url: text(server, "url")?,
        headers,
        timeout_ms: seconds.map(|seconds| (seconds * 1_000.0) as u32),
        notes: note_on(server, &["enabled_tools", "disabled_tools", "scopes"]),
    })
}
