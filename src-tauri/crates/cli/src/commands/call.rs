//! `call`: one call through the whole pipeline, with its trail.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{BY_HAND_CLIENT, EngineConfig, Host};
use protocol::{CallState, CallView, EntryBody, ModelChoice, Op, SessionId};
use provider::{Script, ScriptCall, ScriptTurn, ScriptedProvider};
use serde_json::{Map, Value, json};

use super::prompt::read_stdin;
use super::run::{NewSessionOptions, RunFollower, open_session};
use crate::args::CallArgs;
use crate::event_printer::EventPrinter;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::OutputWriter;
use crate::transcript;

/// Makes the call in a session of its own, so that it is recorded, can be found and can be undone.
pub(crate) async fn run_call(
    data_dir: Option<PathBuf>,
    call: CallArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let written = match call.arguments.as_str() {
        "-" => read_stdin("arguments")?,
        written => written.to_owned(),
    };
    let script_call = ScriptCall {
        name: call.tool,
        arguments: Value::Object(parse_arguments(&written)?).to_string(),
    };
    let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    let config = super::apply_approval_args(config, call.consent)?;
    let (session, view) = make_call(config, &call.workspace, script_call, out).await?;
    write_call(&session, &view, out)
}

/// Parses the arguments of a call.
pub(super) fn parse_arguments(text: &str) -> Result<Map<String, Value>, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::usage(
            format!("The arguments are not a JSON object: {error}."),
            r#"Write them like '{"path":"src/main.rs"}'."#,
        )
    })
}

/// Writes a call with its trail; returns the exit reason for its final state.
pub(super) fn write_call(
    session: &SessionId,
    view: &CallView,
    out: &mut OutputWriter,
) -> CliResult {
    out.write_answer(&json!({ "session": session, "call": view }), |out| {
        let text = transcript::format_full_call(out, view);
        out.write_text(&text)
    })?;
    Ok(exit_reason_for(view.state))
}

/// Makes one call in a session of its own.
pub(crate) async fn make_call(
    mut config: EngineConfig,
    workspace: &Path,
    call: ScriptCall,
    out: &mut OutputWriter,
) -> Result<(SessionId, Box<CallView>), CliError> {
    let title = format!("Call {}", call.name);
    let prompt = format!("{title} once.");
    let turn = ScriptTurn {
        calls: vec![call],
        ..ScriptTurn::default()
    };
    config.provider = Some(Arc::new(ScriptedProvider::with_id(
        BY_HAND_CLIENT,
        Script { turns: vec![turn] },
    )));
    let has_rules = config.rules.is_some();
    let desk = super::open_engine(config).await?;
    let model = ModelChoice {
        provider: BY_HAND_CLIENT.to_owned(),
        model: String::new(),
    };
    let session = open_session(
        &desk,
        workspace,
        model,
        &title,
        NewSessionOptions::default(),
    )
    .await?;
    super::report_rule_faults(&desk, has_rules, out).await?;
    let mut live = EventPrinter::new(session.clone());
    let begin = Op::say(session.clone(), prompt);
    RunFollower {
        desk: &desk,
        silent: true,
        cards: None,
    }
    .follow(&mut live, begin, out)
    .await?;
    match live.last_call.map(|entry| entry.body) {
        Some(EntryBody::Call(view)) => Ok((session, view)),
        _ => Err(CliError::failure("The call was not made.")),
    }
}

/// Returns the exit reason of the program for the final state of a call.
pub(crate) fn exit_reason_for(state: CallState) -> ExitReason {
    match state {
        CallState::Done => ExitReason::Done,
        CallState::Denied => ExitReason::Denied,
        CallState::Interrupted => ExitReason::Interrupted,
        CallState::Proposed
        | CallState::Waiting
        | CallState::Running
        | CallState::Failed
        | CallState::Rejected
        | CallState::Expired
        | CallState::Skipped
        | CallState::Undone => ExitReason::Failed,
    }
}
