//! `run`: an agent works on a prompt. Calls that ask are put to the person at the terminal, or denied where nobody is
//! there.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::config::RunLimitOverrides;
use agent::{AGENT_PROVIDER, Engine, EventBatch, Host, IMPORTED_PROVIDER, StructuredRequest};
use gateway::acp_client;
use protocol::event::{Enclosure, FormerAgentSession};
use protocol::mappers::Vocabulary;
use protocol::server::mcp_servers::ServerId;
use protocol::text::display_text::format_count;
use protocol::view::entry::SessionView;
use protocol::{ModelChoice, Op, SessionId, SessionState};
use provider::{Provider, Script, ScriptedProvider};
use serde_json::Value;

use super::prompt::Prompt;
use super::servers::parse_server_name;
use super::{prompt, sessions};
use crate::args::{AgentOptionArg, ColorChoice, RunAgent, RunArgs};
use crate::event_printer::EventPrinter;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::{SCRIPT_BYTES_MAX, TITLE_CHARS_MAX};
use crate::output::{OutputWriter, TextStyle};
use crate::terminal::{CardPrompt, KeyOutcome, TerminalInput, is_attended, wait_for_termination};

/// Id of the provider that plays the caller's script.
pub(crate) const SCRIPT_PROVIDER: &str = "script";

/// Opens a session or continues one, sends the prompt, and follows the run to its end.
pub(crate) async fn run_agent(
    data_dir: Option<PathBuf>,
    run: RunArgs,
    color: ColorChoice,
    out: &mut OutputWriter,
) -> CliResult {
    let external_model = external_model(&run)?;
    let servers = parse_servers(run.server_names())?;
    let asks = !run.headless && !run.consent.approve_all && !out.is_json() && is_attended();
    let mut config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    config = super::apply_approval_args(config, run.consent)?;
    if asks {
        config.host = Host::Person;
    }
    config.limits = RunLimitOverrides {
        turns: run.limits.max_turns,
        calls: run.limits.max_calls,
        tokens: run.limits.max_tokens,
        cost_usd: run.limits.max_cost,
        minutes: run.limits.max_minutes,
    };
    if let Some(file) = &run.script {
        config.provider = Some(read_script(file)?);
    }
    let request = run.request.as_deref().map(read_request).transpose()?;
    let says_enough = run.resume.is_some() || request.is_some();
    let prompt = match (&run.prompt, run.file.is_empty()) {
        // Going on needs no words, and a request has its own.
        (None, true) if says_enough => None,
        _ => prompt::read_prompt(run.prompt, &run.file)?,
    };
    let (has_script, has_rules) = (run.script.is_some(), config.rules.is_some());
    let desk = super::open_engine(config).await?;
    acp_client::add_agents(&desk, std::env::current_exe().ok());
    let before = desk.last_seq()?;
    let wants_output = request
        .as_ref()
        .is_some_and(|request| request.output_schema.is_some());
    if run.output_schema.is_some() || wants_output {
        out.reserve_stdout();
    }
    let former = match (&run.resume, run.go_on) {
        (Some(name), _) => Some(sessions::find_session(&desk, name).await?),
        (None, true) => Some(find_last_session(&desk, &run.workspace).await?),
        (None, false) => None,
    };
    let (session, begin) = match (former, request) {
        (Some(view), _) => {
            let begin = resume_op(&view, prompt, asks)?;
            (view.id, begin)
        }
        (None, Some(mut request)) => {
            let prompt = prompt.unwrap_or_default().prepend(&request.prompt());
            let title = prompt.title().ok_or_else(missing_prompt)?.to_owned();
            // Choices of the caller take precedence over those of the request.
            if has_script || run.provider.is_some() || run.model.is_some() {
                let config = &mut request.config;
                (config.provider, config.model, config.thinking) = (None, None, None);
            }
            let provider = run.provider.or(request.config.provider.clone());
            let model = choose_model(&desk, has_script, provider, run.model).await?;
            let opened = desk.open_request(&run.workspace, &model, &request);
            let session = opened.await.map_err(CliError::usage_error)?;
            rename_session(&desk, &session, &title).await?;
            let begin = prompt.into_say_op(session.clone());
            (session, begin)
        }
        (None, None) => {
            let prompt = prompt.ok_or_else(missing_prompt)?;
            let model = match external_model {
                Some(model) => model,
                None => {
                    let model = choose_model(&desk, has_script, run.provider, run.model).await?;
                    with_thinking_effort(model, run.thinking.as_deref())?
                }
            };
            let title = prompt.title().unwrap_or_default().to_owned();
            let schema = run
                .output_schema
                .as_deref()
                .map(read_output_schema)
                .transpose()?;
            let wants = NewSessionOptions {
                output_schema: schema,
                temperature: run.temperature,
                agent: run.agent.as_ref().and_then(RunAgent::manifest),
                servers,
                former: run
                    .agent_session
                    .map(|id| FormerAgentSession { id, fork: run.fork }),
                enclosure: run.enclosed.then_some(Enclosure {
                    hosts: run.allow_host,
                }),
            };
            let session = open_session(&desk, &run.workspace, model, &title, wants).await?;
            let begin = prompt.into_say_op(session.clone());
            (session, begin)
        }
    };
    super::report_rule_faults(&desk, has_rules, out).await?;
    set_up_session(&desk, &session, run.options, run.plan).await?;
    let mut live = EventPrinter::new(session.clone());
    if let Some(words) = &run.events {
        let vocabulary = Vocabulary::parse(words).map_err(CliError::usage_error)?;
        live = live.with_vocabulary(vocabulary, before);
    }
    let cards = asks.then(|| CardPrompt::new(desk.clone(), session.clone(), color));
    let state = RunFollower {
        desk: &desk,
        silent: false,
        cards,
    }
    .follow(&mut live, begin, out)
    .await?;
    let code = report_summary(&desk, &session, &live, state, out).await?;
    if let Some(output) = &live.output {
        out.write_result(output)?;
    }
    Ok(code)
}

