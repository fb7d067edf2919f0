//! The requests of a client: the list of tools, and calls of them.

use axum::http::request::Parts;
use protocol::UserError;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, SubscriptionFilter, ToolListChangedNotification,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::client_session::ClientSession;
use super::progress::spawn_progress_sender;
use super::served_tools::ServedTools;
use super::tool_result;
use crate::limits::LIST_PAGE_TOOLS;

/// Methods that this server handles. A request for one of them with invalid parameters arrives as a custom request.
const HANDLED_METHODS: [&str; 3] = ["initialize", "tools/list", "tools/call"];

/// One connection: what it serves, and the session of its calls once there is one. A request over HTTP brings its session
/// with it. Dropping it ends what the client listens to.
pub(crate) struct GatewayServer {
    served: ServedTools,
    calls: ClientSession,
    /// Cancelled when the client has closed its side.
    input_closed: CancellationToken,
}

impl Drop for GatewayServer {
    fn drop(&mut self) {
        self.input_closed.cancel();
    }
}

impl GatewayServer {
    /// Returns a server of these tools. `gone` is cancelled when the client has closed its side.
    pub fn new(served: ServedTools, gone: CancellationToken) -> Self {
        Self {
            served,
            calls: ClientSession::default(),
            input_closed: gone,
        }
    }

    /// Ends the running calls.
    pub fn stop_calls(&self) {
        self.calls.stop();
    }

    /// Ends the running calls, and waits until everything is on disk.
    pub async fn close(&self) -> Result<(), UserError> {
        self.calls.close().await
    }

    /// Returns the session of a request: that of its client over HTTP, or that of the connection.
    fn session<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> &'a ClientSession {
        let parts = context.extensions.get::<Parts>();
        let session = parts.and_then(|parts| parts.extensions.get::<ClientSession>());
        session.unwrap_or(&self.calls)
    }

    async fn handle_call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let caller = self
            .session(&context)
            .open(&self.served, &context)
            .await
            .map_err(|fault| internal_error_data(&fault))?;
        let arguments = request.arguments.unwrap_or_default();
        let token = context.meta.get_progress_token();
        let progress = token.map(|token| spawn_progress_sender(context.peer.clone(), token));
        let (sender, task) = progress.unzip();
        let answer = caller
            .call(
                &self.served.tool_id(&request.name),
                arguments,
                &context.ct,
                sender,
            )
            .await;
        // No word on progress comes after the answer; once the client has closed its side, nothing takes words any more.
        if let Some(mut task) = task {
            tokio::select! {
                _ = &mut task => {}
                () = self.input_closed.cancelled() => task.abort(),
            }
        }
        match answer {
            Ok(answer) => match self.served.server() {
                Some(_) => tool_result::build_server_result(&answer),
                None => tool_result::build_tool_result(&answer),
            },
            Err(fault) => Ok(CallToolResult::error(vec![ContentBlock::text(
                fault.to_string(),
            )])),
        }
    }
}

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = match self.served.server() {
            Some(_) => capabilities.enable_tool_list_changed().build(),
            None => capabilities.build(),
        };
        let own =
            Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign");
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(self.served.instructions())
    }

    /// Tells a client of 2025 when the list of tools changes, for as long as it is connected.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(server) = self.served.server().cloned() {
            let gone = self.input_closed.clone();
            let changes = async move {
                loop {
                    server.wait_for_change().await;
                    if context.peer.notify_tool_list_changed().await.is_err() {
                        return;
                    }
                }
            };
            tokio::spawn(async move { gone.run_until_cancelled(changes).await });
        }
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.served
            .server()
            .map(|_| SubscriptionFilter::builder().tools_list_changed().build())
    }

    /// Tells a client of 2026 when the list of tools changes, until it listens no more.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = async {
            while let Some(server) = self.served.server() {
                server.wait_for_change().await;
                let changed = ToolListChangedNotification::default();
                if context.sink().send(changed.into()).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.input_closed.cancelled() => {}
            () = changes => {}
        }
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.served.list();
        let tools = tools.map_err(|fault| internal_error_data(&fault))?;
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor
                .parse::<usize>()
                .map_err(|_| invalid_cursor_error())?,
        };
        if from > 0 && from >= tools.len() {
            return Err(invalid_cursor_error());
        }
        let more = tools.len() > from + LIST_PAGE_TOOLS;
        let page = tools.into_iter().skip(from).take(LIST_PAGE_TOOLS);
        let mut listed = ListToolsResult::with_all_items(page.collect());
        listed.next_cursor = more.then(|| (from + LIST_PAGE_TOOLS).to_string());
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.handle_call(request, context).await.map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = protocol::text::display_text::to_single_line(&request.method, 100);
        Err(match HANDLED_METHODS.contains(&method.as_str()) {
            true => ErrorData::invalid_params(
                format!(
                    "The parameters of `{method}` cannot be read. Look at the protocol for their shape."
                ),
                None,
            ),
            false => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("There is no method `{method}` here. Tools can be listed and called."),
                None,
            ),
        })
    }
}

/// Returns the answer for an internal error that keeps a request from being answered.
fn internal_error_data(fault: &UserError) -> ErrorData {
    ErrorData::internal_error(fault.to_string(), None)
}

fn invalid_cursor_error() -> ErrorData {
    ErrorData::invalid_params(
        "There is no such page of the list. Ask without a cursor to begin again.",
        None,
    )
}
