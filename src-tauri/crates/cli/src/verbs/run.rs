//! `run`: an agent works on something. What asks is asked at the terminal, or denied where nobody is there.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::config::RunLimitsGiven;
use agent::{Batch, Desk, Host, Request};
use protocol::entry::SessionView;
use protocol::mappers::Vocabulary;
use protocol::shown::counted;
use protocol::{Fault, ModelChoice, Op, SessionId, SessionState};
use provider::{Script, Scripted};
use serde_json::Value;

use super::prompt::Prompt;
use super::{prompt, sessions};
use crate::args::{Color, Run};
use crate::ending::{Code, Ended, Ending};
use crate::limits::{SCRIPT_BYTES_MAX, TITLE_CHARS_MAX};
use crate::live::Live;
use crate::out::{Ink, Out};
use crate::terminal::{Cards, Heard, Input, is_attended, told_to_end};

/// The provider that a script of the caller's plays.
pub(crate) const SCRIPT: &str = "script";

/// Opens a session or goes on with one, says the prompt, and follows the run to its end.
pub(crate) async fn run(data_dir: Option<PathBuf>, run: Run, color: Color, out: &mut Out) -> Ended {
    let asks = !run.headless && !run.consent.approve_all && !out.is_json() && is_attended();
    let mut config = super::config(data_dir, Host::Headless { approve_all: false })?;
    config = super::consent(config, run.consent)?;
    if asks {
        config.host = Host::Person;
    }
    config.limits = RunLimitsGiven {
        turns: run.limits.max_turns,
        calls: run.limits.max_calls,
        tokens: run.limits.max_tokens,
        cost_usd: run.limits.max_cost,
        minutes: run.limits.max_minutes,
    };
    if let Some(file) = &run.script {
        config.provider = Some(Arc::new(Scripted::with_id(
            SCRIPT,
            Script::parse(&text("script", file)?).map_err(Ending::usage)?,
        )));
    }
    let request = run.request.as_deref().map(request).transpose()?;
    let says_enough = run.resume.is_some() || request.is_some();
    let prompt = match (&run.prompt, run.file.is_empty()) {
        // Going on needs no words, and a request has its own.
        (None, true) if says_enough => None,
        _ => prompt::prompt(run.prompt, &run.file)?,
    };
    let (has_script, has_rules) = (run.script.is_some(), config.rules.is_some());
    let desk = super::open(config).await?;
    let before = desk.last_seq()?;
    let wants_output = request
        .as_ref()
        .is_some_and(|request| request.output_schema.is_some());
    if run.output_schema.is_some() || wants_output {
        out.tell_aside();
    }
    let former = match (&run.resume, run.go_on) {
        (Some(name), _) => Some(sessions::find(&desk, name).await?),
        (None, true) => Some(last_in(&desk, &run.workspace).await?),
        (None, false) => None,
    };
    let (session, begin) = match (former, request) {
        (Some(view), _) => {
            let begin = go_on(&view, prompt, asks)?;
            (view.id, begin)
        }
        (None, Some(mut request)) => {
            let prompt = prompt.unwrap_or_default().after(&request.prompt());
            let title = prompt.title().ok_or_else(nothing_to_say)?.to_owned();
            // What the caller names comes before what the request does.
            if has_script || run.provider.is_some() || run.model.is_some() {
                let config = &mut request.config;
                (config.provider, config.model, config.thinking) = (None, None, None);
            }
            let provider = run.provider.or(request.config.provider.clone());
            let model = model(&desk, has_script, provider, run.model).await?;
            let opened = desk.open_request(&run.workspace, &model, &request);
            let session = opened.await.map_err(Ending::usage)?;
            rename(&desk, &session, &title).await?;
            let begin = prompt.say(session.clone());
            (session, begin)
        }
        (None, None) => {
            let prompt = prompt.ok_or_else(nothing_to_say)?;
            let mut model = model(&desk, has_script, run.provider, run.model).await?;
            if let Some(effort) = &run.thinking {
                model = thinking(model, effort)?;
            }
            let title = prompt.title().unwrap_or_default().to_owned();
            let schema = run
                .output_schema
                .as_deref()
                .map(output_schema)
                .transpose()?;
            let wants = Wants {
                output_schema: schema,
                temperature: run.temperature,
                agent: run.agent.as_deref(),
            };
            let session = open_session(&desk, &run.workspace, model, &title, wants).await?;
            let begin = prompt.say(session.clone());
            (session, begin)
        }
    };
    super::check_rules(&desk, has_rules, out).await?;
    if run.plan {
        let (session, on) = (session.clone(), true);
        desk.submit(Op::SetPlanning { session, on }).await?;
    }
    let mut live = Live::new(session.clone());
    if let Some(words) = &run.events {
        let vocabulary = Vocabulary::parse(words).map_err(Ending::usage)?;
        live = live.in_words(vocabulary, before);
    }
    let cards = asks.then(|| Cards::new(desk.clone(), session.clone(), color));
    let state = Following {
        desk: &desk,
        silent: false,
        cards,
    }
    .follow(&mut live, begin, out)
    .await?;
    let code = summary(&desk, &session, &live, state, out).await?;
    if let Some(output) = &live.output {
        out.result(output)?;
    }
    Ok(code)
}

