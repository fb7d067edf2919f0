//! One live connection to a server: requests over it, each with its own time and its own way to be called off.

mod call;
mod lists;
mod way;

use std::sync::Arc;

use protocol::servers::ServerSaid;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, PeerRequestOptions, RoleClient, ServiceError,
    serve_client_with_lifecycle_and_ct,
};
use runtime::{Companion, Life};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::asks::Asks;
use tools::tool::ProgressFn;

use crate::asked::Asked;
use crate::handler::Handler;
use crate::limits::{CANCEL_TOLD_MAX, MESSAGE_BYTES_MAX, REASON_CHARS_MAX, RELIST_EVERY};
use crate::reasons::{UNKNOWN, challenge, deepest, exit_told, is_lost, unopened};
use crate::sign::Challenge;
use crate::wire::{Lines, Why, listen_to};
pub(crate) use way::{Far, Way};

/// What the protocol has for a request that needs the person elsewhere first.
const ELSEWHERE: ErrorCode = ErrorCode(-32042);

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unopened {
    /// As a clause.
    pub why: String,
    /// It made nothing of the words of 2026, and did not say so: it may know those of 2025.
    pub is_puzzled: bool,
    /// It wants to know who asks.
    pub challenge: Option<Challenge>,
}

impl From<String> for Unopened {
    fn from(why: String) -> Self {
        Self {
            why,
            is_puzzled: false,
            challenge: None,
        }
    }
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Cancelled,
    TimedOut,
    /// The connection is over; why, as a clause.
    Gone(String),
    /// The server says no, in its words.
    Refused(String),
    /// Nobody can make sense of the answer; a clause.
    Strange(String),
    /// It answers once the person was at addresses: these requests.
    Elsewhere(Vec<Value>),
}

/// Who hears of a call while it runs, and answers what is asked in it.
#[derive(Clone, Default)]
pub(crate) struct Heard {
    pub on_progress: Option<ProgressFn>,
    pub asks: Option<Arc<dyn Asks>>,
}

/// A connection.
pub(crate) struct Link {
    peer: Peer<RoleClient>,
    handler: Handler,
    pub said: ServerSaid,
    /// Cancelled when the connection is over.
    pub gone: CancellationToken,
    why: Why,
    life: Option<Life>,
    stop: CancellationToken,
    _leash: DropGuard,
}

