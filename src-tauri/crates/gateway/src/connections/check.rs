//! Proof that a connection works: the hook as it is configured is run with a made-up event about a harmless read.
//!
//! **Expected**: it ends with 0, and its standard output is what the agent takes for an answer to the event. What the
//! answer decides does not matter: nothing is read.

use std::path::Path;

use protocol::UserError;
use runtime::{CommandExit, CompanionCommand, ConfigFile, InheritedEnv, start_companion};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::agents::{ConfigFormat, ConnectableAgent};
use super::change::{describe_edit_error, describe_file_error};
use super::config_text::parse_config;
use super::hook_command::format_hook_command;
use super::hook_entries::find_own_command;
use super::plugin;
use super::survey::ConnectionPlace;
use crate::limits::{HOOK_ANSWER_BYTES_MAX, HOOK_CHECK_TIMEOUT};

/// An answer of a hook that the agent would understand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedAnswer {
    /// The command that was run.
    pub command: String,
    /// What it wrote on standard output; empty where it left the call to the agent.
    pub output: String,
}

/// How a hook ended, and what it wrote.
struct HookRun {
    exit: Option<CommandExit>,
    output: String,
    errors: String,
}

/// Runs the configured hook of an agent in `folder`, with a made-up event.
///
/// # Errors
/// The agent is not connected, or its hook gives no answer that the agent understands.
pub async fn check_connection(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
    folder: &Path,
) -> Result<CheckedAnswer, UserError> {
    let command = find_configured_command(agent, place)?;
    let event = format_event(agent, folder);
    let failed = |why: &str| {
        let message = format!("The hook of {} does not work: {why}", agent.title);
        UserError::new(message, format!("Its command is: {command}"))
    };
    let run = tokio::time::timeout(HOOK_CHECK_TIMEOUT, run_hook(&command, &event, folder)).await;
    let run = run.map_err(|_| failed("it gave no answer in time."))??;
    let output = run.output.trim();
    if run.exit != Some(CommandExit::Code(0)) {
        return Err(failed(&format!("it failed. {}", run.errors.trim())));
    }
    if !is_understood(agent, output) {
        let why = format!("{} does not understand its answer: {output}", agent.title);
        return Err(failed(&why));
    }
    Ok(CheckedAnswer {
        output: output.to_owned(),
        command,
    })
}

/// Returns the command for the event of the check, as the agent's configuration has it.
fn find_configured_command(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
) -> Result<String, UserError> {
    let path = place.config_file(agent);
    let file = ConfigFile::read(&path).map_err(|error| describe_file_error(agent, &error))?;
    let text = file.text().unwrap_or_default();
    let found = match agent.format {
        ConfigFormat::Plugin => plugin::parse_target(text, agent)
            .and_then(|target| format_hook_command("HOOK", &target, &agent.id)),
        ConfigFormat::Json | ConfigFormat::Toml => {
            let config = parse_config(agent, text);
            let config = config.map_err(|error| describe_edit_error(agent, &path, &error))?;
            find_own_command(&config, agent, agent.check.event_name())
        }
    };
    found.ok_or_else(|| {
        UserError::new(
            format!("{} is not connected.", agent.title),
            format!("Connect it first: countersign connect {}", agent.id),
        )
    })
}

/// The session of the made-up event: it is answered by the engine, and none is opened for it.
pub(crate) const CHECK_SESSION: &str = "countersign-check";

/// Formats the made-up event, about a file in `folder` that need not be there.
fn format_event(agent: &ConnectableAgent, folder: &Path) -> String {
    let folder = folder.display().to_string();
    let common = json!({
        "session_id": CHECK_SESSION,
        "tool_use_id": CHECK_SESSION,
        "cwd": folder,
    });
    let mut event = Value::Object(agent.check.event.clone());
    fill_folder(&mut event, &folder);
    if let (Value::Object(event), Value::Object(common)) = (&mut event, common) {
        event.extend(common);
    }
    event.to_string()
}

/// Puts a folder in the place of FOLDER.
fn fill_folder(value: &mut Value, folder: &str) {
    match value {
        Value::String(text) => *text = text.replace("FOLDER", folder),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_folder(item, folder)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| fill_folder(member, folder)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Runs a command as agents do: by the shell, with the event on standard input.
async fn run_hook(command: &str, event: &str, folder: &Path) -> Result<HookRun, UserError> {
    let mut hook = start_companion(&CompanionCommand {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), command.to_owned()],
        folder: folder.to_owned(),
        inherited: InheritedEnv::default(),
        env: Vec::new(),
    })?;
    // A hook that does not read all of it is told of by its answer.
    let _ = hook.input.write_all(event.as_bytes()).await;
    drop(hook.input);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut answer = hook.output.take(HOOK_ANSWER_BYTES_MAX);
    let mut told = hook.errors.take(HOOK_ANSWER_BYTES_MAX);
    let read = tokio::try_join!(
        answer.read_to_end(&mut output),
        told.read_to_end(&mut errors)
    );
    read.map_err(|error| UserError::new("The hook cannot be read from.", "").with_source(&error))?;
    let mut ended = hook.lifetime.subscribe();
    let exit = ended
        .wait_for(Option::is_some)
        .await
        .ok()
        .and_then(|exit| *exit);
    Ok(HookRun {
        exit,
        output: String::from_utf8_lossy(&output).into_owned(),
        errors: String::from_utf8_lossy(&errors).into_owned(),
    })
}

/// Whether an agent takes an output for an answer to the event of the check.
fn is_understood(agent: &ConnectableAgent, output: &str) -> bool {
    let check = &agent.check;
    if output.is_empty() {
        return check.may_be_empty;
    }
    let Ok(Value::Object(answer)) = serde_json::from_str(output) else {
        return false;
    };
    match Value::Object(answer).pointer(&check.decision) {
        Some(decision) => check
            .decisions
            .iter()
            .any(|known| decision == known.as_str()),
        None => check.may_be_empty,
    }
}
