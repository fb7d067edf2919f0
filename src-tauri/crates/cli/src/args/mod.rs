//! Arguments of the command line.

use std::path::PathBuf;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};

mod acp;
mod apis;
mod connect;
mod data;
mod examples;
mod gateway;
mod history;
mod policy;
mod record;
mod run;
mod servers;
mod sessions;
mod settings;

pub(crate) use acp::{AcpArgs, AnswersArg};
pub(crate) use apis::{AddApiArgs as AddApi, ApisCommand};
pub(crate) use connect::{ConnectArgs, DisconnectArgs};
pub(crate) use data::DataCommand;
pub(crate) use examples::build_command;
pub(crate) use gateway::{CommitArgs, GatewayCommand, HookArgs, McpGatewayArgs, TokenCommand};
pub(crate) use history::{ConflictArgs, HistoryArgs, HistoryCommand, RedoArgs, UndoArgs};
pub(crate) use policy::{
    BacktestArgs, EvaluationArgs, GrantsCommand, ImportRulesArgs, PolicyCommand, ReplayArgs,
    RuleChangeArgs,
};
pub(crate) use record::{RecordCommand, RescueArgs};
pub(crate) use run::{AgentOptionArg, ApprovalArgs, CallArgs, RunAgent, RunArgs};
pub(crate) use servers::{ServerArgs, ServersCommand};
pub(crate) use sessions::{
    DeleteSessionsArgs, ForkSessionArgs, ImportSessionsArgs, SessionNames, SessionsArgs,
    SessionsCommand,
};
pub(crate) use settings::{ConfigCommand, KeysCommand};

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
  NO_COLOR              set to anything for no colours; --color comes before it
  CI                    set to anything but `false`: `run` asks nobody
  VISUAL, EDITOR        what `e` on a card and `config edit` write with
  PAGER                 what `d` on a card shows long text with
  RUST_LOG              what is logged to standard error, such as debug";

