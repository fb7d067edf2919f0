//! Agents that speak the Agent Client Protocol, each started for a session in which it answers: what it asks about is
//! judged here, by the same pipeline as a call of our own agent.
//!
//! **An agent is never told to remember a permission**: every call is asked about, and the person's rules answer. What an
//! agent does without asking stands in the record, with a warning. A command that an agent runs itself cannot be held to
//! its effects, so they alone never let it pass; it runs over a snapshot of the folder. An agent that is enclosed works in a
//! sandbox over a layer, and what a turn changed is judged when the turn ends.
//!
//! Start reading at [`AcpAgents`], then `turn_handler.rs`.

mod agent_command;
mod agent_options;
mod agent_process;
mod agent_sessions;
mod connection;
mod current_turn;
mod elicitation;
mod enclosed_turn;
mod error_output;
mod faults;
mod files;
mod given_servers;
mod hook_endpoint;
mod incoming;
mod offered_options;
mod permission;
mod server_calls;
mod session_opening;
mod terminals;
mod tool_use;
mod turn_handler;
mod turn_usage;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use agent::{AgentPrompt, AgentTurn, AgentTurnEnd, Engine, ExternalAgents};
use agent_client_protocol::v1::schema::StopReason;
use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::{SessionId, UserError};
use tokio::time::Instant;

pub use self::agent_sessions::{AgentSession, list_agent_sessions};

use self::agent_command::AgentCommand;
use self::connection::AgentConnection;
use self::turn_handler::TurnHandler;
use crate::limits::{AGENTS_MAX, FEEDBACK_PROMPTS_MAX};

/// The agents of other people that speak ACP.
#[derive(Default)]
pub struct AcpAgents {
    running: Mutex<HashMap<SessionId, RunningAgent>>,
    /// Names of further variables that the person passes to programs.
    passed: Vec<String>,
    /// The program that agents' hooks call, `countersign`, and the data folder of the engine; none where agents are judged
    /// only by what they ask.
    hooks: Option<HookHost>,
    /// Command lines of agents that are not started by their own program, by the agents' ids.
    commands: BTreeMap<String, String>,
}

struct RunningAgent {
    agent: Arc<AgentConnection>,
    used_at: Instant,
}

/// Where the hooks of agents ask.
#[derive(Debug, Clone)]
struct HookHost {
    program: PathBuf,
    data_dir: PathBuf,
}

/// Lets sessions of an engine be opened in which an agent of somebody else answers. `program` is the `countersign` that
/// their hooks call; without one, agents are judged only by what they ask.
pub fn add_agents(engine: &Engine, program: Option<PathBuf>) {
    let passed = engine.settings().variables.passed.clone();
    let passed = passed.iter().map(|name| name.as_str().to_owned());
    let mut agents = AcpAgents {
        passed: passed.collect(),
        ..AcpAgents::default()
    };
    if let Some(program) = program {
        agents = agents.with_hooks(program, engine.data_dir().to_owned());
    }
    engine.add_external_agents(Arc::new(agents));
}

#[async_trait]
impl ExternalAgents for AcpAgents {
    fn check_agent(&self, agent: &str) -> Result<(), UserError> {
        AgentCommand::resolve(agent, &self.commands).map(|_| ())
    }

    async fn run_turn(&self, turn: Arc<AgentTurn>, prompt: AgentPrompt) -> AgentTurnEnd {
        if turn.enclosure().is_some() {
            return self.run_enclosed(turn, prompt).await;
        }
        let agent = match self.find_or_start(&turn).await {
            Ok(agent) => agent,
            Err(error) => return failed_end(error),
        };
        let handler = Arc::new(agent.begin_turn(turn.clone()));
        let end = prompt_agent(&agent, &handler, prompt).await;
        let used = handler.finish().await;
        agent.end_turn();
        let before = used
            .cost_usd
            .and_then(|cost| agent.cost_usd.lock().replace(cost));
        if end.is_err() {
            self.running.lock().remove(turn.session());
        }
        AgentTurnEnd {
            usage: used.to_usage(before),
            context: used.context,
            error: end.err(),
            untold: None,
        }
    }

