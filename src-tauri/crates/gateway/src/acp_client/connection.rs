//! One agent that runs for one session: its process, and the messages to and from it.

use std::path::Path;
use std::sync::Arc;

use agent::{AgentPrompt, AgentTurn, EnclosedTurn};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, ContentBlock,
    ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities,
    FileSystemCapabilities, ImageContent, Implementation, InitializeRequest, McpServer, Meta,
    PromptRequest, SessionId, StopReason, TextContent,
};
use agent_client_protocol::{Agent, Error, ErrorCode};
use parking_lot::Mutex;
use protocol::{Content, NoticeLevel, UserError};
use runtime::Companion;
use tokio_util::sync::CancellationToken;

use super::agent_command::AgentCommand;
use super::agent_options::{AgentOptions, OptionSetter};
use super::agent_process::{AgentProcess, message_lines, start_agent};
use super::current_turn::CurrentTurn;
use super::error_output::ErrorOutput;
use super::faults::{ENDED_REASON, describe_error, late_reason, sign_in_error, start_error};
use super::given_servers::{GivenServers, to_mcp_servers};
use super::hook_endpoint::HookEndpoint;
use super::incoming::connect;
use super::turn_handler::TurnHandler;
use super::{AcpAgents, HookHost};
use crate::agent_servers::AgentServers;
use crate::connections::session_hooks::{HookSetup, set_up_session_hooks};
use crate::limits::{AGENT_CANCEL_MAX, AGENT_START_MAX, TEXT_FLUSH_EVERY};

/// A running agent with one session.
pub(super) struct AgentConnection {
    pub command: AgentCommand,
    pub(super) connection: ConnectionTo<Agent>,
    session: SessionId,
    pub(super) capabilities: AgentCapabilities,
    current: CurrentTurn,
    errors: ErrorOutput,
    /// Cancelled when the agent is gone.
    gone: CancellationToken,
    process: AgentProcess,
    /// Where its hooks ask, and its servers are served; none if it has neither of ours.
    endpoint: Option<HookEndpoint>,
    /// Whether hooks of ours hold its commands to their effects.
    pub(super) is_held: bool,
    /// Members of `_meta` in the request that opens its session.
    pub(super) session_meta: Meta,
    /// MCP servers of the session.
    pub(super) given: GivenServers,
    /// Those that it is given, as it is told of them.
    pub(super) mcp_servers: Vec<McpServer>,
    /// What it lets a person choose.
    pub(super) options: Arc<AgentOptions>,
    /// What its session cost so far, in US dollars.
    pub cost_usd: Mutex<Option<f64>>,
}

impl AgentConnection {
    /// Starts an agent, and opens its session: the one that the turn's session had before, if the agent still has it.
    ///
    /// # Errors
    /// The agent does not start, does not speak the protocol, or wants its person to sign in first.
    pub async fn open(
        command: AgentCommand,
        turn: &AgentTurn,
        agents: &AcpAgents,
    ) -> Result<Self, UserError> {
        let servers = GivenServers::choose(&command, turn, agents.hooks.as_ref());
        let setup = AgentSetup::open(&command, turn, agents.hooks.as_ref(), &servers).await?;
        let started = start_agent(&command, turn, &agents.passed, setup.hooks.env).await?;
        let Companion {
            input,
            output,
            errors,
            lifetime,
        } = started.companion;
        let process = AgentProcess::new(lifetime, started.changes);
        let errors = ErrorOutput::follow(errors);
        let (current, gone) = (CurrentTurn::default(), CancellationToken::new());
        let options = Arc::new(AgentOptions::new(
            command.title.clone(),
            // What is enclosed may act without asking.
            command
                .asking_mode
                .clone()
                .filter(|_| turn.enclosure().is_none()),
            turn.option_record(),
        ));
        let transport = message_lines(input, output);
        let connection = connect(transport, current.clone(), options.clone(), gone.clone());
        let opened = async {
            let connection = connection.await.map_err(|_| Error::internal_error())?;
            let serves_tools = command.uses_our_tools() && turn.enclosure().is_none();
            let hello = connection.send_request(initialize_request(serves_tools));
            let hello = hello.block_task().await?;
            Ok((connection, hello))
        };
        let failed = async |why: String| start_error(&command, &errors.explain(why).await);
        let opened = match tokio::time::timeout(AGENT_START_MAX, opened).await {
            Ok(opened) => opened.map_err(|error: Error| describe_error(&error)),
            Err(_) => Err(late_reason()),
        };
        let (connection, hello) = match opened {
            Ok(opened) => opened,
            Err(why) => {
                let why = process.sandbox_fault().await.unwrap_or(why);
                return Err(failed(why).await);
            }
        };
        let mut agent = Self {
            session: SessionId::new(""),
            capabilities: hello.agent_capabilities.clone(),
            command: command.clone(),
            connection,
            current,
            errors: errors.clone(),
            gone,
            process,
            cost_usd: Mutex::default(),
            endpoint: setup.endpoint,
            is_held: setup.is_held,
            options,
            session_meta: setup.hooks.meta,
            given: servers,
            mcp_servers: setup.mcp_servers,
        };
        let session = tokio::time::timeout(AGENT_START_MAX, agent.open_session(turn, &hello)).await;
        let session = match session {
            Ok(Ok(session)) => session,
            Ok(Err(error)) if error.code == ErrorCode::AUTH_REQUIRED => {
                return Err(sign_in_error(&command, &hello));
            }
            Ok(Err(error)) => return Err(failed(describe_error(&error)).await),
            Err(_) => return Err(failed(late_reason()).await),
        };
        agent.session = session.id;
        let setter = agent.option_setter();
        // An agent may go on telling of the session so far after it has answered, as Gemini CLI does, and has told all of it
        // once it answers another request.
        let asking = match session.is_former {
            true => agent.options.confirm_asking_mode(&setter).await,
            false => agent.options.set_asking_mode(&setter).await,
        };
        asking?;
        agent.options.set_choices(&setter).await?;
        turn.set_agent_session(agent.session.0.to_string());
        Ok(agent)
    }

