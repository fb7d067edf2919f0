//! A gateway at an address: who is let in, that calls are judged as over streams, and how sessions end.

#![allow(
    deprecated,
    reason = "clients of 2025 set the level of log messages by a request"
)]

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use gateway::endpoint::{self, ListenRequest, McpRequest};
use gateway::mcp::PassedQuestions;
use gateway::mcp_http::{ClientTokens, McpListener, SessionLimits};
use protocol::event::SessionEvent;
use protocol::{CallState, EventBody};
use reqwest::header::{AUTHORIZATION, HOST, ORIGIN};
use reqwest::{Method, StatusCode};
use rmcp::model::{CallToolRequestParams, LoggingLevel, SetLevelRequestParams};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};
use support::{Fixture, expect_variant};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::gateway_client::{ALLOW, Client, given, modern, open_app, open_headless};

/// A gateway at a free port of this machine.
struct Gateway {
    url: String,
    tokens: ClientTokens,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

impl Gateway {
    async fn open(desk: &Fixture, mcp: McpRequest) -> Self {
        Self::with_limits(desk, mcp, SessionLimits::default()).await
    }

    async fn with_limits(desk: &Fixture, mcp: McpRequest, limits: SessionLimits) -> Self {
        let listener = Self::bind(desk, mcp).await;
        Self::serve(desk, listener.with_limits(limits))
    }

    async fn passing(desk: &Fixture, mcp: McpRequest, passed: PassedQuestions) -> Self {
        let listener = Self::bind(desk, mcp).await;
        Self::serve(desk, listener.passing_questions(passed))
    }

    async fn bind(desk: &Fixture, mcp: McpRequest) -> McpListener {
        let request = ListenRequest {
            mcp,
            address: any_port(),
        };
        McpListener::open(&desk.engine, &request).await.unwrap()
    }

    fn serve(desk: &Fixture, listener: McpListener) -> Self {
        let url = format!("http://{}/mcp", listener.address());
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        Self {
            url,
            tokens: ClientTokens::new(desk.data_dir()),
            stop,
            serving: tokio::spawn(async move { listener.serve(stopped).await.unwrap() }),
        }
    }

    /// Sends a request with a token, and returns the response.
    fn request(&self, method: Method, token: &str) -> reqwest::RequestBuilder {
        reqwest::Client::new()
            .request(method, &self.url)
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
    }

    fn initialize(&self, token: &str) -> reqwest::RequestBuilder {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "probe", "version": "1" } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        self.request(Method::POST, token).body(message.to_string())
    }

    /// Begins a session, and returns its id.
    async fn begin_session(&self, token: &str) -> String {
        let response = self.initialize(token).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"].to_str().unwrap();
        let id = id.to_owned();
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let told = self.in_session(Method::POST, token, &id);
        let told = told.body(begun.to_string()).send().await.unwrap();
        assert_eq!(told.status(), StatusCode::ACCEPTED);
        id
    }

    fn in_session(&self, method: Method, token: &str, id: &str) -> reqwest::RequestBuilder {
        self.request(method, token)
            .header("mcp-session-id", id)
            .header("mcp-protocol-version", "2025-11-25")
    }

