//! Arguments of `run` and `call`: an agent, and one call.

use std::path::PathBuf;

use protocol::settings::Posture;

/// Options that are given when a session begins and hold for its whole life.
const NEW_SESSION_OPTIONS: [&str; 12] = [
    "provider",
    "model",
    "thinking",
    "temperature",
    "agent",
    "output_schema",
    "request",
    "enclosed",
    "allow_host",
    "servers",
    "no_servers",
    "agent_session",
];

/// An agent's task.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The folder that the agent works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// The provider; that of the settings if none is named.
    #[arg(long, conflicts_with = "script")]
    pub(crate) provider: Option<String>,
    /// The model; that of the settings if neither is named.
    #[arg(short, long, conflicts_with = "script")]
    pub(crate) model: Option<String>,
    /// How much a Claude or Gemini model thinks before it answers.
    #[arg(long, value_name = "EFFORT", conflicts_with = "script", value_parser = ["low", "medium", "high"])]
    pub(crate) thinking: Option<String>,
    /// How freely the model chooses its words, from 0 to 2; as the provider has it if not given. Some models take none.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) temperature: Option<f64>,
    /// Go on with the last session of the folder.
    #[arg(short = 'c', long = "continue", conflicts_with_all = NEW_SESSION_OPTIONS)]
    pub(crate) go_on: bool,
    /// Go on with this session: its id or the end of it, as `sessions` lists it. Without a prompt, from where it stopped.
    #[arg(short, long, value_name = "SESSION", conflicts_with_all = NEW_SESSION_OPTIONS, conflicts_with_all = ["go_on", "workspace"])]
    pub(crate) resume: Option<String>,
    /// Attach a file to the prompt: its text, or what is to be seen on it if it is an image; `-` for standard input. May be repeated.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// Ask nobody, also on a terminal: what asks is denied.
    #[arg(long)]
    pub(crate) headless: bool,
    /// Play this script in the place of a model.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// The agent that works: one of somebody else (claude-code, codex, gemini-cli, opencode, or a command that speaks ACP), whose
    /// calls are judged here; or a manifest, `agent.toml`: its rules hold, it is told its prompt, and it has its tools
    /// and no others.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<RunAgent>,
    /// An option of an agent of somebody else, and its value: `mode=plan`, `model=opus`. Can be given several times. One that
    /// the agent does not offer is an error that lists what it offers.
    #[arg(long = "option", value_name = "ID=VALUE", value_parser = parse_option)]
    pub(crate) options: Vec<AgentOptionArg>,
    /// With an agent of somebody else: run it in a sandbox, over a layer of the folder. It asks about nothing then; what a turn
    /// changed is judged when the turn ends, as the effects of a command are. For agents that never ask.
    #[arg(long, requires = "agent", conflicts_with = "request")]
    pub(crate) enclosed: bool,
    /// With --enclosed: let it reach this host, such as that of its model, beside those that are known for it. May be repeated.
    #[arg(long, value_name = "HOST", requires = "enclosed")]
    pub(crate) allow_host: Vec<String>,
    /// With an agent of somebody else: give it the tools of these MCP servers, of those that are set up, with commas between
    /// them. Each call is judged before it is made. Without this it is given those of all that are on.
    #[arg(long, value_name = "NAME,…", requires = "agent", value_delimiter = ',')]
    pub(crate) servers: Option<Vec<String>>,
    /// With an agent of somebody else: give it no servers.
    #[arg(long, requires = "agent", conflicts_with = "servers")]
    pub(crate) no_servers: bool,
    /// With an agent of somebody else: go on with this session of its own, as `sessions --agent AGENT` lists it.
    #[arg(long, value_name = "ID", requires = "agent")]
    pub(crate) agent_session: Option<String>,
    /// With --agent-session: go on in a copy, as far as the agent can copy a session. The session itself stays as it is.
    #[arg(long, requires = "agent_session")]
    pub(crate) fork: bool,
    /// With --json: the events in a specification's words, as `export` has them.
    #[arg(long, value_name = "WORDS", requires = "json", value_parser = ["chat", "spans", "agent", "chunks", "tool-events"])]
    pub(crate) events: Option<String>,
    #[command(flatten)]
    pub(crate) consent: ApprovalArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// The run must come to an output in the JSON Schema of this file. Only the output goes to standard output then, and
    /// the story to standard error; with --json the output is the last line.
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// A whole request from a JSON file: its configuration, its output schema, and its context of texts and tools. The model is
    /// told nothing else; a prompt comes after the request's texts.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["thinking", "temperature", "agent", "output_schema"])]
    pub(crate) request: Option<PathBuf>,
    /// Plan only: look around and come to a plan. Nothing is changed and no command runs.
    #[arg(long)]
    pub(crate) plan: bool,
    /// The task; `-`, or nothing where standard input is no terminal, to read it from there.
    pub(crate) prompt: Option<String>,
}

