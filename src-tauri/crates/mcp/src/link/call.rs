//! One call of a tool, or one reading of a resource: to its answer, through everything that the server asks before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest,
    GetPromptRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Failure, Heard, Link};
use crate::asked::Asked;
use crate::limits::{ADDRESSES_MAX, ROUNDS_MAX};
use crate::wanted::ELICITATION;

/// What a server of 2026 was told since it was asked first: its questions' answers, and its own note.
type Told = (Option<BTreeMap<String, Value>>, Option<String>);

impl Link {
    /// Calls a tool.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
        cancel: &CancellationToken,
        heard: Heard,
    ) -> Result<Value, Failure> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let request = |told: &Told| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = told.clone();
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        self.answered(request, timeout, cancel, heard).await
    }

    /// Reads a resource.
    pub(crate) async fn read(
        &self,
        uri: &str,
        timeout: Duration,
        cancel: &CancellationToken,
        heard: Heard,
    ) -> Result<Value, Failure> {
        let params = ReadResourceRequestParams::new(uri);
        let request = |told: &Told| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = told.clone();
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        self.answered(request, timeout, cancel, heard).await
    }

    /// Takes up a prompt. Nobody is asked in between.
    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, Failure> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = |told: &Told| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = told.clone();
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        self.answered(request, timeout, cancel, Heard::default())
            .await
    }

    /// Asks until there is an answer. What the server needs to know first is asked for, or given as far as it is ours.
    async fn answered(
        &self,
        request: impl Fn(&Told) -> ClientRequest,
        timeout: Duration,
        cancel: &CancellationToken,
        heard: Heard,
    ) -> Result<Value, Failure> {
        let until = Instant::now() + timeout;
        let begun = self.handler.running.begin(heard.asks);
        let call = &begun.call;
        let mut told = Told::default();
        for _ in 0..ROUNDS_MAX {
            let on_progress = heard.on_progress.clone();
            let asked = self.ask(request(&told), until, cancel, on_progress, Some(call));
            let answer = match asked.await {
                // It answers once the person was at these addresses.
                Err(Failure::Elsewhere(addresses)) => {
                    let were = self.send_to(call, &addresses);
                    were.await.map_err(Failure::Strange)?;
                    continue;
                }
                answer => answer?,
            };
            match answer.get("resultType").and_then(Value::as_str) {
                None | Some("complete") => return Ok(answer),
                Some("input_required") => {}
                Some(other) => {
                    let kind = protocol::shown::in_a_sentence(other, 40);
                    let what = format!("it answered with something that was not asked for: {kind}");
                    return Err(Failure::Strange(what));
                }
            }
            let answers = self.answers(call, answer.get("inputRequests"));
            let answers = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(Failure::Cancelled),
                () = self.gone.cancelled() => return Err(Failure::Gone(self.why_gone().await)),
                answers = answers => answers?,
            };
            let state = answer.get("requestState").and_then(Value::as_str);
            told = (
                (!answers.is_empty()).then_some(answers),
                state.map(str::to_owned),
            );
        }
        Err(Failure::Strange(format!(
            "it asked for more than {ROUNDS_MAX} times before it would answer"
        )))
    }

    /// Answers to what a server of 2026 asks in between, one after the other.
    async fn answers(
        &self,
        call: &Arc<Asked>,
        asked: Option<&Value>,
    ) -> Result<BTreeMap<String, Value>, Failure> {
        let mut answers = BTreeMap::new();
        let asked = asked.and_then(Value::as_object).into_iter().flatten();
        for (key, request) in asked {
            let method = request.get("method").and_then(Value::as_str);
            let params = request.get("params").unwrap_or(&Value::Null);
            let answer = match method.unwrap_or_default() {
                "roots/list" => serde_json::to_value(self.handler.roots()).unwrap_or_default(),
                method => {
                    let answered = self.handler.answer(Ok(call.clone()), method, params);
                    // There is no error that it could be told.
                    answered
                        .await
                        .map_err(|no| Failure::Strange(trimmed(&no.why)))?
                }
            };
            answers.insert(key.clone(), answer);
        }
        Ok(answers)
    }

    /// Sends the person to addresses, one after the other. The error says why they are not all gone to, as a clause.
    async fn send_to(&self, call: &Arc<Asked>, addresses: &[Value]) -> Result<(), String> {
        for address in addresses.iter().take(ADDRESSES_MAX) {
            let answered = self.handler.answer(Ok(call.clone()), ELICITATION, address);
            let answer = answered.await.map_err(|no| trimmed(&no.why))?;
            if answer != json!({ "action": "accept" }) {
                return Err("the person did not go to the address that it needs visited".to_owned());
            }
        }
        Ok(())
    }
}

/// A sentence as a clause.
fn trimmed(sentence: &str) -> String {
    sentence.trim_end_matches('.').to_owned()
}
