//! How each product writes a server, read to the same raw shape.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::raw::{Raw, Read, named, note_on, text, texts};

const SSE: &str = "It speaks the older HTTP with SSE, which is not spoken here; ask its maker for streamable HTTP.";

/// `timeout` in milliseconds.
fn milliseconds(server: &Map<String, Value>) -> Option<u32> {
    let ms = server.get("timeout").and_then(Value::as_u64)?;
    u32::try_from(ms).ok()
}

/// `timeout` in seconds.
fn seconds(server: &Map<String, Value>) -> Option<u32> {
    milliseconds(server).map(|seconds| seconds.saturating_mul(1_000))
}

/// `mcpServers` and `servers`: `command`, `args`, `env`, `cwd`, or `url`, `headers`.
pub(super) fn common(server: &Map<String, Value>) -> Read {
    if text(server, "type")?.as_deref() == Some("sse") {
        return Err(SSE.to_owned());
    }
    Ok(Raw {
        command: text(server, "command")?,
        args: texts(server, "args")?,
        env: named(server, "env")?,
        folder: text(server, "cwd")?,
        url: text(server, "url")?.or(text(server, "serverUrl")?),
        headers: named(server, "headers")?,
        timeout_ms: milliseconds(server),
        secret_env: Vec::new(),
        notes: note_on(
            server,
            &[
                "envFile",
                "oauth",
                "auth",
                "autoApprove",
                "alwaysAllow",
                "disabledTools",
            ],
        ),
    })
}

/// `mcp` of opencode: one list for the command, `environment`, `{env:NAME}`.
pub(super) fn opencode(server: &Map<String, Value>) -> Read {
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
        timeout_ms: milliseconds(server),
        secret_env: Vec::new(),
        notes: note_on(server, &["oauth"]),
    })
}

/// `[mcp_servers.x]` of Codex: variables may be passed on by name, and headers be made of them.
pub(super) fn codex(server: &Map<String, Value>) -> Read {
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
        secret_env: Vec::new(),
        notes: note_on(server, &["enabled_tools", "disabled_tools", "scopes"]),
    })
}

/// `mcpServers` of Cline: an address without a `type` is one of the older HTTP there.
pub(super) fn cline(server: &Map<String, Value>) -> Read {
    let way = text(server, "type")?.or(text(server, "transportType")?);
    let has_address = text(server, "url")?.is_some() && text(server, "command")?.is_none();
    match way.as_deref() {
        None | Some("sse") if has_address => return Err(SSE.to_owned()),
        _ => {}
    }
    Ok(Raw {
        timeout_ms: seconds(server),
        ..common(server)?
    })
}

/// `mcpServers` of Gemini CLI: `httpUrl`, or `url` with a `type`; variables stand as `$NAME` too.
pub(super) fn gemini_cli(server: &Map<String, Value>) -> Read {
    let raw = common(server)?;
    let with_variables = |values: BTreeMap<String, String>| -> BTreeMap<String, String> {
        let values = values.into_iter();
        values.map(|(name, value)| (name, braced(&value))).collect()
    };
    let url = text(server, "httpUrl")?.or(raw.url);
    let mut notes = raw.notes;
    notes.extend(note_on(
        server,
        &["trust", "includeTools", "excludeTools", "authProviderType"],
    ));
    Ok(Raw {
        command: raw.command.map(|command| braced(&command)),
        args: raw.args.iter().map(|arg| braced(arg)).collect(),
        env: with_variables(raw.env),
        folder: raw.folder.map(|folder| braced(&folder)),
        url: url.map(|url| braced(&url)),
        headers: with_variables(raw.headers),
        notes,
        ..raw
    })
}

/// A text with every `$NAME` written as `${NAME}`.
fn braced(value: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut written = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        let end = after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
        let (name, left) = after.split_at(end);
        written.push_str(before);
        match name.is_empty() {
            true => written.push('$'),
            false => written.push_str(&format!("${{{name}}}")),
        }
        rest = left;
    }
    written.push_str(rest);
    written
}

/// `context_servers` of Zed: a command as one word beside its arguments, or as an object of its own, as older ones write it.
pub(super) fn zed(server: &Map<String, Value>) -> Read {
    let older = server.get("command").and_then(Value::as_object);
    let (at, program) = match older {
        Some(command) => (command, "path"),
        None => (server, "command"),
    };
    let command = text(at, program)?;
    let url = text(server, "url")?;
    if command.is_none() && url.is_none() {
        return Err("An extension of Zed starts it, and only that knows its command.".to_owned());
    }
    Ok(Raw {
        command,
        args: texts(at, "args")?,
        env: named(at, "env")?,
        folder: None,
        url,
        headers: named(server, "headers")?,
        timeout_ms: seconds(at),
        secret_env: Vec::new(),
        notes: note_on(server, &["oauth", "settings", "remote"]),
    })
}

/// Whether an extension of Goose is a part of Goose, and no server of somebody else.
pub(super) fn is_part_of_goose(extension: &Value) -> bool {
    let kind = extension.get("type").and_then(Value::as_str);
    matches!(kind, Some("builtin" | "platform" | "frontend"))
}

/// `extensions` of Goose: `cmd`, `args`, `envs`, `env_keys`, or `uri`, `headers`.
pub(super) fn goose(extension: &Map<String, Value>) -> Read {
    match text(extension, "type")?.as_deref() {
        Some("stdio" | "streamable_http") => {}
        Some("sse") => return Err(SSE.to_owned()),
        Some("inline_python") => {
            return Err("It is a program that stands in the file of Goose itself.".to_owned());
        }
        Some(_) | None => return Err("It is of a kind that is not known here.".to_owned()),
    }
    Ok(Raw {
        command: text(extension, "cmd")?,
        args: texts(extension, "args")?,
        env: named(extension, "envs")?,
        folder: text(extension, "cwd")?,
        url: text(extension, "uri")?,
        headers: named(extension, "headers")?,
        timeout_ms: seconds(extension),
        secret_env: texts(extension, "env_keys")?,
        notes: note_on(extension, &["available_tools"]),
    })
}
