//! Our own agent as an editor's, by the Agent Client Protocol: one connection over a pair of streams.
//!
//! A prompt begins a run, and what happens in it is told as updates. A call that waits becomes the editor's question for
//! permission, and its answer a decision for exactly what was shown. The agent reads and writes files by itself and not
//! through the editor, so that undo, locks, and rules hold.

mod asking;
mod errors;
mod follower;
mod forms;
mod lines;
mod modes;
mod permission;
mod previews;
mod prompt;
mod prompt_turn;
mod recorded_sessions;
mod server;
mod tool_calls;
mod updates;

use std::path::PathBuf;
use std::sync::Arc;

use agent::Engine;
use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, CloseSessionResponse, InitializeRequest,
    ListSessionsRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest, PromptRequest,
    ResumeSessionRequest, ResumeSessionResponse, SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::{Agent, on_receive_notification, on_receive_request};
use protocol::settings::Posture;
use protocol::{ModelChoice, UserError};
use tokio::io::{AsyncRead, AsyncWrite};

use self::follower::Follower;
use self::server::AgentServer;

/// Where calls that wait are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// In the editor, which is asked.
    #[default]
    Editor,
    /// On the cards of this engine's own host; the editor only sees that they wait.
    Desk,
}

/// What whoever starts the agent chooses for all of its sessions.
#[derive(Debug, Clone, Default)]
pub struct AgentOptions {
    /// Model of new sessions; none for that of the settings.
    pub model: Option<ModelChoice>,
    /// Posture of each session until the editor sets another mode; none for that of the settings.
    pub posture: Option<Posture>,
    /// Where calls that wait are answered.
    pub answers: Answers,
    /// Folder of new sessions; none for the one that the client names.
    pub workspace: Option<PathBuf>,
}

/// Serves our agent to the editor on the other end. Serving ends when the editor closes its side, or when `stop` is
/// done; either way the runs end, with the questions that are open.
///
/// # Errors
/// The connection breaks, or the record cannot be read.
pub async fn serve<R, W>(
    desk: &Engine,
    options: AgentOptions,
    from: R,
    to: W,
    stop: impl Future<Output = ()>,
) -> Result<(), UserError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let events = desk.subscribe(desk.last_seq()?);
    let server = Arc::new(AgentServer::new(desk.clone(), options));
    let mut follower = Follower::new(server.clone(), events);
    let served = Agent
        .v1()
        .name("countersign")
        .on_receive_request(
            async |request: InitializeRequest, responder, _| {
                responder.respond(server.initialize(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: NewSessionRequest, responder, client| {
                let opened = server.open_session(&request).await;
                let id = opened.as_ref().ok().map(|opened| opened.session_id.clone());
                responder.respond_with_result(opened)?;
                match id {
                    Some(id) => {
                        server.tell_ignored_servers(&client, &id, request.mcp_servers.len())
                    }
                    None => Ok(()),
                }
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: LoadSessionRequest, responder, client| {
                let LoadSessionRequest {
                    session_id: id,
                    mcp_servers,
                    ..
                } = request;
                let loaded = async {
                    server.repeat_history(&id, &client).await?;
                    let modes = server.attach_session(&id).await?;
                    Ok(LoadSessionResponse::new().modes(modes))
                };
                responder.respond_with_result(loaded.await)?;
                server.tell_ignored_servers(&client, &id, mcp_servers.len())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: ResumeSessionRequest, responder, client| {
                let ResumeSessionRequest {
                    session_id: id,
                    mcp_servers,
                    ..
                } = request;
                let attached = server.attach_session(&id).await;
                let resumed = attached.map(|modes| ResumeSessionResponse::new().modes(modes));
                responder.respond_with_result(resumed)?;
                server.tell_ignored_servers(&client, &id, mcp_servers.len())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: ListSessionsRequest, responder, _| {
                responder.respond_with_result(server.list_sessions(&request).await)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: CloseSessionRequest, responder, _| {
                let closed = server.close_session(&request.session_id).await;
                responder.respond_with_result(closed.map(|()| CloseSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: SetSessionModeRequest, responder, _| {
                let set = server.set_mode(&request).await;
                responder.respond_with_result(set.map(|()| SetSessionModeResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: PromptRequest, responder, _| server.prompt(request, responder).await,
            on_receive_request!(),
        )
        .on_receive_notification(
            async |request: CancelNotification, _| {
                server.cancel(&request.session_id).await;
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(lines::transport(from, to), async |client| {
            tokio::select! {
                biased;
                () = client.incoming_closed() => Ok(()),
                () = stop => Ok(()),
                followed = follower.run(&client) => followed,
            }
        })
        .await;
    follower.stop_runs().await?;
    served.map_err(|error| {
        UserError::new(
            "The connection with the editor broke off.",
            "Connect again.",
        )
        .with_source(&error)
    })
}
