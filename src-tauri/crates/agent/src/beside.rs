//! What other processes record beside this one, told here as it comes: a window shows what command lines and gateways do.

use std::sync::Arc;

use protocol::Fault;
use runtime::{Watch, Workspace};

use crate::desk::Shared;

/// What every commit changes.
const LOG: &str = "record.db-wal";

/// Looks into the record whenever it changed, until the desk is closed.
///
/// # Errors
/// The system gives no more watches. What others record is told then with the next event of this process.
pub(crate) fn follow(shared: &Arc<Shared>) -> Result<(), Fault> {
    let folder = Workspace::open(&shared.config.data_dir)?;
    let mut watch = Watch::new(&folder, &[LOG])?;
    let (record, closing) = (shared.record.clone(), shared.closing.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = closing.cancelled() => return,
                () = watch.changed() => record.look(),
            }
        }
    });
    Ok(())
}