    /// Sets an option for a person.
    ///
    /// # Errors
    /// The agent does not offer this, refuses it, or does not answer.
    pub async fn choose_option(&self, id: &str, value: &str) -> Result<(), UserError> {
        self.options.choose(&self.option_setter(), id, value).await
    }

    fn option_setter(&self) -> OptionSetter<'_> {
        OptionSetter {
            connection: &self.connection,
            session: &self.session,
        }
    }

    /// Begins a turn, whose calls the agent's hooks ask about.
    pub fn begin_turn(&self, turn: Arc<AgentTurn>) -> TurnHandler {
        let hooks = self.endpoint.as_ref().map(|endpoint| {
            let folder = turn.folder().to_owned();
            endpoint.hooks.begin_turn(folder, turn.client().clone());
            endpoint.hooks.clone()
        });
        TurnHandler::new(turn, self.command.clone(), hooks)
    }

    /// Ends the turn: the agent's hooks are denied until another one begins.
    pub fn end_turn(&self) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.hooks.end_turn();
        }
    }

    /// Ends the agent, and waits until nothing of it runs any more. Returns what it changed, if it was enclosed.
    pub async fn end(self) -> Option<EnclosedTurn> {
        // Its input ends with the connection, upon which it ends by itself.
        self.gone.cancel();
        self.process.end().await
    }

    /// Whether the agent can go on with its session after it was started again.
    pub fn can_go_on(&self) -> bool {
        self.capabilities.session_capabilities.resume.is_some() || self.capabilities.load_session
    }

    /// Whether the agent can take another prompt.
    pub fn is_alive(&self) -> bool {
        !self.gone.is_cancelled()
    }

    /// Gives the agent a prompt, and waits until its turn is over. A stopped turn is cancelled; an agent that goes on all
    /// the same is to be ended by the caller, as is one that is gone.
    ///
    /// # Errors
    /// The agent is gone, refused the prompt, or does not stop.
    pub async fn prompt(
        &self,
        handler: &Arc<TurnHandler>,
        prompt: AgentPrompt,
    ) -> Result<StopReason, UserError> {
        let _current = self.current.begin(handler.clone());
        let blocks = self.prompt_blocks(handler, prompt);
        let request = PromptRequest::new(self.session.clone(), blocks);
        let answer = self.connection.send_request(request).block_task();
        tokio::pin!(answer);
        let stop = &handler.over;
        let mut is_told = false;
        let mut flush = tokio::time::interval(TEXT_FLUSH_EVERY);
        let late = tokio::time::sleep(AGENT_CANCEL_MAX);
        tokio::pin!(late);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => match answer {
                    Ok(end) => {
                        handler.end_prompt(&end);
                        return Ok(end.stop_reason);
                    }
                    Err(error) => return Err(self.turn_error(describe_error(&error)).await),
                },
                () = self.gone.cancelled() => return Err(self.turn_error(ENDED_REASON.to_owned()).await),
                () = stop.cancelled(), if !is_told => {
                    is_told = true;
                    late.as_mut().reset(tokio::time::Instant::now() + AGENT_CANCEL_MAX);
                    let cancel = CancelNotification::new(self.session.clone());
                    // An agent that is gone is noticed above.
                    let _ = self.connection.send_notification(cancel);
                }
                () = &mut late, if is_told => {
                    let why = "it did not stop when it was told to".to_owned();
                    return Err(self.turn_error(why).await);
                }
                _ = flush.tick() => handler.turn.flush_text(),
            }
        }
    }

    /// Whether the agent said that it takes images.
    pub(super) fn takes_images(&self) -> bool {
        self.capabilities.prompt_capabilities.image
    }

    fn prompt_blocks(&self, handler: &TurnHandler, prompt: AgentPrompt) -> Vec<ContentBlock> {
        let mut blocks = vec![ContentBlock::Text(TextContent::new(prompt.text))];
        if !self.takes_images() && !prompt.images.is_empty() {
            let fault = UserError::new(
                format!(
                    "{} takes no images, so they were left out.",
                    self.command.title
                ),
                "Put them into files of the folder, and name the files.",
            );
            handler.turn.add_notice(NoticeLevel::Warning, fault);
            return blocks;
        }
        let images = prompt.images.into_iter();
        blocks.extend(images.filter_map(|image| match image {
            Content::Image { mime, base64 } => {
                Some(ContentBlock::Image(ImageContent::new(base64, mime)))
            }
            _ => None,
        }));
        blocks
    }

    async fn turn_error(&self, why: String) -> UserError {
        let why = self.errors.explain(why).await;
        UserError::new(
            format!("{} broke off its turn: {why}.", self.command.title),
            "What it did is kept. Say something to let it go on.",
        )
    }
}

