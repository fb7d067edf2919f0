//! What the tests of gateways stand on: servers to stand in front of, desks, and a client that keeps what it is told.

#![allow(
    deprecated,
    reason = "logging is being removed from the protocol; clients of today use it"
)]

use std::collections::BTreeMap;
use std::path::Path;

use agent::{Engine, GivenServer, Host, ServerChoice};
use gateway::endpoint::{self, McpRequest};
use gateway::endpoint_server::{self, ServeOptions};
use gateway::mcp::ServedTools;
use protocol::server::mcp_servers::ServerSettings;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, RoleClient, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use runtime::LocalListener;
use serde_json::{Value, json};
use support::servers::{server_id, stdio_server};
use support::{Fixture, HEADLESS, expect_variant};
use tokio::io::{duplex, split};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) const ALLOW: &str = "[[rule]]\npermission = \"given__*\"\naction = \"allow\"\n";

/// A client that keeps what it is told beside the answers.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Listener>,
    told: UnboundedReceiver<String>,
}

pub(crate) struct Listener(UnboundedSender<String>);

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(progress.message.unwrap_or_default());
    }

    async fn on_resource_updated(
        &self,
        update: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(format!("{} changed", update.uri));
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(message.level).unwrap();
        let level = level.as_str().unwrap().to_owned();
        let _ = self.0.send(format!("{level} {}", message.data));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send("the list changed".to_owned());
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send("the resources changed".to_owned());
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send("the prompts changed".to_owned());
    }
}

impl Client {
    async fn begin(stream: tokio::io::DuplexStream) -> Self {
        Self::begin_as(stream, ClientLifecycleMode::Initialize).await
    }

    async fn begin_as(stream: tokio::io::DuplexStream, lifecycle: ClientLifecycleMode) -> Self {
        let (says, told) = unbounded_channel();
        let service = serve_client_with_lifecycle(Listener(says), split(stream), lifecycle);
        Self {
            service: service.await.unwrap(),
            told,
        }
    }

    /// A client of an address, in one era of the protocol.
    pub(crate) async fn of_address(
        url: &str,
        token: &str,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, ClientInitializeError> {
        let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
        let transport = StreamableHttpClientTransport::from_config(config);
        let (says, told) = unbounded_channel();
        let service = serve_client_with_lifecycle(Listener(says), transport, lifecycle).await?;
        Ok(Self { service, told })
    }

    /// A client of a gateway in which nobody can be asked.
    pub(crate) async fn of_engine(engine: &Engine, request: &McpRequest) -> Self {
        Self::of_engine_as(engine, request, ClientLifecycleMode::Initialize).await
    }

    /// The same, in one era of the protocol.
    pub(crate) async fn of_engine_as(
        engine: &Engine,
        request: &McpRequest,
        lifecycle: ClientLifecycleMode,
    ) -> Self {
        let served = ServedTools::open(engine, request).await.unwrap();
        let (ours, theirs) = duplex(1 << 20);
        let (from, to) = split(ours);
        tokio::spawn(gateway::mcp::serve(
            served,
            from,
            to,
            std::future::pending(),
        ));
        Self::begin_as(theirs, lifecycle).await
    }

    /// A client of a gateway that hands everything on to the app.
    pub(crate) async fn of_app(desk: &Fixture, request: McpRequest) -> Self {
        Self::of_endpoint(desk.data_dir(), request).await
    }

    /// A client of a gateway that hands everything on to the endpoint in this folder.
    pub(crate) async fn of_endpoint(folder: &Path, request: McpRequest) -> Self {
        let stream = endpoint::open_mcp(folder, request).await.unwrap().unwrap();
        let (ours, theirs) = duplex(1 << 20);
        let (from, to) = split(ours);
        tokio::spawn(gateway::endpoint::relay(stream, from, to));
        Self::begin(theirs).await
    }

    pub(crate) async fn hears(&mut self, wanted: &str) {
        while let Some(told) = self.told.recv().await {
            if told == wanted {
                return;
            }
        }
        panic!("nothing more is told, and never: {wanted}");
    }

    /// The next thing that it is told.
    pub(crate) async fn hear(&mut self) -> String {
        self.told.recv().await.unwrap()
    }

    /// What it was told already.
    pub(crate) fn heard(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.told.try_recv().ok()).collect()
    }

    /// Hears all of these, in whatever order they are told.
    pub(crate) async fn hears_all(&mut self, wanted: &[&str]) {
        let mut wanted = wanted.to_vec();
        while !wanted.is_empty() {
            let told = self.told.recv().await.unwrap();
            wanted.retain(|one| *one != told);
        }
    }

    pub(crate) async fn tools(&self) -> Vec<Value> {
        let tools = self.service.list_all_tools().await.unwrap();
        tools
            .iter()
            .map(|tool| serde_json::to_value(tool).unwrap())
            .collect()
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let arguments = expect_variant!(arguments, Value::Object(members) => members);
        let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        self.service.call_tool(request).await
    }

    /// The text of a result, and whether it is an error.
    pub(crate) async fn called(&self, name: &str, arguments: Value) -> (String, bool) {
        let result = self.call(name, arguments).await.unwrap();
        let text = result.content[0].as_text().unwrap().text.clone();
        (text, result.is_error == Some(true))
    }
}

/// A client of 2026.
pub(crate) fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

/// The fixture server, given as `given`.
pub(crate) fn given(desk: &Fixture, traits: &[&str]) -> McpRequest {
    given_with_variable(desk, traits, "by the gateway")
}

/// The same, where the gateway has this value in its variable TOLD.
pub(crate) fn given_with_variable(desk: &Fixture, traits: &[&str], told: &str) -> McpRequest {
    McpRequest {
        workspace: desk.workspace_root(),
        server: Some(ServerChoice::Given(GivenServer {
            settings: ServerSettings {
                id: server_id("given"),
                transport: stdio_server(
                    env!("CARGO_BIN_EXE_mcp_server"),
                    traits,
                    &[("TOLD", "${TOLD}")],
                ),
                timeout_ms: 20_000,
                audience: None,
                enabled: true,
            },
            variables: BTreeMap::from([("TOLD".to_owned(), told.to_owned())]),
            approves_tools: false,
        })),
    }
}

/// A desk without a person, where rules decide.
pub(crate) async fn open_headless(rules: &str) -> Fixture {
    let desk = Fixture::with_host(json!([]), HEADLESS).await;
    desk.write_rules(rules);
    desk
}

/// A desk with a person at the app, which serves its endpoint.
pub(crate) async fn open_app() -> Fixture {
    let desk = Fixture::with_host(json!([]), Host::Person).await;
    let listener = LocalListener::bind(desk.data_dir()).await.unwrap();
    let engine = desk.engine.clone();
    tokio::spawn(async move {
        let options = ServeOptions {
            can_ask: true,
            idle_max: None,
        };
        endpoint_server::serve(&engine, listener, options, std::future::pending()).await;
    });
    desk
}
