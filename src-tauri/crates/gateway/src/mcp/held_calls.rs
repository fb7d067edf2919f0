//! Calls of clients of 2026 that ask something in between. Such a client is asked by the answer to its request, and answers with
//! a further request of the same call; until then the call is held.

use std::collections::HashMap;
use std::sync::Arc;

use agent::{ClientCall, ClientOutcome, ExternalClient};
use async_trait::async_trait;
use parking_lot::Mutex;
use protocol::UserError;
use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    JsonObject,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::elicitation::{ElicitationChannel, ElicitationReply, ElicitationRequest};
use uuid::Uuid;

use super::protocol_questions::{PassedQuestions, ProtocolQuestion};
use crate::limits::{HELD_CALL_MAX, PROGRESS_QUEUE_MAX};

/// Name of the one question that an answer asks.
const QUESTION_KEY: &str = "question";

/// What is called, by the name that calls know it by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedCall {
    pub tool: String,
    pub arguments: JsonObject,
}

/// What goes on with a held call: what an earlier answer to the client named, and what the client answers.
pub(super) struct Continuation {
    pub state: String,
    pub responses: Option<InputResponses>,
}

impl Continuation {
    /// Returns what goes on with a held call; none for a call that begins.
    pub fn new(state: Option<String>, responses: Option<InputResponses>) -> Option<Self> {
        state.map(|state| Self { state, responses })
    }
}

/// What a request of a client came to.
pub(super) enum Round {
    /// The call is over.
    Answered(Box<Result<ClientOutcome, UserError>>),
    /// The server asks something first.
    Asks(InputRequiredResult),
}

impl Round {
    /// Returns the round in which a call ended.
    pub fn answered(answer: Result<ClientOutcome, UserError>) -> Self {
        Self::Answered(Box::new(answer))
    }
}

/// A question that waits for the client's answer.
pub(super) struct OpenQuestion {
    question: ProtocolQuestion,
    request: InputRequest,
    answer: oneshot::Sender<ElicitationReply>,
}

/// A call that runs, also between the requests of its client. Dropping it ends the call.
pub(super) struct CallInRounds {
    call: RequestedCall,
    pub running: JoinHandle<Result<ClientOutcome, UserError>>,
    pub questions: mpsc::Receiver<OpenQuestion>,
    pub progress: mpsc::Receiver<String>,
    _cancel: DropGuard,
}

impl CallInRounds {
    /// Begins a call, during which a client with these capabilities is asked what is passed on.
    pub fn begin(
        client: Arc<ExternalClient>,
        call: RequestedCall,
        passed: PassedQuestions,
        capabilities: Option<ClientCapabilities>,
    ) -> Self {
        let (asks, questions) = mpsc::channel(1);
        let (heard, progress) = mpsc::channel(PROGRESS_QUEUE_MAX);
        let cancel = CancellationToken::new();
        let (made, cancelled) = (call.clone(), cancel.clone());
        let running = tokio::spawn(async move {
            let channel = RoundQuestions {
                passed,
                capabilities,
                asks,
            };
            let request = ClientCall {
                name: &made.tool,
                arguments: made.arguments,
                heard: Some(heard),
                questions: Some(Arc::new(channel)),
            };
            client.make_call(request, &cancelled).await
        });
        Self {
            call,
            running,
            questions,
            progress,
            _cancel: cancel.drop_guard(),
        }
    }
}

/// The client, as the one who answers with its next request.
struct RoundQuestions {
    passed: PassedQuestions,
    capabilities: Option<ClientCapabilities>,
    asks: mpsc::Sender<OpenQuestion>,
}

#[async_trait]
impl ElicitationChannel for RoundQuestions {
    async fn ask(&self, asked: ElicitationRequest) -> ElicitationReply {
        let question = ProtocolQuestion::new(&asked);
        let can_answer = question.can_be_passed_on(self.passed, self.capabilities.as_ref());
        let Some(request) = question.to_input_request().filter(|_| can_answer) else {
            return ElicitationReply::Declined;
        };
        let (answer, answered) = oneshot::channel();
        let open = OpenQuestion {
            question,
            request,
            answer,
        };
        match self.asks.send(open).await {
            Ok(()) => answered.await.unwrap_or(ElicitationReply::Dismissed),
            Err(_) => ElicitationReply::Dismissed,
        }
    }
}

struct HeldCall {
    running: CallInRounds,
    open: OpenQuestion,
}

impl HeldCall {
    fn question(&self, state: &str) -> InputRequiredResult {
        let requests = InputRequests::from([(QUESTION_KEY.to_owned(), self.open.request.clone())]);
        InputRequiredResult::new(Some(requests), Some(state.to_owned()))
    }
}

/// How a held call goes on.
pub(super) enum Resumed {
    /// It runs on with an answer.
    Runs(CallInRounds),
    /// The client did not answer, and is asked again.
    StillAsks(InputRequiredResult),
}

/// The held calls of one client's session, each by a name that nobody guesses. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct HeldCalls(Arc<Mutex<HashMap<String, HeldCall>>>);

impl HeldCalls {
    /// Holds a call until its client answers a question, for a limited time; returns the question.
    pub fn hold(&self, running: CallInRounds, open: OpenQuestion) -> InputRequiredResult {
        let state = Uuid::new_v4().simple().to_string();
        let held = HeldCall { running, open };
        let question = held.question(&state);
        self.0.lock().insert(state.clone(), held);
        let calls = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(HELD_CALL_MAX).await;
            if let Some(calls) = calls.upgrade() {
                calls.lock().remove(&state);
            }
        });
        question
    }

    /// Goes on with a held call.
    ///
    /// # Errors
    /// No such call is held, it is another one, or the answer cannot be read.
    pub fn resume(
        &self,
        call: &RequestedCall,
        continuation: Continuation,
    ) -> Result<Resumed, ErrorData> {
        let state = continuation.state.as_str();
        let mut calls = self.0.lock();
        let Some(held) = calls.get(state).filter(|held| held.running.call == *call) else {
            let text =
                "No such call waits under this `requestState`. Make the call again without it.";
            return Err(ErrorData::invalid_params(text, None));
        };
        let responses = continuation.responses;
        let Some(answer) = responses.and_then(|mut all| all.remove(QUESTION_KEY)) else {
            return Ok(Resumed::StillAsks(held.question(state)));
        };
        let Some(reply) = held.open.question.read_answer(answer) else {
            let text = format!(
                "The answer `{QUESTION_KEY}` cannot be read. Look at the protocol for its shape."
            );
            return Err(ErrorData::invalid_params(text, None));
        };
        let Some(HeldCall { running, open }) = calls.remove(state) else {
            return Err(ErrorData::internal_error("The call is not held.", None));
        };
        // A call that ended meanwhile needs no answer.
        let _ = open.answer.send(reply);
        Ok(Resumed::Runs(running))
    }

    /// Ends all held calls.
    pub fn clear(&self) {
        self.0.lock().clear();
    }
}
