//! `servers.toml`: the servers of a person, read with errors that name the line and changed one table at a time.

use std::collections::BTreeMap;
use std::path::Path;

use policy::RuleSet;
use policy::egress::resolve_named_host;
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::{
    OauthClient, SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerId, ServerSandbox, ServerSettings,
    ServerTransport,
};
use protocol::text::display_text::to_single_line;
use serde::Deserialize;
use toml_edit::Table;
use tools::config_table::{ConfigTable, ConfigTableError, insert_list, insert_map};
use tools::limits::QUOTED_CHARS_MAX;
use tools::sources::settings::{check_timeout, check_values, reject};

use crate::config_references::has_reference;
use crate::limits::{FILE_BYTES_MAX, SANDBOX_HOSTS_MAX, SERVERS_MAX};

/// The `servers.toml` file of a person.
pub enum ServersFile {}

/// A server as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerEntry {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<String>,
    #[serde(alias = "room")]
    sandbox: Option<String>,
    hosts: Option<Vec<String>>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    client: Option<OauthClient>,
    timeout_ms: Option<u32>,
    audience: Option<Audience>,
}

impl ConfigTable for ServersFile {
    type TableItem = ServerSettings;
    type RawItem = ServerEntry;
    const FILE: &'static str = "servers.toml";
    const SECTION: &'static str = "servers";
    const ITEM_NAME: &'static str = "server";
    const BYTES_MAX: usize = FILE_BYTES_MAX;
    const COUNT_MAX: usize = SERVERS_MAX;

    fn from_raw(
        id: ServerId,
        entry: ServerEntry,
        enabled: bool,
    ) -> Result<ServerSettings, ConfigTableError> {
        let timeout_ms = entry.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS);
        let audience = entry.audience;
        Ok(ServerSettings {
            id,
            transport: entry.parse_transport()?,
            timeout_ms,
            audience,
            enabled,
        })
    }

    fn id_and_enabled(settings: &ServerSettings) -> (&ServerId, bool) {
        (&settings.id, settings.enabled)
    }

    fn validate(settings: &ServerSettings) -> Result<(), ConfigTableError> {
        validate_settings(settings)
    }

    fn to_table(settings: &ServerSettings) -> Table {
        settings_to_table(settings)
    }
}

impl ServerEntry {
    fn parse_transport(self) -> Result<ServerTransport, ConfigTableError> {
        match (self.command, self.url) {
            (Some(command), None) if self.headers.is_none() && self.client.is_none() => {
                Ok(ServerTransport::Stdio {
                    command,
                    args: self.args.unwrap_or_default(),
                    env: self.env.unwrap_or_default(),
                    folder: self.folder,
                    sandbox: parse_sandbox(self.sandbox, self.hosts)?,
                })
            }
            (None, Some(url))
                if self.args.is_none()
                    && self.env.is_none()
                    && self.folder.is_none()
                    && self.sandbox.is_none()
                    && self.hosts.is_none() =>
            {
                Ok(ServerTransport::Http {
                    url,
                    headers: self.headers.unwrap_or_default(),
                    client: self.client,
                })
            }
            (Some(_), None) => reject(
                "command",
                "it has a command, so it has neither headers nor a client",
                "Take out `headers` and `client`, or write `url` in the place of `command`.",
            ),
            (None, Some(_)) => reject(
                "url",
                "it has an address, so it has neither arguments nor variables, no folder and no sandbox",
                "Take out `args`, `env`, `folder`, `sandbox` and `hosts`, or write `command` in the place of `url`.",
            ),
            (Some(_), Some(_)) => reject(
                "url",
                "it has both a command and an address",
                "Take out `command` or `url`.",
            ),
            (None, None) => reject(
                "",
                "it has neither a command nor an address",
                "Write `command` for a program of this machine, or `url` for an address.",
            ),
        }
    }
}

/// Parses the sandbox of a server; none if the server runs as the person.
fn parse_sandbox(
    workspace: Option<String>,
    hosts: Option<Vec<String>>,
) -> Result<Option<ServerSandbox>, ConfigTableError> {
    match (workspace, hosts) {
        (Some(workspace), hosts) => Ok(Some(ServerSandbox {
            workspace,
            hosts: hosts.unwrap_or_default(),
        })),
        (None, None) => Ok(None),
        (None, Some(_)) => reject(
            "hosts",
            "it names hosts and no sandbox, so it runs as you and reaches every host",
            "Write `sandbox`, the folder that it may change, or take out `hosts`.",
        ),
    }
}