    /// Begins a call of a tool without arguments, and returns its response, which goes on.
    async fn begin_call(&self, token: &str, session: &str, tool: &str) -> reqwest::Response {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": tool, "arguments": {} } });
        let request = self.in_session(Method::POST, token, session);
        let response = request.body(call.to_string()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response
    }
}

/// The client of the session of the desk's last call, as it stands on record.
async fn recorded_client(desk: &mut Fixture) -> Value {
    let opened = desk
        .wait_for_event("a session of a client", |body| {
            matches!(body, EventBody::Session(SessionEvent::Opened { .. }))
        })
        .await;
    let options = expect_variant!(opened.body, EventBody::Session(SessionEvent::Opened { options, .. }) => options);
    serde_json::to_value(options.unwrap().client).unwrap()
}

#[tokio::test]
async fn clients_of_both_eras_call_at_once_and_are_recorded_by_their_tokens() {
    for (lifecycle, by) in [
        (ClientLifecycleMode::Initialize, "MCP 2025-11-25"),
        (modern(), "MCP 2026-07-28"),
    ] {
        let mut desk = open_headless(ALLOW).await;
        let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
        let editor = gateway.tokens.add("editor").unwrap();
        let laptop = gateway.tokens.add("laptop").unwrap();
        let one = Client::of_address(&gateway.url, &editor, lifecycle.clone())
            .await
            .unwrap();
        let two = Client::of_address(&gateway.url, &laptop, lifecycle)
            .await
            .unwrap();
        let names: Vec<Value> = one
            .tools()
            .await
            .iter()
            .map(|one| one["name"].clone())
            .collect();
        assert_eq!(names, ["echo", "count", "hang", "change", "env"]);

        let said = one.called("echo", json!({ "message": "one" })).await;
        assert_eq!(said, ("one".to_owned(), false));
        let client = recorded_client(&mut desk).await;
        assert_eq!(
            (&client["token"], &client["by"]),
            (&json!("editor"), &json!(by))
        );
        let counted = [
            one.called("count", json!({})).await.0,
            two.called("count", json!({})).await.0,
        ];
        let process = |text: &str| text.split(' ').next().unwrap().to_owned();
        assert_eq!(process(&counted[0]), process(&counted[1]), "one server");
        let client = recorded_client(&mut desk).await;
        assert_eq!(client["token"], "laptop");

        gateway.stop.cancel();
        gateway.serving.await.unwrap();
    }
}

#[tokio::test]
async fn what_a_server_logs_during_a_call_is_told_to_its_client_alone_and_from_its_own_level_on() {
    let desk = open_headless(ALLOW).await;
    let gateway = Gateway::open(&desk, given(&desk, &["few", "telling"])).await;
    let mut clients = Vec::new();
    for (name, level) in [
        ("editor", LoggingLevel::Info),
        ("laptop", LoggingLevel::Error),
    ] {
        let token = gateway.tokens.add(name).unwrap();
        let client = Client::of_address(&gateway.url, &token, ClientLifecycleMode::Initialize);
        let client = client.await.unwrap();
        let request = SetLevelRequestParams::new(level);
        client.service.set_level(request).await.unwrap();
        assert!(!client.called("echo", json!({ "message": "here" })).await.1);
        clients.push(client);
    }
    let [one, two] = clients.as_mut_slice() else {
        panic!()
    };
    for _ in 0..2 {
        assert!(!one.called("log", json!({})).await.1);
        for level in ["info", "warning", "error"] {
            assert!(one.hear().await.starts_with(level));
        }
        assert!(!two.called("log", json!({})).await.1);
        assert!(two.hear().await.starts_with("error"));
        assert_eq!([one.heard(), two.heard()].concat(), Vec::<String>::new());
    }
    gateway.stop.cancel();
    gateway.serving.await.unwrap();
}

#[tokio::test]
async fn a_call_that_asks_is_denied_at_an_address_too() {
    let desk = open_headless("").await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let client = Client::of_address(&gateway.url, &token, ClientLifecycleMode::Initialize)
        .await
        .unwrap();
    let (why, is_error) = client.called("echo", json!({ "message": "hello" })).await;
    assert!(is_error && why.contains("nobody is there to ask"), "{why}");
}

/// Sends a call of a tool that asks as a client of 2026, and returns the answer.
async fn call_form(gateway: &Gateway, token: &str, further: Value) -> Value {
    let mut params = json!({ "name": "form", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } } });
    let further = expect_variant!(further, Value::Object(members) => members);
    params.as_object_mut().unwrap().extend(further);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = gateway
        .request(Method::POST, token)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "form");
    let response = request.body(call.to_string()).send().await.unwrap();
    let body = response.text().await.unwrap();
    let messages = body
        .lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line));
    let mut messages = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = messages.find(|message| message["id"] == 1);
    answer.unwrap_or_else(|| panic!("{body}"))
}

#[tokio::test]
async fn a_call_that_is_held_between_requests_is_its_clients_alone() {
    let desk = open_headless(ALLOW).await;
    let passed = PassedQuestions {
        elicitation: true,
        sampling: false,
    };
    let gateway = Gateway::passing(&desk, given(&desk, &["asking"]), passed).await;
    let editor = gateway.tokens.add("editor").unwrap();
    let laptop = gateway.tokens.add("laptop").unwrap();
    let asked = call_form(&gateway, &editor, json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let answers = json!({ "requestState": asked["result"]["requestState"],
        "inputResponses": { "question": answer } });
    let refused = call_form(&gateway, &laptop, answers.clone()).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let answered = call_form(&gateway, &editor, answers).await;
    let text = answered["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Ada"), "{text}");
}

