//! Parses the server format of each product into the same raw shape.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::raw_server::{
    RawServer, RawServerResult, notes_on_members, text_list_member, text_map_member, text_member,
};

const SSE_UNSUPPORTED: &str = "It speaks the older HTTP with SSE, which is not spoken here; ask its maker for streamable HTTP.";

/// Reads `timeout` in milliseconds.
fn timeout_from_milliseconds(server: &Map<String, Value>) -> Option<u32> {
    let ms = server.get("timeout").and_then(Value::as_u64)?;
    u32::try_from(ms).ok()
}

/// Reads `timeout` in seconds.
fn timeout_from_seconds(server: &Map<String, Value>) -> Option<u32> {
    timeout_from_milliseconds(server).map(|seconds| seconds.saturating_mul(1_000))
}

/// Parses `mcpServers` and `servers`: `command`, `args`, `env`, `cwd`, or `url`, `headers`.
pub(super) fn parse_common(server: &Map<String, Value>) -> RawServerResult {
    if text_member(server, "type")?.as_deref() == Some("sse") {
        return Err(SSE_UNSUPPORTED.to_owned());
    }
    Ok(RawServer {
        command: text_member(server, "command")?,
        args: text_list_member(server, "args")?,
        env: text_map_member(server, "env")?,
        folder: text_member(server, "cwd")?,
        url: text_member(server, "url")?.or(text_member(server, "serverUrl")?),
        headers: text_map_member(server, "headers")?,
        timeout_ms: timeout_from_milliseconds(server),
        notes: notes_on_members(
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
        ..RawServer::default()
    })
}

/// Parses `mcp` of opencode: one list for the command, `environment`, `{env:NAME}`.
pub(super) fn parse_opencode(server: &Map<String, Value>) -> RawServerResult {
    let mut words = text_list_member(server, "command")?.into_iter();
    let with_variables = |values: BTreeMap<String, String>| {
        let values = values.into_iter();
        values
            .map(|(name, value)| (name, value.replace("{env:", "${env:")))
            .collect()
    };
    Ok(RawServer {
        command: words.next(),
        args: words.map(|word| word.replace("{env:", "${env:")).collect(),
        env: with_variables(text_map_member(server, "environment")?),
        folder: text_member(server, "cwd")?,
        url: text_member(server, "url")?,
        headers: with_variables(text_map_member(server, "headers")?),
        timeout_ms: timeout_from_milliseconds(server),
        notes: notes_on_members(server, &["oauth"]),
        ..RawServer::default()
    })
}

/// Parses `[mcp_servers.x]` of Codex: variables may be passed on by name, and headers be built from them.
pub(super) fn parse_codex(server: &Map<String, Value>) -> RawServerResult {
    let mut env = text_map_member(server, "env")?;
    for name in text_list_member(server, "env_vars")? {
        env.entry(name.clone()).or_insert(format!("${{{name}}}"));
    }
    let mut headers = text_map_member(server, "http_headers")?;
    for (header, name) in text_map_member(server, "env_http_headers")? {
        headers.insert(header, format!("${{{name}}}"));
    }
    if let Some(name) = text_member(server, "bearer_token_env_var")? {
        headers.insert("Authorization".to_owned(), format!("Bearer ${{{name}}}"));
    }
    let seconds = server.get("tool_timeout_sec").and_then(Value::as_f64);
    Ok(RawServer {
        command: text_member(server, "command")?,
        args: text_list_member(server, "args")?,
        env,
        folder: text_member(server, "cwd")?,
        url: text_member(server, "url")?,
        headers,
        timeout_ms: seconds.map(|seconds| (seconds * 1_000.0) as u32),
        notes: notes_on_members(server, &["enabled_tools", "disabled_tools", "scopes"]),
        ..RawServer::default()
    })
}

/// Parses `mcpServers` of Cline: a URL without a `type` means the older HTTP transport there.
pub(super) fn parse_cline(server: &Map<String, Value>) -> RawServerResult {
    let transport = text_member(server, "type")?.or(text_member(server, "transportType")?);
    let has_address =
        text_member(server, "url")?.is_some() && text_member(server, "command")?.is_none();
    match transport.as_deref() {
        None | Some("sse") if has_address => return Err(SSE_UNSUPPORTED.to_owned()),
        _ => {}
    }
    Ok(RawServer {
        timeout_ms: timeout_from_seconds(server),
        ..parse_common(server)?
    })
}

/// Parses `mcpServers` of Gemini CLI: `httpUrl`, or `url` with a `type`; variables may also be written as `$NAME`.
pub(super) fn parse_gemini_cli(server: &Map<String, Value>) -> RawServerResult {
    let raw = parse_common(server)?;
    let with_variables = |values: BTreeMap<String, String>| -> BTreeMap<String, String> {
        let values = values.into_iter();
        values
            .map(|(name, value)| (name, brace_variables(&value)))
            .collect()
    };
    let url = text_member(server, "httpUrl")?.or(raw.url);
    let mut notes = raw.notes;
    notes.extend(notes_on_members(
        server,
        &["trust", "includeTools", "excludeTools", "authProviderType"],
    ));
    Ok(RawServer {
        command: raw.command.map(|command| brace_variables(&command)),
        args: raw.args.iter().map(|arg| brace_variables(arg)).collect(),
        env: with_variables(raw.env),
        folder: raw.folder.map(|folder| brace_variables(&folder)),
        url: url.map(|url| brace_variables(&url)),
        headers: with_variables(raw.headers),
        notes,
        ..raw
    })
}

/// Rewrites every `$NAME` in a text as `${NAME}`.
fn brace_variables(value: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut braced = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('$') {
        let end = after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
        let (name, left) = after.split_at(end);
        braced.push_str(before);
        match name.is_empty() {
            true => braced.push('$'),
            false => braced.push_str(&format!("${{{name}}}")),
        }
        rest = left;
    }
    braced.push_str(rest);
    braced
}

/// Parses `context_servers` of Zed: a command as one word beside its arguments, or as an object, as older versions
/// write it.
pub(super) fn parse_zed(server: &Map<String, Value>) -> RawServerResult {
    let older = server.get("command").and_then(Value::as_object);
    let (at, program) = match older {
        Some(command) => (command, "path"),
        None => (server, "command"),
    };
    let command = text_member(at, program)?;
    let url = text_member(server, "url")?;
    if command.is_none() && url.is_none() {
        return Err("An extension of Zed starts it, and only that knows its command.".to_owned());
    }
    Ok(RawServer {
        command,
        args: text_list_member(at, "args")?,
        env: text_map_member(at, "env")?,
        url,
        headers: text_map_member(server, "headers")?,
        timeout_ms: timeout_from_seconds(at),
        notes: notes_on_members(server, &["oauth", "settings", "remote"]),
        ..RawServer::default()
    })
}

/// Whether an extension of Goose is a part of Goose itself and no external server.
pub(super) fn is_part_of_goose(extension: &Value) -> bool {
    let kind = extension.get("type").and_then(Value::as_str);
    matches!(kind, Some("builtin" | "platform" | "frontend"))
}

/// Parses `extensions` of Goose: `cmd`, `args`, `envs`, `env_keys`, or `uri`, `headers`.
pub(super) fn parse_goose(extension: &Map<String, Value>) -> RawServerResult {
    match text_member(extension, "type")?.as_deref() {
        Some("stdio" | "streamable_http") => {}
        Some("sse") => return Err(SSE_UNSUPPORTED.to_owned()),
        Some("inline_python") => {
            return Err("It is a program that stands in the file of Goose itself.".to_owned());
        }
        Some(_) | None => return Err("It is of a kind that is not known here.".to_owned()),
    }
    Ok(RawServer {
        command: text_member(extension, "cmd")?,
        args: text_list_member(extension, "args")?,
        env: text_map_member(extension, "envs")?,
        folder: text_member(extension, "cwd")?,
        url: text_member(extension, "uri")?,
        headers: text_map_member(extension, "headers")?,
        timeout_ms: timeout_from_seconds(extension),
        secret_env: text_list_member(extension, "env_keys")?,
        notes: notes_on_members(extension, &["available_tools"]),
    })
}