fn validate_settings(settings: &ServerSettings) -> Result<(), ConfigTableError> {
    check_timeout(settings.timeout_ms, &(1..=SERVER_TIMEOUT_MS_MAX))?;
    let (values, count): (Vec<&str>, usize) = match &settings.transport {
        ServerTransport::Stdio {
            command,
            args,
            env,
            folder,
            sandbox,
        } => {
            if command.trim().is_empty() {
                return reject("command", "its command is empty", "Name the program.");
            }
            if let Some(name) = env.keys().find(|name| !is_variable_name(name)) {
                let named = to_single_line(name, QUOTED_CHARS_MAX);
                let what = format!("`{named}` is not a variable name");
                return reject("env", what, "Correct the name in `env`.");
            }
            if let Some(folder) = folder
                && !Path::new(folder).is_absolute()
            {
                return reject(
                    "folder",
                    "its folder is not an absolute path",
                    "Write the whole path of `folder`.",
                );
            }
            if let Some(sandbox) = sandbox {
                validate_sandbox(sandbox, folder.as_deref())?;
            }
            let hosts = sandbox.iter().flat_map(|sandbox| &sandbox.hosts);
            let sandbox_values = sandbox
                .iter()
                .map(|sandbox| &sandbox.workspace)
                .chain(hosts);
            let all = [command].into_iter().chain(args).chain(env.values());
            let all = all.chain(folder).chain(sandbox_values).map(String::as_str);
            (all.collect(), args.len() + env.len())
        }
        ServerTransport::Http {
            url,
            headers,
            client,
        } => {
            if client
                .as_ref()
                .is_some_and(|client| client.id.trim().is_empty())
            {
                return reject(
                    "client",
                    "the id of its client is empty",
                    "Write the `id` that you were given, or leave `client` out.",
                );
            }
            // References in the address are resolved when the server is started.
            if !has_reference(url)
                && let Err(what) = runtime::net::parse_server_url(url)
            {
                let hint = "Write an address such as https://example.com/mcp.";
                return reject("url", what, hint);
            }
            let client = client.iter();
            let client = client.flat_map(|client| [&client.id].into_iter().chain(&client.secret));
            let all = [url].into_iter().chain(headers.values()).chain(client);
            (all.map(String::as_str).collect(), headers.len())
        }
    };
    check_values(&values, count, "arguments, variables or headers")?;
    if values.iter().any(|value| value.contains('\0')) {
        return reject("", "a value holds a zero character", "Take it out.");
    }
    Ok(())
}

/// Checks the syntax of a sandbox's folder and hosts. Whether the folder exists is only checked when the server starts.
fn validate_sandbox(
    sandbox: &ServerSandbox,
    starts_in: Option<&str>,
) -> Result<(), ConfigTableError> {
    let workspace = Path::new(&sandbox.workspace);
    if !workspace.is_absolute() {
        return reject(
            "sandbox",
            "the folder of its sandbox is not an absolute path",
            "Write the absolute path of `sandbox`.",
        );
    }
    if workspace.parent().is_none() {
        return reject(
            "sandbox",
            "the whole disk cannot be the folder of its sandbox",
            "Name the one folder that it may change.",
        );
    }
    // One that is referred to is looked at when the server is started.
    if let Some(folder) = starts_in
        && !has_reference(folder)
        && !Path::new(folder).starts_with(workspace)
    {
        let what = "it starts outside the folder of its sandbox".to_owned();
        let hint = "Take out `folder`: it then starts in that of `sandbox`.";
        return reject("folder", what, hint);
    }
    if sandbox.hosts.len() > SANDBOX_HOSTS_MAX {
        let what = format!("it names more than {SANDBOX_HOSTS_MAX} hosts");
        return reject("hosts", what, "Leave some of them out.");
    }
    let rules = RuleSet::builtin();
    let mut closed = sandbox
        .hosts
        .iter()
        .filter_map(|host| resolve_named_host(host, &rules, 0).err());
    if let Some(why) = closed.next() {
        let why = why.trim_end_matches('.').to_owned();
        let hint = "Name each host by itself, such as \"api.example.com\".";
        return reject("hosts", why, hint);
    }
    Ok(())
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control())
}

fn settings_to_table(settings: &ServerSettings) -> Table {
    let mut table = Table::new();
    match &settings.transport {
        ServerTransport::Stdio {
            command,
            args,
            env,
            folder,
            sandbox,
        } => {
            table.insert("command", toml_edit::value(command.as_str()));
            insert_list(&mut table, "args", args);
            if let Some(folder) = folder {
                table.insert("folder", toml_edit::value(folder.as_str()));
            }
            if let Some(sandbox) = sandbox {
                table.insert("sandbox", toml_edit::value(sandbox.workspace.as_str()));
                insert_list(&mut table, "hosts", &sandbox.hosts);
            }
            insert_map(&mut table, "env", env);
        }
        ServerTransport::Http {
            url,
            headers,
            client,
        } => {
            table.insert("url", toml_edit::value(url.as_str()));
            insert_map(&mut table, "headers", headers);
            if let Some(client) = client {
                let mut members = BTreeMap::from([("id".to_owned(), client.id.clone())]);
                let secret = client.secret.clone();
                members.extend(secret.map(|secret| ("secret".to_owned(), secret)));
                insert_map(&mut table, "client", &members);
            }
        }
    }
    if settings.timeout_ms != SERVER_TIMEOUT_MS {
        table.insert(
            "timeout_ms",
            toml_edit::value(i64::from(settings.timeout_ms)),
        );
    }
    if let Some(audience) = settings.audience {
        table.insert("audience", toml_edit::value(audience.as_str()));
    }
    table
}

#[cfg(test)]
mod tests;
