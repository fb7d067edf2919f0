//! `servers.toml`: the servers of a person, read with errors that name the line and changed one table at a time.

use std::collections::BTreeMap;

use protocol::Fault;
use protocol::servers::{
    SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerClient, ServerId, ServerSettings, ServerWay,
};
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::limits::{FILE_BYTES_MAX, SERVERS_MAX, VALUE_BYTES_MAX, VALUES_MAX};
use crate::refs::refers;

/// The name of the file, in the data folder.
pub const FILE: &str = "servers.toml";

const SECTION: &str = "servers";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    servers: BTreeMap<String, Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<String>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    client: Option<ServerClient>,
    timeout_ms: Option<u32>,
    #[serde(default)]
    enabled: bool,
}

/// Reads the text of the file.
///
/// # Errors
/// The first thing that is wrong, with its line or its server: then no server of the file is used.
pub fn read(text: &str) -> Result<Vec<ServerSettings>, Fault> {
    let wrong = |what: String| {
        Fault::new(
            format!("{FILE}: {what}."),
            "Correct it. Until then no server of it is used.",
        )
    };
    if text.len() > FILE_BYTES_MAX {
        return Err(wrong(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    let whole: Whole = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
        wrong(format!("line {line}: {}", error.message()))
    })?;
    if whole.servers.len() > SERVERS_MAX {
        return Err(wrong(format!("it names more than {SERVERS_MAX} servers")));
    }
    let servers = whole.servers.into_iter();
    servers
        .map(|(name, written)| {
            let id = ServerId::try_from(name).map_err(&wrong)?;
            let settings = written.settings(id.clone());
            let settings = settings.map_err(|what| wrong(format!("the server `{id}` {what}")))?;
            check(&settings)?;
            Ok(settings)
        })
        .collect()
}

impl Written {
    fn settings(self, id: ServerId) -> Result<ServerSettings, String> {
        let way = match (self.command, self.url) {
            (Some(command), None) if self.headers.is_none() && self.client.is_none() => {
                ServerWay::Stdio {
                    command,
                    args: self.args.unwrap_or_default(),
                    env: self.env.unwrap_or_default(),
                    folder: self.folder,
                }
            }
            (None, Some(url))
                if self.args.is_none() && self.env.is_none() && self.folder.is_none() =>
            {
                ServerWay::Http {
                    url,
                    headers: self.headers.unwrap_or_default(),
                    client: self.client,
                }
            }
            (Some(_), None) => {
                return Err("has a command, so it has neither headers nor a client".to_owned());
            }
            (None, Some(_)) => {
                return Err(
                    "has an address, so it has neither arguments nor variables nor a folder"
                        .to_owned(),
                );
            }
            (Some(_), Some(_)) => return Err("has both a command and an address".to_owned()),
            (None, None) => return Err("has neither a command nor an address".to_owned()),
        };
        Ok(ServerSettings {
            id,
            way,
            timeout_ms: self.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS),
            enabled: self.enabled,
        })
    }
}

/// Whether a server can be set up so.
///
/// # Errors
/// What is wrong with it.
pub fn check(settings: &ServerSettings) -> Result<(), Fault> {
    let wrong = |what: String, hint: &str| {
        let told = format!("The server `{}` cannot be set up so: {what}.", settings.id);
        Err(Fault::new(told, hint))
    };
    if !(1..=SERVER_TIMEOUT_MS_MAX).contains(&settings.timeout_ms) {
        let what = format!(
            "its time limit is {} ms, and may be 1 to {SERVER_TIMEOUT_MS_MAX}",
            settings.timeout_ms
        );
        return wrong(what, "Set `timeout_ms`, or leave it out.");
    }
    let (values, count): (Vec<&str>, usize) = match &settings.way {
        ServerWay::Stdio {
            command,
            args,
            env,
            folder,
        } => {
            if command.trim().is_empty() {
                return wrong("its command is empty".to_owned(), "Name the program.");
            }
            if let Some(name) = env.keys().find(|name| !is_variable(name)) {
                let named = protocol::shown::in_a_sentence(name, 64);
                let what = format!("`{named}` is no name of a variable");
                return wrong(what, "Correct the name in `env`.");
            }
            if let Some(folder) = folder
                && !std::path::Path::new(folder).is_absolute()
            {
                let what = "its folder is not an absolute path".to_owned();
                return wrong(what, "Write the whole path of `folder`.");
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
                    what,
                    "Write the `id` that you were given, or leave `client` out.",
                );
            }
            // What it refers to is looked at when the server is started.
            if !refers(url)
                && let Err(what) = runtime::net::server_address(url)
            {
                return wrong(what, "Write an address such as https://example.com/mcp.");
            }
            let client = client.iter();
            let client = client.flat_map(|client| [&client.id].into_iter().chain(&client.secret));
            let all = [url].into_iter().chain(headers.values()).chain(client);
            (all.map(String::as_str).collect(), headers.len())
        }
    };
    if count > VALUES_MAX {
        let what = format!("it has more than {VALUES_MAX} arguments, variables or headers");
        return wrong(what, "Leave some of them out.");
    }
    if let Some(long) = values.iter().find(|value| value.len() > VALUE_BYTES_MAX) {
        let what = format!("a value is {} bytes long", long.len());
        return wrong(what, "Shorten it.");
    }
    if values.iter().any(|value| value.contains('\0')) {
        let what = "a value holds a zero character".to_owned();
        return wrong(what, "Take it out.");
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control())
}

