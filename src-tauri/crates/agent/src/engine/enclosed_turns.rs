//! Turns of an agent that runs in a sandbox: it works in a layer over the workspace, and what a turn changed there becomes
//! one call when the turn ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::event::Enclosure;
use protocol::view::effects::Assurance;
use protocol::{ModelChoice, Plan, UserError};
use runtime::{CompanionCommand, FileError, KeptState, LayeredCompanion, NetworkClient, Workspace};
use serde_json::Map;
use tools::{ENCLOSED_TURN, EnclosedTurn, EnclosedTurnTool};

use crate::engine::external_agents::AgentTurn;
use crate::engine::external_client::ClientOutcome;
use crate::permissions::egress;
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::engine_state::EngineState;

/// What an agent needs in its sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnclosureNeeds {
    /// Hosts of its model's service, beside those that the person names.
    pub hosts: Vec<String>,
    /// Folders in which it keeps its login and its sessions, absolute. Its changes there are kept for the session alone.
    pub state: Vec<PathBuf>,
}

/// Checks that the agent of a session in this folder can be enclosed.
///
/// # Errors
/// A model answers there, or this machine has no sandbox with a layer over the folder.
pub(super) async fn check_enclosure(
    engine: &EngineState,
    workspace: &Path,
    model: &ModelChoice,
) -> Result<(), UserError> {
    if model.provider != AGENT_PROVIDER {
        return Err(UserError::new(
            "Only an agent of somebody else can be enclosed: a model runs nothing itself.",
            "Leave the enclosure out. What our own agent does is judged call by call.",
        ));
    }
    let workspace = Workspace::open(workspace)?;
    let probe = engine.dry_run_environment.probe(&workspace).await;
    match probe.assurance {
        Assurance::Speculative => Ok(()),
        Assurance::Snapshot | Assurance::GateOnly => {
            Err(unavailable_error(&model.model, &probe.reasons.join(" ")))
        }
    }
}

impl AgentTurn {
    /// Returns the sandbox that the agent is to run in; none where it runs in the open.
    pub fn enclosure(&self) -> Option<Enclosure> {
        let session = self.session_state();
        session.with_conversation(|conversation| conversation.options.enclosure.clone())
    }

    /// Starts the agent in its sandbox, over a fresh layer. It is never started outside of one.
    ///
    /// # Errors
    /// No sandbox can be had, a host stays closed, or the program cannot be started.
    pub async fn start_enclosed(
        &self,
        command: &CompanionCommand,
        needs: EnclosureNeeds,
    ) -> Result<LayeredCompanion, UserError> {
        let session = self.session_state();
        let named = self.enclosure().unwrap_or_default().hosts;
        let hosts: Vec<String> = needs.hosts.into_iter().chain(named).collect();
        let (rules, now) = (session.rules(), session.engine.now());
        let net = match hosts.is_empty() {
            true => NetworkClient::offline(),
            false => {
                let hosts = egress::check_hosts(&hosts, &rules, now)?;
                egress::allow_hosts(&NetworkClient::offline(), hosts, rules, now)
            }
        };
        let workspace = &session.tool_context.workspace;
        let workspace = workspace.with_inherited_env(command.inherited.clone());
        let state = KeptState {
            name: session.id.to_string(),
            folders: needs.state,
        };
        let environment = &session.tool_context.dry_run_environment;
        let started = environment
            .start_layered_companion(command, &workspace, &net, &state)
            .await;
        started.map_err(|error| match error {
            FileError::SandboxUnavailable { reason } => unavailable_error(&self.agent(), &reason),
            other => UserError::from(other),
        })
    }

    /// Judges what the agent changed in its turn, as the effects of a command are, and carries out what is approved. `title`
    /// is the agent's name for people. None if it changed nothing.
    ///
    /// # Errors
    /// The record cannot be written, or the run is over.
    pub async fn take_over(
        &self,
        title: &str,
        turn: EnclosedTurn,
    ) -> Result<Option<ClientOutcome>, UserError> {
        let read = turn.changes.read(&turn.ended).await;
        if read.is_ok_and(|run| run.plan == Plan::None) {
            return Ok(None);
        }
        let session = self.session_state();
        let tool = session.enclosed_turns.get_or_init(|| {
            let tool = Arc::new(EnclosedTurnTool::new(title));
            session.agent_tools.add(tool.clone());
            tool
        });
        tool.set_turn(Some(Arc::new(turn)));
        let number = session.with_conversation(|conversation| conversation.turns);
        let arguments = Map::from_iter([
            ("agent".to_owned(), self.agent().into()),
            ("turn".to_owned(), number.max(1).into()),
        ]);
        let outcome = self.call(ENCLOSED_TURN, arguments, self.stop_token()).await;
        tool.set_turn(None);
        outcome.map(Some)
    }
}

fn unavailable_error(agent: &str, reason: &str) -> UserError {
    UserError::new(
        format!(
            "`{agent}` cannot be enclosed here, so it was not started: {}",
            reason.trim()
        ),
        "`countersign doctor` says what is missing. Without enclosure it is judged by what it asks.",
    )
}
