//! One live connection to a server. Each request over it has its own timeout and its own cancellation.

mod call;
mod call_progress;
pub(crate) mod failure_reasons;
mod legacy_task;
mod lists;
mod log_level;
mod message_reader;
mod resource_subscription;
mod server_http_client;
mod task;
mod task_members;
mod transport;

use std::sync::Arc;

use protocol::SessionId;
use protocol::server::mcp_servers::ServerIdentity;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ProtocolVersion, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, RoleClient, ServiceError, serve_client_with_lifecycle_and_ct,
};
use runtime::{Companion, ProcessLifetime};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::elicitation::ElicitationChannel;
use tools::tool::ProgressFn;
use tools::{ExecutionContext, ToolContext};

use crate::connection::call_progress::CallProgress;
use crate::connection::failure_reasons::{
    AUTHENTICATION_FAILED, connect_error, describe_exit, find_challenge, is_connection_lost,
};
use crate::connection::message_reader::MessageReader;
use crate::limits::{CANCEL_NOTICE_TIMEOUT, MESSAGE_BYTES_MAX, REASON_CHARS_MAX, RELIST_EVERY};
use crate::line_limit::{CloseReason, LineLimitReader, collect_stderr};
use crate::message_handler::ServerMessageHandler;
use crate::oauth::AuthChallenge;
use crate::root_cause::root_cause;
use crate::running_calls::RunningCall;
pub(crate) use call::{CallForm, ToolRequest};
pub use lists::{ServerList, ServerOffers};
pub(crate) use resource_subscription::ResourceSubscription;
pub(crate) use server_http_client::ServerHttpClient;
pub(crate) use transport::{ConnectionTransport, HttpEndpoint};

/// Error code of the protocol for a request that needs the person to visit a URL first.
const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);

/// Reason why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectError {
    /// The reason, as a clause.
    pub why: String,
    /// Whether the server failed to understand the protocol of 2026 without saying so; it may understand that of 2025.
    pub may_be_legacy: bool,
    /// The authentication challenge, if the server requires one.
    pub challenge: Option<AuthChallenge>,
}

impl From<String> for ConnectError {
    fn from(why: String) -> Self {
        Self {
            why,
            may_be_legacy: false,
            challenge: None,
        }
    }
}

/// Reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    Cancelled,
    TimedOut,
    /// The connection is over; the reason, as a clause.
    Disconnected(String),
    /// The server refused the request; its words.
    Rejected(String),
    /// The answer cannot be parsed; a clause.
    Malformed(String),
    /// The server answers only once the person has visited URLs: these elicitation requests.
    UrlElicitationRequired(Vec<Value>),
}

/// Receivers of the progress of a call and of the server's requests while the call runs.
#[derive(Clone, Default)]
pub(crate) struct CallListeners {
    pub on_progress: Option<ProgressFn>,
    pub elicitation: Option<Arc<dyn ElicitationChannel>>,
    /// The session of the call, to which the server's log messages belong.
    pub session: Option<SessionId>,
}

impl CallListeners {
    /// Returns the receivers of a call of a session.
    pub(crate) fn for_execution(context: &ToolContext, execution: &ExecutionContext) -> Self {
        Self {
            on_progress: execution.on_progress.clone(),
            elicitation: execution.elicitation.clone(),
            session: Some(context.session.clone()),
        }
    }
}

/// The call that a request belongs to.
#[derive(Clone, Copy)]
struct CallScope<'a> {
    call: &'a RunningCall,
    /// The call's progress, which the server tells by the token of this request; none for a look at a task.
    progress: Option<&'a CallProgress>,
}

/// A connection to a server.
pub(crate) struct ServerConnection {
    peer: Peer<RoleClient>,
    handler: ServerMessageHandler,
    pub server_info: ServerIdentity,
    /// Cancelled when the connection is over.
    pub disconnected: CancellationToken,
    close_reason: CloseReason,
    life: Option<ProcessLifetime>,
    stop: CancellationToken,
    _leash: DropGuard,
}

