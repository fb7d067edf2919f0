//! The requests of a client: the list of tools, and calls of them; and what a server behind the gateway offers beside them.

#![allow(
    deprecated,
    reason = "clients of 2025 subscribe to resources and set the level of log messages by requests of their own"
)]

use agent::{ServerList, ServerRead};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};

use super::gateway_server::{GatewayServer, internal_error_data};
use super::{list_changes, server_reads};
use crate::limits::LIST_PAGE_TOOLS;

/// Methods that this server handles. A request for one of them with invalid parameters arrives as a custom request.
const HANDLED_METHODS: [&str; 9] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
/// Those that a client of 2025 alone has.
const LEGACY_METHODS: [&str; 4] = [
    "initialize",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
];

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = list_changes::capabilities(&self.served);
        let own =
            Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign");
        ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(self.served.instructions())
    }

    /// Tells a client of 2025 when a list changes, and the server's log messages, for as long as it is connected.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(server) = self.served.server() else {
            return;
        };
        let gone = self.input_closed.clone();
        let telling = list_changes::tell_peer(server.watch_lists(), context.peer.clone());
        tokio::spawn(async move { gone.run_until_cancelled(telling).await });
        if self.served.offers().logging {
            let gone = self.input_closed.clone();
            let calls = self.session_of(&context.extensions).clone();
            let telling = self
                .log
                .clone()
                .tell_peer(server.watch_log(), context.peer, calls);
            tokio::spawn(async move { gone.run_until_cancelled(telling).await });
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let is_watched = self.served.server().is_some();
        is_watched.then(|| list_changes::subscription_filter(self.served.offers(), requested))
    }

    /// Tells a client of 2026 when a list changes, or a resource that it names, until it listens no more.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let telling = async {
            if let Some(server) = self.served.server() {
                list_changes::tell_subscriber(server.watch_lists(), context.sink()).await;
            }
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.input_closed.cancelled() => {}
            () = telling => {}
            refused = self.tell_updates(&context) => return Err(refused),
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.check_room(&request.uri)?;
        let watch = self.subscribe_resource(&request.uri, &context).await?;
        self.subscriptions.add(watch, context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.offering_server(self.served.offers().subscriptions)?;
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    /// Takes the level from which on a client of 2025 wants log messages.
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let is_known = context.protocol_version() < Some(ProtocolVersion::NO_INITIALIZE);
        let server = self.offering_server(self.served.offers().logging && is_known)?;
        let told = self.log.set_level(server, request.level, &context.ct).await;
        told.map_err(|fault| internal_error_data(&fault))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let arguments = server_reads::completion_arguments(request);
        self.handle_read(ServerRead::Completion, arguments, &context)
            .await
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
        self.handle_call(request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.list_of_server(ServerList::Resources, request, &context)
            .await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.list_of_server(ServerList::ResourceTemplates, request, &context)
            .await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.list_of_server(ServerList::Prompts, request, &context)
            .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.handle_resource_read(request, &context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut arguments = JsonObject::from_iter([("name".to_owned(), request.name.into())]);
        if let Some(filled) = request.arguments {
            arguments.insert("arguments".to_owned(), filled.into());
        }
        let read = self.handle_read::<GetPromptResult>(ServerRead::Prompt, arguments, &context);
        read.await.map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = protocol::text::display_text::to_single_line(&request.method, 100);
        let is_legacy = context.protocol_version() < Some(ProtocolVersion::NO_INITIALIZE);
        let is_handled = HANDLED_METHODS.contains(&method.as_str())
            || (is_legacy && LEGACY_METHODS.contains(&method.as_str()));
        Err(match is_handled {
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

fn invalid_cursor_error() -> ErrorData {
    ErrorData::invalid_params(
        "There is no such page of the list. Ask without a cursor to begin again.",
        None,
    )
}
