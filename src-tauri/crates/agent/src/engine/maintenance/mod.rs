//! Maintenance of the data folder: recovery after a crash, retention, and watching the record of other processes.

pub(crate) mod record_check;
pub(crate) mod record_watcher;
pub(crate) mod recovery;
pub(crate) mod retention;