/// Reads a script that is played in the place of a model.
pub(super) fn read_script(file: &Path) -> Result<Arc<dyn Provider>, CliError> {
    let script = Script::parse(&read_text_file("script", file)?).map_err(CliError::usage_error)?;
    Ok(Arc::new(ScriptedProvider::with_id(SCRIPT_PROVIDER, script)))
}

/// Returns the last session of a folder.
async fn find_last_session(desk: &Engine, workspace: &Path) -> Result<SessionView, CliError> {
    let root = super::absolute_workspace(workspace)?;
    // As the desk records it, with links followed.
    let real = canonical_folder(workspace);
    let mut all = desk.snapshot().await?.sessions;
    all.retain(|view| view.workspace == root || Some(&view.workspace) == real.as_ref());
    all.retain(|view| view.model.provider != IMPORTED_PROVIDER);
    sessions::find_last_active(desk, &all)
        .await?
        .ok_or_else(|| {
            let message = format!("There is no session in {root} to go on with.");
            CliError::usage(message, "Begin one without --continue.")
        })
}

/// Returns the op that continues a session: with the prompt, or without one from where the session stopped.
fn resume_op(view: &SessionView, prompt: Option<Prompt>, asks: bool) -> Result<Op, CliError> {
    let session = view.id.clone();
    if view.state == SessionState::Waiting && !asks {
        return Err(CliError::usage(
            "A call of this session waits for a person, and nobody can be asked here.",
            "Go on with it at a terminal or in the window.",
        ));
    }
    match (prompt, view.state) {
        (Some(prompt), _) => Ok(prompt.into_say_op(session)),
        (
            None,
            SessionState::Failed
            | SessionState::Interrupted
            | SessionState::Waiting
            | SessionState::Running,
        ) => Ok(Op::Resume { session }),
        (None, SessionState::Done | SessionState::Idle) => Err(missing_prompt()),
    }
}

