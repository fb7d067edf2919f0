//! The program that an agent runs as its hook: asks the engine that is open, or starts one without a window, and always
//! has an answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::{CallId, Digest, SessionId, UserError};
use runtime::{SessionFolder, TerminalEnv};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::answer::deny_event;
use crate::endpoint::{
    EndpointAnswer, EndpointError, HookOutput, HookRequest, RequestBody, StreamsText, send_request,
};
use crate::limits::{ANSWER_MARGIN, HOST_START_MAX, MESSAGE_BYTES_MAX};

/// Time between two looks whether the engine that was started listens.
const START_PAUSE: Duration = Duration::from_millis(20);

/// Reason why a call that is too long is denied.
const TOO_LONG_REASON: &str =
    "Countersign reads at most 16 MiB of a call, so it denies this one. Make it in smaller parts.";

/// Variable that names the session in which an agent answers, for its hooks.
pub const AGENT_SESSION_VARIABLE: &str = "COUNTERSIGN_AGENT_SESSION";

/// Opens the folder of the endpoint at which the agent of a session asks. It lies in the data folder, to which no agent
/// has access: whatever else its environment names, nobody else answers its hooks.
///
/// # Errors
/// The folder cannot be made.
pub fn open_agent_folder(data_dir: &Path, session: &SessionId) -> Result<SessionFolder, UserError> {
    let folder = SessionFolder::open(&data_dir.join("agents"), session);
    folder.map_err(|error| {
        UserError::new(
            "The folder for the agent's hooks cannot be made.",
            "Look whether the data folder can be written.",
        )
        .with_source(&error)
    })
}

/// This program, as an agent's hook runs it.
#[derive(Debug, Clone)]
pub struct HookProgram {
    /// Folder of the endpoint that is asked: the data folder, or that of an agent's session.
    pub endpoint: PathBuf,
    /// Whether an engine without a window is started where nobody listens.
    pub starts_host: bool,
    /// Command by which this program is started, word by word.
    pub command: Vec<String>,
}

/// A call of an agent's hook.
#[derive(Debug, Clone)]
pub struct HookCall {
    /// Id of the agent: `claude-code`.
    pub agent: String,
    /// What the agent wrote.
    pub written: Vec<u8>,
    /// Folder of the agent's project, if its hook knows it; otherwise empty.
    pub project: String,
    /// Time within which the hook must answer.
    pub wait: Duration,
}

impl HookProgram {
    /// Answers a call of an agent's hook. Whatever fails, the answer denies.
    pub async fn answer_hook(&self, call: HookCall) -> HookOutput {
        let wait = call.wait.saturating_sub(ANSWER_MARGIN.min(call.wait / 20));
        let too_long = call.written.len() > MESSAGE_BYTES_MAX;
        let input: Value = match serde_json::from_slice(&call.written) {
            Ok(input) if !too_long => input,
            Ok(input) => return deny_event(&call.agent, &input, TOO_LONG_REASON),
            Err(error) => {
                let why = format!(
                    "Countersign cannot read what the agent wrote to its hook, so it denies the call: {error}"
                );
                return deny_event(&call.agent, &Value::Null, &why);
            }
        };
        let request = RequestBody::Hook(HookRequest {
            agent: call.agent.clone(),
            input: input.clone(),
            project: call.project,
            program: self.command.clone(),
            terminal: TerminalEnv::current(),
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        });
        let why = match timeout(wait, self.send(request)).await {
            Ok(Ok(EndpointAnswer::Hook(output))) => return output,
            Ok(Ok(_)) => "Countersign answered something else, so the call is denied.".to_owned(),
            Ok(Err(error)) => failure_text(&error),
            Err(_) => "Countersign did not answer in time, so the call is denied.".to_owned(),
        };
        deny_event(&call.agent, &input, &why)
    }

    /// Fetches what an approved command printed, which carries out its effects.
    ///
    /// # Errors
    /// The command is not kept, was approved under another digest, or could not be carried out.
    pub async fn fetch(&self, call: CallId, digest: Digest) -> Result<StreamsText, UserError> {
        let failed = |error: EndpointError| {
            match error {
            EndpointError::Failed(fault) => fault,
            EndpointError::Absent => UserError::new(
                "The engine that kept what was approved is gone, so nothing was carried out.",
                "Request the command again.",
            ),
            EndpointError::Broken(error) => UserError::new(
                "The connection to the engine broke off; it may have carried out what was approved.",
                "Look at the files before you request the command again.",
            )
            .with_source(&error),
        }
        };
        let request = RequestBody::Fetch { call, digest };
        match send_request(&self.endpoint, request)
            .await
            .map_err(failed)?
        {
            EndpointAnswer::Streams(streams) => Ok(streams),
            _ => Err(UserError::new(
                "The engine answered something else.",
                "Update both programs.",
            )),
        }
    }

    /// Sends a request. If nobody listens, an engine without a window is started first.
    async fn send(&self, request: RequestBody) -> Result<EndpointAnswer, EndpointError> {
        match send_request(&self.endpoint, request.clone()).await {
            Err(EndpointError::Absent) if self.starts_host => {}
            answered => return answered,
        }
        start_host(&self.command).map_err(EndpointError::Broken)?;
        let until = Instant::now() + HOST_START_MAX;
        loop {
            match send_request(&self.endpoint, request.clone()).await {
                Err(EndpointError::Absent) if Instant::now() < until => sleep(START_PAUSE).await,
                answered => return answered,
            }
        }
    }
}

/// Starts an engine without a window, which goes on when this program ends.
fn start_host(command: &[String]) -> io::Result<()> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let arguments = arguments.iter().map(String::as_str);
    runtime::start_detached(Path::new(program), arguments.chain(["gateway", "hooks"]))
}

fn failure_text(error: &EndpointError) -> String {
    match error {
        EndpointError::Absent => {
            "Countersign's engine does not answer, so it denies the call. Open the app, or look at its log."
                .to_owned()
        }
        EndpointError::Broken(error) => {
            format!("The connection to Countersign broke off, so it denies the call: {error}")
        }
        EndpointError::Failed(fault) => {
            format!("Countersign could not judge the call, so it denies it. {fault}")
        }
    }
}