impl ServerConnection {
    /// Connects with the protocol of 2026 if the server knows it, otherwise with that of 2025.
    ///
    /// # Errors
    /// The reason why it could not connect.
    pub(crate) async fn open(
        transport: ConnectionTransport,
        handler: ServerMessageHandler,
        is_legacy: bool,
    ) -> Result<Self, ConnectError> {
        let (stop, why) = (CancellationToken::new(), CloseReason::default());
        let (leash, leash_of) = (stop.clone().drop_guard(), stop.clone());
        let mode = match is_legacy {
            true => ClientLifecycleMode::Initialize,
            false => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        let client_handler = handler.clone();
        let (result, life) = match transport {
            ConnectionTransport::Stdio(companion) => {
                let Companion {
                    input,
                    output,
                    errors: stderr,
                    lifetime,
                } = companion;
                let (log, drained) = (handler.log.clone(), why.stderr_drained.clone());
                tokio::spawn(async move {
                    collect_stderr(stderr, log).await;
                    drained.cancel();
                });
                let lines = LineLimitReader::new(output, MESSAGE_BYTES_MAX, why.clone());
                let streams = (MessageReader::new(lines), input);
                let service =
                    serve_client_with_lifecycle_and_ct(client_handler, streams, mode, stop);
                (service.await, Some(lifetime))
            }
            ConnectionTransport::Http(transport) => {
                let service =
                    serve_client_with_lifecycle_and_ct(client_handler, *transport, mode, stop);
                (service.await, None)
            }
            ConnectionTransport::SignedHttp(transport) => {
                let service =
                    serve_client_with_lifecycle_and_ct(client_handler, *transport, mode, stop);
                (service.await, None)
            }
        };
        let service = match result {
            Ok(service) => service,
            Err(error) => return Err(connect_error(&error, &why, life.as_ref(), &handler).await),
        };
        let peer = service.peer().clone();
        let disconnected = CancellationToken::new();
        let ended = disconnected.clone();
        tokio::spawn(async move {
            // However it ended.
            let _ = service.waiting().await;
            ended.cancel();
        });
        Ok(Self {
            server_info: describe_server(&peer),
            peer,
            handler,
            disconnected,
            close_reason: why,
            life,
            stop: leash_of,
            _leash: leash,
        })
    }

    /// Closes the connection, also for requests that still wait for an answer.
    pub(crate) fn close(&self, why: &str) {
        self.close_reason.set_reason(why);
        self.stop.cancel();
    }

    /// Whether the server speaks the protocol of 2025.
    pub(crate) fn is_legacy(&self) -> bool {
        self.peer
            .peer_info()
            .is_none_or(|info| info.protocol_version < ProtocolVersion::V_2026_07_28)
    }

    /// Returns why the connection is over, as a clause.
    pub(crate) async fn disconnect_reason(&self) -> String {
        if let Some(why) = self.close_reason.reason() {
            return why;
        }
        let Some(life) = &self.life else {
            return "the connection was lost".to_owned();
        };
        describe_exit(life, &self.handler, &self.close_reason).await
    }

    /// Returns the changes of lists that the server announces.
    fn announced_changes(&self) -> SubscriptionFilter {
        let mut announced = SubscriptionFilter::new();
        if let Some(info) = self.peer.peer_info() {
            let capabilities = &info.capabilities;
            let tools = capabilities.tools.as_ref();
            let resources = capabilities.resources.as_ref();
            let prompts = capabilities.prompts.as_ref();
            announced.tools_list_changed = tools.and_then(|all| all.list_changed);
            announced.resources_list_changed = resources.and_then(|all| all.list_changed);
            announced.prompts_list_changed = prompts.and_then(|all| all.list_changed);
        }
        announced
    }

    /// Subscribes to changes of the lists at a server of 2026; servers of 2025 send them unasked.
    pub(crate) fn subscribe_list_changes(&self) {
        let filter = self.announced_changes();
        let announces_changes = [
            filter.tools_list_changed,
            filter.resources_list_changed,
            filter.prompts_list_changed,
        ]
        .contains(&Some(true));
        if self.is_legacy() || !announces_changes {
            return;
        }
        let (peer, handler, disconnected) = (
            self.peer.clone(),
            self.handler.clone(),
            self.disconnected.clone(),
        );
        tokio::spawn(async move {
            let changes = async {
                while let Ok(mut changes) = peer.listen(filter.clone()).await {
                    while let Ok(Some(change)) = changes.next().await {
                        match change {
                            ServerNotification::ResourceListChangedNotification(_) => {
                                handler.note_resource_change();
                            }
                            ServerNotification::PromptListChangedNotification(_) => {
                                handler.note_prompt_change();
                            }
                            _ => handler.tools_changed.notify_one(),
                        }
                    }
                    // It told more than is listened to, so nobody knows what it told last.
                    handler.tools_changed.notify_one();
                    handler.note_resource_change();
                    handler.note_prompt_change();
                    tokio::time::sleep(RELIST_EVERY).await;
                }
            };
            tokio::select! {
                () = disconnected.cancelled() => {}
                () = changes => {}
            }
        });
    }

    /// Notifies the server that the workspaces changed.
    pub(crate) async fn notify_roots_changed(&self) {
        if self.is_legacy() {
            #[allow(deprecated, reason = "servers of today use roots")]
            let notification = ClientNotification::RootsListChangedNotification(Default::default());
            let sending = self.peer.send_notification(notification);
            // A server that does not hear it asks again when it needs them.
            let _ = tokio::time::timeout(CANCEL_NOTICE_TIMEOUT, sending).await;
        }
    }

    /// Sends one request. If its future is dropped, the request is cancelled at the server; an answer that arrives
    /// later is discarded.
    async fn send_request(
        &self,
        request: ClientRequest,
        deadline: Instant,
        cancel: &CancellationToken,
        scope: Option<CallScope<'_>>,
    ) -> Result<Value, RequestFailure> {
        let timeout = async {
            match scope {
                Some(scope) => scope.call.wait_until_deadline(deadline).await,
                None => tokio::time::sleep_until(deadline).await,
            }
        };
        tokio::pin!(timeout);
        let sending = self
            .peer
            .send_cancellable_request(request, self.request_options());
        let mut request = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(RequestFailure::Cancelled),
            sending = sending => match sending {
                Ok(request) => request,
                Err(error) => return Err(self.to_request_failure(error).await),
            },
            () = self.disconnected.cancelled() => return Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
            () = &mut timeout => return Err(RequestFailure::TimedOut),
        };
        if let Some(CallScope {
            call,
            progress: Some(progress),
        }) = scope
        {
            call.set_progress_token(request.progress_token.clone());
            progress.subscribe(&self.handler, &request.progress_token);
        }
        let (failure, reason) = tokio::select! {
            biased;
            answer = &mut request.rx => {
                return match answer {
                    Ok(Ok(answer)) => serde_json::to_value(&answer)
                        .map_err(|_| RequestFailure::Malformed("its answer cannot be read".to_owned())),
                    Ok(Err(error)) => Err(self.to_request_failure(error).await),
                    Err(_) => Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
                };
            }
            () = cancel.cancelled() => (RequestFailure::Cancelled, "cancelled by the person"),
            () = self.disconnected.cancelled() => return Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
            () = &mut timeout => (RequestFailure::TimedOut, "it took too long"),
        };
        // A server that does not read cannot be told.
        let cancelled = request.cancel(Some(reason.to_owned()));
        let _ = tokio::time::timeout(CANCEL_NOTICE_TIMEOUT, cancelled).await;
        Err(failure)
    }

