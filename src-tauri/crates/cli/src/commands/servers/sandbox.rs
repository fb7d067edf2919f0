//! `servers sandbox`: moves a server into a sandbox, and back.

use std::path::Path;

use agent::Engine;
use protocol::server::mcp_servers::{
    ServerChange, ServerId, ServerSandbox, ServerTransport, ServerView,
};
use protocol::text::display_text::to_single_line;

use super::super::{absolute_workspace, source_commands};
use super::{ServerCommands, show_server, submit_server_change};
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Maximum length of the name of a folder or a host, in characters.
const NAME_CHARS_MAX: usize = 200;

/// Builds the sandbox that the command line describes.
///
/// # Errors
/// The folder has no absolute path.
pub(super) fn parse_sandbox(folder: &Path, hosts: &[String]) -> Result<ServerSandbox, CliError> {
    Ok(ServerSandbox {
        workspace: absolute_workspace(folder)?,
        hosts: hosts.to_vec(),
    })
}

/// Sets the server up with this sandbox, or without one; a server that is on is restarted there.
pub(super) async fn set_sandbox(
    desk: &Engine,
    id: &ServerId,
    wanted: Option<ServerSandbox>,
    out: &mut OutputWriter,
) -> CliResult {
    let settings = source_commands::load_view::<ServerCommands>(desk, id)
        .await?
        .settings;
    let mut transport = settings.transport;
    match &mut transport {
        ServerTransport::Stdio {
            folder, sandbox, ..
        } => {
            let is_inside = |folder: &String, sandbox: &ServerSandbox| {
                Path::new(folder).starts_with(&sandbox.workspace)
            };
            if let Some(wanted) = &wanted {
                // The server then starts in the folder of its sandbox.
                folder.take_if(|folder| !is_inside(folder, wanted));
            }
            *sandbox = wanted;
        }
        ServerTransport::Http { .. } => {
            return Err(CliError::usage(
                format!("The server `{id}` is reached at an address: it runs on another machine."),
                "Limit what its tools are called with by rules.",
            ));
        }
    }
    let timeout_ms = settings.timeout_ms;
    let set = ServerChange::Set {
        transport,
        timeout_ms,
        audience: settings.audience,
    };
    submit_server_change(desk, id, set).await?;
    if settings.enabled {
        submit_server_change(desk, id, ServerChange::Switch { enabled: true }).await?;
    }
    show_server(desk, id, out).await
}

/// Describes where a program of this machine runs, in a sentence; none for a server on another machine.
pub(super) fn describe_sandbox(view: &ServerView) -> Option<String> {
    let id = &view.settings.id;
    let name = |text: &str| to_single_line(text, NAME_CHARS_MAX);
    match &view.settings.transport {
        ServerTransport::Stdio { sandbox: None, .. } => Some(format!(
            "Runs as you, outside any sandbox. To run it in a sandbox: countersign servers sandbox {id} FOLDER"
        )),
        ServerTransport::Stdio {
            sandbox: Some(sandbox),
            ..
        } => {
            let hosts = match sandbox.hosts.is_empty() {
                true => "reaches no host".to_owned(),
                false => format!("reaches {}", name(&sandbox.hosts.join(", "))),
            };
            Some(format!(
                "Runs in a sandbox: changes {} alone, {hosts}.",
                name(&sandbox.workspace)
            ))
        }
        ServerTransport::Http { .. } => None,
    }
}
