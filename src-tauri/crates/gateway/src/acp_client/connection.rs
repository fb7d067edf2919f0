//! One agent that runs for one session: its process, and the messages to and from it.

use std::path::Path;
use std::sync::Arc;

use agent::{AgentPrompt, AgentTurn};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, ContentBlock, CreateTerminalRequest,
    CreateTerminalResponse, FileSystemCapabilities, ImageContent, Implementation,
    InitializeRequest, InitializeResponse, KillTerminalRequest, KillTerminalResponse,
    LoadSessionRequest, Meta, NewSessionRequest, PromptRequest, ReadTextFileRequest,
    ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest, SessionId,
    SessionModeState, SessionNotification, SetSessionModeRequest, StopReason,
    TerminalOutputRequest, TextContent, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest,
};
use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, Lines, is_connection_terminated, is_incoming_transport_closed,
    on_receive_notification, on_receive_request,
};
use futures::{SinkExt, StreamExt};
use parking_lot::Mutex;
use protocol::{Content, NoticeLevel, UserError};
use runtime::{Companion, ProcessLifetime};
use tokio::sync::oneshot;
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec};
use tokio_util::sync::CancellationToken;

use super::agent_command::AgentCommand;
use super::error_output::ErrorOutput;
use super::files;
use super::hook_endpoint::HookEndpoint;
use super::turn_handler::TurnHandler;
use super::{AcpAgents, HookHost};
use crate::connections::session_hooks::{HookSetup, set_up_session_hooks};
use crate::limits::{AGENT_CANCEL_MAX, AGENT_MESSAGE_BYTES_MAX, AGENT_START_MAX, TEXT_FLUSH_EVERY};

/// Reason why an agent does nothing any more.
const ENDED_REASON: &str = "it ended";

/// A running agent with one session.
pub(super) struct AgentConnection {
    pub command: AgentCommand,
    connection: ConnectionTo<Agent>,
    session: SessionId,
    capabilities: AgentCapabilities,
    current: CurrentTurn,
    errors: ErrorOutput,
    /// Cancelled when the agent is gone.
    gone: CancellationToken,
    /// Ends the process when it is dropped.
    _lifetime: ProcessLifetime,
    /// Where its hooks ask; none if it has none of ours.
    endpoint: Option<HookEndpoint>,
    /// Members of `_meta` in the request that opens its session.
    session_meta: Meta,
    /// What its session cost so far, in US dollars.
    pub cost_usd: Mutex<Option<f64>>,
}

/// The turn that the agent's messages belong to; none between turns.
#[derive(Clone, Default)]
struct CurrentTurn(Arc<Mutex<Option<Arc<TurnHandler>>>>);

impl CurrentTurn {
    fn get(&self) -> Option<Arc<TurnHandler>> {
        self.0.lock().clone()
    }

    /// Returns the turn for a request to use our tools.
    fn tools(&self) -> Result<Arc<TurnHandler>, Error> {
        let why = "No turn is running, so nothing can be asked for.";
        let turn = self
            .get()
            .ok_or_else(|| Error::invalid_request().data(why))?;
        match turn.command.uses_our_tools() {
            true => Ok(turn),
            false => Err(Error::method_not_found()),
        }
    }
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
        let (endpoint, setup) = open_hooks(&command, turn.session(), agents.hooks.as_ref()).await?;
        let companion = command.to_companion(turn.folder(), &agents.passed, setup.env);
        let companion = runtime::start_companion(&companion)
            .map_err(|error| start_error(&command, &error.to_string()))?;
        let Companion {
            input,
            output,
            errors,
            lifetime,
        } = companion;
        let errors = ErrorOutput::follow(errors);
        let (current, gone) = (CurrentTurn::default(), CancellationToken::new());
        let lines = FramedRead::new(
            output,
            LinesCodec::new_with_max_length(AGENT_MESSAGE_BYTES_MAX),
        );
        let lines = lines.map(|line| line.map_err(std::io::Error::other));
        let written = FramedWrite::new(input, LinesCodec::new());
        let written = SinkExt::<String>::sink_map_err(written, std::io::Error::other);
        let connection = connect(Lines::new(written, lines), current.clone(), gone.clone());
        let opened = async {
            let connection = connection.await.map_err(|_| Error::internal_error())?;
            let hello = connection.send_request(initialize_request(&command));
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
            Err(why) => return Err(failed(why).await),
        };
        let mut agent = Self {
            session: SessionId::new(""),
            capabilities: hello.agent_capabilities.clone(),
            command: command.clone(),
            connection,
            current,
            errors: errors.clone(),
            gone,
            _lifetime: lifetime,
            cost_usd: Mutex::default(),
            endpoint,
            session_meta: setup.meta,
        };
        let session = tokio::time::timeout(AGENT_START_MAX, agent.open_session(turn, &hello)).await;
        agent.session = match session {
            Ok(Ok(session)) => session,
            Ok(Err(error)) if error.code == ErrorCode::AUTH_REQUIRED => {
                return Err(sign_in_error(&command, &hello));
            }
            Ok(Err(error)) => return Err(failed(describe_error(&error)).await),
            Err(_) => return Err(failed(late_reason()).await),
        };
        turn.set_agent_session(agent.session.0.to_string());
        Ok(agent)
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
        *self.current.0.lock() = Some(handler.clone());
        let _reset = ResetTurn(&self.current);
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
                    Ok(answer) => return Ok(answer.stop_reason),
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

