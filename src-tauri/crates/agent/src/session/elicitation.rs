//! Elicitation: a question of a server while one of its tools runs is shown to the person with its call, recorded, and
//! answered once.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::event::CallChange;
use protocol::op::OpReceipt;
use protocol::server::elicitation::FormField;
use protocol::text::display_text::to_spans;
use protocol::text::redact;
use protocol::{
    CallId, EventBody, ServerAnswer, ServerRequest, ServerRequestId, ServerRequestKind, SessionId,
    Usage, UserError,
};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tools::elicitation::{
    ElicitationChannel, ElicitationKind, ElicitationReply, ElicitationRequest, SamplingRequest,
};

use crate::host::config::Host;
use crate::session::Session;
use crate::session::engine_state::EngineState;
use crate::session::sampling::{self, SampledAnswer};

/// Reason given when nobody was asked.
const HEADLESS_REASON: &str = "Nobody is here to answer: this session runs without a person.";
/// Reason given when a client of the gateway answered in the place of a person.
const CLIENT_ANSWERED_REASON: &str = "Nobody is here to answer: the client of the gateway did.";
/// Reason given when the answer of a client does not fit the question.
const CLIENT_UNFIT_REASON: &str = "The answer of the client does not fit the question.";
/// Reason given when a client of the gateway did not answer either.
const CLIENT_DECLINED_REASON: &str =
    "Nobody is here to answer, and the client of the gateway was not asked, or said no.";
/// Reason given when a question was dismissed without an answer.
const CALL_ENDED_REASON: &str = "The call ended, or nobody waited for the answer any more.";
/// Reason given when a further question is not shown to the person.
const ANOTHER_OPEN_REASON: &str = "Another question of the same call is still open.";

/// Running calls of a session in which a server may ask, with their open questions.
#[derive(Default)]
pub(crate) struct ElicitationQueue {
    calls: Mutex<HashMap<CallId, Option<OpenElicitation>>>,
    /// Who is asked in the place of a person who is not there, by the call.
    clients: Mutex<HashMap<CallId, Arc<dyn ElicitationChannel>>>,
    /// Usage of models on behalf of servers (sampling) that no run has counted yet.
    sampling_usage: Mutex<Usage>,
}

struct OpenElicitation {
    id: ServerRequestId,
    request: ServerRequest,
    answer: oneshot::Sender<ServerAnswer>,
}

impl ElicitationQueue {
    /// Whether no question is open.
    pub fn is_empty(&self) -> bool {
        self.calls.lock().values().all(Option::is_none)
    }

    /// Adds the usage of a model on behalf of a server, until the run counts it.
    pub fn add_sampling_usage(&self, usage: &Usage) {
        let mut used = self.sampling_usage.lock();
        *used = used.plus(*usage);
    }

    /// Takes the usage of models on behalf of servers since the last time.
    pub fn take_sampling_usage(&self) -> Usage {
        std::mem::take(&mut *self.sampling_usage.lock())
    }

    /// Has a client asked in the place of a person who is not there, until the result is dropped.
    pub fn pass_on(&self, call: &CallId, client: Arc<dyn ElicitationChannel>) -> PassedOn<'_> {
        self.clients.lock().insert(call.clone(), client);
        PassedOn {
            queue: self,
            call: call.clone(),
        }
    }

    /// Takes an open question, if it is still open. Only its taker may answer it.
    fn take_open(&self, call: &CallId, request_id: &ServerRequestId) -> Option<OpenElicitation> {
        let mut calls = self.calls.lock();
        let slot = calls.get_mut(call)?;
        slot.take_if(|open| open.id == *request_id)
    }

    /// Opens a question. `false` if its call is over, or another question of the call is open.
    fn try_open(&self, call: &CallId, open: OpenElicitation) -> bool {
        match self.calls.lock().get_mut(call) {
            Some(slot @ None) => {
                *slot = Some(open);
                true
            }
            Some(Some(_)) | None => false,
        }
    }
}

/// Guard of a call in which a client is asked.
pub(crate) struct PassedOn<'a> {
    queue: &'a ElicitationQueue,
    call: CallId,
}

impl Drop for PassedOn<'_> {
    fn drop(&mut self) {
        self.queue.clients.lock().remove(&self.call);
    }
}

/// Asks the person on behalf of one running call.
pub(crate) struct ElicitationHandler {
    session: Arc<Session>,
    call: CallId,
    paused: Mutex<PausedTime>,
}

/// Time that a call waited for answers, which does not count against its limits.
#[derive(Default)]
struct PausedTime {
    total: Duration,
    since: Option<Instant>,
}

