//! Servers that other products are set up with, read from their files: each off, and no secret taken over.
//!
//! Start reading at [`read`]; what becomes of a secret stands in `values.rs`.

mod formats;
mod places;
mod raw;
mod values;

use std::collections::btree_map::Entry;
use std::path::Path;

use protocol::Fault;
use protocol::servers::{
    SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerFound, ServerId, ServerSettings, ServerWay,
};

use crate::config::ServersFile;
use crate::limits::SERVERS_MAX;
pub use places::{Place, Product, Scope, places, places_of};
use raw::Raw;
use values::Values;

/// Reads the text of a product's file. Nothing if it names no server for that scope.
///
/// # Errors
/// It is not what that product writes.
pub fn read(product: Product, text: &str, scope: &Scope) -> Result<Vec<ServerFound>, Fault> {
    let (raw, project) = match scope {
        Scope::Person => (raw::read(product, text)?, None),
        Scope::Project(folder) => (raw::read(product, text)?, Some(folder.as_path())),
        Scope::Local(folder) => (raw::read_local(text, folder)?, Some(folder.as_path())),
    };
    Ok(raw
        .into_iter()
        .take(SERVERS_MAX)
        .map(|(name, raw)| found(name, raw, project))
        .collect())
}

fn found(written: String, raw: Result<Raw, String>, project: Option<&Path>) -> ServerFound {
    let none = |why: String| ServerFound {
        written: written.clone(),
        settings: None,
        notes: vec![why],
        known: false,
    };
    let Some(id) = ServerId::near(&written) else {
        return none("Nothing of its name can be used.".to_owned());
    };
    let raw = match raw {
        Ok(raw) => raw,
        Err(why) => return none(why),
    };
    let mut values = Values::new(&id, project);
    let timeout_ms = raw.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS);
    let way = match (raw.command, raw.url) {
        (Some(command), _) => {
            let args = values.args(raw.args);
            let mut env = values.named(raw.env);
            for name in raw.secret_env {
                if let Entry::Vacant(free) = env.entry(name) {
                    let reference = values.secret(free.key());
                    free.insert(reference);
                }
            }
            // Programs of a project are named from its folder.
            let folder = raw.folder.map(|folder| values.place(&folder));
            ServerWay::Stdio {
                command: values.place(&command),
                args,
                env,
                folder: folder.or_else(|| project.map(|folder| folder.display().to_string())),
                room: None,
            }
        }
        (None, Some(url)) => ServerWay::Http {
            url: values.url(&url),
            headers: values.named(raw.headers),
            client: None,
        },
        (None, None) => return none("It has neither a command nor an address.".to_owned()),
    };
    let settings = ServerSettings {
        id: id.clone(),
        way,
        timeout_ms: timeout_ms.clamp(1, SERVER_TIMEOUT_MS_MAX),
        enabled: false,
    };
    let mut notes = raw.notes;
    notes.extend(values.into_notes());
    if settings.id.as_str() != written {
        notes.insert(0, format!("It is called `{}` here.", settings.id));
    }
    match tools::kept::check::<ServersFile>(&settings) {
        Ok(()) => ServerFound {
            written,
            settings: Some(settings),
            notes,
            known: false,
        },
        Err(fault) => none(fault.to_string()),
    }
}

#[cfg(test)]
mod tests;
