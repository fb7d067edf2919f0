//! What can be asked on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

mod apis;
mod gateway;
mod policy;
mod servers;

pub(crate) use apis::{Add as AddApi, Apis};
pub(crate) use gateway::{Gateway, Mcp};
pub(crate) use policy::{Backtest, Change, Grants, Import, Judging, Policy};
pub(crate) use servers::{Add, Servers};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the run or the call failed, or what was asked could not be done
  2    usage: the command line, or something that it names, is wrong
  3    denied: the call, or at least one call of the run
  4    the record, the settings or the rules cannot be used
  5    the run came to one of its limits
  6    an undo or redo would overwrite what changed since, so nothing was touched
  130  interrupted by the keyboard

Environment:
  COUNTERSIGN_DATA_DIR  the data folder, where --data-dir does not name one
  NO_COLOR              set to anything for no colours
  RUST_LOG              what is logged to standard error, such as debug";

/// Inspect and approve what AI agents do on your machine, without a window. Where nobody can be asked, what asks is
/// denied.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Where record, copies for undo, settings and rules are kept.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Write JSON: one object, or one object a line for what streams. Errors are `{"error":{…}}`.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Let an agent work on something. With --json, every event as a line.
    Run(Run),
    /// List the tools that an agent can call.
    Tools,
    /// Show what an agent is told first in a workspace: instructions, skills, agents.
    Briefing {
        /// The workspace.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
    },
    /// Make one call through the whole pipeline and show why it ran or did not.
    Call(Call),
    /// List the sessions, the one that changed last first.
    Sessions,
    /// Show a session, or the account of one call. With --json, every entry as a line.
    Show {
        /// Its id, the beginning of its id, or `last`.
        session: String,
        /// A call's id: how it was validated, authorised, executed, streamed, rendered, persisted and audited.
        #[arg(long, value_name = "ID")]
        call: Option<String>,
    },
    /// Find anything recorded: words, "phrases", prefix*, and the filters tool: mode: state: session: path: before:
    /// after:
    Search {
        /// The query; several words are one query.
        #[arg(required = true)]
        query: Vec<String>,
        /// Show at most this many hits.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Leave out this many of the newest hits.
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Write a whole session to standard output.
    Export {
        /// Its id, the beginning of its id, or `last`.
        session: String,
        /// A story to read, every event as a line, or the events in a specification's words: chat events (000), agent
        /// events (001), chunks (002), tool.* events (003).
        #[arg(long, default_value = "md", value_parser = ["md", "jsonl", "chat", "agent", "chunks", "tool-events"])]
        format: String,
    },
    /// Run a command in a sealed copy of a folder and show what it does there. Nothing real changes. With --json, names of
    /// files stand as they are, nothing marked; the bytes of one that is no UTF-8 stand beside it (`path_base64`).
    DryRun {
        /// The folder.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
        /// Then let happen what was captured, as an act that can be undone. The command does not run again.
        #[arg(long)]
        commit: bool,
        /// Run it for real instead, in the folder itself, after a picture of all of it was taken: what it changes there is an act
        /// that can be undone. Rules that deny it hold.
        #[arg(long, conflicts_with = "commit")]
        in_place: bool,
        /// Let it reach this host, such as `docs.rs` or `localhost:8080`, through a proxy that tells where it went. May be
        /// given again. What it sends is out; a rule that denies the host still holds.
        #[arg(long, value_name = "HOST", conflicts_with = "commit")]
        allow_host: Vec<String>,
        /// The command, for the shell if it is one word.
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Say what this machine can promise of commands, and why it is no more.
    Doctor {
        /// The folder that commands would work in.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
    },
    /// List what can be taken back, the newest first, undos and redos among them.
    History(History),
    /// Take effects on files back: content, modes and times, and nothing else. Where something changed since, nothing is
    /// touched until it is said what becomes of it.
    Undo(Undo),
    /// Bring an effect again that was taken back.
    Redo {
        /// The history entry; the last that was taken back if none is named.
        entry: Option<String>,
        #[command(flatten)]
        choices: Choices,
    },
    /// Set up, approve and switch services by their OpenAPI documents.
    #[command(subcommand)]
    Apis(Apis),
    /// Set up, approve and switch other people's servers of tools (MCP).
    #[command(subcommand)]
    Servers(Servers),
    /// Serve the tools of a folder to other people's clients.
    #[command(subcommand)]
    Gateway(Gateway),
    /// Ask what the rules say: nothing is run, whatever the answer is.
    #[command(subcommand)]
    Policy(Policy),
    /// Play the built-in demo in a fresh sample workspace, with its person's answers. Without --data-dir it leaves
    /// nothing behind.
    Demo,
}

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

/// An agent's task.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The folder that the agent works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// The provider; that of the settings if none is named.
    #[arg(long, conflicts_with = "script")]
    pub(crate) provider: Option<String>,
    /// The model; that of the settings if neither is named.
    #[arg(long, conflicts_with = "script")]
    pub(crate) model: Option<String>,
    /// Play this script in the place of a model.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// The manifest of the agent that works: its rules hold, it is told its prompt, and it has its tools and no others.
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// With --json: the events in a specification's words, as `export` has them.
    #[arg(long, value_name = "WORDS", requires = "json", value_parser = ["chat", "agent", "chunks", "tool-events"])]
    pub(crate) events: Option<String>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The run must come to an output in the JSON Schema of this file. Only the output goes to standard output then, and
    /// the story to standard error; with --json the output is the last line.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Plan only: look around and come to a plan. Nothing is changed and no command runs.
    #[arg(long)]
    pub(crate) plan: bool,
    /// What is to be done.
    pub(crate) prompt: String,
}

/// How much the run may use; 0 for no limit. What is left out is as the settings have it.
#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// Stop after so many model turns.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Stop after so many calls.
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u32>,
    /// Stop when so many tokens were read and written.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop when so many US dollars were spent, as far as prices are known.
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
    /// Stop after so many minutes at work.
    #[arg(long, value_name = "N")]
    pub(crate) max_minutes: Option<u32>,
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        Ok(_) | Err(_) => Err("give an amount such as 0.5, or 0 for no limit".to_owned()),
    }
}

/// One call.
#[derive(Debug, clap::Args)]
pub(crate) struct Call {
    /// The tool's id or an alias.
    pub(crate) tool: String,
    /// Its arguments: a JSON object.
    #[arg(value_name = "ARGS_JSON")]
    pub(crate) arguments: String,
    /// The folder that the call works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) consent: Consent,
}

/// What the caller says beforehand.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct Consent {
    /// Approve beforehand whatever would ask. What is denied stays denied, and questions stay unanswered.
    #[arg(long)]
    pub(crate) approve_all: bool,
    /// A further rules file for this session.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
}
