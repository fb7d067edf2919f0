//! One entry of a server in an agent's configuration, and the same server behind the gateway.

use std::path::Path;

use protocol::server::mcp_servers::ServerId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Variables by which the gateway is given the values of headers begin so.
const HEADER_VARIABLE: &str = "COUNTERSIGN_HEADER_";

/// How an agent writes its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::connections) enum ServerDialect {
    /// `command`, `args`, `env`, or `url`, `headers`, with a `type`: Claude Code, Cursor.
    Common,
    /// The same, but an address is `httpUrl`, or `url` with a `type`; without one it is an older transport.
    Gemini,
    /// `command` is a list with its arguments, `environment`, or `url`, `headers`.
    Opencode,
    /// TOML: `command`, `args`, `env`, `env_vars`, or `url`, `http_headers`, `bearer_token_env_var`.
    Codex,
}

/// Members of an entry whose values are never shown.
pub(super) const SECRET_MEMBERS: [&str; 4] = ["env", "environment", "headers", "http_headers"];

impl ServerDialect {
    /// Returns the member with the variables of an entry.
    fn variables_member(self) -> &'static str {
        match self {
            Self::Opencode => "environment",
            Self::Common | Self::Gemini | Self::Codex => "env",
        }
    }

    /// Returns the members that the gateway takes the place of.
    fn replaced_members(self) -> &'static [&'static str] {
        match self {
            Self::Common | Self::Opencode => &["type", "command", "args", "url", "headers"],
            Self::Gemini => &["type", "command", "args", "url", "httpUrl", "headers"],
            Self::Codex => &[
                "command",
                "args",
                "url",
                "http_headers",
                "env_http_headers",
                "bearer_token_env_var",
            ],
        }
    }
}

/// What an entry starts in the place of its server: this program, over this data folder.
#[derive(Debug, Clone)]
pub(super) struct GatewayCommand<'a> {
    pub program: &'a str,
    pub data_dir: &'a str,
}

/// What becomes of an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RewrittenEntry {
    /// It is another.
    Behind(Value),
    /// It is a gateway already.
    Through,
    /// It stays; why, as a sentence.
    Left(&'static str),
}

/// Returns what becomes of an entry with a name.
pub(super) fn rewrite_entry(
    dialect: ServerDialect,
    name: &str,
    entry: &Value,
    gateway: &GatewayCommand<'_>,
) -> RewrittenEntry {
    let Value::Object(entry) = entry else {
        return RewrittenEntry::Left("It is no entry of a server.");
    };
    let Some(words) = command_words(dialect, entry) else {
        return RewrittenEntry::Left("Its command is not written as its agent takes it.");
    };
    if is_gateway(&words) {
        return RewrittenEntry::Through;
    }
    let mut args = vec![
        "--data-dir".to_owned(),
        gateway.data_dir.to_owned(),
        "gateway".to_owned(),
        "mcp".to_owned(),
    ];
    if let Some(id) = ServerId::from_nearest(name) {
        args.extend(["--name".to_owned(), id.to_string()]);
    }
    let mut variables = object_member(entry, dialect.variables_member());
    if !words.is_empty() {
        let mut names: Vec<String> = variables.keys().cloned().collect();
        names.extend(text_list(entry, "env_vars"));
        for name in names {
            args.extend(["--pass-env".to_owned(), name]);
        }
        args.push("--".to_owned());
        args.extend(words);
    } else {
        let url = match address(dialect, entry) {
            Ok(url) => url,
            Err(why) => return RewrittenEntry::Left(why),
        };
        args.extend(["--url".to_owned(), url.to_owned()]);
        args.extend(header_args(entry, &mut variables));
    }
    RewrittenEntry::Behind(gateway_entry(
        dialect,
        entry,
        gateway.program,
        args,
        variables,
    ))
}