impl ElicitationHandler {
    /// Registers a running call, in which a server may ask from now on.
    pub fn register(session: &Arc<Session>, call: &CallId) -> Arc<Self> {
        session.elicitations.calls.lock().insert(call.clone(), None);
        Arc::new(Self {
            session: session.clone(),
            call: call.clone(),
            paused: Mutex::default(),
        })
    }

    /// Ends the registration of the call, and dismisses its open question.
    pub fn unregister(&self) {
        let mut calls = self.session.elicitations.calls.lock();
        let open = calls.remove(&self.call).flatten();
        if let Some(open) = &open {
            self.record_answer(&open.id, ServerAnswer::Dismissed, CALL_ENDED_REASON);
        }
        drop(calls);
        if open.is_some() {
            self.session.refresh_state();
        }
    }

    /// Returns how long the call has waited for answers.
    pub fn paused_time(&self) -> Duration {
        let rest = self.paused.lock();
        rest.total + rest.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Dismisses a question that the person did not answer, and records that before anything else can follow.
    fn dismiss(&self, request_id: &ServerRequestId, why: &str) {
        let mut calls = self.session.elicitations.calls.lock();
        let slot = calls.get_mut(&self.call);
        let open = slot.and_then(|slot| slot.take_if(|open| open.id == *request_id));
        if open.is_some() {
            self.record_answer(request_id, ServerAnswer::Dismissed, why);
        }
        drop(calls);
        if open.is_some() {
            self.session.refresh_state();
        }
    }

    /// Records an answer that no person gave, and why.
    fn record_answer(&self, request_id: &ServerRequestId, answer: ServerAnswer, why: &str) {
        self.session.journal.record_call(
            &self.call,
            CallChange::ServerRequestAnswered {
                request_id: request_id.clone(),
                answer,
                why: Some(why.to_owned()),
            },
        );
    }

    /// Returns the question as shown to the person: complete, with secrets masked and hidden characters named.
    fn build_request(&self, asking: &ElicitationRequest) -> ServerRequest {
        let masked = |text: &str| to_spans(&redact::text(text).0);
        let wants = match &asking.kind {
            ElicitationKind::Form(fields) => ServerRequestKind::Form {
                fields: fields.clone(),
            },
            ElicitationKind::Url {
                url,
                host,
                warnings,
            } => ServerRequestKind::Address {
                url: url.clone(),
                host: host.clone(),
                warnings: warnings.clone(),
            },
            ElicitationKind::Sampling(wanted) => {
                sampling::show_request(self.session.model(), wanted)
            }
        };
        ServerRequest {
            server: asking.server.clone(),
            message: masked(&asking.message),
            wants,
        }
    }

    fn is_headless(&self) -> bool {
        matches!(self.session.engine.config.host, Host::Headless { .. })
    }

    /// Returns the client that is asked in the place of a person who is not there.
    fn asked_client(&self) -> Option<Arc<dyn ElicitationChannel>> {
        let clients = self.session.elicitations.clients.lock();
        clients
            .get(&self.call)
            .filter(|_| self.is_headless())
            .cloned()
    }

    /// Asks a client, and records the question and the answer. An answer that does not fit the question is none.
    async fn ask_client(
        &self,
        client: &dyn ElicitationChannel,
        id: &ServerRequestId,
        asking: ElicitationRequest,
    ) -> ElicitationReply {
        let request = self.build_request(&asking);
        let wants = request.wants.clone();
        let sampling_request = match &asking.kind {
            ElicitationKind::Sampling(request) => Some(request.clone()),
            ElicitationKind::Form(_) | ElicitationKind::Url { .. } => None,
        };
        self.session.journal.record_call(
            &self.call,
            CallChange::ServerRequestReceived {
                request_id: id.clone(),
                request: Box::new(request),
                expires_at: None,
            },
        );
        let stop = self.session.cancellation_token();
        let reply = tokio::select! {
            biased;
            reply = client.ask(asking) => reply,
            () = stop.cancelled() => ElicitationReply::Dismissed,
        };
        let (answer, why) = match &reply {
            ElicitationReply::Filled(values) => {
                let values = values.clone();
                match validate_answer(&wants, ServerAnswer::Filled { values }) {
                    Ok(answer) => (answer, CLIENT_ANSWERED_REASON),
                    Err(_) => (ServerAnswer::Declined, CLIENT_UNFIT_REASON),
                }
            }
            ElicitationReply::Opened => (ServerAnswer::Opened, CLIENT_ANSWERED_REASON),
            ElicitationReply::Sampled { .. } => (ServerAnswer::Allowed, CLIENT_ANSWERED_REASON),
            ElicitationReply::Declined => (ServerAnswer::Declined, CLIENT_DECLINED_REASON),
            ElicitationReply::Dismissed | ElicitationReply::Failed(_) => {
                (ServerAnswer::Dismissed, CLIENT_DECLINED_REASON)
            }
        };
        self.record_answer(id, redact_answer(&wants, &answer), why);
        match (answer, reply) {
            (ServerAnswer::Filled { values }, _) => ElicitationReply::Filled(values),
            (ServerAnswer::Declined, _) => ElicitationReply::Declined,
            (_, reply) => self.record_sampling(id, sampling_request.as_ref(), reply),
        }
    }

    /// Records the answer of a client's model; returns it as the server gets it.
    fn record_sampling(
        &self,
        id: &ServerRequestId,
        request: Option<&SamplingRequest>,
        reply: ElicitationReply,
    ) -> ElicitationReply {
        let ElicitationReply::Sampled {
            model,
            text,
            calls,
            is_cut,
        } = reply
        else {
            return reply;
        };
        let answer = SampledAnswer {
            model,
            text,
            calls,
            usage: Usage::default(),
            is_cut,
        };
        let error = request.and_then(|request| answer.check(request).err());
        let error = error.map(|fault| fault.message);
        let answer = answer.into_masked();
        self.session.journal.record_call(
            &self.call,
            CallChange::SamplingFinished {
                request_id: id.clone(),
                result: Box::new(answer.to_result(error.clone())),
            },
        );
        match error {
            Some(why) => ElicitationReply::Failed(why),
            None => answer.into_reply(),
        }
    }

    /// Shows a question and waits: for the answer, the end of the run, or expiry.
    async fn wait_for_answer(&self, id: &ServerRequestId, request: ServerRequest) -> ServerAnswer {
        let session = &self.session;
        let expires_after = session.engine.settings().expire_after_min;
        let now = session.engine.now();
        let event = EventBody::for_call(
            &self.call,
            CallChange::ServerRequestReceived {
                request_id: id.clone(),
                request: Box::new(request.clone()),
                expires_at: (expires_after > 0).then(|| now + i64::from(expires_after) * 60_000),
            },
        );
        if self.is_headless() {
            // Nobody invents answers, also where everything that asks was approved beforehand.
            session.journal.record(event);
            self.record_answer(id, ServerAnswer::Declined, HEADLESS_REASON);
            return ServerAnswer::Declined;
        }
        let (sender, answer) = oneshot::channel();
        let open = OpenElicitation {
            id: id.clone(),
            request,
            answer: sender,
        };
        // First it can be answered, then it is told.
        if !session.elicitations.try_open(&self.call, open) {
            session.journal.record(event);
            self.record_answer(id, ServerAnswer::Declined, ANOTHER_OPEN_REASON);
            return ServerAnswer::Declined;
        }
        let _standing = OpenGuard { asker: self, id };
        session.refresh_state();
        if session.journal.record_synced(event).await.is_err() {
            return ServerAnswer::Dismissed;
        }
        let stop = session.cancellation_token();
        let expiry = async {
            match expires_after {
                0 => pending().await,
                minutes => tokio::time::sleep(Duration::from_secs(u64::from(minutes) * 60)).await,
            }
        };
        tokio::select! {
            biased;
            answer = answer => answer.unwrap_or(ServerAnswer::Dismissed),
            () = stop.cancelled() => ServerAnswer::Dismissed,
            () = expiry => {
                self.dismiss(id, &format!("Nobody answered within {expires_after} min."));
                ServerAnswer::Dismissed
            }
        }
    }
}

/// Guard of an open question: dismisses the question when the waiting task is dropped.
struct OpenGuard<'a> {
    asker: &'a ElicitationHandler,
    id: &'a ServerRequestId,
}