/// The last session of a folder.
async fn last_in(desk: &Desk, workspace: &Path) -> Result<SessionView, Ending> {
    let root = super::absolute(workspace);
    // As the desk records it, with links followed.
    let real = real(workspace);
    let mut all = desk.snapshot().await?.sessions;
    all.retain(|view| view.workspace == root || Some(&view.workspace) == real.as_ref());
    sessions::last(desk, &all).await?.ok_or_else(|| {
        let message = format!("There is no session in {root} to go on with.");
        Ending::usage(Fault::new(message, "Begin one without --continue."))
    })
}

/// What a session is told to go on: the words, or, without any, from where it stopped.
fn go_on(view: &SessionView, prompt: Option<Prompt>, asks: bool) -> Result<Op, Ending> {
    let session = view.id.clone();
    if view.state == SessionState::Waiting && !asks {
        return Err(Ending::usage(Fault::new(
            "A call of this session waits for a person, and nobody can be asked here.",
            "Go on with it at a terminal or in the window.",
        )));
    }
    match (prompt, view.state) {
        (Some(prompt), _) => Ok(prompt.say(session)),
        (
            None,
            SessionState::Failed
            | SessionState::Interrupted
            | SessionState::Waiting
            | SessionState::Running,
        ) => Ok(Op::Resume { session }),
        (None, SessionState::Done | SessionState::Idle) => Err(nothing_to_say()),
    }
}

fn nothing_to_say() -> Ending {
    Ending::usage(Fault::new(
        "There is nothing to say.",
        "Give a prompt, or `-` to read it from standard input.",
    ))
}

/// The model with the effort that it is to think with, as its name carries it.
fn thinking(model: ModelChoice, effort: &str) -> Result<ModelChoice, Ending> {
    let known = ["claude-", "gemini-"];
    if !known.iter().any(|name| model.model.starts_with(name)) {
        let message = format!("No effort can be named for the model `{}`.", model.model);
        let hint = "It can for models whose names begin with claude- or gemini-.";
        return Err(Ending::usage(Fault::new(message, hint)));
    }
    Ok(ModelChoice {
        model: format!("{}-{effort}", model.model),
        ..model
    })
}

/// The model that the caller named, or else that of the settings.
async fn model(
    desk: &Desk,
    has_script: bool,
    provider: Option<String>,
    model: Option<String>,
) -> Result<ModelChoice, Ending> {
    if has_script {
        return Ok(ModelChoice {
            provider: SCRIPT.to_owned(),
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
        (None, _, None) => Err(Ending::usage(Fault::new(
            "No provider is named, and the settings have none.",
            "Name one with --provider, and its model with --model.",
        ))),
    }
}

/// Reads a file of the caller's.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the caller's, read before there is a desk"
)]
fn text(what: &str, file: &Path) -> Result<String, Ending> {
    let unreadable = |error: &dyn std::error::Error| {
        let message = format!("The {what} {} cannot be read.", file.display());
        Ending::usage(Fault::new(message, "Check the path.").caused_by(error))
    };
    let opened = std::fs::File::open(file).map_err(|error| unreadable(&error))?;
    let mut text = String::new();
    opened
        .take(SCRIPT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(&error))?;
    Ok(text)
}

/// A folder with its links followed, as sessions have it; none if it is not there.
#[expect(clippy::disallowed_methods, reason = "a folder that the caller names")]
fn real(folder: &Path) -> Option<String> {
    let real = std::fs::canonicalize(folder).ok()?;
    Some(real.display().to_string())
}

/// Reads the output schema; whether it is one, the desk says.
fn output_schema(file: &Path) -> Result<Value, Ending> {
    serde_json::from_str(&text("output schema", file)?).map_err(|error| {
        let message = format!("The output schema {} is not JSON: {error}.", file.display());
        Ending::usage(Fault::new(message, "Correct the file."))
    })
}

/// What is wanted of a session beyond its model.
#[derive(Default)]
pub(crate) struct Wants<'a> {
    output_schema: Option<Value>,
    temperature: Option<f64>,
    agent: Option<&'a Path>,
}

/// Reads a whole request.
fn request(file: &Path) -> Result<Request, Ending> {
    let text = text("request", file)?;
    Request::parse(&file.display().to_string(), &text).map_err(Ending::usage)
}

/// Opens a session with a title, without saying anything yet.
pub(crate) async fn open_session(
    desk: &Desk,
    workspace: &Path,
    model: ModelChoice,
    title: &str,
    wants: Wants<'_>,
) -> Result<SessionId, Ending> {
    let op = Op::OpenSession {
        workspace: super::absolute(workspace),
        model,
        prompt: None,
        output_schema: wants.output_schema,
        temperature: wants.temperature,
        agent: wants.agent.map(super::absolute),
        planning: false,
    };
    let receipt = desk.submit(op).await.map_err(Ending::usage)?;
    let session = receipt
        .session
        .ok_or_else(|| Ending::failed("The session was not opened."))?;
    rename(desk, &session, title).await?;
    Ok(session)
}