/// Returns the entry with a gateway in the place of its server. What it says beside its server stays.
fn gateway_entry(
    dialect: ServerDialect,
    entry: &Map<String, Value>,
    program: &str,
    args: Vec<String>,
    variables: Map<String, Value>,
) -> Value {
    let mut members = Map::new();
    match dialect {
        ServerDialect::Opencode => {
            let words: Vec<String> = std::iter::once(program.to_owned()).chain(args).collect();
            members.insert("type".to_owned(), json!("local"));
            members.insert("command".to_owned(), json!(words));
        }
        ServerDialect::Common => {
            if entry.contains_key("type") {
                members.insert("type".to_owned(), json!("stdio"));
            }
            members.insert("command".to_owned(), json!(program));
            members.insert("args".to_owned(), json!(args));
        }
        ServerDialect::Gemini | ServerDialect::Codex => {
            members.insert("command".to_owned(), json!(program));
            members.insert("args".to_owned(), json!(args));
        }
    }
    let replaced = dialect.replaced_members();
    for (name, value) in entry {
        if !replaced.contains(&name.as_str()) && name != dialect.variables_member() {
            members.insert(name.clone(), value.clone());
        }
    }
    // A variable that holds a token has to reach the gateway.
    let mut passed = text_list(entry, "env_vars");
    passed.extend(text_member(entry, "bearer_token_env_var").map(str::to_owned));
    passed.extend(string_values(&object_member(entry, "env_http_headers")));
    if dialect == ServerDialect::Codex && !passed.is_empty() {
        members.insert("env_vars".to_owned(), json!(passed));
    }
    if !variables.is_empty() || entry.contains_key(dialect.variables_member()) {
        let name = dialect.variables_member().to_owned();
        members.insert(name, Value::Object(variables));
    }
    Value::Object(members)
}

/// Returns the words of the command of an entry; empty if it has none, and none at all if it is not written as it should be.
fn command_words(dialect: ServerDialect, entry: &Map<String, Value>) -> Option<Vec<String>> {
    let texts = |value: &Value| -> Option<Vec<String>> {
        let items = value.as_array()?.iter();
        items.map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let Some(command) = entry.get("command") else {
        return Some(Vec::new());
    };
    if dialect == ServerDialect::Opencode {
        return texts(command);
    }
    let args = match entry.get("args") {
        Some(args) => texts(args)?,
        None => Vec::new(),
    };
    let command = command.as_str()?.to_owned();
    Some(std::iter::once(command).chain(args).collect())
}

/// Whether a command is a gateway of ours, at whatever path.
fn is_gateway(words: &[String]) -> bool {
    let program = words.first().map(Path::new).and_then(Path::file_stem);
    program.is_some_and(|name| name == "countersign")
        && words.windows(2).any(|pair| pair == ["gateway", "mcp"])
}

/// Returns the address of an entry, or why it is none that the gateway can stand in front of.
fn address(dialect: ServerDialect, entry: &Map<String, Value>) -> Result<&str, &'static str> {
    const OLD_TRANSPORT: &str =
        "It is reached by the older transport of events (SSE), which the gateway does not speak.";
    let kind = text_member(entry, "type");
    let (url, is_old) = match dialect {
        ServerDialect::Gemini => match text_member(entry, "httpUrl") {
            Some(url) => (Some(url), false),
            None => (text_member(entry, "url"), kind != Some("http")),
        },
        ServerDialect::Common | ServerDialect::Opencode | ServerDialect::Codex => {
            (text_member(entry, "url"), kind == Some("sse"))
        }
    };
    match url {
        Some(_) if is_old => Err(OLD_TRANSPORT),
        Some(url) => Ok(url),
        None => Err("It has neither a command nor an address."),
    }
}

/// Returns the arguments that give the gateway its headers: each by a variable, into which its value is put.
fn header_args(entry: &Map<String, Value>, variables: &mut Map<String, Value>) -> Vec<String> {
    let mut args = Vec::new();
    let mut headers = object_member(entry, "headers");
    headers.extend(object_member(entry, "http_headers"));
    for (at, (name, value)) in headers.into_iter().enumerate() {
        let variable = format!("{HEADER_VARIABLE}{}", at + 1);
        args.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
        variables.insert(variable, value);
    }
    for (name, variable) in object_member(entry, "env_http_headers") {
        let variable = variable.as_str().unwrap_or_default();
        args.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
    }
    if let Some(variable) = text_member(entry, "bearer_token_env_var") {
        let header = format!("Authorization=Bearer ${{{variable}}}");
        args.extend(["--header".to_owned(), header]);
    }
    args
}

fn text_member<'a>(entry: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str)
}

fn object_member(entry: &Map<String, Value>, name: &str) -> Map<String, Value> {
    let members = entry.get(name).and_then(Value::as_object);
    members.cloned().unwrap_or_default()
}

fn text_list(entry: &Map<String, Value>, name: &str) -> Vec<String> {
    let items = entry.get(name).and_then(Value::as_array);
    let items = items.into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

fn string_values(members: &Map<String, Value>) -> Vec<String> {
    let values = members.values();
    values
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}
