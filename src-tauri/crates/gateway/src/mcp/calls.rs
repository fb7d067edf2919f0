//! The calls of a client: one is made during one request, or, where a client of 2026 is asked something, during several.

use std::sync::Arc;

use agent::{ClientCall, ClientOutcome, ExternalClient, ServerRead};
use protocol::UserError;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
};
use rmcp::service::{RequestContext, RoleServer};

use super::call_reports::CallReports;
use super::client_questions::ClientQuestions;
use super::gateway_server::{GatewayServer, closed_error, internal_error_data};
use super::held_calls::{CallInRounds, Continuation, RequestedCall, Resumed, Round};
use super::tool_result;

impl GatewayServer {
    /// Makes a call during one request. A call that is held for an answer of the client is given up: it would keep this one
    /// waiting, and no client says that it does not answer.
    pub(super) async fn make_call(
        &self,
        client: &Arc<ExternalClient>,
        call: RequestedCall,
        context: &RequestContext<RoleServer>,
    ) -> Result<ClientOutcome, UserError> {
        self.session(context).held_calls().clear();
        let mut reports = CallReports::begin(&self.served, context, self.session(context)).await;
        let questions = ClientQuestions::new(&context.peer, self.served.passed_questions());
        let request = ClientCall {
            name: &call.tool,
            arguments: call.arguments,
            heard: reports.take_progress_sender(),
            questions: questions.map(|client| Arc::new(client) as _),
        };
        let made = client.make_call(request, &context.ct);
        let answer = match self.served.turns() {
            None => made.await,
            // The client is the turn's, and does not end with the connection. A call that nobody waits for is stopped.
            Some(_) => tokio::select! {
                answer = made => answer,
                () = self.calls_stopped.cancelled() => Err(closed_error()),
            },
        };
        reports.finish(&self.input_closed).await;
        answer
    }

    /// Makes a call, or goes on with a held one, until it is over or the client is asked something.
    async fn make_round(
        &self,
        call: RequestedCall,
        continuation: Option<Continuation>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let client = self.open_client(context).await?;
        let passed = self.served.passed_questions();
        let is_asked_by_answers =
            context.protocol_version() >= Some(ProtocolVersion::NO_INITIALIZE);
        if !(is_asked_by_answers && passed.is_any()) {
            return Ok(Round::answered(
                self.make_call(&client, call, context).await,
            ));
        }
        let held_calls = self.session(context).held_calls();
        let mut running = match continuation {
            Some(continuation) => match held_calls.resume(&call, continuation)? {
                Resumed::Runs(running) => running,
                Resumed::StillAsks(question) => return Ok(Round::Asks(question)),
            },
            None => {
                held_calls.clear();
                CallInRounds::begin(client, call, passed, context.client_capabilities())
            }
        };
        let reports = CallReports::begin(&self.served, context, self.session(context)).await;
        let round = loop {
            tokio::select! {
                biased;
                answer = &mut running.running => {
                    break Round::answered(answer.unwrap_or_else(|_| Err(closed_error())));
                }
                Some(open) = running.questions.recv() => {
                    break Round::Asks(held_calls.hold(running, open));
                }
                Some(text) = running.progress.recv() => reports.tell_progress(text),
                () = context.ct.cancelled() => break Round::answered(Err(closed_error())),
            }
        };
        reports.finish(&self.input_closed).await;
        Ok(round)
    }

    /// Calls a tool.
    pub(super) async fn handle_call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = RequestedCall {
            tool: self.served.tool_id(&request.name),
            arguments: request.arguments.unwrap_or_default(),
        };
        let continuation = Continuation::new(request.request_state, request.input_responses);
        let answered = match self.make_round(call, continuation, context).await? {
            Round::Asks(question) => return Ok(question.into()),
            Round::Answered(answered) => *answered,
        };
        let result = match answered {
            Ok(answer) => match self.served.server() {
                Some(_) => tool_result::build_server_result(&answer)?,
                None => tool_result::build_tool_result(&answer)?,
            },
            Err(fault) => CallToolResult::error(vec![ContentBlock::text(fault.to_string())]),
        };
        Ok(result.into())
    }

    /// Reads a resource of the server.
    pub(super) async fn handle_resource_read(
        &self,
        request: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let server = self.offering_server(self.served.offers().resources)?;
        let call = RequestedCall {
            tool: server.read_tool_id(ServerRead::Resource),
            arguments: JsonObject::from_iter([("uri".to_owned(), request.uri.into())]),
        };
        let continuation = Continuation::new(request.request_state, request.input_responses);
        let answered = match self.make_round(call, continuation, context).await? {
            Round::Asks(question) => return Ok(question.into()),
            Round::Answered(answered) => *answered,
        };
        let answer = answered.map_err(|fault| internal_error_data(&fault))?;
        tool_result::build_read_result::<ReadResourceResult>(&answer).map(Into::into)
    }
}
