//! One call of a tool, or one read of what a server offers beside its tools: through every request that the server makes
//! before it answers, to its answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CompleteRequest, CompleteRequestParams,
    GetPromptRequest, GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call_progress::CallProgress;
use super::legacy_task::build_task_request;
use super::{CallListeners, CallScope, RequestFailure, ServerConnection};
use crate::limits::{ELICITATION_URLS_MAX, ROUNDS_MAX};
use crate::running_calls::RunningCall;
use crate::server_request::ELICITATION;

/// Answers to the input requests of a server of 2026, by the names of the requests.
pub(super) type InputAnswers = BTreeMap<String, Value>;

/// Data that a repeated request sends to a server of 2026: the answers to its input requests, and its own request
/// state.
type RequestContinuation = (Option<InputAnswers>, Option<String>);

/// How a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// By a request whose answer is the result, or a task where a server of 2026 makes one of it.
    Plain,
    /// As a task of a server of 2025.
    Task,
}

/// A call of a tool as it is sent.
pub(crate) struct ToolRequest {
    pub params: CallToolRequestParams,
    pub form: CallForm,
}

/// How long a call is waited for, and who hears of it.
#[derive(Clone, Copy)]
pub(super) struct CallWait<'a> {
    pub call: &'a Arc<RunningCall>,
    pub progress: &'a CallProgress,
    pub deadline: Instant,
    pub cancel: &'a CancellationToken,
}

