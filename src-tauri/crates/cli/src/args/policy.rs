//! Arguments of `policy`: questions about rules.

use std::path::PathBuf;

use clap::Subcommand;

use super::run::PostureArg;

/// Subcommands of `policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Judge calls, one a line on standard input.
    ///
    /// Reads lines `{"id":…,"tool":…,"args":{…}}` and writes lines `{"id":…,"verdict":"allow|deny|ask","trail":[…]}` in the
    /// same order. Without --rules, the person's rules and those of the workspace hold.
    Check(EvaluationArgs),
    /// Judge one call and say why, in words.
    Explain {
        /// The tool's id or an alias.
        tool: String,
        /// Its arguments: a JSON object.
        #[arg(value_name = "ARGS_JSON")]
        arguments: String,
        #[command(flatten)]
        judging: EvaluationArgs,
    },
    /// Show a project's rules file, and trust it.
    ///
    /// Says what changed since it was trusted, and whether it is. Before that it may loosen nothing.
    Trust {
        /// The project's folder.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
        /// Trust the file, if it still is the one with this digest.
        #[arg(long, value_name = "DIGEST")]
        accept: Option<String>,
        /// Trust it no more.
        #[arg(long, conflicts_with = "accept")]
        revoke: bool,
    },
    /// Hold a change of the rules against every call on record.
    ///
    /// Shows which would have got another verdict, those that were rejected first. Nothing is changed.
    Backtest(BacktestArgs),
    /// Replay calls by a policy, in a copy of the workspace.
    ///
    /// Every call is judged and run as it would be live, one after the other: commands in dry runs, with the changes of
    /// earlier calls in place. The workspace, its record and its history stay as they are. What would reach the network
    /// or start a program outside of a dry run is judged and does not run; a command reaches only hosts that rules open.
    /// Your settings hold, without hooks and language servers; tools of servers and services are not there, and your
    /// grants do not hold. The project's rules loosen only if you trust them. With --json every call is an object on a
    /// line, and the sums are the last one.
    Replay(ReplayArgs),
    /// Show permissions of other products as rules that are never looser.
    Import(ImportRulesArgs),
    /// List what was granted on cards, or take a grant back.
    Grants {
        #[command(subcommand)]
        asked: Option<GrantsCommand>,
    },
    /// Look for errors in rules files, and for what is hardly meant.
    Lint {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// Subcommands of `policy grants`.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Take a grant back, at once, in every running session.
    Revoke {
        /// Its id, or the end of it.
        id: String,
    },
}

/// A change to hold against the record.
#[derive(Debug, clap::Args)]
pub(crate) struct BacktestArgs {
    #[command(flatten)]
    pub(crate) change: RuleChangeArgs,
    /// The workspace whose calls are judged.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Judge the calls of every workspace, each by its own rules.
    #[arg(long, conflicts_with = "workspace")]
    pub(crate) everywhere: bool,
    /// Look at so many of the newest calls at most; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) calls: u32,
}

/// The change to the rules.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RuleChangeArgs {
    /// Put this file in the place of the person's (user) or the project's (if left out) rules.
    #[arg(long, value_name = "[SCOPE:]FILE")]
    pub(crate) rules: Option<String>,
    /// Add this rule to the person's, as in `allow bash cargo test*`.
    #[arg(long, value_name = "ACTION PERMISSION [PATTERN]")]
    pub(crate) rule: Option<String>,
}

/// The calls to replay, and the policy.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The calls, one a line: `{"id":…,"tool":…,"args":{…}}`, and `"session":…` for those that belong together; `-` for
    /// standard input. A line that is none is reported, and the rest goes on.
    #[arg(required_unless_present_any = ["from_record", "from"])]
    pub(crate) file: Option<PathBuf>,
    /// Replay the calls of these sessions on record; of all sessions of the workspace if none is named. Secrets in them
    /// are masked.
    #[arg(long, value_name = "SESSION", num_args = 0.., conflicts_with = "file", group = "kept")]
    pub(crate) from_record: Option<Vec<String>>,
    /// Replay the calls that this agent made in the workspace, in the order in which it made them, as its own transcripts
    /// have them; FILE names one of these. A call that means nothing known here is reported.
    #[arg(long, value_name = "AGENT", value_parser = ["claude-code", "codex", "gemini-cli"], group = "kept")]
    pub(crate) from: Option<String>,
    /// Only calls since then: a day such as 2026-05-01, or an age such as 12h, 7d or 2w.
    #[arg(long, value_name = "TIME", requires = "kept")]
    pub(crate) since: Option<String>,
    /// The workspace that is copied. Where calls and rules name it by its absolute path, they mean the copy; a link that
    /// does leads out of the copy.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// What asks. Without this, the settings say it.
    #[arg(long, value_name = "POSTURE", value_enum)]
    pub(crate) posture: Option<PostureArg>,
    /// A rules file that holds in the place of your own. May be repeated. Without this, your own rules hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Answer what asks: `allow`, `deny`, or by a file with lines `{"id":…,"answer":"allow|deny"}`; what is not in it is
    /// denied. Questions of the agent stay unanswered.
    #[arg(long, value_name = "allow|deny|FILE", default_value = "deny")]
    pub(crate) answers: String,
}

/// The permissions to import.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportRulesArgs {
    /// One product alone; needed where a file is named.
    #[arg(long, value_parser = ["claude-code", "opencode", "codex"])]
    pub(crate) from: Option<String>,
    /// The file; where it is not named, the places where products keep theirs are looked through.
    #[arg(requires = "from", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Add the rules to the person's or the project's file. Without this nothing is written.
    #[arg(long, value_name = "SCOPE", value_parser = ["user", "project"])]
    pub(crate) write: Option<String>,
}

/// By what calls are judged.
#[derive(Debug, clap::Args)]
pub(crate) struct EvaluationArgs {
    /// A rules file, in the scope manifest, user, project (if left out) or session. It counts as trusted. May be repeated;
    /// no other rules hold then.
    #[arg(long, value_name = "[SCOPE:]FILE")]
    pub(crate) rules: Vec<String>,
    /// The workspace.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Judge paths by this system's rules; no disk is looked at if it is not the one that this runs on.
    #[arg(long, value_parser = ["linux", "macos", "windows"])]
    pub(crate) os: Option<String>,
    /// The manifest of the agent that calls: its rules hold beside the others, and it may touch what it and its tools
    /// require, and nothing else.
    #[arg(long, value_name = "FILE")]
    pub(crate) agent: Option<PathBuf>,
    /// Nobody is there to ask, so asking means denying.
    #[arg(long)]
    pub(crate) headless: bool,
    /// Judge the rules alone, without mode defaults, built-in protections and requirements; where none matches, the
    /// `default` of their file holds, else ask.
    #[arg(long)]
    pub(crate) only_rules: bool,
}