/// The text with this server added or put in the place of the one of its name; everything else stays as it is written.
///
/// # Errors
/// The text is no `servers.toml`, or is full.
pub fn with(text: &str, settings: &ServerSettings) -> Result<String, Fault> {
    check(settings)?;
    let mut document = document(text)?;
    let servers = section(&mut document)?;
    let id = settings.id.as_str();
    if !servers.contains_key(id) && servers.len() >= SERVERS_MAX {
        return Err(Fault::new(
            format!("There are {SERVERS_MAX} servers already."),
            "Remove one first.",
        ));
    }
    servers.insert(id, Item::Table(table(settings)));
    Ok(document.to_string())
}

/// The text without a server.
///
/// # Errors
/// The text is no `servers.toml`.
pub fn without(text: &str, id: &ServerId) -> Result<String, Fault> {
    let mut document = document(text)?;
    section(&mut document)?.remove(id.as_str());
    Ok(document.to_string())
}

/// The text with a server switched on or off.
///
/// # Errors
/// The text is no `servers.toml`, or names no such server.
pub fn switched(text: &str, id: &ServerId, enabled: bool) -> Result<String, Fault> {
    let mut document = document(text)?;
    let server = section(&mut document)?.get_mut(id.as_str());
    let Some(server) = server.and_then(Item::as_table_like_mut) else {
        return Err(unknown(id));
    };
    server.insert("enabled", toml_edit::value(enabled));
    Ok(document.to_string())
}

/// That there is no such server.
pub fn unknown(id: &ServerId) -> Fault {
    Fault::new(
        format!("There is no server `{id}`."),
        "Look at the list: countersign servers list.",
    )
}

fn document(text: &str) -> Result<DocumentMut, Fault> {
    // What cannot be read is not written over.
    read(text)?;
    text.parse().map_err(|error: toml_edit::TomlError| {
        Fault::new(format!("{FILE} cannot be read."), "Correct it.").caused_by(&error)
    })
}

fn section(document: &mut DocumentMut) -> Result<&mut dyn toml_edit::TableLike, Fault> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let entry = document.entry(SECTION).or_insert(Item::Table(implicit));
    entry
        .as_table_like_mut()
        .ok_or_else(|| Fault::new(format!("{FILE}: `{SECTION}` is no table."), "Correct it."))
}

fn table(settings: &ServerSettings) -> Table {
    let mut table = Table::new();
    let map = |values: &BTreeMap<String, String>| {
        let mut table = Table::new();
        for (name, value) in values {
            table.insert(name, toml_edit::value(value.as_str()));
        }
        Item::Table(table)
    };
    match &settings.way {
        ServerWay::Stdio {
            command,
            args,
            env,
            folder,
        } => {
            table.insert("command", toml_edit::value(command.as_str()));
            if !args.is_empty() {
                let args: Array = args.iter().map(String::as_str).collect();
                table.insert("args", Item::Value(Value::Array(args)));
            }
            if let Some(folder) = folder {
                table.insert("folder", toml_edit::value(folder.as_str()));
            }
            if !env.is_empty() {
                table.insert("env", map(env));
            }
        }
        ServerWay::Http {
            url,
            headers,
            client,
        } => {
            table.insert("url", toml_edit::value(url.as_str()));
            if !headers.is_empty() {
                table.insert("headers", map(headers));
            }
            if let Some(client) = client {
                let mut given = BTreeMap::from([("id".to_owned(), client.id.clone())]);
                let secret = client.secret.clone();
                given.extend(secret.map(|secret| ("secret".to_owned(), secret)));
                table.insert("client", map(&given));
            }
        }
    }
    if settings.timeout_ms != SERVER_TIMEOUT_MS {
        table.insert(
            "timeout_ms",
            toml_edit::value(i64::from(settings.timeout_ms)),
        );
    }
    table.insert("enabled", toml_edit::value(settings.enabled));
    table
}

#[cfg(test)]
mod tests;
