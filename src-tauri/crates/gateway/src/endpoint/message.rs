//! What the local endpoint is asked and what it answers, as JSON.

use std::path::PathBuf;

use agent::ServerChoice;
use data_encoding::BASE64;
use protocol::settings::Posture;
use protocol::{CallId, Digest, ModelChoice, UserError};
use runtime::net::SocketAddr;
use runtime::{CommandExit, CommandStreams, TerminalEnv};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the endpoint's messages.
pub const ENDPOINT_VERSION: u32 = 2;

/// Offset of a signal's number in the exit code of a shell.
const SIGNAL_EXIT_OFFSET: i32 = 128;
/// Exit code of a command that did not end by itself.
const UNFINISHED_EXIT: i32 = 124;

/// A request to the endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointRequest {
    /// Version of the messages that the sender knows.
    pub version: u32,
    /// What is asked.
    #[serde(flatten)]
    pub body: RequestBody,
}

/// What the endpoint is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum RequestBody {
    /// An agent's hook was called.
    Hook(HookRequest),
    /// Fetch what the command of an approved call printed, which commits its effects.
    Fetch {
        /// The call.
        call: CallId,
        /// Digest under which it was approved.
        digest: Digest,
    },
    /// Serve our agent to an editor on the rest of the stream. Its calls wait for the person at the app.
    ServeAgent(AgentRequest),
    /// Serve MCP to a client: once this is answered, the connection carries its lines.
    ServeMcp(McpRequest),
    /// Serve MCP at an address, for as long as the connection is open.
    ListenMcp(ListenRequest),
    /// Stop listening, finish what is open and end, because another process takes the endpoint over.
    Retire,
}

/// What an editor's agent is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentRequest {
    /// Model of new sessions; none for that of the settings.
    pub model: Option<ModelChoice>,
    /// Posture of each session until the editor sets another mode; none for that of the settings.
    pub posture: Option<Posture>,
}

/// What an MCP client is to be served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpRequest {
    /// The folder that the tools work in, absolute.
    pub workspace: PathBuf,
    /// The server whose tools alone are served; none for the tools of the folder.
    pub server: Option<ServerChoice>,
}

/// What MCP clients are to be served at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenRequest {
    /// What each of them is served.
    pub mcp: McpRequest,
    /// The address, one of this machine's own; any free port if its port is 0.
    pub address: SocketAddr,
}

/// A call of an agent's hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookRequest {
    /// Id of the agent: `claude-code`.
    pub agent: String,
    /// What the agent wrote to the hook.
    pub input: Value,
    /// Folder of the agent's project, as its hook knows it; empty if it does not.
    #[serde(default)]
    pub project: String,
    /// Command by which this program is started, word by word, for the command that takes the place of an agent's.
    pub program: Vec<String>,
    /// Environment of the agent's terminal, as its hook has it.
    pub terminal: TerminalEnv,
    /// Time within which the agent's hook must answer, in milliseconds.
    pub wait_ms: u64,
}

/// An answer of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum EndpointAnswer {
    /// What the hook prints, and how it exits.
    Hook(HookOutput),
    /// What a command printed.
    Streams(StreamsText),
    /// What was asked for is served on the rest of the stream.
    Serving,
    /// MCP is served at this address for as long as the connection is open.
    Listening {
        /// The address, with its port.
        address: SocketAddr,
    },
    /// Nobody can be asked here, so MCP is not served: a gateway judges as well by itself.
    Unattended,
    /// The endpoint will end.
    Retiring,
    /// The request could not be fulfilled.
    Failed {
        /// What went wrong.
        message: String,
        /// What to do next.
        hint: String,
    },
}

/// What a hook prints, and how it exits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HookOutput {
    /// Text for standard output.
    pub stdout: String,
    /// Text for standard error.
    pub stderr: String,
    /// Exit code.
    pub exit_code: u8,
}

/// What a command printed, in Base64, and how it exited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamsText {
    stdout: String,
    stderr: String,
    /// Exit code as a shell has it.
    pub exit_code: i32,
    /// Whether one of the streams was longer than what was kept.
    pub is_truncated: bool,
}

impl StreamsText {
    /// Encodes what a command printed.
    pub fn new(streams: &CommandStreams) -> Self {
        Self {
            stdout: BASE64.encode(&streams.stdout),
            stderr: BASE64.encode(&streams.stderr),
            exit_code: match streams.exit {
                CommandExit::Code(code) => code,
                CommandExit::Signal(signal) => SIGNAL_EXIT_OFFSET + signal,
                CommandExit::TimedOut | CommandExit::Cancelled => UNFINISHED_EXIT,
            },
            is_truncated: streams.is_truncated,
        }
    }

    /// Decodes standard output and standard error; none if one of them is no Base64.
    pub fn decode(&self) -> Option<[Vec<u8>; 2]> {
        let decode = |text: &str| BASE64.decode(text.as_bytes()).ok();
        Some([decode(&self.stdout)?, decode(&self.stderr)?])
    }
}

impl From<UserError> for EndpointAnswer {
    fn from(fault: UserError) -> Self {
        Self::Failed {
            message: fault.message,
            hint: fault.hint,
        }
    }
}
