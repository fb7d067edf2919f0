//! The sessions that an agent has had before, as it lists them itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{ListSessionsRequest, SessionInfo};
use agent_client_protocol::{Agent, Client, Error};
use protocol::UserError;
use runtime::Companion;

use super::agent_command::AgentCommand;
use super::agent_process::message_lines;
use super::connection::initialize_request;
use super::error_output::ErrorOutput;
use super::faults::{describe_error, late_reason, start_error};
use crate::limits::{AGENT_SESSIONS_LISTED_MAX, AGENT_START_MAX};

/// A session of an agent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AgentSession {
    /// The agent's own id of the session.
    pub id: String,
    /// Folder that the agent works in there.
    pub folder: PathBuf,
    /// Title, as the agent gives it; empty if it gives none.
    pub title: String,
    /// Time of its last change, as the agent writes it; empty if it tells none.
    pub changed: String,
}

/// Starts an agent, and returns the sessions that it has had in a folder, or in all of them, in its own order. `passed` are
/// the names of further variables that it gets.
///
/// # Errors
/// The agent does not start, or does not list its sessions.
pub async fn list_agent_sessions(
    agent: &str,
    folder: Option<&Path>,
    passed: &[String],
) -> Result<Vec<AgentSession>, UserError> {
    let command = AgentCommand::resolve(agent, &BTreeMap::new())?;
    let place = folder.unwrap_or_else(|| Path::new("."));
    let Companion {
        input,
        output,
        errors,
        lifetime,
    } = runtime::start_companion(&command.to_companion(place, passed, Vec::new()))
        .map_err(|error| start_error(&command, &error.to_string()))?;
    let errors = ErrorOutput::follow(errors);
    let listing = Client.v1().name("countersign").connect_with(
        message_lines(input, output),
        async |connection: ConnectionTo<Agent>| request_sessions(&connection, folder).await,
    );
    let listed = match tokio::time::timeout(AGENT_START_MAX, listing).await {
        Ok(listed) => listed.map_err(|error| describe_error(&error)),
        Err(_) => Err(late_reason()),
    };
    let listed = match listed {
        Ok(listed) => listed,
        Err(why) => return Err(start_error(&command, &errors.explain(why).await)),
    };
    lifetime.end().await;
    let listed = listed.ok_or_else(|| {
        UserError::new(
            format!("{} does not list its sessions.", command.title),
            "Look for them in the agent itself.",
        )
    })?;
    Ok(listed.into_iter().map(AgentSession::from).collect())
}

/// Requests the list, page by page; none if the agent has no list.
async fn request_sessions(
    connection: &ConnectionTo<Agent>,
    folder: Option<&Path>,
) -> Result<Option<Vec<SessionInfo>>, Error> {
    let hello = connection.send_request(initialize_request(false));
    let hello = hello.block_task().await?;
    let capabilities = hello.agent_capabilities.session_capabilities;
    if hello.protocol_version != ProtocolVersion::V1 || capabilities.list.is_none() {
        return Ok(None);
    }
    let mut sessions = Vec::new();
    let mut cursor = None;
    loop {
        let request = ListSessionsRequest::new()
            .cwd(folder.map(Path::to_owned))
            .cursor(cursor);
        let page = connection.send_request(request).block_task().await?;
        sessions.extend(page.sessions);
        cursor = page.next_cursor;
        if cursor.is_none() || sessions.len() >= AGENT_SESSIONS_LISTED_MAX {
            sessions.truncate(AGENT_SESSIONS_LISTED_MAX);
            return Ok(Some(sessions));
        }
    }
}

impl From<SessionInfo> for AgentSession {
    fn from(session: SessionInfo) -> Self {
        Self {
            id: session.session_id.0.to_string(),
            folder: session.cwd,
            title: session.title.unwrap_or_default(),
            changed: session.updated_at.unwrap_or_default(),
        }
    }
}
