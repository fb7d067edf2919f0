//! What a server asks while one of its tools runs: put before the person with its call, recorded, and answered once.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::op::Receipt;
use protocol::server_asks::{FormField, ModelLine};
use protocol::shown::shown;
use protocol::{
    AskId, CallId, EventBody, Fault, ServerAnswer, ServerAsk, ServerWants, SessionId, Usage, redact,
};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tools::asks::{Asking, Asks, Reply, Wanted};

use crate::config::Host;
use crate::desk::Shared;
use crate::lend;
use crate::session::Session;

/// Why nobody was asked.
const HEADLESS: &str = "Nobody is here to answer: this session runs without a person.";
/// Why a question went with nobody's answer.
const ENDED: &str = "The call ended, or nobody waited for the answer any more.";
/// Why one is not put before the person.
const ANOTHER: &str = "Another question of the same call stands on the desk.";

/// The running calls of a session that may be asked in, with what is asked at the moment.
#[derive(Default)]
pub(crate) struct OpenAsks {
    calls: Mutex<HashMap<CallId, Option<Open>>>,
    /// What models used for servers that no run has counted yet.
    lent: Mutex<Usage>,
}

struct Open {
    id: AskId,
    asked: ServerAsk,
    answer: oneshot::Sender<ServerAnswer>,
}

impl OpenAsks {
    fn calls(&self) -> MutexGuard<'_, HashMap<CallId, Option<Open>>> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody is asked anything.
    pub fn is_empty(&self) -> bool {
        self.calls().values().all(Option::is_none)
    }

    /// Keeps what a model used for a server, until the run counts it.
    pub fn lent(&self, usage: &Usage) {
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        *lent = lent.plus(*usage);
    }

    /// Takes what models used for servers since this was asked last.
    pub fn take_lent(&self) -> Usage {
        std::mem::take(&mut *self.lent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a question from the desk, if it stands there. Whoever takes it answers; nobody else can.
    fn take(&self, call: &CallId, ask: &AskId) -> Option<Open> {
        let mut calls = self.calls();
        let slot = calls.get_mut(call)?;
        slot.take_if(|open| open.id == *ask)
    }

    /// Puts a question on the desk. False if its call is over, or another stands there.
    fn put(&self, call: &CallId, open: Open) -> bool {
        match self.calls().get_mut(call) {
            Some(slot @ None) => {
                *slot = Some(open);
                true
            }
            Some(Some(_)) | None => false,
        }
    }
}

/// Asks in the name of one running call.
pub(crate) struct Asker {
    session: Arc<Session>,
    call: CallId,
    rest: Mutex<Rest>,
}

/// How long a call waited for answers: time that is nobody's fault.
#[derive(Default)]
struct Rest {
    total: Duration,
    since: Option<Instant>,
}

impl Asker {
    /// From now on the call may be asked in.
    pub fn begin(session: &Arc<Session>, call: &CallId) -> Arc<Self> {
        session.asks.calls().insert(call.clone(), None);
        Arc::new(Self {
            session: session.clone(),
            call: call.clone(),
            rest: Mutex::default(),
        })
    }

    /// From now on it may not. What stands on the desk goes.
    pub fn end(&self) {
        let mut calls = self.session.asks.calls();
        let open = calls.remove(&self.call).flatten();
        if let Some(open) = &open {
            self.tell(&open.id, ServerAnswer::Dismissed, ENDED);
        }
        drop(calls);
        if open.is_some() {
            self.session.at_work();
        }
    }

    /// How long the call has waited for answers.
    pub fn rested(&self) -> Duration {
        let rest = self.rest();
        rest.total + rest.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a question from the desk that the person did not answer, and records that before anything else can follow.
    fn put_away(&self, ask: &AskId, why: &str) {
        let mut calls = self.session.asks.calls();
        let slot = calls.get_mut(&self.call);
        let open = slot.and_then(|slot| slot.take_if(|open| open.id == *ask));
        if open.is_some() {
            self.tell(ask, ServerAnswer::Dismissed, why);
        }
        drop(calls);
        if open.is_some() {
            self.session.at_work();
        }
    }

    fn tell(&self, ask: &AskId, answer: ServerAnswer, why: &str) {
        self.session.journal.tell(EventBody::CallAnswered {
            call: self.call.clone(),
            ask: ask.clone(),
            answer,
            why: Some(why.to_owned()),
        });
    }

    /// What the person is shown: all of it, with secrets masked and hidden characters named.
    fn told(&self, asking: &Asking) -> ServerAsk {
        let masked = |text: &str| shown(&redact::text(text).0);
        let wants = match &asking.wants {
            Wanted::Form(fields) => ServerWants::Form {
                fields: fields.clone(),
            },
            Wanted::Address {
                url,
                host,
                warnings,
            } => ServerWants::Address {
                url: url.clone(),
                host: host.clone(),
                warnings: warnings.clone(),
            },
            Wanted::Model(wanted) => ServerWants::Model {
                model: self.session.model.clone(),
                system: masked(&wanted.system),
                messages: wanted
                    .messages
                    .iter()
                    .map(|(by_model, text)| ModelLine {
                        by_model: *by_model,
                        text: masked(text),
                    })
                    .collect(),
                tokens_max: wanted.tokens_max,
                temperature: wanted.temperature,
            },
        };
        ServerAsk {
            server: asking.server.clone(),
            message: masked(&asking.message),
            wants,
        }
    }

    /// Puts a question on the desk and waits: for the answer, the end of the run, or expiry.
    async fn answered(&self, id: &AskId, asked: ServerAsk) -> ServerAnswer {
        let session = &self.session;
        let expires_after = session.shared.settings().expire_after_min;
        let now = session.shared.config.clock.now();
        let event = EventBody::CallAsked {
            call: self.call.clone(),
            ask: id.clone(),
            asked: Box::new(asked.clone()),
            expires_at: (expires_after > 0).then(|| now + i64::from(expires_after) * 60_000),
        };
        if let Host::Headless { .. } = session.shared.config.host {
            // Nobody invents answers, also where everything that asks was approved beforehand.
            session.journal.tell(event);
            self.tell(id, ServerAnswer::Declined, HEADLESS);
            return ServerAnswer::Declined;
        }
        let (sender, answer) = oneshot::channel();
        let open = Open {
            id: id.clone(),
            asked,
            answer: sender,
        };
        // First it can be answered, then it is told.
        if !session.asks.put(&self.call, open) {
            session.journal.tell(event);
            self.tell(id, ServerAnswer::Declined, ANOTHER);
            return ServerAnswer::Declined;
        }
        let _standing = Standing { asker: self, id };
        session.at_work();
        if session.journal.keep(event).await.is_err() {
            return ServerAnswer::Dismissed;
        }
        let stop = session.stop_token();
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
                self.put_away(id, &format!("Nobody answered within {expires_after} min."));
                ServerAnswer::Dismissed
            }
        }
    }
}

/// A question on the desk: it goes with whoever waits for its answer.
struct Standing<'a> {
    asker: &'a Asker,
    id: &'a AskId,
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        // What the app's end leaves behind is taken up when it is opened again.
        if !self.asker.session.shared.closing.is_cancelled() {
            self.asker.put_away(self.id, ENDED);
        }
    }
}

