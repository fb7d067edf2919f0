//! Imports servers from the files of other products: each switched off, and without its secrets.
//!
//! Start reading at [`parse_servers`]; `values.rs` decides how secrets are replaced.

mod formats;
mod locations;
mod raw_server;
mod values;

use std::collections::btree_map::Entry;
use std::path::Path;

use protocol::UserError;
use protocol::server::mcp_servers::{
    SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerId, ServerImport, ServerSettings,
    ServerTransport,
};

use crate::config::ServersFile;
use crate::limits::SERVERS_MAX;
pub use locations::{
    ImportLocation, ImportScope, ServerImportProduct, import_locations, locations_for_file,
};
use raw_server::RawServer;
use values::ValueImporter;

/// Parses the text of a product's file. Returns an empty list if the file names no server for that scope.
///
/// # Errors
/// The text does not have the format of that product.
pub fn parse_servers(
    product: ServerImportProduct,
    text: &str,
    scope: &ImportScope,
) -> Result<Vec<ServerImport>, UserError> {
    let (raw, project) = match scope {
        ImportScope::Person => (raw_server::parse_raw_servers(product, text)?, None),
        ImportScope::Project(folder) => (
            raw_server::parse_raw_servers(product, text)?,
            Some(folder.as_path()),
        ),
        ImportScope::Local(folder) => (
            raw_server::parse_local_servers(text, folder)?,
            Some(folder.as_path()),
        ),
    };
    Ok(raw
        .into_iter()
        .take(SERVERS_MAX)
        .map(|(name, raw)| to_server_import(name, raw, project))
        .collect())
}

fn to_server_import(
    name: String,
    raw: Result<RawServer, String>,
    project: Option<&Path>,
) -> ServerImport {
    let rejected = |why: String| ServerImport {
        written: name.clone(),
        settings: None,
        notes: vec![why],
        known: false,
    };
    let Some(id) = ServerId::from_nearest(&name) else {
        return rejected("Nothing of its name can be used.".to_owned());
    };
    let raw = match raw {
        Ok(raw) => raw,
        Err(why) => return rejected(why),
    };
    let mut values = ValueImporter::new(&id, project);
    let timeout_ms = raw.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS);
    let transport = match (raw.command, raw.url) {
        (Some(command), _) => {
            let args = values.convert_args(raw.args);
            let mut env = values.convert_map(raw.env);
            for name in raw.secret_env {
                if let Entry::Vacant(free) = env.entry(name) {
                    let reference = values.convert_secret_variable(free.key());
                    free.insert(reference);
                }
            }
            // Programs of a project are named from its folder.
            let folder = raw.folder.map(|folder| values.convert_path(&folder));
            ServerTransport::Stdio {
                command: values.convert_path(&command),
                args,
                env,
                folder: folder.or_else(|| project.map(|folder| folder.display().to_string())),
                sandbox: None,
            }
        }
        (None, Some(url)) => ServerTransport::Http {
            url: values.convert_url(&url),
            headers: values.convert_map(raw.headers),
            client: None,
        },
        (None, None) => return rejected("It has neither a command nor an address.".to_owned()),
    };
    let settings = ServerSettings {
        id: id.clone(),
        transport,
        timeout_ms: timeout_ms.clamp(1, SERVER_TIMEOUT_MS_MAX),
        audience: None,
        enabled: false,
    };
    let mut notes = raw.notes;
    notes.extend(values.into_notes());
    if settings.id.as_str() != name {
        notes.insert(0, format!("It is called `{}` here.", settings.id));
    }
    match tools::config_table::validate_item::<ServersFile>(&settings) {
        Ok(()) => ServerImport {
            written: name,
            settings: Some(settings),
            notes,
            known: false,
        },
        Err(fault) => rejected(fault.to_string()),
    }
}

#[cfg(test)]
mod tests;