/// The agent that works in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunAgent {
    /// Our own agent by a manifest.
    Manifest(PathBuf),
    /// One of somebody else: its id, or a command line.
    External(String),
}

impl RunArgs {
    /// Returns the names of the servers that the agent is given; none given for those that are on.
    pub(crate) fn server_names(&self) -> Option<Vec<String>> {
        match self.no_servers {
            true => Some(Vec::new()),
            false => self.servers.clone(),
        }
    }
}

impl From<String> for RunAgent {
    fn from(agent: String) -> Self {
        let is_manifest = std::path::Path::new(&agent).extension() == Some("toml".as_ref());
        match is_manifest {
            true => Self::Manifest(agent.into()),
            false => Self::External(agent),
        }
    }
}

impl RunAgent {
    /// Returns the manifest, if it is one.
    pub(crate) fn manifest(&self) -> Option<&std::path::Path> {
        match self {
            Self::Manifest(file) => Some(file),
            Self::External(_) => None,
        }
    }
}

/// A value for an option of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentOptionArg {
    /// The agent's own id of the option.
    pub(crate) id: String,
    /// The agent's own id of the value.
    pub(crate) value: String,
}

fn parse_option(text: &str) -> Result<AgentOptionArg, String> {
    match text.split_once('=') {
        Some((id, value)) if !id.is_empty() && !value.is_empty() => Ok(AgentOptionArg {
            id: id.to_owned(),
            value: value.to_owned(),
        }),
        Some(_) | None => Err("give the option and its value, such as mode=plan".to_owned()),
    }
}

/// How much the run may use; 0 for no limit. What is left out is as the settings have it.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
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
    #[arg(long, value_name = "USD", value_parser = parse_amount)]
    pub(crate) max_cost: Option<f64>,
    /// Stop after so many minutes at work.
    #[arg(long, value_name = "N")]
    pub(crate) max_minutes: Option<u32>,
}

fn parse_amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        Ok(_) | Err(_) => Err("give an amount such as 0.5, or 0 for no limit".to_owned()),
    }
}

/// One call.
#[derive(Debug, clap::Args)]
pub(crate) struct CallArgs {
    /// The tool's id or an alias.
    pub(crate) tool: String,
    /// Its arguments: a JSON object, or `-` to read it from standard input.
    #[arg(value_name = "ARGS_JSON")]
    pub(crate) arguments: String,
    /// The folder that the call works in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) consent: ApprovalArgs,
}

/// Answers that the caller gives beforehand.
#[derive(Debug, clap::Args)]
pub(crate) struct ApprovalArgs {
    /// Approve beforehand whatever would ask. What is denied stays denied, and questions stay unanswered.
    #[arg(long, conflicts_with_all = ["rules", "posture"])]
    pub(crate) approve_all: bool,
    /// What asks. With `ask-about-effects` and `unattended`, a command runs in a sandbox first, and passes if it changes
    /// only files of the folder and can be undone. Without this, the settings say it.
    #[arg(long, value_name = "POSTURE", value_enum)]
    pub(crate) posture: Option<PostureArg>,
    /// A further rules file for this session.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
}

impl ApprovalArgs {
    /// Whether an answer is given.
    pub(crate) fn is_given(&self) -> bool {
        self.approve_all || self.posture.is_some() || self.rules.is_some()
    }
}

/// What asks, as the command line writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PostureArg {
    /// A command asks before it runs.
    AskFirst,
    /// A command asks where its effects do.
    AskAboutEffects,
    /// As `ask-about-effects`, and what would ask is denied.
    Unattended,
}

impl From<PostureArg> for Posture {
    fn from(posture: PostureArg) -> Self {
        match posture {
            PostureArg::AskFirst => Self::AskFirst,
            PostureArg::AskAboutEffects => Self::AskAboutEffects,
            PostureArg::Unattended => Self::Unattended,
        }
    }
}
