//! Arguments of `sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The sessions.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    /// List those of this workspace alone.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// List at most this many; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) limit: usize,
    /// List those in the archive instead.
    #[arg(long)]
    pub(crate) archived: bool,
    /// List those that were deleted instead: when, where, and how many calls each had.
    #[arg(long, conflicts_with_all = ["archived", "workspace"])]
    pub(crate) deleted: bool,
    /// List those that this agent of somebody else keeps itself: its id, or a command that speaks ACP. It is started for that.
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["archived", "deleted"])]
    pub(crate) agent: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

/// Subcommands of `sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Move sessions that do nothing to the archive. Saying something in one takes it out again.
    Archive(SessionNames),
    /// Pin sessions: they stand above the others.
    Pin(SessionNames),
    /// Put sessions back among the others, from the archive or from the pinned ones.
    Restore(SessionNames),
    /// Open a session that goes on from another one.
    ///
    /// It has the conversation of the other session, which stays as it is. What was done there is undone there, and files are
    /// as they are now. `run --resume` goes on with it.
    Fork(ForkSessionArgs),
    /// Close a session that does nothing: its long outputs and grants go.
    ///
    /// Its record stays, and `run --resume` goes on with it.
    Close(SessionNames),
    /// Delete idle sessions with those of their sub-agents, for good.
    ///
    /// Their events, copies for undo, and long outputs are erased. That they were deleted stays on record, without any
    /// content.
    Delete(DeleteSessionsArgs),
    /// Import the sessions of another agent from its transcripts.
    ///
    /// Each becomes a session on record, marked as imported: it can be searched, shown and exported, and rules can be tried
    /// on its calls. Nothing of it was judged here, and it cannot be continued or undone here. Imported again, a session
    /// gets what is new in it.
    Import(ImportSessionsArgs),
}

/// Sessions that a subcommand is about.
#[derive(Debug, Args)]
pub(crate) struct SessionNames {
    /// Its id or the end of it, as `sessions` lists it; or `last`.
    #[arg(required = true, value_name = "SESSION")]
    pub(crate) sessions: Vec<String>,
}

/// The sessions to delete.
#[derive(Debug, Args)]
pub(crate) struct DeleteSessionsArgs {
    #[command(flatten)]
    pub(crate) names: SessionNames,
    /// Delete them without a question.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The session to fork.
#[derive(Debug, Args)]
pub(crate) struct ForkSessionArgs {
    /// Its id or the end of it, as `sessions` lists it; or `last`.
    pub(crate) session: String,
    /// Leave out your last N messages, and what followed them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) back: usize,
}

/// The sessions to import.
#[derive(Debug, Args)]
pub(crate) struct ImportSessionsArgs {
    /// The agent.
    #[arg(long, value_name = "AGENT", value_parser = ["claude-code", "codex", "gemini-cli"])]
    pub(crate) from: String,
    /// One transcript alone; without it, all that the agent keeps.
    pub(crate) file: Option<PathBuf>,
    /// Only sessions that went on since then: a day such as 2026-05-01, or an age such as 12h, 7d or 2w.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Those in this folder and below it.
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "all")]
    pub(crate) workspace: PathBuf,
    /// Those in every folder.
    #[arg(long)]
    pub(crate) all: bool,
}