impl Drop for OpenGuard<'_> {
    fn drop(&mut self) {
        // Questions that are open when the app closes are taken up when the app is opened again.
        if !self.asker.session.engine.closing.is_cancelled() {
            self.asker.dismiss(self.id, CALL_ENDED_REASON);
        }
    }
}

/// Guard that counts the time a call waits for an answer.
struct PauseGuard<'a>(&'a ElicitationHandler);

impl<'a> PauseGuard<'a> {
    fn new(asker: &'a ElicitationHandler) -> Self {
        asker.paused.lock().since.get_or_insert_with(Instant::now);
        Self(asker)
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        let mut rest = self.0.paused.lock();
        if let Some(since) = rest.since.take() {
            rest.total += since.elapsed();
        }
    }
}

#[async_trait]
impl ElicitationChannel for ElicitationHandler {
    async fn ask(&self, mut asking: ElicitationRequest) -> ElicitationReply {
        if let ElicitationKind::Sampling(wanted) = &mut asking.kind {
            *wanted = sampling::sanitize_request(wanted);
        }
        let id = ServerRequestId(self.session.engine.config.ids.next_id("ask"));
        let _resting = PauseGuard::new(self);
        if let Some(client) = self.asked_client() {
            return self.ask_client(client.as_ref(), &id, asking).await;
        }
        let request = self.build_request(&asking);
        match self.wait_for_answer(&id, request).await {
            ServerAnswer::Filled { values } => ElicitationReply::Filled(values),
            ServerAnswer::Opened => ElicitationReply::Opened,
            ServerAnswer::Allowed => match asking.kind {
                ElicitationKind::Sampling(wanted) => {
                    sampling::run_sampling(&self.session, &self.call, &id, wanted).await
                }
                ElicitationKind::Form(_) | ElicitationKind::Url { .. } => {
                    ElicitationReply::Declined
                }
            },
            ServerAnswer::Declined => ElicitationReply::Declined,
            ServerAnswer::Dismissed => ElicitationReply::Dismissed,
        }
    }
}

