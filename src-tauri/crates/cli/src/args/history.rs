//! What can be asked about what was done to files: `history`, `undo`, `redo`.

use std::path::PathBuf;

use clap::Subcommand;

/// The history.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct History {
    /// Show at most this many.
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
    /// Show the history of this workspace alone.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) asked: Option<Collect>,
}

/// What is done with the history.
#[derive(Debug, Subcommand)]
pub(crate) enum Collect {
    /// Drop what is too old or too much by the settings, and tell what is left.
    Gc,
}

/// What is taken back.
#[derive(Debug, clap::Args)]
pub(crate) struct Undo {
    /// The history entries; the newest that stands if none is named.
    #[arg(value_name = "ENTRY")]
    pub(crate) entries: Vec<String>,
    /// Take back everything in the workspace after this entry, the newest first. The entry itself stays.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    pub(crate) to: Option<String>,
    /// Show what would be done, and what cannot be taken back, and do nothing.
    #[arg(long)]
    pub(crate) look: bool,
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// What becomes of paths that changed since.
#[derive(Debug, clap::Args)]
pub(crate) struct Choices {
    /// Leave this path as it is now. May be repeated, like the next two.
    #[arg(long, value_name = "PATH")]
    pub(crate) keep: Vec<String>,
    /// Put back what the history has; a copy of what stands there is taken first.
    #[arg(long, value_name = "PATH")]
    pub(crate) restore: Vec<String>,
    /// Put both changes together, where they touch different lines of a text.
    #[arg(long, value_name = "PATH")]
    pub(crate) merge: Vec<String>,
}
