//! Watching the record for events of other processes, which are published here as they arrive: a window shows what
//! command lines and gateways do.

use std::sync::Arc;

use protocol::UserError;
use runtime::{FileWatcher, Workspace};

use crate::session::engine_state::EngineState;

/// File that every commit changes.
const WAL_FILE: &str = "record.db-wal";

/// Reads new events from the record whenever it changes, until the engine is closed.
///
/// # Errors
/// The system grants no more file watches. Events of other processes are then published with the next event of this
/// process.
pub(crate) fn watch_record(engine: &Arc<EngineState>) -> Result<(), UserError> {
    let folder = Workspace::open(&engine.config.data_dir)?;
    let mut watch = FileWatcher::new(&folder, &[WAL_FILE])?;
    let (record, closing) = (engine.record.clone(), engine.closing.clone());
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
