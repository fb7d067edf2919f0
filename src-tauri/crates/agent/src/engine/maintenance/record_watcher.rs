//! What other processes record beside this one, told here as it comes: a window shows what command lines and gateways do.

use std::sync::Arc;

use protocol::UserError;
use runtime::{FileWatcher, Workspace};

use crate::session::engine_state::EngineState;

/// What every commit changes.
const WAL_FILE: &str = "record.db-wal";

/// Looks into the record whenever it changed, until the desk is closed.
///
/// # Errors
/// The system gives no more watches. What others record is told then with the next event of this process.
pub(crate) fn watch_record(shared: &Arc<EngineState>) -> Result<(), UserError> {
    let folder = Workspace::open(&shared.config.data_dir)?;
    let mut watch = FileWatcher::new(&folder, &[WAL_FILE])?;
    let (record, closing) = (shared.record.clone(), shared.closing.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = watch.wait_for_change() => record.publish_foreign_events(),
            }
        }
    });
    Ok(())
}
