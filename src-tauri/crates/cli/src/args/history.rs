//! What can be asked about what was done to files: `history`, `undo`, `redo`.

use std::path::PathBuf;

use clap::Subcommand;

/// The history.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    /// Show at most this many.
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
    /// Show the history of this workspace alone.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
}

/// Action on the history.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Drop what is too old or too much by the settings, and tell what is left.
    Gc,
}

/// Entries to undo.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// The history entries, of any workspace; the newest in this one that is not undone if none is named.
    #[arg(value_name = "ENTRY")]
    pub(crate) entries: Vec<String>,
    /// The workspace whose newest change is meant, or a folder in it.
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with_all = ["entries", "to"])]
    pub(crate) workspace: PathBuf,
    /// Undo everything in the workspace after this entry, the newest first. The entry itself stays.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    pub(crate) to: Option<String>,
    /// Show what would be done, and what cannot be undone, and do nothing.
    #[arg(long)]
    pub(crate) look: bool,
    #[command(flatten)]
    pub(crate) choices: ConflictArgs,
}

/// Entry to redo.
#[derive(Debug, clap::Args)]
pub(crate) struct RedoArgs {
    /// The history entry, of any workspace; the last that was undone in this one if none is named.
    pub(crate) entry: Option<String>,
    /// The workspace whose last undo is meant, or a folder in it.
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        conflicts_with = "entry"
    )]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) choices: ConflictArgs,
}

/// What becomes of paths that changed since.
#[derive(Debug, clap::Args)]
pub(crate) struct ConflictArgs {
    /// Leave this path as it is now. May be repeated, like the next two.
    #[arg(long, value_name = "PATH")]
    pub(crate) keep: Vec<String>,
    /// Put back what the history has; a copy of what is there is taken first.
    #[arg(long, value_name = "PATH")]
    pub(crate) restore: Vec<String>,
    /// Put both changes together, where they touch different lines of a text.
    #[arg(long, value_name = "PATH")]
    pub(crate) merge: Vec<String>,
}
