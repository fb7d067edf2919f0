//! `call`: one call through the whole pipeline, with its trail.

use std::path::PathBuf;
use std::sync::Arc;

use agent::Host;
use protocol::{CallState, EntryBody, Fault, ModelChoice};
use provider::{Script, ScriptCall, ScriptTurn, Scripted};
use serde_json::{Map, Value, json};

use super::run::{SCRIPT, follow, open_session};
use crate::args::Call;
use crate::ending::{Code, Ended, Ending};
use crate::live::Live;
use crate::out::Out;
use crate::story;

/// Makes the call in a session of its own, so that it is recorded, can be found and can be taken back.
pub(crate) async fn run(data_dir: Option<PathBuf>, call: Call, out: &mut Out) -> Ended {
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).map_err(|error| {
        Ending::usage(Fault::new(
            format!("The arguments are not a JSON object: {error}."),
            r#"Write them like '{"path":"src/main.rs"}'."#,
        ))
    })?;
    let turn = ScriptTurn {
        calls: vec![ScriptCall {
            name: call.tool.clone(),
            arguments: Value::Object(arguments).to_string(),
        }],
        ..ScriptTurn::default()
    };
    let config = super::config(data_dir, Host::Headless { approve_all: false })?;
    let mut config = super::consent(config, call.consent)?;
    config.provider = Some(Arc::new(Scripted::with_id(
        SCRIPT,
        Script { turns: vec![turn] },
    )));
    let has_rules = config.rules.is_some();
    let desk = super::open(config).await?;
    let model = ModelChoice {
        provider: SCRIPT.to_owned(),
        model: String::new(),
    };
    let title = format!("Call {}", call.tool);
    let session = open_session(&desk, &call.workspace, model, &title, None, None).await?;
    super::check_rules(&desk, has_rules, out).await?;
    let mut live = Live::new(session.clone());
    let prompt = format!("Call {} once.", call.tool);
    follow(&desk, &mut live, prompt, out, true).await?;
    let Some(EntryBody::Call(view)) = live.last_call.map(|entry| entry.body) else {
        return Err(Ending::failed("The call was not made."));
    };
    if out.is_json() {
        out.json(&json!({ "session": session, "call": view }))?;
    } else {
        let text = story::call_in_full(out, &view);
        out.text(&text)?;
    }
    Ok(match view.state {
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
    })
}