    /// Handles an authentication challenge. If the server knows the person and only requires more scopes, other calls
    /// go on.
    fn handle_challenge(&self, challenge: AuthChallenge) -> RequestFailure {
        let is_more = challenge.is_more;
        self.handler.set_challenge(challenge);
        if is_more {
            let what = "authentication failed: the person who signed in is not allowed that there";
            return RequestFailure::Rejected(what.to_owned());
        }
        self.close(AUTHENTICATION_FAILED);
        RequestFailure::Disconnected(AUTHENTICATION_FAILED.to_owned())
    }

    async fn to_request_failure(&self, error: ServiceError) -> RequestFailure {
        match error {
            ServiceError::McpError(error) if error.code == URL_ELICITATION_REQUIRED => {
                let elicitations = error
                    .data
                    .as_ref()
                    .and_then(|data| data.get("elicitations"));
                let elicitations = elicitations.and_then(Value::as_array).cloned();
                RequestFailure::UrlElicitationRequired(elicitations.unwrap_or_default())
            }
            ServiceError::McpError(error) => {
                let message = tools::text::truncate_chars(&error.message, REASON_CHARS_MAX);
                RequestFailure::Rejected(format!("{message} ({})", error.code.0))
            }
            ServiceError::TransportClosed => {
                RequestFailure::Disconnected(self.disconnect_reason().await)
            }
            ServiceError::TransportSend(error) => {
                let error = error.error.as_ref();
                if let Some(challenge) = find_challenge(error) {
                    return self.handle_challenge(challenge);
                }
                let why = format!("nothing could be sent to it: {}", root_cause(error));
                if is_connection_lost(error) {
                    self.close(&why);
                }
                RequestFailure::Disconnected(why)
            }
            other => RequestFailure::Malformed(format!("its answer makes no sense: {other}")),
        }
    }
}

fn describe_server(peer: &Peer<RoleClient>) -> ServerIdentity {
    let info = peer.peer_info();
    let implementation = info.as_ref().and_then(|info| info.server_info.as_ref());
    let short = |text: &str| protocol::text::display_text::to_single_line(text, 100);
    ServerIdentity {
        name: implementation.map_or_else(String::new, |it| short(&it.name)),
        version: implementation.map_or_else(String::new, |it| short(&it.version)),
        protocol: info.map_or_else(String::new, |info| info.protocol_version.to_string()),
    }
}
