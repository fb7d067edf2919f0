//! Arguments of `history`, `undo` and `redo`: changes to files.

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

/// The changes to undo.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// The history entries to undo, of any workspace. Without one, the newest change in this workspace.
    #[arg(value_name = "ENTRY")]
    pub(crate) entries: Vec<String>,
    /// Undo the newest change in this workspace; a folder within it will do.
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with_all = ["entries", "to"])]
    pub(crate) workspace: PathBuf,
    /// Undo every change in the workspace after this entry, the newest first. The entry itself is kept.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    pub(crate) to: Option<String>,
    /// Show what would be restored and what cannot be undone, and change nothing.
    #[arg(long)]
    pub(crate) look: bool,
    #[command(flatten)]
    pub(crate) choices: ConflictArgs,
}

/// The change to redo.
#[derive(Debug, clap::Args)]
pub(crate) struct RedoArgs {
    /// The history entry to redo, of any workspace. Without one, the last change that was undone in this workspace.
    pub(crate) entry: Option<String>,
    /// Redo the last change that was undone in this workspace; a folder within it will do.
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

/// The choices for paths that changed since.
#[derive(Debug, clap::Args)]
pub(crate) struct ConflictArgs {
    /// Leave this path as it is now. May be repeated, like the next two.
    #[arg(long, value_name = "PATH")]
    pub(crate) keep: Vec<String>,
    /// Restore this path from the history. Its present state is saved first and can be restored too.
    #[arg(long, value_name = "PATH")]
    pub(crate) restore: Vec<String>,
    /// Merge both changes of this text file, if they are on different lines.
    #[arg(long, value_name = "PATH")]
    pub(crate) merge: Vec<String>,
}