impl ServerConnection {
    /// Calls a tool.
    pub(crate) async fn call_tool(
        &self,
        tool: ToolRequest,
        timeout: Duration,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<Value, RequestFailure> {
        let request = |continuation: &RequestContinuation| {
            let mut params = tool.params.clone();
            (params.input_responses, params.request_state) = continuation.clone();
            match tool.form {
                CallForm::Plain => ClientRequest::CallToolRequest(CallToolRequest::new(params)),
                CallForm::Task => build_task_request(&params, timeout),
            }
        };
        self.request_until_answered(request, timeout, cancel, listeners)
            .await
    }

    /// Reads a resource.
    pub(crate) async fn read_resource(
        &self,
        uri: &str,
        timeout: Duration,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<Value, RequestFailure> {
        let params = ReadResourceRequestParams::new(uri);
        let request = |continuation: &RequestContinuation| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = continuation.clone();
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        self.request_until_answered(request, timeout, cancel, listeners)
            .await
    }

    /// Gets a prompt. The person is asked nothing in between.
    pub(crate) async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestFailure> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = |continuation: &RequestContinuation| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = continuation.clone();
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        self.request_until_answered(request, timeout, cancel, CallListeners::default())
            .await
    }

    /// Returns values that complete an argument.
    pub(crate) async fn complete(
        &self,
        params: CompleteRequestParams,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestFailure> {
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        self.send_request(request, Instant::now() + timeout, cancel, None)
            .await
    }

    /// Repeats a request until the server answers it. Input that the server requires first is asked of the person, or
    /// sent where Countersign has it itself.
    async fn request_until_answered(
        &self,
        request: impl Fn(&RequestContinuation) -> ClientRequest,
        timeout: Duration,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<Value, RequestFailure> {
        let running_calls = &self.handler.running_calls;
        let guard = running_calls.begin_call(listeners.elicitation, listeners.session);
        let call = &guard.call;
        let progress = CallProgress::new(listeners.on_progress);
        let wait = CallWait {
            call,
            progress: &progress,
            deadline: Instant::now() + timeout,
            cancel,
        };
        let mut continuation = RequestContinuation::default();
        for _ in 0..ROUNDS_MAX {
            let answer = match self.request_answer(request(&continuation), wait).await {
                // It answers once the person was at these addresses.
                Err(RequestFailure::UrlElicitationRequired(addresses)) => {
                    let visits = self.send_person_to_urls(call, &addresses);
                    visits.await.map_err(RequestFailure::Malformed)?;
                    continue;
                }
                answer => answer?,
            };
            match answer.get("resultType").and_then(Value::as_str) {
                None | Some("complete") => return Ok(answer),
                Some("input_required") => {}
                Some("task") if !self.is_legacy() => {
                    return Box::pin(self.await_task(answer, wait)).await;
                }
                Some(other) => {
                    let kind = protocol::text::display_text::to_single_line(other, 40);
                    let what = format!("it answered with something that was not asked for: {kind}");
                    return Err(RequestFailure::Malformed(what));
                }
            }
            let answers = self.answer_until_cancelled(call, answer.get("inputRequests"), cancel);
            let answers = answers.await?;
            let state = answer.get("requestState").and_then(Value::as_str);
            continuation = (
                (!answers.is_empty()).then_some(answers),
                state.map(str::to_owned),
            );
        }
        Err(RequestFailure::Malformed(format!(
            "it asked for more than {ROUNDS_MAX} times before it would answer"
        )))
    }

    /// Sends the request of a call and returns its answer; the result of the task that a server of 2025 made of it, if it did.
    async fn request_answer(
        &self,
        request: ClientRequest,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let scope = CallScope {
            call: wait.call,
            progress: Some(wait.progress),
        };
        let pending = self.send_request(request, wait.deadline, wait.cancel, Some(scope));
        let answer = pending.await?;
        match answer.get("task") {
            // Boxed, so that the many calls that become no task are no larger for it.
            Some(created) if self.is_legacy() => {
                Box::pin(self.await_legacy_task(created.clone(), wait)).await
            }
            Some(_) | None => Ok(answer),
        }
    }

    /// Answers the input requests of a server of 2026, unless the call or the connection ends before.
    pub(super) async fn answer_until_cancelled(
        &self,
        call: &Arc<RunningCall>,
        requests: Option<&Value>,
        cancel: &CancellationToken,
    ) -> Result<InputAnswers, RequestFailure> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(RequestFailure::Cancelled),
            () = self.disconnected.cancelled() => Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
            answers = self.answer_input_requests(call, requests) => answers,
        }
    }

    /// Answers the input requests of a server of 2026, one after the other.
    async fn answer_input_requests(
        &self,
        call: &Arc<RunningCall>,
        requests: Option<&Value>,
    ) -> Result<InputAnswers, RequestFailure> {
        let mut answers = InputAnswers::new();
        let requests = requests.and_then(Value::as_object).into_iter().flatten();
        for (key, request) in requests {
            let method = request.get("method").and_then(Value::as_str);
            let params = request.get("params").unwrap_or(&Value::Null);
            let answer = match method.unwrap_or_default() {
                "roots/list" => serde_json::to_value(self.handler.roots()).unwrap_or_default(),
                method => {
                    let reply = self
                        .handler
                        .answer_request(Ok(call.clone()), method, params);
                    // There is no error that it could be told.
                    reply
                        .await
                        .map_err(|refusal| RequestFailure::Malformed(trim_sentence(&refusal.why)))?
                }
            };
            answers.insert(key.clone(), answer);
        }
        Ok(answers)
    }

    /// Sends the person to URLs, one after the other. The error says why not every URL was visited, as a clause.
    async fn send_person_to_urls(
        &self,
        call: &Arc<RunningCall>,
        addresses: &[Value],
    ) -> Result<(), String> {
        for address in addresses.iter().take(ELICITATION_URLS_MAX) {
            let reply = self
                .handler
                .answer_request(Ok(call.clone()), ELICITATION, address);
            let answer = reply.await.map_err(|refusal| trim_sentence(&refusal.why))?;
            if answer != json!({ "action": "accept" }) {
                return Err("the person did not go to the address that it needs visited".to_owned());
            }
        }
        Ok(())
    }
}

/// Turns a sentence into a clause.
fn trim_sentence(sentence: &str) -> String {
    sentence.trim_end_matches('.').to_owned()
}