/// Gives a session a title, if it is one.
async fn rename(desk: &Desk, session: &SessionId, title: &str) -> Result<(), Ending> {
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    if !title.trim().is_empty() {
        let session = session.clone();
        desk.submit(Op::RenameSession { session, title }).await?;
    }
    Ok(())
}

/// How a run is followed.
pub(crate) struct Following<'a> {
    pub(crate) desk: &'a Desk,
    /// Whether nothing is told of it.
    pub(crate) silent: bool,
    /// The cards at the terminal; none where nobody is asked.
    pub(crate) cards: Option<Cards>,
}

impl Following<'_> {
    /// Begins a run and follows it to its end. The keyboard's interrupt stops it once, and ends the program at the second
    /// time.
    pub(crate) async fn follow(
        mut self,
        live: &mut Live,
        begin: Op,
        out: &mut Out,
    ) -> Result<SessionState, Ending> {
        let (desk, session) = (self.desk, live.session.clone());
        let mut events = desk.subscribe(live.since(desk.last_seq()?));
        desk.submit(begin).await.map_err(Ending::usage)?;
        let mut stopped = false;
        // Listens from the first look at the events on, and all the time: no press is lost while something is written.
        let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
        let is_attended = self.cards.is_some();
        let mut ended = std::pin::pin!(async {
            match is_attended {
                // The terminal is given back before the program goes.
                true => told_to_end().await,
                false => std::future::pending().await,
            }
        });
        loop {
            let came = tokio::select! {
                biased;
                _ = &mut interrupt => {
                    interrupt.set(tokio::signal::ctrl_c());
                    Came::Interrupt
                }
                () = &mut ended => return Ok(SessionState::Interrupted),
                batch = events.next() => Came::Events(batch?),
                input = next(&mut self.cards) => Came::Input(input),
            };
            let heard = match (came, &mut self.cards) {
                (Came::Interrupt, _) => Heard::Interrupt,
                (Came::Input(input), Some(cards)) => cards.hear(input, out).await?,
                (Came::Input(_), None) => Heard::Nothing,
                (Came::Events(None), _) => return Err(Ending::failed("The desk was closed.")),
                (Came::Events(Some(batch)), cards) => {
                    let mut end = None;
                    for event in batch.iter() {
                        end = live.see(out, event, self.silent)?.or(end);
                        if let Some(cards) = cards {
                            cards.see(event);
                        }
                    }
                    if let Some(cards) = cards {
                        cards.renew(out).await?;
                    }
                    if let Some(state) = end {
                        return Ok(state);
                    }
                    Heard::Nothing
                }
            };
            match heard {
                Heard::Nothing => {}
                Heard::Program => interrupt.set(tokio::signal::ctrl_c()),
                Heard::Interrupt if std::mem::replace(&mut stopped, true) => {
                    return Ok(SessionState::Interrupted);
                }
                Heard::Interrupt => {
                    // If it came to its end in this moment, there is nothing to stop.
                    let session = session.clone();
                    let _ = desk.submit(Op::Interrupt { session }).await;
                }
            }
        }
    }
}

/// What comes while a run is followed.
enum Came {
    Interrupt,
    Events(Option<Batch>),
    Input(Input),
}

/// What a person does at the terminal; nothing where nobody is asked.
async fn next(cards: &mut Option<Cards>) -> Input {
    match cards {
        Some(cards) => cards.next().await,
        None => std::future::pending().await,
    }
}

async fn summary(
    desk: &Desk,
    session: &SessionId,
    live: &Live,
    state: SessionState,
    out: &mut Out,
) -> Ended {
    let (code, word) = match (state, live.denied) {
        (SessionState::Done, 0) => (Code::Done, "Done".to_owned()),
        (SessionState::Done, denied) => (
            Code::Denied,
            format!("Done, {} denied", counted(denied, "call")),
        ),
        (SessionState::Interrupted, _) if live.limited => {
            (Code::Limited, "Stopped at a limit".to_owned())
        }
        (SessionState::Interrupted, _) => (Code::Interrupted, "Interrupted".to_owned()),
        (
            SessionState::Failed
            | SessionState::Idle
            | SessionState::Running
            | SessionState::Waiting,
            _,
        ) => (Code::Failed, "Failed".to_owned()),
    };
    if !out.is_json() && !out.is_quiet() {
        let view = sessions::find(desk, session.as_str()).await?;
        let (turns, usage) = (view.turns, view.usage);
        let mut line = format!(
            "{word} · {} · {} tokens in, {} out",
            counted(u64::from(turns), "turn"),
            usage.input_tokens,
            usage.output_tokens
        );
        if let Some(cost) = usage.cost_usd {
            line.push_str(&format!(" · {cost:.4} USD"));
        }
        let line = out.ink(Ink::Faint, &format!("{line} · {session}"));
        out.line(&line)?;
    }
    Ok(code)
}
