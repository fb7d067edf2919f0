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
    /// Erase what Countersign keeps on this machine, for good.
    ///
    /// That is the data folder with those that backups replaced, keys and sign-ins in the system keychain, the folders
    /// of the window, and its start at login; the programs stay. With --data-dir, or COUNTERSIGN_DATA_DIR, only that
    /// folder goes, unless it is the usual one. It is refused while something works with it, while agents are connected, and where anything
    /// else lies in the folder. Fails if something is left, and names it.
    Erase {
        /// Erase without a question.
        #[arg(long)]
        yes: bool,
    },
}
