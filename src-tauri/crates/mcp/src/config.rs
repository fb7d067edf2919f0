//! `servers.toml`: the servers of a person, read with errors that name the line and changed one table at a time.

use std::collections::BTreeMap;

use protocol::servers::{
    SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerClient, ServerId, ServerSettings, ServerWay,
};
use protocol::shown::in_a_sentence;
use serde::Deserialize;
use toml_edit::Table;
use tools::kept::{Kept, Wrong, put_list, put_map};
use tools::limits::NAMED_CHARS_MAX;

use crate::limits::{FILE_BYTES_MAX, SERVERS_MAX, VALUE_BYTES_MAX, VALUES_MAX};
use crate::refs::refers;

/// The file of a person's servers.
pub enum ServersFile {}

/// A server as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<String>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    client: Option<ServerClient>,
    timeout_ms: Option<u32>,
}

impl Kept for ServersFile {
    type One = ServerSettings;
    type Written = Written;
    const FILE: &'static str = "servers.toml";
    const SECTION: &'static str = "servers";
    const ONE: &'static str = "server";
    const BYTES_MAX: usize = FILE_BYTES_MAX;
    const COUNT_MAX: usize = SERVERS_MAX;

    fn of(id: ServerId, written: Written, enabled: bool) -> Result<ServerSettings, Wrong> {
        let timeout_ms = written.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS);
        Ok(ServerSettings {
            id,
            way: written.way()?,
            timeout_ms,
            enabled,
        })
    }

    fn named(one: &ServerSettings) -> (&ServerId, bool) {
        (&one.id, one.enabled)
    }

    fn right(one: &ServerSettings) -> Result<(), Wrong> {
        right(one)
    }

    fn table(one: &ServerSettings) -> Table {
        table(one)
    }
}

impl Written {
    fn way(self) -> Result<ServerWay, Wrong> {
        let no = |key, what: &str, hint: &str| Err(Wrong::new(key, what, hint));
        match (self.command, self.url) {
            (Some(command), None) if self.headers.is_none() && self.client.is_none() => {
                Ok(ServerWay::Stdio {
                    command,
                    args: self.args.unwrap_or_default(),
                    env: self.env.unwrap_or_default(),
                    folder: self.folder,
                })
            }
            (None, Some(url))
                if self.args.is_none() && self.env.is_none() && self.folder.is_none() =>
            {
                Ok(ServerWay::Http {
                    url,
                    headers: self.headers.unwrap_or_default(),
                    client: self.client,
                })
            }
            (Some(_), None) => no(
                "command",
                "it has a command, so it has neither headers nor a client",
                "Take out `headers` and `client`, or write `url` in the place of `command`.",
            ),
            (None, Some(_)) => no(
                "url",
                "it has an address, so it has neither arguments nor variables nor a folder",
                "Take out `args`, `env` and `folder`, or write `command` in the place of `url`.",
            ),
            (Some(_), Some(_)) => no(
                "url",
                "it has both a command and an address",
                "Take out `command` or `url`.",
            ),
            (None, None) => no(
                "",
                "it has neither a command nor an address",
                "Write `command` for a program of this machine, or `url` for an address.",
            ),
        }
    }
}

fn right(settings: &ServerSettings) -> Result<(), Wrong> {
    let wrong = |key, what: String, hint: &str| Err(Wrong::new(key, what, hint));
    if !(1..=SERVER_TIMEOUT_MS_MAX).contains(&settings.timeout_ms) {
        let what = format!(
            "its time limit is {} ms, and may be 1 to {SERVER_TIMEOUT_MS_MAX}",
            settings.timeout_ms
        );
        return wrong("timeout_ms", what, "Set `timeout_ms`, or leave it out.");
    }
    let (values, count): (Vec<&str>, usize) = match &settings.way {
        ServerWay::Stdio {
            command,
            args,
            env,
            folder,
        } => {
            if command.trim().is_empty() {
                let what = "its command is empty".to_owned();
                return wrong("command", what, "Name the program.");
            }
            if let Some(name) = env.keys().find(|name| !is_variable(name)) {
                let named = in_a_sentence(name, NAMED_CHARS_MAX);
                let what = format!("`{named}` is no name of a variable");
                return wrong("env", what, "Correct the name in `env`.");
            }
            if let Some(folder) = folder
                && !std::path::Path::new(folder).is_absolute()
            {
                let what = "its folder is not an absolute path".to_owned();
                return wrong("folder", what, "Write the whole path of `folder`.");
            }
            let all = [command].into_iter().chain(args).chain(env.values());
            let all = all.chain(folder).map(String::as_str);
            (all.collect(), args.len() + env.len())
        }
        ServerWay::Http {
            url,
            headers,
            client,
        } => {
            if client
                .as_ref()
                .is_some_and(|client| client.id.trim().is_empty())
            {
                let what = "the id of its client is empty".to_owned();
                return wrong(
                    "client",
                    what,
                    "Write the `id` that you were given, or leave `client` out.",
                );
            }
            // What it refers to is looked at when the server is started.
            if !refers(url)
                && let Err(what) = runtime::net::server_address(url)
            {
                let hint = "Write an address such as https://example.com/mcp.";
                return wrong("url", what, hint);
            }
            let client = client.iter();
            let client = client.flat_map(|client| [&client.id].into_iter().chain(&client.secret));
            let all = [url].into_iter().chain(headers.values()).chain(client);
            (all.map(String::as_str).collect(), headers.len())
        }
    };
    if count > VALUES_MAX {
        let what = format!("it has more than {VALUES_MAX} arguments, variables or headers");
        return wrong("", what, "Leave some of them out.");
    }
    if let Some(long) = values.iter().find(|value| value.len() > VALUE_BYTES_MAX) {
        let what = format!("a value is {} bytes long", long.len());
        return wrong("", what, "Shorten it.");
    }
    if values.iter().any(|value| value.contains('\0')) {
        let what = "a value holds a zero character".to_owned();
        return wrong("", what, "Take it out.");
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control())
}

fn table(settings: &ServerSettings) -> Table {
    let mut table = Table::new();
    match &settings.way {
        ServerWay::Stdio {
            command,
            args,
            env,
            folder,
        } => {
            table.insert("command", toml_edit::value(command.as_str()));
            put_list(&mut table, "args", args);
            if let Some(folder) = folder {
                table.insert("folder", toml_edit::value(folder.as_str()));
            }
            put_map(&mut table, "env", env);
        }
        ServerWay::Http {
            url,
            headers,
            client,
        } => {
            table.insert("url", toml_edit::value(url.as_str()));
            put_map(&mut table, "headers", headers);
            if let Some(client) = client {
                let mut given = BTreeMap::from([("id".to_owned(), client.id.clone())]);
                let secret = client.secret.clone();
                given.extend(secret.map(|secret| ("secret".to_owned(), secret)));
                put_map(&mut table, "client", &given);
            }
        }
    }
    if settings.timeout_ms != SERVER_TIMEOUT_MS {
        table.insert(
            "timeout_ms",
            toml_edit::value(i64::from(settings.timeout_ms)),
        );
    }
    table
}

#[cfg(test)]
mod tests;