#[tokio::test]
async fn nobody_is_let_in_without_a_token() {
    let desk = open_headless(ALLOW).await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let without = reqwest::Client::new()
        .post(&gateway.url)
        .send()
        .await
        .unwrap();
    assert_eq!(without.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(without.headers()["www-authenticate"], "Bearer");
    for wrong in [
        "",
        "csgw_",
        &token[1..],
        &format!("{token}x"),
        &token.to_uppercase(),
    ] {
        let refused = gateway.initialize(wrong).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{wrong}");
    }
    let basic = gateway
        .initialize(&token)
        .header(AUTHORIZATION, "Basic eDp5");
    // Two headers: the first counts, and nothing is made of the second.
    assert_eq!(basic.send().await.unwrap().status(), StatusCode::OK);

    gateway.tokens.revoke("editor").unwrap();
    let revoked = gateway.initialize(&token).send().await.unwrap();
    assert_eq!(revoked.status(), StatusCode::UNAUTHORIZED);
    // What is kept of a token lets nobody in.
    let kept = gateway.tokens.add("editor").unwrap();
    let file = std::fs::read_to_string(desk.data_dir().join("gateway-tokens.json")).unwrap();
    assert!(!file.contains(&kept), "{file}");
}

/// A page of another site that reaches this machine under a name of its own, or by a request across origins.
#[tokio::test]
async fn a_host_or_an_origin_that_is_not_this_machine_is_refused() {
    let desk = open_headless(ALLOW).await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let port = gateway.url.rsplit(':').next().unwrap().replace("/mcp", "");
    for (header, value, status) in [
        (HOST, "evil.example".to_owned(), 403),
        (HOST, format!("evil.example:{port}"), 403),
        (HOST, format!("127.0.0.1.evil.example:{port}"), 403),
        (HOST, format!("localhost:{port}"), 200),
        (HOST, format!("[::1]:{port}"), 200),
        (ORIGIN, "http://evil.example".to_owned(), 403),
        (ORIGIN, format!("http://evil.example:{port}"), 403),
        (ORIGIN, "null".to_owned(), 403),
        (ORIGIN, "file://".to_owned(), 403),
        (ORIGIN, format!("http://127.0.0.1:{port}"), 200),
        (ORIGIN, "http://localhost:3000".to_owned(), 200),
    ] {
        let response = gateway.initialize(&token).header(&header, &value);
        let response = response.send().await.unwrap();
        assert_eq!(response.status(), status, "{header}: {value}");
    }
}

#[tokio::test]
async fn an_address_that_other_machines_reach_is_refused() {
    let desk = open_headless(ALLOW).await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let request = ListenRequest {
            mcp: given(&desk, &["few"]),
            address: address.parse().unwrap(),
        };
        let refused = McpListener::open(&desk.engine, &request)
            .await
            .err()
            .unwrap();
        assert!(refused.hint.contains("Other machines"), "{refused}");
    }
}