/// Inspect and approve what AI agents do on your machine, without a window.
///
/// On a terminal, `run` asks there. Where nobody can be asked, what asks is denied.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct CliArgs {
    /// Where record, copies for undo, settings and rules are kept.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Work as if started in this folder.
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    /// Write JSON: one object, or one object a line for what streams. Errors are `{"error":{…}}`.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to write in colours.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Write results and errors only: no warnings, no summary, no calls of a run.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log what happens to standard error; twice for more.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// When to write in colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Commands of the command line.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Let an agent work on something.
    ///
    /// On a terminal what asks is asked there; elsewhere, or with --headless, it is denied. With --json, every event is a
    /// line.
    Run(Box<RunArgs>),
    /// List the tools that an agent can call.
    Tools {
        /// List those of this folder too.
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
    },
    /// Show what an agent is told first in a workspace.
    ///
    /// That is instructions, skills and agents.
    Briefing {
        /// The workspace.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
    },
    /// Make one call through the whole pipeline and show its trail.
    Call(CallArgs),
    /// List the sessions, or close one.
    Sessions(SessionsArgs),
    /// Show a session, or the account of one call.
    ///
    /// With --json, every entry is a line.
    Show {
        /// Its id or the end of it, as `sessions` lists it; or `last`, the one that you began or spoke in last.
        session: String,
        /// A call's id or the end of it: how it was validated, authorised, executed, streamed, rendered, persisted and
        /// audited.
        #[arg(long, value_name = "ID")]
        call: Option<String>,
    },
    /// Find anything recorded.
    ///
    /// Words, "phrases", prefix*, and the filters tool: mode: state: session: path: before: after:
    Search(SearchArgs),
    /// Show what your attention was spent on.
    ///
    /// Questions and how long agents waited for the answers, by cause and by tool; what was answered in less than a second;
    /// the rule that would have answered the most; and what ran without a question.
    Attention {
        /// Since a day, such as `2026-05-01`, or for so long: `30m`, `3h`, `2d`, `1w`. Today, where none is named.
        #[arg(long, value_name = "DURATION|DATE")]
        since: Option<String>,
    },
    /// Write a whole session to standard output.
    Export {
        /// Its id or the end of it, as `sessions` lists it; or `last`.
        session: String,
        /// A story to read, as Markdown or as one HTML file that loads nothing; every event as a line; or the events in a
        /// specification's words: chat events (000), spans of its calls (000), agent events (001), chunks (002), tool.*
        /// events (003).
        #[arg(long, default_value = "md", value_parser = ["md", "html", "jsonl", "chat", "spans", "agent", "chunks", "tool-events"])]
        format: String,
    },
    /// Run a command in a sandbox and show its effects.
    ///
    /// Nothing real changes. With --json, names of files are as they are, nothing marked; the bytes of one that is not
    /// UTF-8 are beside it (`path_base64`).
    DryRun(DryRunArgs),
    /// Say what this machine can promise of commands, and why no more.
    Doctor {
        /// The folder that commands would work in.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
        /// Write a report to send with a problem to this file, which must not exist. It has no texts, names, paths, or keys
        /// of yours; read it before you send it.
        #[arg(long, value_name = "FILE")]
        bundle: Option<PathBuf>,
    },
    /// Measure, back up, restore, or erase what Countersign keeps.
    #[command(subcommand)]
    Data(DataCommand),
    /// Save what can be read of a damaged record.
    #[command(subcommand)]
    Record(RecordCommand),
    /// List the changes that can be undone, the newest first.
    ///
    /// Undos and redos are among them.
    History(HistoryArgs),
    /// Undo changes to files.
    ///
    /// Restores content, modes and times, and nothing else. If one of the paths changed since, nothing is touched: name
    /// every such path with --keep, --restore or --merge.
    Undo(UndoArgs),
    /// Redo a change that was undone.
    Redo(RedoArgs),
    /// Set up, approve and switch services by their OpenAPI documents.
    #[command(subcommand)]
    Apis(ApisCommand),
    /// Set up, approve and switch other people's servers (MCP).
    #[command(subcommand)]
    Servers(ServersCommand),
    /// List other people's agents on this machine, or connect one.
    ///
    /// An agent that is connected calls Countersign before and after it uses a tool. The one change of its configuration
    /// is shown before it is made, and kept so that it can be taken back.
    Connect(ConnectArgs),
    /// Take Countersign's hooks out of an agent's configuration.
    Disconnect(DisconnectArgs),
    /// Be the agent of an editor (ACP), on standard input and output.
    ///
    /// An editor starts this program, and asks what a card would ask. Ends when standard input does.
    Acp(AcpArgs),
    /// Serve the tools of a folder to other people's clients.
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Answer the hook of an agent: reads the call from standard input.
    ///
    /// Stands in the settings of the agent. Denies by exit code 2 whenever anything fails, because agents let a call pass if
    /// their hook fails.
    Hook(HookArgs),
    /// Carry out an agent's approved command, and print what it printed.
    ///
    /// An agent runs this in place of its command; nothing is run again.
    Commit(CommitArgs),
    /// Ask what the rules say: nothing is run in a workspace, whatever the answer is.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Read and change the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List the providers of models, and whether each can be used.
    Providers,
    /// List the models of a provider.
    Models {
        /// The provider's id; that of the settings if none is named.
        provider: Option<String>,
    },
    /// List, set and remove the keys of providers.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Play the built-in demo in a fresh sample workspace.
    ///
    /// Its person's answers are played, too. Without --data-dir it leaves nothing behind.
    Demo,
    /// Write a completion script for a shell to standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder.
    Man {
        /// The folder, which is made where it is not there.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Write one page in Markdown instead, `command-line.md`.
        #[arg(long)]
        markdown: bool,
    },
}

/// A search of the record.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// The query; several words are one query.
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Show at most this many hits.
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: u32,
    /// Leave out this many of the newest hits.
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: u32,
}

/// A command to run in a sandbox.
#[derive(Debug, clap::Args)]
pub(crate) struct DryRunArgs {
    /// The folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Then commit what was captured, as a change that can be undone. The command does not run again.
    #[arg(long)]
    pub(crate) commit: bool,
    /// Run it for real instead, in the folder itself, after a snapshot of all of it: what it changes there
    /// can be undone. Rules that deny it hold.
    #[arg(long, conflicts_with = "commit")]
    pub(crate) in_place: bool,
    /// Let it reach this host, such as `docs.rs` or `localhost:8080`, through a proxy that tells where it went. May be
    /// given again. What it sends is out; a rule that denies the host still holds.
    #[arg(long, value_name = "HOST", conflicts_with = "commit")]
    pub(crate) allow_host: Vec<String>,
    /// The command, for the shell if it is one word.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