    async fn set_option(
        &self,
        session: &SessionId,
        option: &str,
        value: &str,
    ) -> Result<bool, UserError> {
        let agent = {
            let running = self.running.lock();
            running.get(session).map(|running| running.agent.clone())
        };
        match agent.filter(|agent| agent.is_alive()) {
            Some(agent) => agent.choose_option(option, value).await.map(|()| true),
            None => Ok(false),
        }
    }

    fn takes_images(&self, session: &SessionId) -> Option<bool> {
        let running = self.running.lock();
        let agent = &running.get(session)?.agent;
        agent.is_alive().then(|| agent.takes_images())
    }

    async fn close_session(&self, session: &SessionId) {
        self.running.lock().remove(session);
    }

    fn close(&self) {
        self.running.lock().clear();
    }
}

impl AcpAgents {
    /// Starts an agent by this command line and not by its own program.
    #[must_use]
    pub fn with_command(mut self, agent: &str, command: &str) -> Self {
        self.commands.insert(agent.to_owned(), command.to_owned());
        self
    }

    /// Lets agents that take hooks for one session call those of this program, over this data folder.
    #[must_use]
    pub fn with_hooks(mut self, program: PathBuf, data_dir: PathBuf) -> Self {
        self.hooks = Some(HookHost { program, data_dir });
        self
    }

    /// Returns the running agent of a session, or starts it. If there are too many, the one that was used longest ago is
    /// ended.
    async fn find_or_start(&self, turn: &AgentTurn) -> Result<Arc<AgentConnection>, UserError> {
        if let Some(running) = self.running.lock().get_mut(turn.session())
            && running.agent.is_alive()
        {
            running.used_at = Instant::now();
            return Ok(running.agent.clone());
        }
        let command = AgentCommand::resolve(&turn.agent(), &self.commands)?;
        let opened = AgentConnection::open(command, turn, self);
        let agent = tokio::select! {
            agent = opened => Arc::new(agent?),
            () = turn.stop_token().cancelled() => return Err(stopped_error()),
        };
        let mut running = self.running.lock();
        if running.len() >= AGENTS_MAX {
            let oldest = running.iter().min_by_key(|(_, one)| one.used_at);
            if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                running.remove(&oldest);
            }
        }
        let one = RunningAgent {
            agent: agent.clone(),
            used_at: Instant::now(),
        };
        running.insert(turn.session().clone(), one);
        Ok(agent)
    }
}

/// Gives an agent a prompt, and then the reasons why calls of it were refused, which it cannot be told with the refusal.
async fn prompt_agent(
    agent: &AgentConnection,
    handler: &Arc<TurnHandler>,
    prompt: AgentPrompt,
) -> Result<(), UserError> {
    let mut prompt = prompt;
    for _ in 0..=FEEDBACK_PROMPTS_MAX {
        let stop = agent.prompt(handler, prompt).await?;
        let feedback = handler.take_feedback();
        let feedback = feedback.filter(|_| !handler.over.is_cancelled());
        match feedback {
            Some(text) => {
                handler.turn.end_message();
                prompt = AgentPrompt {
                    text,
                    images: Vec::new(),
                };
            }
            None => return stop_error(stop).map_or(Ok(()), Err),
        }
    }
    Ok(())
}

/// Returns why a turn ended before the agent was done, if it did.
fn stop_error(stop: StopReason) -> Option<UserError> {
    let why = match stop {
        StopReason::MaxTokens => "The answer was cut at the model's limit of length.",
        StopReason::MaxTurnRequests => "The agent reached its own limit of requests in one turn.",
        StopReason::Refusal => "The agent's model refused to go on.",
        _ => return None,
    };
    Some(UserError::new(why, "Say something to let it go on."))
}

fn stopped_error() -> UserError {
    UserError::new("The agent was stopped while it started.", "")
}

fn failed_end(error: UserError) -> AgentTurnEnd {
    AgentTurnEnd {
        error: Some(error),
        ..AgentTurnEnd::default()
    }
}
