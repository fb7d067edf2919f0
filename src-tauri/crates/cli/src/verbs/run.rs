//! `run`: an agent works on something, and nobody is there to be asked.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::config::RunLimitsGiven;
use agent::{Desk, Host};
use protocol::mappers::Vocabulary;
use protocol::{Fault, ModelChoice, Op, SessionId, SessionState};
use provider::{Script, Scripted};
use serde_json::Value;

use crate::args::Run;
use crate::ending::{Code, Ended, Ending};
use crate::limits::{SCRIPT_BYTES_MAX, TITLE_CHARS_MAX};
use crate::live::Live;
use crate::out::{Ink, Out};
use crate::story::count;

/// The provider that a script of the caller's plays.
pub(crate) const SCRIPT: &str = "script";

/// Opens a session, says the prompt, and follows the run to its end.
pub(crate) async fn run(data_dir: Option<PathBuf>, run: Run, out: &mut Out) -> Ended {
    let config = super::config(data_dir, Host::Headless { approve_all: false })?;
    let mut config = super::consent(config, run.consent)?;
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
    let (has_script, has_rules) = (run.script.is_some(), config.rules.is_some());
    let desk = super::open(config).await?;
    let model = model(&desk, has_script, run.provider, run.model).await?;
    let before = desk.last_seq()?;
    let title = run.prompt.trim().lines().next().unwrap_or_default();
    let schema = run
        .output_schema
        .as_deref()
        .map(output_schema)
        .transpose()?;
    if schema.is_some() {
        out.tell_aside();
    }
    let agent = run.agent.as_deref();
    let session = open_session(&desk, &run.workspace, model, title, schema, agent).await?;
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
    let state = follow(&desk, &mut live, run.prompt, out, false).await?;
    let code = summary(&desk, &session, &live, state, out).await?;
    if let Some(output) = &live.output {
        out.result(output)?;
    }
    Ok(code)
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

/// Reads the output schema; whether it is one, the desk says.
fn output_schema(file: &Path) -> Result<Value, Ending> {
    serde_json::from_str(&text("output schema", file)?).map_err(|error| {
        let message = format!("The output schema {} is not JSON: {error}.", file.display());
        Ending::usage(Fault::new(message, "Correct the file."))
    })
}

/// Opens a session with a title, without saying anything yet.
pub(crate) async fn open_session(
    desk: &Desk,
    workspace: &Path,
    model: ModelChoice,
    title: &str,
    output_schema: Option<Value>,
    agent: Option<&Path>,
) -> Result<SessionId, Ending> {
    let whole = |path: &Path| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        whole.display().to_string()
    };
    let op = Op::OpenSession {
        workspace: whole(workspace),
        model,
        prompt: None,
        output_schema,
        agent: agent.map(whole),
        planning: false,
    };
    let receipt = desk.submit(op).await.map_err(Ending::usage)?;
    let session = receipt
        .session
        .ok_or_else(|| Ending::failed("The session was not opened."))?;
    let title: String = title.chars().take(TITLE_CHARS_MAX).collect();
    if !title.trim().is_empty() {
        let session = session.clone();
        desk.submit(Op::RenameSession { session, title }).await?;
    }
    Ok(session)
}

/// Says something and follows the run to its end. The keyboard's interrupt stops it once, and ends the program at the
/// second time.
pub(crate) async fn follow(
    desk: &Desk,
    live: &mut Live,
    prompt: String,
    out: &mut Out,
    silent: bool,
) -> Result<SessionState, Ending> {
    let session = live.session.clone();
    let mut events = desk.subscribe(live.since(desk.last_seq()?));
    let op = Op::Say {
        session: session.clone(),
        text: prompt,
    };
    desk.submit(op).await.map_err(Ending::usage)?;
    let mut stopped = false;
    // Listens from the first look at the events on, and all the time: no press is lost while something is written.
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let batch = tokio::select! {
            biased;
            _ = &mut interrupt => {
                if std::mem::replace(&mut stopped, true) {
                    return Ok(SessionState::Interrupted);
                }
                interrupt.set(tokio::signal::ctrl_c());
                // If it came to its end in this moment, there is nothing to stop.
                let _ = desk.submit(Op::Interrupt { session: session.clone() }).await;
                continue;
            }
            batch = events.next() => batch?,
        };
        let Some(batch) = batch else {
            return Err(Ending::failed("The desk was closed."));
        };
        let mut end = None;
        for event in batch.iter() {
            end = live.see(out, event, silent)?.or(end);
        }
        if let Some(state) = end {
            return Ok(state);
        }
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
            format!("Done, {} denied", count(denied, "call")),
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
    if !out.is_json() {
        let view = super::find_session(desk, session.as_str()).await?;
        let (turns, usage) = (view.turns, view.usage);
        let mut line = format!(
            "{word} · {} · {} tokens in, {} out",
            count(u64::from(turns), "turn"),
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