fn missing_prompt() -> CliError {
    CliError::usage(
        "There is nothing to say.",
        "Give a prompt, or `-` to read it from standard input.",
    )
}

/// Returns the model with the thinking effort, if one is given: it is part of the model's name.
fn with_thinking_effort(model: ModelChoice, effort: Option<&str>) -> Result<ModelChoice, CliError> {
    let Some(effort) = effort else {
        return Ok(model);
    };
    let known = ["claude-", "gemini-"];
    if !known.iter().any(|name| model.model.starts_with(name)) {
        let message = format!("No effort can be named for the model `{}`.", model.model);
        let hint = "It can for models whose names begin with claude- or gemini-.";
        return Err(CliError::usage(message, hint));
    }
    Ok(ModelChoice {
        model: format!("{}-{effort}", model.model),
        ..model
    })
}

/// Returns the model that the caller named, otherwise that of the settings.
pub(super) async fn choose_model(
    desk: &Engine,
    has_script: bool,
    provider: Option<String>,
    model: Option<String>,
) -> Result<ModelChoice, CliError> {
    if has_script {
        return Ok(ModelChoice {
            provider: SCRIPT_PROVIDER.to_owned(),
            model: String::new(),
        });
    }
    let set = desk.snapshot().await?.settings.model;
    match (provider, model, set) {
        (Some(provider), model, _) => Ok(ModelChoice {
            provider,
            model: model.unwrap_or_default(),
        }),
        (None, Some(model), Some(set)) => Ok(ModelChoice { model, ..set }),
        (None, None, Some(set)) => Ok(set),
        (None, _, None) => Err(CliError::usage(
            "No provider is named, and the settings have none.",
            "Name one with --provider, and its model with --model.",
        )),
    }
}

/// Returns the choice of an agent of somebody else, which has a model of its own; none if our own agent works.
fn external_model(run: &RunArgs) -> Result<Option<ModelChoice>, CliError> {
    let Some(RunAgent::External(agent)) = &run.agent else {
        let goes_on = run.resume.is_some() || run.go_on;
        return match run.options.is_empty() || goes_on {
            true => Ok(None),
            false => Err(CliError::usage(
                "--option is for an agent of somebody else, and none is named.",
                "Name it with --agent.",
            )),
        };
    };
    if let Some(option) = find_model_option(run) {
        let message = format!("{option} is for a model of ours, and `{agent}` has one of its own.");
        let hint = "Leave it out, or choose the model in the agent's own settings.";
        return Err(CliError::usage(message, hint));
    }
    Ok(Some(ModelChoice {
        provider: AGENT_PROVIDER.to_owned(),
        model: agent.to_owned(),
    }))
}

/// Returns the first option among the given ones that is about a model of ours.
fn find_model_option(run: &RunArgs) -> Option<&'static str> {
    let options = [
        ("--provider", run.provider.is_some()),
        ("--model", run.model.is_some()),
        ("--script", run.script.is_some()),
        ("--thinking", run.thinking.is_some()),
        ("--temperature", run.temperature.is_some()),
        ("--output-schema", run.output_schema.is_some()),
        ("--plan", run.plan),
    ];
    let mut given = options.into_iter().filter(|(_, is_given)| *is_given);
    given.next().map(|(option, _)| option)
}

/// Reads a file that the caller named.
fn read_text_file(what: &str, file: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    prompt::open_named_file(what, file)?
        .take(SCRIPT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| {
            let message = format!("The {what} {} cannot be read.", file.display());
            CliError::usage(message, "Check the path.").with_cause(&error)
        })?;
    Ok(text)
}

/// Resolves the links in a folder's path, as sessions store it; none if the folder does not exist.
#[expect(clippy::disallowed_methods, reason = "a folder that the caller names")]
fn canonical_folder(folder: &Path) -> Option<String> {
    let real = std::fs::canonicalize(folder).ok()?;
    Some(real.display().to_string())
}

