//! The server behind `gateway mcp`: one that is set up, or one that the command line gives by its command or its address.

use std::collections::BTreeMap;
use std::path::Path;

use agent::{GivenServer, ServerChoice};
use protocol::Digest;
use protocol::server::mcp_servers::{ServerId, ServerSettings, ServerTransport};

use super::servers::{parse_pairs, parse_server_name, parse_server_transport};
use crate::args::McpGatewayArgs;
use crate::exit::CliError;

/// Longest part of a default name that comes from the program or the host, in characters.
const STEM_CHARS_MAX: usize = 20;
/// Length of the part of a default name that tells servers of one program apart, in characters.
const DIGEST_CHARS: usize = 8;

/// Returns the server that the command line names; none if it names none.
///
/// # Errors
/// A name that no server can have, and values that cannot be read.
pub(super) fn choose_server(args: &McpGatewayArgs) -> Result<Option<ServerChoice>, CliError> {
    if let Some(name) = &args.server {
        return Ok(Some(ServerChoice::Configured(parse_server_name(name)?)));
    }
    if args.settings.url.is_none() && args.command.is_empty() {
        return Ok(None);
    }
    let mut transport = parse_server_transport(&args.settings, &args.command, None)?;
    add_references(&mut transport, args)?;
    if let ServerTransport::Stdio {
        folder,
        sandbox: None,
        ..
    } = &mut transport
        && folder.is_none()
    {
        // A client starts its servers where it works.
        *folder = Some(super::absolute_workspace(&args.workspace)?);
    }
    let id = match &args.name {
        Some(name) => parse_server_name(name)?,
        None => default_name(&transport)?,
    };
    let settings = ServerSettings {
        id,
        transport,
        timeout_ms: args.settings.timeout_ms,
        audience: None,
        enabled: true,
    };
    Ok(Some(ServerChoice::Given(GivenServer {
        variables: referenced_variables(&settings),
        settings,
        approves_tools: args.approve_tools,
    })))
}

/// Adds references to the variables of this process that the command line names.
fn add_references(transport: &mut ServerTransport, args: &McpGatewayArgs) -> Result<(), CliError> {
    let reference = |variable: &str| format!("${{{variable}}}");
    match transport {
        ServerTransport::Stdio { env, .. } => {
            let passed = args.pass_env.iter();
            env.extend(passed.map(|name| (name.clone(), reference(name))));
        }
        ServerTransport::Http { headers, .. } => {
            let named = parse_pairs(&args.header_env)?.into_iter();
            headers.extend(named.map(|(name, variable)| (name, reference(&variable))));
        }
    }
    Ok(())
}

/// Returns the variables of this process that references in settings may name.
fn referenced_variables(settings: &ServerSettings) -> BTreeMap<String, String> {
    let written = serde_json::to_string(settings).unwrap_or_default();
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| written.contains(&format!("${{{name}")))
        .collect()
}

/// Returns the name of a server that is given none: its program or host, and what tells it apart from others of the same. A
/// rule for the tools of one server never speaks of those of another.
fn default_name(transport: &ServerTransport) -> Result<ServerId, CliError> {
    let stem = match transport {
        ServerTransport::Stdio { command, .. } => {
            let stem = Path::new(command).file_stem();
            stem.map(|stem| stem.to_string_lossy().into_owned())
        }
        ServerTransport::Http { url, .. } => {
            let host = url.split("://").last().unwrap_or_default();
            host.split(['/', ':']).next().map(str::to_owned)
        }
    };
    let stem: String = stem
        .unwrap_or_default()
        .chars()
        .take(STEM_CHARS_MAX)
        .collect();
    let digest = Digest::from_bytes(transport.summary().as_bytes());
    let tail: String = digest.0.chars().take(DIGEST_CHARS).collect();
    ServerId::from_nearest(&format!("{stem}-{tail}"))
        .ok_or_else(|| CliError::usage("The server has no name.", "Give it one with --name."))
}
