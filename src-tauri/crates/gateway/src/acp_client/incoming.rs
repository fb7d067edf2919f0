//! What an agent sends: each message goes to the turn that is running.

use std::sync::Arc;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, CreateElicitationResponse, CreateTerminalRequest,
    CreateTerminalResponse, ElicitationAction, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification,
    TerminalOutputRequest, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest,
};
use agent_client_protocol::{Agent, Client, on_receive_notification, on_receive_request};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::agent_options::AgentOptions;
use super::current_turn::CurrentTurn;
use super::elicitation::ask_person;
use super::files;

/// Starts to exchange messages with the agent. The connection comes through the channel; it ends with the agent.
pub(super) fn connect(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    current: CurrentTurn,
    options: Arc<AgentOptions>,
    gone: CancellationToken,
) -> oneshot::Receiver<ConnectionTo<Agent>> {
    let (sender, receiver) = oneshot::channel();
    let turns = |current: &CurrentTurn| current.clone();
    let (told, asked, elicited, read, written) = (
        turns(&current),
        turns(&current),
        turns(&current),
        turns(&current),
        turns(&current),
    );
    let (made, shown, awaited) = (turns(&current), turns(&current), turns(&current));
    let (killed, released) = (turns(&current), current);
    let ended = gone.clone();
    let served = Client
        .v1()
        .name("countersign")
        .on_receive_notification(
            async move |told_update: SessionNotification, _connection| {
                options.handle_update(&told_update.update);
                if let Some(handler) = told.get() {
                    handler.handle_update(told_update.update);
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection| {
                let Some(handler) = asked.get() else {
                    let outcome = RequestPermissionOutcome::Cancelled;
                    return responder.respond(RequestPermissionResponse::new(outcome));
                };
                connection.spawn(async move {
                    let outcome = handler.answer_permission(&request).await;
                    responder.respond(RequestPermissionResponse::new(outcome))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateElicitationRequest, responder, connection| {
                let Some(handler) = elicited.get() else {
                    let cancelled = ElicitationAction::Cancel;
                    return responder.respond(CreateElicitationResponse::new(cancelled));
                };
                connection.spawn(async move {
                    responder.respond_with_result(ask_person(&handler, &request).await)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, connection| {
                let handler = read.tools();
                connection.spawn(async move {
                    responder.respond_with_result(match handler {
                        Ok(handler) => {
                            files::read_file(&handler.turn, &request, &handler.over).await
                        }
                        Err(error) => Err(error),
                    })
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, connection| {
                let handler = written.tools();
                connection.spawn(async move {
                    responder.respond_with_result(match handler {
                        Ok(handler) => {
                            files::write_file(&handler.turn, &request, &handler.over).await
                        }
                        Err(error) => Err(error),
                    })
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder, _connection| {
                let created = made.tools().and_then(|handler| {
                    handler
                        .terminals
                        .create(&handler.turn, &request, &handler.over)
                });
                responder.respond_with_result(created.map(CreateTerminalResponse::new))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _connection| {
                let handler = shown.tools();
                responder.respond_with_result(
                    handler.and_then(|handler| handler.terminals.output(&request.terminal_id)),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, connection| {
                let handler = awaited.tools();
                connection.spawn(async move {
                    let exit = match handler {
                        Ok(handler) => handler.terminals.wait(&request.terminal_id).await,
                        Err(error) => Err(error),
                    };
                    responder.respond_with_result(exit.map(WaitForTerminalExitResponse::new))
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder, _connection| {
                let handler = killed.tools();
                let done = handler.and_then(|handler| handler.terminals.kill(&request.terminal_id));
                responder.respond_with_result(done.map(|()| KillTerminalResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, _connection| {
                let handler = released.tools();
                let done =
                    handler.and_then(|handler| handler.terminals.release(&request.terminal_id));
                responder.respond_with_result(done.map(|()| ReleaseTerminalResponse::new()))
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
            // Nobody waits any more if the agent took too long.
            let _ = sender.send(connection);
            ended.cancelled().await;
            Ok(())
        });
    tokio::spawn(async move {
        if let Err(error) = served.await {
            tracing::info!(%error, "the connection to an agent ended");
        }
        gone.cancel();
    });
    receiver
}