/// What an agent is given before it starts.
#[derive(Default)]
struct AgentSetup {
    endpoint: Option<HookEndpoint>,
    hooks: HookSetup,
    is_held: bool,
    mcp_servers: Vec<McpServer>,
}

impl AgentSetup {
    /// Sets up an agent's hooks, if it takes them for one session, and its servers; and opens the endpoint for them.
    async fn open(
        command: &AgentCommand,
        turn: &AgentTurn,
        host: Option<&HookHost>,
        servers: &GivenServers,
    ) -> Result<Self, UserError> {
        // An enclosed agent is judged by what it changed.
        let Some(host) = host.filter(|_| turn.enclosure().is_none()) else {
            return Ok(Self::default());
        };
        let hooks = match command.known() {
            Some(agent) => {
                let words = [&host.program, Path::new("--data-dir"), &host.data_dir];
                let words = words.map(|word| word.to_string_lossy().into_owned());
                set_up_session_hooks(agent, &words, &host.data_dir.join("agents"))?
            }
            None => None,
        };
        if hooks.is_none() && servers.list().is_empty() {
            return Ok(Self::default());
        }
        let servers = AgentServers::new(turn, servers.list().to_vec());
        let mcp_servers = to_mcp_servers(&servers, host, turn.session());
        let endpoint = HookEndpoint::open(&host.data_dir, turn.session(), servers).await?;
        let is_held = hooks.is_some();
        let mut hooks = hooks.unwrap_or_default();
        if is_held {
            hooks.env.push(endpoint.variable());
        }
        Ok(Self {
            endpoint: Some(endpoint),
            hooks,
            is_held,
            mcp_servers,
        })
    }
}

/// Returns the first request. `serves_tools` offers the agent our files and terminals.
pub(super) fn initialize_request(serves_tools: bool) -> InitializeRequest {
    let files = FileSystemCapabilities::new()
        .read_text_file(serves_tools)
        .write_text_file(serves_tools);
    let questions = ElicitationCapabilities::new()
        .form(ElicitationFormCapabilities::new())
        .url(ElicitationUrlCapabilities::new());
    let capabilities = ClientCapabilities::new()
        .fs(files)
        .terminal(serves_tools)
        .elicitation(questions);
    let info = Implementation::new("countersign", env!("CARGO_PKG_VERSION")).title("Countersign");
    InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(capabilities)
        .client_info(info)
}
