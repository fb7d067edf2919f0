//! Arguments of `record`: the database of everything that was recorded.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Subcommands of `record`.
#[derive(Debug, Subcommand)]
pub(crate) enum RecordCommand {
    /// Save what can be read of a damaged record in a new one.
    ///
    /// Says how much could not be read. The record itself is not changed, unless --replace says so.
    Rescue(RescueArgs),
}

/// Arguments of `record rescue`.
#[derive(Debug, Args)]
pub(crate) struct RescueArgs {
    /// The new file; `record.rescued.db` in the data folder if none is named.
    #[arg(long, value_name = "FILE", conflicts_with = "replace")]
    pub(crate) out: Option<PathBuf>,
    /// Put what was saved in the place of the record. The damaged one is kept beside it.
    #[arg(long)]
    pub(crate) replace: bool,
}
