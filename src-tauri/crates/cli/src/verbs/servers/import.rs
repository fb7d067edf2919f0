//! `servers import`: what other products and the project are set up with, shown and taken.

use std::path::Path;

use agent::Desk;
use protocol::Fault;
use protocol::query::{Answer, Query};
use protocol::servers::{ServerChange, ServerFound, ServerSettings, ServerSource};

use super::super::{ask, kept};
use super::{Kept, change, show};
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};

pub(super) async fn found(desk: &Desk, workspace: &Path) -> Result<Vec<ServerSource>, Ending> {
    let workspace = std::path::absolute(workspace).map_err(|error| {
        Ending::usage(Fault::new("The workspace has no place.", "")).because(&error)
    })?;
    let query = Query::ServersFound {
        workspace: Some(workspace.display().to_string()),
    };
    ask(desk, query, |answer| match answer {
        Answer::ServersFound { sources } => Some(sources),
        _ => None,
    })
    .await
}

pub(super) fn of_file(
    product: &str,
    file: &Path,
    workspace: &Path,
) -> Result<Vec<ServerSource>, Ending> {
    agent::servers_of_file(product, file, workspace).map_err(Ending::usage)
}

/// Which of the servers that were found are set up.
pub(super) struct Wanted {
    /// Their names.
    pub add: Vec<String>,
    /// Whether one may take the place of a server of its name.
    pub replace: bool,
}

pub(super) async fn import(
    desk: &Desk,
    sources: &[ServerSource],
    wanted: &Wanted,
    out: &mut Out,
) -> Ended {
    if wanted.add.is_empty() {
        if out.is_json() {
            out.json(&sources)?;
        } else {
            if sources.is_empty() {
                out.line("No product that is known here is set up with servers.")?;
            }
            sources
                .iter()
                .try_for_each(|source| tell_source(source, out))?;
        }
        return Ok(Code::Done);
    }
    for name in &wanted.add {
        let all = sources.iter().flat_map(|source| &source.found);
        let settings: Vec<&ServerSettings> = all.filter_map(|one| one.settings.as_ref()).collect();
        let found = settings.iter().find(|one| one.id.as_str() == name);
        let Some(found) = found else {
            return Err(Ending::usage(Fault::new(
                format!("No server `{name}` was found that can be taken."),
                "Look at what was found: countersign servers import.",
            )));
        };
        kept::free_name::<Kept>(desk, name, wanted.replace).await?;
        let set = ServerChange::Set {
            way: found.way.clone(),
            timeout_ms: found.timeout_ms,
        };
        change(desk, &found.id, set).await?;
        show(desk, &found.id, out).await?;
    }
    Ok(Code::Done)
}

fn tell_source(source: &ServerSource, out: &mut Out) -> Result<(), Ending> {
    let head = format!(
        "{}  {}",
        out.ink(Ink::Strong, &source.product),
        out.ink(Ink::Faint, &source.file)
    );
    out.line(&head)?;
    if let Some(fault) = &source.fault {
        let line = out.ink(Ink::Bad, &format!("  {fault}"));
        out.line(&line)?;
    }
    source
        .found
        .iter()
        .try_for_each(|found| tell_found(found, out))
}

fn tell_found(found: &ServerFound, out: &mut Out) -> Result<(), Ending> {
    let line = match &found.settings {
        Some(settings) => {
            let known = if found.known { "  set up already" } else { "" };
            format!("  {}  {}{known}", settings.id, settings.way.told())
        }
        None => format!("  {}  cannot be taken", found.written),
    };
    let line = out.ink(Ink::Plain, &line);
    out.line(&line)?;
    for note in &found.notes {
        let line = out.ink(Ink::Faint, &format!("    {note}"));
        out.line(&line)?;
    }
    Ok(())
}