    fn prompt_blocks(&self, handler: &TurnHandler, prompt: AgentPrompt) -> Vec<ContentBlock> {
        let mut blocks = vec![ContentBlock::Text(TextContent::new(prompt.text))];
        let takes_images = self.capabilities.prompt_capabilities.image;
        if !takes_images && !prompt.images.is_empty() {
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

    /// Opens the agent's session, in the mode in which it asks.
    async fn open_session(
        &self,
        turn: &AgentTurn,
        hello: &InitializeResponse,
    ) -> Result<SessionId, Error> {
        let folder = turn.folder().to_owned();
        let sessions = &self.capabilities.session_capabilities;
        let former = turn.agent_session().map(SessionId::new);
        let (session, modes) = match former {
            Some(id) if sessions.resume.is_some() => {
                let request = ResumeSessionRequest::new(id.clone(), folder).meta(self.meta());
                let resumed = self.connection.send_request(request).block_task().await?;
                (id, resumed.modes)
            }
            Some(id) if self.capabilities.load_session => {
                // What it tells of the session so far is on record already: no turn takes it.
                let request = LoadSessionRequest::new(id.clone(), folder).meta(self.meta());
                let loaded = self.connection.send_request(request).block_task().await?;
                (id, loaded.modes)
            }
            former => {
                let request = NewSessionRequest::new(folder).meta(self.meta());
                let made = self.connection.send_request(request).block_task().await?;
                self.tell_beginning(turn, hello, former.is_some());
                (made.session_id, made.modes)
            }
        };
        self.set_asking_mode(&session, modes).await?;
        Ok(session)
    }

    fn meta(&self) -> Option<Meta> {
        (!self.session_meta.is_empty()).then(|| self.session_meta.clone())
    }

    async fn set_asking_mode(
        &self,
        session: &SessionId,
        modes: Option<SessionModeState>,
    ) -> Result<(), Error> {
        let (Some(asking), Some(modes)) = (&self.command.asking_mode, modes) else {
            return Ok(());
        };
        let has_mode = modes
            .available_modes
            .iter()
            .any(|mode| *mode.id.0 == **asking);
        if *modes.current_mode_id.0 == **asking || !has_mode {
            return Ok(());
        }
        let request = SetSessionModeRequest::new(session.clone(), asking.clone());
        let set = self.connection.send_request(request).block_task().await;
        set.map(|_| ())
    }

    /// Records who answers in the session, and that it remembers nothing if there was something to remember.
    fn tell_beginning(&self, turn: &AgentTurn, hello: &InitializeResponse, is_new_again: bool) {
        let name = match &hello.agent_info {
            Some(info) => format!(
                "{} {}",
                info.title.as_ref().unwrap_or(&info.name),
                info.version
            ),
            None => self.command.title.clone(),
        };
        let hint = match self.endpoint.is_some() {
            true => "Its commands are held to the effects that were approved.",
            false => "A command that it runs is not held to the effects that its card shows.",
        };
        let fault = UserError::new(
            format!(
                "{name} answers in this session. It runs its tools itself, after they were judged here."
            ),
            hint,
        );
        turn.add_notice(NoticeLevel::Note, fault);
        if is_new_again {
            let fault = UserError::new(
                format!(
                    "{} cannot go on with an earlier session, so it remembers nothing of it.",
                    self.command.title
                ),
                "",
            );
            turn.add_notice(NoticeLevel::Warning, fault);
        }
    }

    async fn turn_error(&self, why: String) -> UserError {
        let why = self.errors.explain(why).await;
        UserError::new(
            format!("{} broke off its turn: {why}.", self.command.title),
            "What it did is kept. Say something to let it go on.",
        )
    }
}

/// Opens the endpoint for an agent that takes hooks for one session, and returns what the agent is given for them.
async fn open_hooks(
    command: &AgentCommand,
    session: &protocol::SessionId,
    host: Option<&HookHost>,
) -> Result<(Option<HookEndpoint>, HookSetup), UserError> {
    let (Some(host), Some(agent)) = (host, command.known()) else {
        return Ok((None, HookSetup::default()));
    };
    let words = [&host.program, Path::new("--data-dir"), &host.data_dir];
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let Some(mut setup) = set_up_session_hooks(agent, &words, &host.data_dir.join("agents"))?
    else {
        return Ok((None, HookSetup::default()));
    };
    let endpoint = HookEndpoint::open(&host.data_dir, session).await?;
    setup.env.push(endpoint.variable());
    Ok((Some(endpoint), setup))
}

/// Takes the turn away from the connection when a prompt is over.
struct ResetTurn<'a>(&'a CurrentTurn);

impl Drop for ResetTurn<'_> {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}

fn initialize_request(command: &AgentCommand) -> InitializeRequest {
    let serves_tools = command.uses_our_tools();
    let files = FileSystemCapabilities::new()
        .read_text_file(serves_tools)
        .write_text_file(serves_tools);
    let capabilities = ClientCapabilities::new().fs(files).terminal(serves_tools);
    let info = Implementation::new("countersign", env!("CARGO_PKG_VERSION")).title("Countersign");
    InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(capabilities)
        .client_info(info)
}

/// Starts to exchange messages with the agent. The connection comes through the channel; it ends with the agent.
fn connect(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    current: CurrentTurn,
    gone: CancellationToken,
) -> oneshot::Receiver<ConnectionTo<Agent>> {
    let (sender, receiver) = oneshot::channel();
    let turns = |current: &CurrentTurn| current.clone();
    let (told, asked, read, written) = (
        turns(&current),
        turns(&current),
        turns(&current),
        turns(&current),
    );
    let (made, shown, awaited) = (turns(&current), turns(&current), turns(&current));
    let (killed, released) = (turns(&current), current);
    let ended = gone.clone();
    let served = Client
        .v1()
        .name("countersign")
        .on_receive_notification(
            async move |told_update: SessionNotification, _connection| {
                if let Some(handler) = told.get() {
                    handler.handle_update(told_update.update);
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection| {
                let Some(handler) = asked.get() else {
                    let outcome = RequestPermissionOutcome::Cancelled;
                    return responder.respond(RequestPermissionResponse::new(outcome));
                };
                connection.spawn(async move {
                    let outcome = handler.answer_permission(&request).await;
                    responder.respond(RequestPermissionResponse::new(outcome))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, connection| {
                let handler = read.tools();
                connection.spawn(async move {
                    responder.respond_with_result(match handler {
                        Ok(handler) => {
                            files::read_file(&handler.turn, &request, &handler.over).await
                        }
                        Err(error) => Err(error),
                    })
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, connection| {
                let handler = written.tools();
                connection.spawn(async move {
                    responder.respond_with_result(match handler {
                        Ok(handler) => {
                            files::write_file(&handler.turn, &request, &handler.over).await
                        }
                        Err(error) => Err(error),
                    })
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder, _connection| {
                let created = made.tools().and_then(|handler| {
                    handler
                        .terminals
                        .create(&handler.turn, &request, &handler.over)
                });
                responder.respond_with_result(created.map(CreateTerminalResponse::new))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _connection| {
                let handler = shown.tools();
                responder.respond_with_result(
                    handler.and_then(|handler| handler.terminals.output(&request.terminal_id)),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, connection| {
                let handler = awaited.tools();
                connection.spawn(async move {
                    let exit = match handler {
                        Ok(handler) => handler.terminals.wait(&request.terminal_id).await,
                        Err(error) => Err(error),
                    };
                    responder.respond_with_result(exit.map(WaitForTerminalExitResponse::new))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder, _connection| {
                let handler = killed.tools();
                let done = handler.and_then(|handler| handler.terminals.kill(&request.terminal_id));
                responder.respond_with_result(done.map(|()| KillTerminalResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, _connection| {
                let handler = released.tools();
                let done =
                    handler.and_then(|handler| handler.terminals.release(&request.terminal_id));
                responder.respond_with_result(done.map(|()| ReleaseTerminalResponse::new()))
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
            // Nobody waits any more if the agent took too long.
            let _ = sender.send(connection);
            ended.cancelled().await;
            Ok(())
        });
    tokio::spawn(async move {
        if let Err(error) = served.await {
            tracing::info!(%error, "the connection to an agent ended");
        }
        gone.cancel();
    });
    receiver
}

fn late_reason() -> String {
    format!("it did not answer within {} s", AGENT_START_MAX.as_secs())
}

fn describe_error(error: &Error) -> String {
    if is_connection_terminated(error) || is_incoming_transport_closed(error) {
        return ENDED_REASON.to_owned();
    }
    let data = error.data.as_ref().map(|data| match data {
        serde_json::Value::String(text) => text.clone(),
        data => data.to_string(),
    });
    let text = match data {
        Some(data) => format!("{} ({data})", error.message),
        None => error.message.clone(),
    };
    tools::text::truncate_chars(&text, 1_000)
}

fn start_error(command: &AgentCommand, why: &str) -> UserError {
    UserError::new(
        format!("{} could not be started: {why}.", command.title),
        "Start it by itself in a terminal to see what it needs.",
    )
}

/// Returns the error of an agent whose person has to sign in first.
fn sign_in_error(command: &AgentCommand, hello: &InitializeResponse) -> UserError {
    let ways = hello.auth_methods.iter();
    let ways: Vec<&str> = ways.map(|way| way.name()).collect();
    let hint = match ways.is_empty() {
        true => "Sign in to it in a terminal, or give it its key.".to_owned(),
        false => format!(
            "Sign in to it in a terminal, or give it its key: {}.",
            ways.join("; ")
        ),
    };
    UserError::new(
        format!("{} wants you to sign in first.", command.title),
        hint,
    )
}