/// The time that a call waits for an answer.
struct Resting<'a>(&'a Asker);

impl<'a> Resting<'a> {
    fn begin(asker: &'a Asker) -> Self {
        asker.rest().since.get_or_insert_with(Instant::now);
        Self(asker)
    }
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        let mut rest = self.0.rest();
        if let Some(since) = rest.since.take() {
            rest.total += since.elapsed();
        }
    }
}

#[async_trait]
impl Asks for Asker {
    async fn ask(&self, mut asking: Asking) -> Reply {
        if let Wanted::Model(wanted) = &mut asking.wants {
            *wanted = lend::sendable(wanted);
        }
        let id = AskId(self.session.shared.config.ids.next("ask"));
        let asked = self.told(&asking);
        let _resting = Resting::begin(self);
        match self.answered(&id, asked).await {
            ServerAnswer::Filled { values } => Reply::Filled(values),
            ServerAnswer::Opened => Reply::Opened,
            ServerAnswer::Allowed => match asking.wants {
                Wanted::Model(wanted) => lend::lend(&self.session, &self.call, &id, wanted).await,
                Wanted::Form(_) | Wanted::Address { .. } => Reply::Declined,
            },
            ServerAnswer::Declined => Reply::Declined,
            ServerAnswer::Dismissed => Reply::Dismissed,
        }
    }
}

/// Takes the person's answer to what a server asks: once, on record before the server gets it.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    session: &SessionId,
    call: &CallId,
    ask: &AskId,
    answer: ServerAnswer,
) -> Result<Receipt, Fault> {
    let session = shared.session(session)?;
    let open = session.asks.take(call, ask).ok_or_else(|| {
        Fault::new(
            "This question no longer waits: it was answered, or its call ended.",
            "Look at the call's card for what became of it.",
        )
    })?;
    let kept = match fits(&open.asked.wants, answer) {
        Err(fault) => Err(fault),
        Ok(answer) => {
            let event = EventBody::CallAnswered {
                call: call.clone(),
                ask: ask.clone(),
                answer: recorded(&open.asked.wants, &answer),
                why: None,
            };
            session.journal.keep(event).await.map(|()| answer)
        }
    };
    match kept {
        Ok(answer) => {
            // The call may have ended in this very moment; then the answer comes too late and goes nowhere.
            let _ = open.answer.send(answer);
            session.at_work();
            Ok(Receipt::default())
        }
        Err(fault) => {
            session.asks.put(call, open);
            Err(fault)
        }
    }
}

/// The answer as the server gets it, if it is one to this question.
fn fits(wants: &ServerWants, answer: ServerAnswer) -> Result<ServerAnswer, Fault> {
    match (wants, answer) {
        (ServerWants::Form { fields }, ServerAnswer::Filled { values }) => {
            let values = mcp::form::filled(fields, &values)?;
            Ok(ServerAnswer::Filled { values })
        }
        (ServerWants::Address { .. }, ServerAnswer::Opened) => Ok(ServerAnswer::Opened),
        (ServerWants::Model { .. }, ServerAnswer::Allowed) => Ok(ServerAnswer::Allowed),
        (_, answer @ (ServerAnswer::Declined | ServerAnswer::Dismissed)) => Ok(answer),
        (
            ServerWants::Form { .. } | ServerWants::Address { .. } | ServerWants::Model { .. },
            ServerAnswer::Filled { .. } | ServerAnswer::Opened | ServerAnswer::Allowed,
        ) => Err(Fault::new(
            "This is no answer to what was asked.",
            "Answer with what the card offers.",
        )),
    }
}

/// The answer as it is recorded: without what is a secret, or looks like one.
fn recorded(wants: &ServerWants, answer: &ServerAnswer) -> ServerAnswer {
    let (ServerWants::Form { fields }, ServerAnswer::Filled { values }) = (wants, answer) else {
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
