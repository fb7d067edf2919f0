//! `call`: one call through the whole pipeline, with its trail.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{BY_HAND, DeskConfig, Host};
use protocol::{CallState, CallView, EntryBody, Fault, ModelChoice, Op, SessionId};
use provider::{Script, ScriptCall, ScriptTurn, Scripted};
use serde_json::{Map, Value, json};

use super::prompt::standard_input;
use super::run::{Following, Wants, open_session};
use crate::args::Call;
use crate::ending::{Code, Ended, Ending};
use crate::live::Live;
use crate::out::Out;
use crate::story;

/// Makes the call in a session of its own, so that it is recorded, can be found and can be taken back.
pub(crate) async fn run(data_dir: Option<PathBuf>, call: Call, out: &mut Out) -> Ended {
    let written = match call.arguments.as_str() {
        "-" => standard_input("arguments")?,
        written => written.to_owned(),
    };
    let arguments: Map<String, Value> = serde_json::from_str(&written).map_err(|error| {
        Ending::usage(Fault::new(
            format!("The arguments are not a JSON object: {error}."),
            r#"Write them like '{"path":"src/main.rs"}'."#,
        ))
    })?;
    let made = ScriptCall {
        name: call.tool.clone(),
        arguments: Value::Object(arguments).to_string(),
    };
    let config = super::config(data_dir, Host::Headless { approve_all: false })?;
    let config = super::consent(config, call.consent)?;
    let (session, view) = make(config, &call.workspace, made, out).await?;
    if out.is_json() {
        out.json(&json!({ "session": session, "call": view }))?;
    } else {
        let text = story::call_in_full(out, &view);
        out.text(&text)?;
    }
    Ok(code(view.state))
}

/// Makes one call in a session of its own.
pub(crate) async fn make(
    mut config: DeskConfig,
    workspace: &Path,
    call: ScriptCall,
    out: &mut Out,
) -> Result<(SessionId, Box<CallView>), Ending> {
    let (title, prompt) = (
        format!("Call {}", call.name),
        format!("Call {} once.", call.name),
    );
    let turn = ScriptTurn {
        calls: vec![call],
        ..ScriptTurn::default()
    };
    config.provider = Some(Arc::new(Scripted::with_id(
        BY_HAND,
        Script { turns: vec![turn] },
    )));
    let has_rules = config.rules.is_some();
    let desk = super::open(config).await?;
    let model = ModelChoice {
        provider: BY_HAND.to_owned(),
        model: String::new(),
    };
    let session = open_session(&desk, workspace, model, &title, Wants::default()).await?;
    super::check_rules(&desk, has_rules, out).await?;
    let mut live = Live::new(session.clone());
    let begin = Op::say(session.clone(), prompt);
    Following {
        desk: &desk,
        silent: true,
        cards: None,
    }
    .follow(&mut live, begin, out)
    .await?;
    match live.last_call.map(|entry| entry.body) {
        Some(EntryBody::Call(view)) => Ok((session, view)),
        _ => Err(Ending::failed("The call was not made.")),
    }
}

/// What the program ends with.
pub(crate) fn code(state: CallState) -> Code {
    match state {
        CallState::Done => Code::Done,
        CallState::Denied => Code::Denied,
        CallState::Interrupted => Code::Interrupted,
        CallState::Proposed
        | CallState::Waiting
        | CallState::Running
        | CallState::Failed
        | CallState::Rejected
        | CallState::Expired
        | CallState::Skipped
        | CallState::Undone => Code::Failed,
    }
}
