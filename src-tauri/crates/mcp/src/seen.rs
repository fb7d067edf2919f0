//! What a server listed last and nobody approved yet: kept, so that a person hears of it where the server is not connected.

use std::path::{Path, PathBuf};

use protocol::Fault;
use protocol::servers::ServerId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::limits::SEEN_BYTES_MAX;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    tools: Vec<Value>,
}

/// Where it stands.
fn file(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("servers").join(format!("{id}.seen.json"))
}

/// Keeps what waits for an approval.
///
/// # Errors
/// It cannot be written.
pub(crate) fn keep(data_dir: &Path, id: &ServerId, catalogue: &Catalogue) -> Result<(), Fault> {
    let kept = Kept {
        tools: catalogue.tools.iter().cloned().map(Value::from).collect(),
    };
    let text = serde_json::to_vec(&kept).map_err(|error| {
        Fault::new("What waits for an approval cannot be kept.", "Report this.").caused_by(&error)
    })?;
    Ok(runtime::write_atomic(&file(data_dir, id), &text, 0o600)?)
}

/// Forgets it; fine if there is none.
///
/// # Errors
/// It cannot be removed.
pub(crate) fn forget(data_dir: &Path, id: &ServerId) -> Result<(), Fault> {
    Ok(runtime::forget(&file(data_dir, id))?)
}

/// What was kept; none if nothing was, or it cannot be read: the server is asked again when it is used.
pub(crate) fn load(data_dir: &Path, id: &ServerId) -> Option<Catalogue> {
    let text = runtime::read_text_within(&file(data_dir, id), SEEN_BYTES_MAX).ok()??;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    let mut catalogue = Catalogue::default();
    kept.tools.iter().for_each(|tool| catalogue.add(tool));
    Some(catalogue)
}