/// Reads the output schema; the engine validates it.
fn read_output_schema(file: &Path) -> Result<Value, CliError> {
    serde_json::from_str(&read_text_file("output schema", file)?).map_err(|error| {
        let message = format!("The output schema {} is not JSON: {error}.", file.display());
        CliError::usage(message, "Correct the file.")
    })
}

/// Options of a new session besides its model.
#[derive(Default)]
pub(crate) struct NewSessionOptions<'a> {
    output_schema: Option<Value>,
    temperature: Option<f64>,
    agent: Option<&'a Path>,
    enclosure: Option<Enclosure>,
    servers: Option<Vec<ServerId>>,
    former: Option<FormerAgentSession>,
}

/// Parses the names of servers that an agent is given.
fn parse_servers(names: Option<Vec<String>>) -> Result<Option<Vec<ServerId>>, CliError> {
    let parsed = names.map(|names| names.iter().map(|name| parse_server_name(name)).collect());
    parsed.transpose()
}

/// Reads a structured request from a file.
fn read_request(file: &Path) -> Result<StructuredRequest, CliError> {
    let text = read_text_file("request", file)?;
    StructuredRequest::parse(&file.display().to_string(), &text).map_err(CliError::usage_error)
}

/// Opens a session with a title, without sending a prompt yet.
pub(crate) async fn open_session(
    desk: &Engine,
    workspace: &Path,
    model: ModelChoice,
    title: &str,
    wants: NewSessionOptions<'_>,
) -> Result<SessionId, CliError> {
    let op = Op::OpenSession {
        workspace: super::absolute_workspace(workspace)?,
        model,
        prompt: None,
        output_schema: wants.output_schema,
        temperature: wants.temperature,
        agent: wants.agent.map(super::absolute_workspace).transpose()?,
        planning: false,
        enclosure: wants.enclosure,
        servers: wants.servers,
        former: wants.former,
    };
    let receipt = desk.submit(op).await.map_err(CliError::usage_error)?;
    let session = receipt
        .session
        .ok_or_else(|| CliError::failure("The session was not opened."))?;
    rename_session(desk, &session, title).await?;
    Ok(session)
}

/// Sets the title of a session, unless it is empty.
async fn rename_session(desk: &Engine, session: &SessionId, title: &str) -> Result<(), CliError> {
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    if !title.trim().is_empty() {
        let session = session.clone();
        desk.submit(Op::RenameSession { session, title }).await?;
    }
    Ok(())
}

/// Sets options of the session's agent, which gets them when it starts, and lets the session plan first.
async fn set_up_session(
    desk: &Engine,
    session: &SessionId,
    options: Vec<AgentOptionArg>,
    plans: bool,
) -> Result<(), CliError> {
    for AgentOptionArg { id, value } in options {
        let op = Op::SetAgentOption {
            session: session.clone(),
            option: id,
            value,
        };
        desk.submit(op).await.map_err(CliError::usage_error)?;
    }
    if plans {
        let (session, on) = (session.clone(), true);
        desk.submit(Op::SetPlanning { session, on }).await?;
    }
    Ok(())
}

/// Options for following a run.
pub(crate) struct RunFollower<'a> {
    pub(crate) desk: &'a Engine,
    /// Whether nothing of the run is printed.
    pub(crate) silent: bool,
    /// Cards at the terminal; none where nobody is asked.
    pub(crate) cards: Option<CardPrompt>,
}

