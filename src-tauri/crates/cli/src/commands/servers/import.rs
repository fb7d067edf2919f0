//! `servers import`: shows the servers that other products and the project are set up with, and imports them.

use std::path::Path;

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::server::mcp_servers::{
    ServerChange, ServerImport, ServerImportSource, ServerSettings,
};

use super::super::{absolute_workspace, source_commands};
use super::{ServerCommands, show_server, submit_server_change};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

pub(super) async fn load_sources(
    desk: &Engine,
    workspace: &Path,
) -> Result<Vec<ServerImportSource>, CliError> {
    let query = Query::DiscoverServers {
        workspace: Some(absolute_workspace(workspace)?),
    };
    match desk.query(query).await? {
        Answer::DiscoverServers { sources } => Ok(sources),
        _ => Err(CliError::unexpected_answer()),
    }
}

pub(super) fn load_file_sources(
    product: &str,
    file: &Path,
    workspace: &Path,
) -> Result<Vec<ServerImportSource>, CliError> {
    agent::servers_from_file(product, file, workspace).map_err(CliError::usage_error)
}

/// Selection of the found servers to set up.
pub(super) struct ImportSelection {
    /// Names of the servers.
    pub add: Vec<String>,
    /// Whether an imported server may replace an existing one with the same name.
    pub replace: bool,
}

pub(super) async fn import_servers(
    desk: &Engine,
    sources: &[ServerImportSource],
    selection: &ImportSelection,
    out: &mut OutputWriter,
) -> CliResult {
    if selection.add.is_empty() {
        return out.write_answer(&sources, |out| {
            if sources.is_empty() {
                out.write_line("No product that is known here is set up with servers.")?;
            }
            let mut sources = sources.iter();
            sources.try_for_each(|source| print_source(source, out))
        });
    }
    for name in &selection.add {
        let all = sources.iter().flat_map(|source| &source.found);
        let settings: Vec<&ServerSettings> = all.filter_map(|one| one.settings.as_ref()).collect();
        let server = settings.iter().find(|one| one.id.as_str() == name);
        let Some(server) = server else {
            return Err(CliError::usage(
                format!("No server `{name}` was found that can be taken."),
                "Look at what was found: countersign servers import.",
            ));
        };
        source_commands::require_free_name::<ServerCommands>(desk, name, selection.replace).await?;
        let set = ServerChange::Set {
            transport: server.transport.clone(),
            timeout_ms: server.timeout_ms,
            audience: server.audience,
        };
        submit_server_change(desk, &server.id, set).await?;
        show_server(desk, &server.id, out).await?;
    }
    Ok(ExitReason::Done)
}

fn print_source(source: &ServerImportSource, out: &mut OutputWriter) -> Result<(), CliError> {
    let head = format!(
        "{}  {}",
        out.apply_style(TextStyle::Strong, &source.product),
        out.apply_style(TextStyle::Faint, &source.file)
    );
    out.write_line(&head)?;
    if let Some(fault) = &source.fault {
        out.write_styled(TextStyle::Bad, &format!("  {fault}"))?;
    }
    source
        .found
        .iter()
        .try_for_each(|found| print_found_server(found, out))
}

fn print_found_server(server: &ServerImport, out: &mut OutputWriter) -> Result<(), CliError> {
    let line = match &server.settings {
        Some(settings) => {
            let known = if server.known { "  set up already" } else { "" };
            format!("  {}  {}{known}", settings.id, settings.transport.summary())
        }
        None => format!("  {}  cannot be taken", server.written),
    };
    out.write_styled(TextStyle::Plain, &line)?;
    for note in &server.notes {
        out.write_styled(TextStyle::Faint, &format!("    {note}"))?;
    }
    Ok(())
}
