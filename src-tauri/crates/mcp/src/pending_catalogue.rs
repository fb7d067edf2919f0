//! Stores a server's latest list of tools while it waits for an approval, so that a person hears of it where the server
//! is not connected.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::ToolCatalogue;
use crate::limits::PENDING_CATALOGUE_BYTES_MAX;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCatalogue {
    tools: Vec<Value>,
}

/// Returns the path of the stored list.
fn pending_catalogue_path(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("servers").join(format!("{id}.seen.json"))
}

/// Stores a list that waits for an approval.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn save_pending_catalogue(
    data_dir: &Path,
    id: &ServerId,
    catalogue: &ToolCatalogue,
) -> Result<(), UserError> {
    let stored = StoredCatalogue {
        tools: catalogue.tools.iter().cloned().map(Value::from).collect(),
    };
    let text = serde_json::to_vec(&stored).map_err(|error| {
        UserError::new("What waits for an approval cannot be kept.", "Report this.")
            .with_source(&error)
    })?;
    Ok(runtime::write_atomic(
        &pending_catalogue_path(data_dir, id),
        &text,
        0o600,
    )?)
}

/// Removes the stored list; succeeds if there is none.
///
/// # Errors
/// The file cannot be removed.
pub(crate) fn remove_pending_catalogue(data_dir: &Path, id: &ServerId) -> Result<(), UserError> {
    Ok(runtime::remove_if_exists(&pending_catalogue_path(
        data_dir, id,
    ))?)
}

/// Returns the stored list; none if there is none, or it cannot be read: the server is asked again when it is used.
pub(crate) fn load_pending_catalogue(data_dir: &Path, id: &ServerId) -> Option<ToolCatalogue> {
    let text = runtime::read_text_within(
        &pending_catalogue_path(data_dir, id),
        PENDING_CATALOGUE_BYTES_MAX,
    )
    .ok()??;
    let stored: StoredCatalogue = serde_json::from_str(&text).ok()?;
    let mut catalogue = ToolCatalogue::default();
    stored.tools.iter().for_each(|tool| catalogue.add(tool));
    Some(catalogue)
}