impl RunFollower<'_> {
    /// Starts a run and follows it to its end. The first interrupt from the keyboard stops the run, the second one ends
    /// the program.
    pub(crate) async fn follow(
        mut self,
        live: &mut EventPrinter,
        begin: Op,
        out: &mut OutputWriter,
    ) -> Result<SessionState, CliError> {
        let (desk, session) = (self.desk, live.session.clone());
        let mut events = desk.subscribe(live.subscribe_from(desk.last_seq()?));
        desk.submit(begin).await.map_err(CliError::usage_error)?;
        let mut stopped = false;
        // Listens from the first look at the events on, and all the time: no press is lost while something is written.
        let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
        let is_attended = self.cards.is_some();
        let mut ended = std::pin::pin!(async {
            match is_attended {
                // The terminal is given back before the program goes.
                true => wait_for_termination().await,
                false => std::future::pending().await,
            }
        });
        loop {
            let follow_input = tokio::select! {
                biased;
                _ = &mut interrupt => {
                    interrupt.set(tokio::signal::ctrl_c());
                    FollowInput::Interrupt
                }
                () = &mut ended => return Ok(SessionState::Interrupted),
                batch = events.next() => FollowInput::Events(batch?),
                input = next_input(&mut self.cards) => FollowInput::Input(input),
            };
            let outcome = match (follow_input, &mut self.cards) {
                (FollowInput::Interrupt, _) => KeyOutcome::Interrupt,
                (FollowInput::Input(input), Some(cards)) => cards.handle_input(input, out).await?,
                (FollowInput::Input(_), None) => KeyOutcome::Handled,
                (FollowInput::Events(None), _) => {
                    return Err(CliError::failure("The engine was closed."));
                }
                (FollowInput::Events(Some(batch)), cards) => {
                    let mut end = None;
                    for event in batch.iter() {
                        end = live.handle_event(out, event, self.silent)?.or(end);
                        if let Some(cards) = cards {
                            cards.handle_event(event);
                        }
                    }
                    if let Some(cards) = cards {
                        cards.refresh(out).await?;
                    }
                    if let Some(state) = end {
                        return Ok(state);
                    }
                    KeyOutcome::Handled
                }
            };
            match outcome {
                KeyOutcome::Handled => {}
                KeyOutcome::ProgramRan => interrupt.set(tokio::signal::ctrl_c()),
                KeyOutcome::Interrupt if std::mem::replace(&mut stopped, true) => {
                    return Ok(SessionState::Interrupted);
                }
                KeyOutcome::Interrupt => {
                    // If it came to its end in this moment, there is nothing to stop.
                    let session = session.clone();
                    let _ = desk.submit(Op::Interrupt { session }).await;
                }
            }
        }
    }
}

/// Inputs while a run is followed.
enum FollowInput {
    Interrupt,
    Events(Option<EventBatch>),
    Input(TerminalInput),
}

/// Waits for the person's next input at the terminal; never returns where nobody is asked.
async fn next_input(cards: &mut Option<CardPrompt>) -> TerminalInput {
    match cards {
        Some(cards) => cards.next_input().await,
        None => std::future::pending().await,
    }
}

async fn report_summary(
    desk: &Engine,
    session: &SessionId,
    live: &EventPrinter,
    state: SessionState,
    out: &mut OutputWriter,
) -> CliResult {
    let (code, word) = match (state, live.denied) {
        (SessionState::Done, 0) => (ExitReason::Done, "Done".to_owned()),
        (SessionState::Done, denied) => (
            ExitReason::Denied,
            format!("Done, {} denied", format_count(denied, "call")),
        ),
        (SessionState::Interrupted, _) if live.limited => {
            (ExitReason::Limited, "Stopped at a limit".to_owned())
        }
        (SessionState::Interrupted, _) => (ExitReason::Interrupted, "Interrupted".to_owned()),
        (
            SessionState::Failed
            | SessionState::Idle
            | SessionState::Running
            | SessionState::Waiting,
            _,
        ) => (ExitReason::Failed, "Failed".to_owned()),
    };
    if !out.is_json() && !out.is_quiet() {
        let view = sessions::find_session(desk, session.as_str()).await?;
        let (turns, usage) = (view.turns, view.usage);
        let mut line = format!(
            "{word} · {} · {} tokens in, {} out",
            format_count(u64::from(turns), "turn"),
            usage.input_tokens,
            usage.output_tokens
        );
        if let Some(cost) = usage.cost_usd {
            line.push_str(&format!(" · {cost:.4} USD"));
        }
        out.write_styled(TextStyle::Faint, &format!("{line} · {session}"))?;
    }
    Ok(code)
}
