//! The requests of a client: the list of tools, and calls of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::{Engine, ExternalClient, ProgressSender};
use protocol::UserError;
use protocol::event::ClientInfo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{tool_description, tool_result};
use crate::limits::{LIST_PAGE_TOOLS, PROGRESS_QUEUE_MAX};

/// Methods that this server handles. A request for one of them with invalid parameters arrives as a custom request.
const HANDLED_METHODS: [&str; 3] = ["initialize", "tools/list", "tools/call"];

/// One connection: a folder, and the session of its calls once there is one.
pub(super) struct GatewayServer {
    desk: Engine,
    workspace: PathBuf,
    client: OnceCell<Arc<ExternalClient>>,
    /// Cancelled when the client has closed its side.
    input_closed: CancellationToken,
}

impl GatewayServer {
    /// Returns a server for this folder.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn new(desk: Engine, workspace: &Path, gone: CancellationToken) -> Result<Self, UserError> {
        desk.list_tools(workspace)?;
        Ok(Self {
            desk,
            workspace: workspace.to_owned(),
            client: OnceCell::new(),
            input_closed: gone,
        })
    }

    /// Ends the running calls.
    pub fn stop_calls(&self) {
        if let Some(caller) = self.client.get() {
            caller.stop();
        }
    }

    /// Ends the running calls, and waits until everything is on disk.
    pub async fn close(&self) -> Result<(), UserError> {
        match self.client.get() {
            Some(caller) => caller.close().await,
            None => Ok(()),
        }
    }

    /// Returns the client of this connection, whose session is opened with the first call. A 2026 client names itself
    /// in each request: the first one names the session.
    async fn external_client(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<&Arc<ExternalClient>, UserError> {
        let open = || async {
            let info = context.client_info();
            let by = context.protocol_version();
            let client = ClientInfo {
                name: info
                    .as_ref()
                    .map_or_else(String::new, |info| info.name.clone()),
                version: info.map_or_else(String::new, |info| info.version),
                by: match by {
                    Some(version) => format!("MCP {version}"),
                    None => "MCP".to_owned(),
                },
                session: String::new(),
            };
            self.desk.open_client(&self.workspace, client).await
        };
        self.client.get_or_try_init(open).await
    }

    async fn handle_call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let caller = self
            .external_client(&context)
            .await
            .map_err(|fault| internal_error_data(&fault))?;
        let arguments = request.arguments.unwrap_or_default();
        let token = context.meta.get_progress_token();
        let progress = token.map(|token| spawn_progress_sender(context.peer.clone(), token));
        let (sender, task) = progress.unzip();
        let answer = caller
            .call(&request.name, arguments, &context.ct, sender)
            .await;
        // No word on progress comes after the answer; once the client has closed its side, nothing takes words any more.
        if let Some(mut task) = task {
            tokio::select! {
                _ = &mut task => {}
                () = self.input_closed.cancelled() => task.abort(),
            }
        }
        match answer {
            Ok(answer) => tool_result::build_tool_result(&answer),
            Err(fault) => Ok(CallToolResult::error(vec![ContentBlock::text(
                fault.to_string(),
            )])),
        }
    }
}

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own =
            Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign");
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(format!(
                "These tools work in {}. Each call is judged by the rules of the person whose machine it is, and recorded; \
                 what changes files can be undone by that person. Nobody can be asked here: a call that would have to be is refused, and \
                 its error says why. Do not try a refused call in another form.",
                protocol::text::display_text::name(&self.workspace)
            ))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offers = self.desk.list_tools(&self.workspace);
        let offers = offers.map_err(|fault| internal_error_data(&fault))?;
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor
                .parse::<usize>()
                .map_err(|_| invalid_cursor_error())?,
        };
        if from > 0 && from >= offers.len() {
            return Err(invalid_cursor_error());
        }
        let more = offers.len() > from + LIST_PAGE_TOOLS;
        let page = offers.into_iter().skip(from).take(LIST_PAGE_TOOLS);
        let tools: Vec<Tool> = page.map(tool_description::to_mcp_tool).collect();
        let mut listed = ListToolsResult::with_all_items(tools);
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

/// Sends the progress messages of a call, numbered, until all senders are dropped.
fn spawn_progress_sender(
    peer: Peer<RoleServer>,
    token: ProgressToken,
) -> (ProgressSender, JoinHandle<()>) {
    let (sender, mut messages) = mpsc::channel::<String>(PROGRESS_QUEUE_MAX);
    let task = tokio::spawn(async move {
        let mut number = 0.0;
        while let Some(message) = messages.recv().await {
            number += 1.0;
            let progress = ProgressNotificationParam::new(token.clone(), number);
            if peer
                .notify_progress(progress.with_message(message))
                .await
                .is_err()
            {
                return;
            }
        }
    });
    (sender, task)
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