/// Accepts the person's answer to a server's question: once, and on record before the server receives it.
pub(crate) async fn answer_elicitation(
    engine: &Arc<EngineState>,
    session: &SessionId,
    call: &CallId,
    request_id: &ServerRequestId,
    answer: ServerAnswer,
) -> Result<OpReceipt, UserError> {
    let session = engine.session(session)?;
    let open = session
        .elicitations
        .take_open(call, request_id)
        .ok_or_else(|| {
            UserError::new(
                "This question no longer waits: it was answered, or its call ended.",
                "Look at the call's card for what became of it.",
            )
        })?;
    let result = match validate_answer(&open.request.wants, answer) {
        Err(fault) => Err(fault),
        Ok(answer) => {
            let event = EventBody::for_call(
                call,
                CallChange::ServerRequestAnswered {
                    request_id: request_id.clone(),
                    answer: redact_answer(&open.request.wants, &answer),
                    why: None,
                },
            );
            session.journal.record_synced(event).await.map(|()| answer)
        }
    };
    match result {
        Ok(answer) => {
            // The call may have ended in this very moment; then the answer comes too late and goes nowhere.
            let _ = open.answer.send(answer);
            session.refresh_state();
            Ok(OpReceipt::default())
        }
        Err(fault) => {
            session.elicitations.try_open(call, open);
            Err(fault)
        }
    }
}

/// Returns the answer in the form for the server, if it fits the question.
fn validate_answer(
    wants: &ServerRequestKind,
    answer: ServerAnswer,
) -> Result<ServerAnswer, UserError> {
    match (wants, answer) {
        (ServerRequestKind::Form { fields }, ServerAnswer::Filled { values }) => {
            let values = mcp::form::validate_answers(fields, &values)?;
            Ok(ServerAnswer::Filled { values })
        }
        (ServerRequestKind::Address { .. }, ServerAnswer::Opened) => Ok(ServerAnswer::Opened),
        (ServerRequestKind::Model { .. }, ServerAnswer::Allowed) => Ok(ServerAnswer::Allowed),
        (_, answer @ (ServerAnswer::Declined | ServerAnswer::Dismissed)) => Ok(answer),
        (
            ServerRequestKind::Form { .. }
            | ServerRequestKind::Address { .. }
            | ServerRequestKind::Model { .. },
            ServerAnswer::Filled { .. } | ServerAnswer::Opened | ServerAnswer::Allowed,
        ) => Err(UserError::new(
            "This is not an answer to what was asked.",
            "Answer with what the card offers.",
        )),
    }
}

/// Returns the answer as recorded: without values that are secret or look like secrets.
fn redact_answer(wants: &ServerRequestKind, answer: &ServerAnswer) -> ServerAnswer {
    let (ServerRequestKind::Form { fields }, ServerAnswer::Filled { values }) = (wants, answer)
    else {
        return answer.clone();
    };
    let secret = |name: &str| {
        let of_name = |field: &&FormField| field.name == name;
        fields
            .iter()
            .find(of_name)
            .is_none_or(|field| field.warning.is_some())
    };
    let values: Map<String, Value> = values
        .iter()
        .map(|(name, value)| {
            let value = match value {
                _ if secret(name) => redact::MASK.into(),
                Value::String(text) => redact::text(text).0.into_owned().into(),
                other => other.clone(),
            };
            (name.clone(), value)
        })
        .collect();
    ServerAnswer::Filled { values }
}
