//! Arguments of `data`: the data folder as a whole.

use std::path::PathBuf;

use clap::Subcommand;

/// Subcommands of `data`.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Show what the data folder takes, part by part, and what makes room.
    ///
    /// Measures files, so it works while Countersign is at work, and with a folder that cannot be opened.
    Size,
    /// Write the data folder to one file.
    ///
    /// With the record, copies for undo, settings, and rules. Countersign can be at work meanwhile. Keys are not in it: they
    /// are in the keychain.
    Backup {
        /// The file, which must not exist, such as `countersign.tar.zst`.
        file: PathBuf,
    },
    /// Restore the data folder from a backup.
    Restore {
        /// The file that `data backup` made.
        file: PathBuf,
        /// Take the place of a data folder that holds something. That one is kept beside it.
        #[arg(long)]
        replace: bool,
    },
}
