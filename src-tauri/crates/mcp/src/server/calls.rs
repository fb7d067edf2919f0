//! Requests over a server's connection: calls of its tools, reads of its resources and prompts; with failures described
//! in sentences.

use protocol::ToolError;
use protocol::server::mcp_servers::PinState;
use rmcp::model::{CallToolRequestParams, CompleteRequestParams};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{ConnectionPhase, McpServer, unavailable_message};
use crate::catalogue::ServerToolDefinition;
use crate::connection::{
    CallForm, CallListeners, RequestFailure, ServerConnection, ServerList, ToolRequest,
};

impl McpServer {
    /// Calls one of the server's tools.
    pub(crate) async fn call_tool(
        &self,
        tool: &ServerToolDefinition,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        self.check_approved(tool)?;
        let timeout = self.core.timeout();
        let request = ToolRequest {
            form: self.call_form(tool, &connection)?,
            params: CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments),
        };
        let response = connection.call_tool(request, timeout, cancel, listeners);
        self.describe_failure(response).await
    }

    /// Returns how a tool is called: as a task where a server of 2025 takes no other call. One that it takes in both forms is
    /// called plainly, because its answer is waited for anyway.
    ///
    /// # Errors
    /// The tool takes calls as tasks alone, and its server takes none.
    fn call_form(
        &self,
        tool: &ServerToolDefinition,
        connection: &ServerConnection,
    ) -> Result<CallForm, ToolError> {
        let catalogue = self.catalogue();
        let requires_task = catalogue.is_some_and(|all| all.requires_task(&tool.name));
        if !requires_task || !connection.is_legacy() {
            return Ok(CallForm::Plain);
        }
        match connection.supports_task_calls() {
            true => Ok(CallForm::Task),
            false => Err(ToolError::Failed(format!(
                "The tool `{}` of the mcp server {} takes calls as tasks alone, and its server does not announce that it takes \
                 such calls (`tasks.requests.tools.call`), so it was not called. Do without it: only whoever makes the server \
                 can correct that.",
                protocol::text::display_text::to_single_line(&tool.name, 64),
                self.core.settings.id
            ))),
        }
    }

    /// Reads one of the server's resources.
    pub(crate) async fn read_resource(
        &self,
        uri: &str,
        cancel: &CancellationToken,
        listeners: CallListeners,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.read_resource(uri, timeout, cancel, listeners);
        self.describe_failure(response).await
    }

    /// Returns one page of the server's resources and of its resource templates.
    pub(crate) async fn list_resources(
        &self,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<(Value, Value), ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.list_resources(cursor, timeout, cancel);
        self.describe_failure(response).await
    }

    /// Returns one page of a list as the server gives it.
    pub(super) async fn request_page(
        &self,
        list: ServerList,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.list_page(list, cursor, timeout, cancel);
        self.describe_failure(response).await
    }

    /// Returns one page of the server's prompts.
    pub(super) async fn list_prompts(
        &self,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.list_prompts(cursor, timeout, cancel);
        self.describe_failure(response).await
    }

    /// Returns one of the server's prompts, filled in.
    pub(super) async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.get_prompt(name, arguments, timeout, cancel);
        self.describe_failure(response).await
    }

    /// Returns values that complete an argument.
    pub(super) async fn complete(
        &self,
        params: CompleteRequestParams,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let timeout = self.core.timeout();
        let response = connection.complete(params, timeout, cancel);
        self.describe_failure(response).await
    }

    /// Tells a server of 2025 from which level on its log messages are wanted.
    pub(super) async fn send_log_level(&self, cancel: &CancellationToken) -> Result<(), ToolError> {
        let connection = self.connect_for_call(cancel).await?;
        let response = connection.send_log_level(self.core.timeout(), cancel);
        self.describe_failure(response).await
    }

    /// Returns the connection, and makes one if there is none.
    pub(super) async fn connect_for_call(
        &self,
        cancel: &CancellationToken,
    ) -> Result<std::sync::Arc<ServerConnection>, ToolError> {
        let connection = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ToolError::Cancelled),
            connection = self.core.connection(false) => connection,
        };
        connection.map_err(|why| {
            let next = match *self.core.phase.borrow() {
                ConnectionPhase::NeedsSignIn => {
                    "Do without it: the person has to sign in to it first."
                }
                ConnectionPhase::Idle
                | ConnectionPhase::Starting { .. }
                | ConnectionPhase::Ready(_)
                | ConnectionPhase::Unavailable { .. } => "Do without it, or try again later.",
            };
            let message = unavailable_message(self.core.settings.id.as_str(), &why);
            ToolError::Failed(format!("{message} {next}"))
        })
    }

    pub(super) async fn describe_failure<T>(
        &self,
        response: impl Future<Output = Result<T, RequestFailure>>,
    ) -> Result<T, ToolError> {
        response
            .await
            .map_err(|failure| self.to_tool_error(failure))
    }

    fn to_tool_error(&self, failure: RequestFailure) -> ToolError {
        self.core.save_challenge();
        let id = self.core.settings.id.as_str();
        match failure {
            RequestFailure::Cancelled => ToolError::Cancelled,
            RequestFailure::TimedOut => ToolError::TimedOut(format!(
                "The mcp server {id} did not answer within {} s, and was told that nobody waits any more. What it did until \
                 then is not known.",
                self.core.timeout().as_secs_f64()
            )),
            RequestFailure::Disconnected(why) => ToolError::Failed(format!(
                "{} What the call did until then is not known: look before you repeat it.",
                unavailable_message(id, &why)
            )),
            RequestFailure::Rejected(message) => {
                ToolError::Failed(format!("The mcp server {id} refused the call: {message}"))
            }
            RequestFailure::Malformed(why) => ToolError::Failed(format!(
                "The mcp server {id} gave no answer that can be used: {why}."
            )),
            RequestFailure::UrlElicitationRequired(_) => ToolError::Failed(format!(
                "The mcp server {id} wants the person to go somewhere first, and does not say where."
            )),
        }
    }

    /// Checks that a tool is as it was approved; no other is called.
    fn check_approved(&self, tool: &ServerToolDefinition) -> Result<(), ToolError> {
        let what = match self.pinned_tools().pin_state(tool) {
            PinState::Pinned => return Ok(()),
            PinState::Changed | PinState::New => "is not what it was when it was approved",
            PinState::Gone => "is not there any more",
        };
        let name = protocol::text::display_text::to_single_line(&tool.name, 64);
        Err(ToolError::Failed(format!(
            "The tool `{name}` of the mcp server {} {what}, so it was not called. Only the person can approve it anew, in \
             Servers. Do without it.",
            self.core.settings.id
        )))
    }
}