#[tokio::test]
async fn a_session_is_its_clients_alone_and_ends_when_it_says_so() {
    let desk = open_headless(ALLOW).await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let editor = gateway.tokens.add("editor").unwrap();
    let laptop = gateway.tokens.add("laptop").unwrap();
    let session = gateway.begin_session(&editor).await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }).to_string();
    let status = async |method: Method, token: &str| {
        let request = gateway.in_session(method, token, &session);
        request.body(list.clone()).send().await.unwrap().status()
    };
    assert_eq!(status(Method::POST, &laptop).await, StatusCode::NOT_FOUND);
    assert_eq!(status(Method::DELETE, &laptop).await, StatusCode::NOT_FOUND);
    assert_eq!(status(Method::POST, &editor).await, StatusCode::OK);
    assert_eq!(status(Method::DELETE, &editor).await, StatusCode::ACCEPTED);
    assert_eq!(status(Method::POST, &editor).await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_end_of_a_session_withdraws_what_it_asked() {
    let mut desk = open_app().await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let session = gateway.begin_session(&token).await;
    let _response = gateway.begin_call(&token, &session, "count").await;
    desk.session = desk.wait_for_any_call().await.session;
    let end = gateway.in_session(Method::DELETE, &token, &session);
    assert_eq!(end.send().await.unwrap().status(), StatusCode::ACCEPTED);
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
}

/// A client may lose its connection and come back for the result; one that does not takes its questions with it.
#[tokio::test]
async fn a_client_that_does_not_come_back_takes_its_questions_with_it() {
    let mut desk = open_app().await;
    let limits = SessionLimits {
        reconnect_max: Duration::from_millis(200),
        sweep_every: Duration::from_millis(50),
        ..SessionLimits::default()
    };
    let gateway = Gateway::with_limits(&desk, given(&desk, &["few"]), limits).await;
    let token = gateway.tokens.add("editor").unwrap();
    let session = gateway.begin_session(&token).await;
    let response = gateway.begin_call(&token, &session, "count").await;
    desk.session = desk.wait_for_any_call().await.session;
    drop(response);
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
    let again = gateway.in_session(Method::GET, &token, &session);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_client_that_comes_back_has_the_result() {
    let mut desk = open_app().await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let session = gateway.begin_session(&token).await;
    let mut response = gateway.begin_call(&token, &session, "count").await;
    let first = response.chunk().await.unwrap().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    let event = first
        .lines()
        .find_map(|line| line.strip_prefix("id:"))
        .unwrap();
    desk.session = desk.wait_for_any_call().await.session;
    drop(response);
    let again = gateway.in_session(Method::GET, &token, &session);
    let again = again
        .header("last-event-id", event.trim())
        .send()
        .await
        .unwrap();
    assert_eq!(again.status(), StatusCode::OK);
    let view = desk.only_call().await;
    desk.allow_call(&view).await;
    let rest = again.text().await.unwrap();
    assert!(rest.contains("\"result\":{\"content\""), "{rest}");
}

#[tokio::test]
async fn a_token_that_is_revoked_ends_the_sessions_of_its_client() {
    let mut desk = open_app().await;
    let limits = SessionLimits {
        sweep_every: Duration::from_millis(50),
        ..SessionLimits::default()
    };
    let gateway = Gateway::with_limits(&desk, given(&desk, &["few"]), limits).await;
    let token = gateway.tokens.add("editor").unwrap();
    let session = gateway.begin_session(&token).await;
    let _response = gateway.begin_call(&token, &session, "count").await;
    desk.session = desk.wait_for_any_call().await.session;
    gateway.tokens.revoke("editor").unwrap();
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Interrupted]);
}

#[tokio::test]
async fn a_session_that_nobody_uses_makes_room_for_a_new_one() {
    let desk = open_headless(ALLOW).await;
    let limits = SessionLimits {
        sessions_max: 2,
        ..SessionLimits::default()
    };
    let gateway = Gateway::with_limits(&desk, given(&desk, &["few"]), limits).await;
    let token = gateway.tokens.add("editor").unwrap();
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(gateway.begin_session(&token).await);
    }
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }).to_string();
    let mut statuses = Vec::new();
    for session in &sessions {
        let request = gateway.in_session(Method::POST, &token, session);
        let response = request.body(list.clone()).send().await.unwrap();
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses[0], 404);
    assert_eq!(statuses[3], 200);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let desk = open_headless(ALLOW).await;
    let gateway = Gateway::open(&desk, given(&desk, &["few"])).await;
    let token = gateway.tokens.add("editor").unwrap();
    let long = "x".repeat(gateway::limits::MESSAGE_BYTES_MAX + 1);
    let request = gateway.request(Method::POST, &token).body(long);
    let refused = request.send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

/// The app serves the address for a gateway, for as long as the gateway holds on to that, and asks its person.
#[tokio::test]
async fn the_app_serves_the_address_and_its_person_answers() {
    let mut desk = open_app().await;
    let tokens = ClientTokens::new(desk.data_dir());
    let token = tokens.add("editor").unwrap();
    let request = ListenRequest {
        mcp: given(&desk, &["few"]),
        address: any_port(),
    };
    let app = endpoint::listen_mcp(desk.data_dir(), request)
        .await
        .unwrap()
        .unwrap();
    let url = format!("http://{}/mcp", app.address());
    let mut client = Client::of_address(&url, &token, ClientLifecycleMode::Initialize)
        .await
        .unwrap();
    let peer = client.service.peer().clone();
    let arguments = serde_json::from_value(json!({ "message": "hello" })).unwrap();
    let request = CallToolRequestParams::new("echo").with_arguments(arguments);
    let call = tokio::spawn(async move { peer.call_tool(request).await });
    client.hears("Waits for the person's answer.").await;
    desk.session = desk.wait_for_any_call().await.session;
    let view = desk.only_call().await;
    desk.allow_call(&view).await;
    let result = call.await.unwrap().unwrap();
    assert_eq!(result.content[0].as_text().unwrap().text, "hello");
    drop(app);
    // The address is closed with it.
    while reqwest::Client::new().post(&url).send().await.is_ok() {
        tokio::task::yield_now().await;
    }
}
