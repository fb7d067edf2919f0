//! Maintenance of the data folder: recovery after a crash, retention, watching the record of other processes,
//! rescuing a damaged record, backups, what the folder takes, and its erasure.

pub(crate) mod backup;
pub(crate) mod erasure;
pub(crate) mod folder_size;
pub(crate) mod folder_use;
pub(crate) mod record_check;
pub(crate) mod record_rescue;
pub(crate) mod record_watcher;
pub(crate) mod recovery;
pub(crate) mod retention;