impl Link {
    /// Connects, in the words of 2026 where the server knows them, else in those of 2025.
    ///
    /// # Errors
    /// Why not.
    pub(crate) async fn open(
        way: Way,
        handler: Handler,
        is_legacy: bool,
    ) -> Result<Self, Unopened> {
        let (stop, why) = (CancellationToken::new(), Why::default());
        let (leash, leash_of) = (stop.clone().drop_guard(), stop.clone());
        let mode = match is_legacy {
            true => ClientLifecycleMode::Initialize,
            false => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        let own = handler.clone();
        let (service, life) = match way {
            Way::Stdio(companion) => {
                let Companion {
                    input,
                    output,
                    told,
                    life,
                } = companion;
                let (log, hushed) = (handler.log.clone(), why.hushed.clone());
                tokio::spawn(async move {
                    listen_to(told, log).await;
                    hushed.cancel();
                });
                let lines = Lines::new(output, MESSAGE_BYTES_MAX, why.clone());
                let opened = serve_client_with_lifecycle_and_ct(own, (lines, input), mode, stop);
                match opened.await {
                    Ok(service) => (service, Some(life)),
                    Err(error) => return Err(unopened(&error, &why, Some(&life), &handler).await),
                }
            }
            Way::Http(transport) => {
                match serve_client_with_lifecycle_and_ct(own, *transport, mode, stop).await {
                    Ok(service) => (service, None),
                    Err(error) => return Err(unopened(&error, &why, None, &handler).await),
                }
            }
            Way::Signed(transport) => {
                match serve_client_with_lifecycle_and_ct(own, *transport, mode, stop).await {
                    Ok(service) => (service, None),
                    Err(error) => return Err(unopened(&error, &why, None, &handler).await),
                }
            }
        };
        let peer = service.peer().clone();
        let gone = CancellationToken::new();
        let tell_gone = gone.clone();
        tokio::spawn(async move {
            // However it ended.
            let _ = service.waiting().await;
            tell_gone.cancel();
        });
        Ok(Self {
            said: said(&peer),
            peer,
            handler,
            gone,
            why,
            life,
            stop: leash_of,
            _leash: leash,
        })
    }

    /// Ends it, whoever still waits for an answer.
    pub(crate) fn close(&self, why: &str) {
        self.why.tell(why);
        self.stop.cancel();
    }

    /// Whether the server speaks the words of 2025.
    pub(crate) fn is_legacy(&self) -> bool {
        self.peer
            .peer_info()
            .is_none_or(|info| info.protocol_version < ProtocolVersion::V_2026_07_28)
    }

    /// Why the connection is over, as a clause.
    pub(crate) async fn why_gone(&self) -> String {
        if let Some(why) = self.why.told() {
            return why;
        }
        let Some(life) = &self.life else {
            return "the connection was lost".to_owned();
        };
        exit_told(life, &self.handler, &self.why).await
    }

    /// Hears of changes of the list where a server of 2026 has to be asked to tell; the others tell by themselves.
    pub(crate) fn subscribe(&self) {
        let tells = self.peer.peer_info().is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            tools.and_then(|tools| tools.list_changed) == Some(true)
        });
        if self.is_legacy() || !tells {
            return;
        }
        let (peer, handler, gone) = (self.peer.clone(), self.handler.clone(), self.gone.clone());
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let heard = async {
                while let Ok(mut heard) = peer.listen(filter.clone()).await {
                    while let Ok(Some(_)) = heard.next().await {
                        handler.relist.notify_one();
                    }
                    // It told more than is listened to, so nobody knows what it told last.
                    handler.relist.notify_one();
                    tokio::time::sleep(RELIST_EVERY).await;
                }
            };
            tokio::select! {
                () = gone.cancelled() => {}
                () = heard => {}
            }
        });
    }

    /// Tells the server that the workspaces are others.
    pub(crate) async fn tell_roots(&self) {
        if self.is_legacy() {
            #[allow(deprecated, reason = "servers of today use roots")]
            let told = ClientNotification::RootsListChangedNotification(Default::default());
            let sent = self.peer.send_notification(told);
            // A server that does not hear it asks again when it needs them.
            let _ = tokio::time::timeout(CANCEL_TOLD_MAX, sent).await;
        }
    }

    /// One request. It is called off at the server when nobody waits for it any more; what comes later belongs to nobody.
    async fn ask(
        &self,
        request: ClientRequest,
        until: Instant,
        cancel: &CancellationToken,
        on_progress: Option<ProgressFn>,
        call: Option<&Arc<Asked>>,
    ) -> Result<Value, Failure> {
        let late = async {
            match call {
                Some(call) => call.due(until).await,
                None => tokio::time::sleep_until(until).await,
            }
        };
        tokio::pin!(late);
        let sent = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut request = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Failure::Cancelled),
            sent = sent => match sent {
                Ok(request) => request,
                Err(error) => return Err(self.failure(error).await),
            },
            () = self.gone.cancelled() => return Err(Failure::Gone(self.why_gone().await)),
            () = &mut late => return Err(Failure::TimedOut),
        };
        let _listening = self
            .handler
            .listen(request.progress_token.clone(), on_progress);
        let (failure, told) = tokio::select! {
            biased;
            answer = &mut request.rx => {
                return match answer {
                    Ok(Ok(answer)) => serde_json::to_value(&answer)
                        .map_err(|_| Failure::Strange("its answer cannot be read".to_owned())),
                    Ok(Err(error)) => Err(self.failure(error).await),
                    Err(_) => Err(Failure::Gone(self.why_gone().await)),
                };
            }
            () = cancel.cancelled() => (Failure::Cancelled, "cancelled by the person"),
            () = self.gone.cancelled() => return Err(Failure::Gone(self.why_gone().await)),
            () = &mut late => (Failure::TimedOut, "it took too long"),
        };
        // A server that does not read cannot be told.
        let cancelled = request.cancel(Some(told.to_owned()));
        let _ = tokio::time::timeout(CANCEL_TOLD_MAX, cancelled).await;
        Err(failure)
    }

    /// The server wants to know who asks. Where it knows and wants them to be allowed more, other calls go on.
    fn challenged(&self, challenge: Challenge) -> Failure {
        let is_more = challenge.is_more;
        self.handler.challenged(challenge);
        if is_more {
            let what = "authentication failed: the person who signed in is not allowed that there";
            return Failure::Refused(what.to_owned());
        }
        self.close(UNKNOWN);
        Failure::Gone(UNKNOWN.to_owned())
    }

    async fn failure(&self, error: ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) if error.code == ELSEWHERE => {
                let asked = error
                    .data
                    .as_ref()
                    .and_then(|data| data.get("elicitations"));
                let asked = asked.and_then(Value::as_array).cloned();
                Failure::Elsewhere(asked.unwrap_or_default())
            }
            ServiceError::McpError(error) => {
                let said = tools::text::shortened(&error.message, REASON_CHARS_MAX);
                Failure::Refused(format!("{said} ({})", error.code.0))
            }
            ServiceError::TransportClosed => Failure::Gone(self.why_gone().await),
            ServiceError::TransportSend(error) => {
                let error = error.error.as_ref();
                if let Some(challenge) = challenge(error) {
                    return self.challenged(challenge);
                }
                let why = format!("nothing could be sent to it: {}", deepest(error));
                if is_lost(error) {
                    self.close(&why);
                }
                Failure::Gone(why)
            }
            other => Failure::Strange(format!("its answer makes no sense: {other}")),
        }
    }
}

fn said(peer: &Peer<RoleClient>) -> ServerSaid {
    let info = peer.peer_info();
    let ours = info.as_ref().and_then(|info| info.server_info.as_ref());
    let short = |text: &str| protocol::shown::in_a_sentence(text, 100);
    ServerSaid {
        name: ours.map_or_else(String::new, |it| short(&it.name)),
        version: ours.map_or_else(String::new, |it| short(&it.version)),
        protocol: info.map_or_else(String::new, |info| info.protocol_version.to_string()),
    }
}
