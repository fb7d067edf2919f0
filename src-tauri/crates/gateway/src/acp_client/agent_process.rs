//! The process of an agent: in the open, or in a sandbox over a layer of the workspace.

use std::env;
use std::path::PathBuf;

use agent::{AgentTurn, EnclosedTurn, EnclosureNeeds};
use agent_client_protocol::{Client, ConnectTo, Lines};
use futures::{SinkExt, StreamExt};
use protocol::UserError;
use runtime::{Companion, LayeredChanges, LayeredCompanion, ProcessLifetime};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec};

use super::agent_command::AgentCommand;
use super::faults::start_error;
use crate::limits::{AGENT_END_MAX, AGENT_MESSAGE_BYTES_MAX};

/// Returns the streams of an agent as messages, a line each.
pub(super) fn message_lines(
    input: impl AsyncWrite + Send + 'static,
    output: impl AsyncRead + Send + 'static,
) -> impl ConnectTo<Client> + 'static {
    let lines = FramedRead::new(
        output,
        LinesCodec::new_with_max_length(AGENT_MESSAGE_BYTES_MAX),
    );
    let lines = lines.map(|line| line.map_err(std::io::Error::other));
    let written = FramedWrite::new(input, LinesCodec::new());
    let written = SinkExt::<String>::sink_map_err(written, std::io::Error::other);
    Lines::new(written, lines)
}

/// An agent that was started.
pub(super) struct StartedAgent {
    pub companion: Companion,
    /// What it changes; none where it runs in the open.
    pub changes: Option<LayeredChanges>,
}

/// Starts the agent of a turn with these variables, in its sandbox if it is to have one.
///
/// # Errors
/// It cannot be started, or no sandbox can be had for it.
pub(super) async fn start_agent(
    command: &AgentCommand,
    turn: &AgentTurn,
    passed: &[String],
    env: Vec<(String, String)>,
) -> Result<StartedAgent, UserError> {
    let mut companion = command.to_companion(turn.folder(), passed, env);
    if turn.enclosure().is_none() {
        let companion = runtime::start_companion(&companion)
            .map_err(|error| start_error(command, &error.to_string()))?;
        return Ok(StartedAgent {
            companion,
            changes: None,
        });
    }
    let (needs, variables) = enclosure_needs(command)?;
    companion.env.extend(variables);
    let LayeredCompanion { companion, changes } = turn.start_enclosed(&companion, needs).await?;
    Ok(StartedAgent {
        companion,
        changes: Some(changes),
    })
}

/// Returns what an agent needs in its sandbox, and the variables by which it keeps its state in folders of its own.
fn enclosure_needs(
    command: &AgentCommand,
) -> Result<(EnclosureNeeds, Vec<(String, String)>), UserError> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let home =
        home.ok_or_else(|| UserError::new("There is no home folder.", "Set the variable HOME."))?;
    let state = command.state.find_folders(&home, |name| env::var_os(name));
    let variables = match command.agent {
        Some(_) => command.state.folder_variables(&state).collect(),
        None => Vec::new(),
    };
    let needs = EnclosureNeeds {
        hosts: command.hosts.clone(),
        state,
    };
    Ok((needs, variables))
}

/// The process of an agent, once its streams were taken. Dropping it ends the agent.
pub(super) struct AgentProcess {
    lifetime: ProcessLifetime,
    changes: Option<LayeredChanges>,
}

impl AgentProcess {
    /// Keeps a process, with what it changes if it is enclosed.
    pub fn new(lifetime: ProcessLifetime, changes: Option<LayeredChanges>) -> Self {
        Self { lifetime, changes }
    }

    /// Returns why the agent's sandbox could not be entered, as half a sentence, if that is why the agent is gone.
    pub async fn sandbox_fault(&self) -> Option<String> {
        self.changes.as_ref()?;
        // One that runs has entered its sandbox.
        self.wait_until_ended().await;
        self.lifetime.sandbox_outcome()?.entry_error.clone()
    }

    /// Ends the agent and waits until nothing of it runs any more. Returns what it changed; none where it ran in the open.
    pub async fn end(self) -> Option<EnclosedTurn> {
        self.wait_until_ended().await;
        let ended = self.lifetime.end().await;
        let changes = self.changes?;
        Some(EnclosedTurn { changes, ended })
    }

    /// Waits a moment for an agent that ends by itself.
    async fn wait_until_ended(&self) {
        let mut ended = self.lifetime.subscribe();
        let _ = tokio::time::timeout(AGENT_END_MAX, ended.wait_for(Option::is_some)).await;
    }
}
