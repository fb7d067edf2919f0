//! Arguments of `gateway`: serving other people's clients.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Subcommand, ValueEnum};
use gateway::mcp::PassedQuestions;
use gateway::window::DemoMode;

use super::{ApprovalArgs, ServerArgs};

/// By which protocol.
#[derive(Debug, Subcommand)]
pub(crate) enum GatewayCommand {
    /// Be a server of tools (MCP) on standard streams, or at an address.
    ///
    /// A client starts this program; with --listen it reaches it at an address of this machine instead, with a token. Its
    /// calls are judged, recorded and can be undone like any other. With a command, an address, or --server this stands in
    /// front of that MCP server and serves what the server has alone: tools, resources, and prompts. Where the app is open it
    /// asks you there; otherwise, and with --rules, --posture or --approve-all, what would ask is denied. Ends when standard
    /// input does, or with --listen when it is told to.
    Mcp(Box<McpGatewayArgs>),
    /// The tokens by which clients are let in at an address.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Answer the hooks of agents without a window.
    ///
    /// The first hook starts this where the app is not open. What would ask is denied. Ends when no hook asked for a while,
    /// or when the app opens.
    Hooks {
        /// End the one that answers now, once what is open there is over.
        #[arg(long)]
        stop: bool,
    },
    /// Host the engine of the app's window, which starts this.
    #[command(hide = true)]
    Window {
        /// Play the demo at the start, with somebody who decides or without.
        #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "attended")]
        demo: Option<DemoArg>,
    },
}

/// How the demo is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoArg {
    Attended,
    Unattended,
}

impl From<DemoArg> for DemoMode {
    fn from(demo: DemoArg) -> Self {
        match demo {
            DemoArg::Attended => Self::Attended,
            DemoArg::Unattended => Self::Unattended,
        }
    }
}

/// The MCP server.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("given").args(["url", "command"])))]
pub(crate) struct McpGatewayArgs {
    /// The folder that the tools work in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,
    /// Serve several clients at this address (streamable HTTP) instead of one on standard input and output. It is an address
    /// of this machine; with port 0 any free port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) consent: ApprovalArgs,
    /// Serve the tools of this server, one of those that are set up.
    #[arg(long, value_name = "NAME", conflicts_with = "given")]
    pub(crate) server: Option<String>,
    /// The session whose agent this serves: its calls are made there. The agent is told to start it so.
    #[arg(
        long,
        value_name = "SESSION",
        hide = true,
        requires = "server",
        conflicts_with = "listen"
    )]
    pub(crate) agent_session: Option<String>,
    /// The name of a server that is given by its command or its address, the first half of its tools' names in rules.
    #[arg(long, value_name = "NAME", requires = "given")]
    pub(crate) name: Option<String>,
    /// Approve the tools of a given server as they are now. Without this those that changed since they were first served are
    /// withheld.
    #[arg(long, requires = "given")]
    pub(crate) approve_tools: bool,
    #[command(flatten)]
    pub(crate) settings: ServerArgs,
    /// A variable that the server gets as the gateway has it. May be repeated.
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) pass_env: Vec<String>,
    /// A header of every request, with the value of a variable of the gateway. May be repeated.
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url")]
    pub(crate) header_env: Vec<String>,
    /// Have the client answer what the server asks, where nobody is asked here and the client can. May be repeated.
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) pass_on: Vec<PassedKind>,
    /// The program of a server, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A kind of questions of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassedKind {
    /// Forms and addresses for a person.
    Elicitation,
    /// Questions for a model.
    Sampling,
}

impl McpGatewayArgs {
    /// Returns the questions of the server that its client answers.
    pub(crate) fn passed_questions(&self) -> PassedQuestions {
        PassedQuestions {
            elicitation: self.pass_on.contains(&PassedKind::Elicitation),
            sampling: self.pass_on.contains(&PassedKind::Sampling),
        }
    }
}

/// What to do with the tokens of clients.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token for a client, and print it this once.
    ///
    /// The client sends it with each request, and its name stands in the record as the caller. Only a digest is kept.
    Add {
        /// The client's name, such as `laptop-editor`.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// List the clients that have a token.
    List,
    /// Revoke the token of a client. Its sessions end.
    Revoke {
        /// The client's name.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Returns an address of this machine.
fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    let address: SocketAddr = numbers
        .parse()
        .map_err(|_| "name an address and a port, such as 127.0.0.1:0".to_owned())?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(
            "other machines would reach it, and it is served to this machine alone: name 127.0.0.1"
                .to_owned(),
        ),
    }
}

/// An agent's hook.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// The agent: `claude-code`, `codex`, `gemini-cli`, `opencode`, `cursor`.
    pub(crate) agent: String,
    /// How long the agent waits for its hook, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wait: u64,
}

/// What takes the place of an agent's command.
#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    /// The call, as the hook named it.
    pub(crate) call: String,
    /// Digest of what was approved.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) expect: String,
}
