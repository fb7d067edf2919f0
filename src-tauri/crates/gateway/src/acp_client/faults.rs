//! What is told of an agent that does not start or go on.

use agent_client_protocol::v1::schema::InitializeResponse;
use agent_client_protocol::{Error, is_connection_terminated, is_incoming_transport_closed};
use protocol::UserError;

use super::agent_command::AgentCommand;
use crate::limits::AGENT_START_MAX;

/// Reason why an agent does nothing any more.
pub(super) const ENDED_REASON: &str = "it ended";

/// Says that an agent did not answer in time.
pub(super) fn late_reason() -> String {
    format!("it did not answer within {} s", AGENT_START_MAX.as_secs())
}

/// Returns an agent's error in words, as half a sentence.
pub(super) fn describe_error(error: &Error) -> String {
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

/// Returns the error of an agent that could not be started.
pub(super) fn start_error(command: &AgentCommand, why: &str) -> UserError {
    UserError::new(
        format!("{} could not be started: {why}.", command.title),
        "Start it by itself in a terminal to see what it needs.",
    )
}

/// Returns the error of an agent whose person has to sign in first.
pub(super) fn sign_in_error(command: &AgentCommand, hello: &InitializeResponse) -> UserError {
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
