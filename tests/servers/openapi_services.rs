//! Services by their documents through the whole desk: set up, approved, shown, called, changed, gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agent::Host;
use protocol::server::apis::{ApiAuth, ApiChange, ApiSetup};
use protocol::server::mcp_servers::{PinState, ServerChange};
use protocol::text::display_text::join_spans;
use protocol::{CallState, Gate, Op, Preview, ToolMode, Verdict};
use provider::{KeyStore, Secret};
use serde::Serialize;
use serde_json::{Value, json};
use support::servers::{server_id, single_view, stdio_server};
use support::{Fixture, HEADLESS, call_tool, expect_variant, rule_text, say_text, script_provider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A service that answers every request with what it heard.
struct ApiSite {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl ApiSite {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = heard.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 16_384];
                let length = stream.read(&mut bytes).await.unwrap_or(0);
                let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let first = text.lines().next().unwrap_or_default().to_owned();
                let key = text.lines().find_map(|line| line.strip_prefix("x-key: "));
                let said = format!("{first} {}", key.unwrap_or("nobody"));
                all.lock().unwrap().push(said);
                let body = json!({ "heard": first }).to_string();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { port, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// A rule that opens this very machine to the service, and one more.
    fn rules(&self, more: &str) -> String {
        rule_text("net.fetch", &format!("127.0.0.1:{}", self.port), "allow") + more
    }
}

fn document(site: &ApiSite, told: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Pets", "version": "1" },
        "servers": [{ "url": format!("http://127.0.0.1:{}/v1", site.port) }],
        "components": { "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } } },
        "security": [{ "key": [] }],
        "paths": {
            "/pets/{id}": {
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
                "get": { "operationId": "get_pet", "summary": told },
                "put": { "operationId": "put_pet", "requestBody": { "content": { "application/json": { "schema": { "type": "object" } } } } },
                "delete": { "operationId": "delete_pet" },
            },
        },
    })
}

fn setup(desk: &Fixture) -> ApiSetup {
    let token = ApiAuth::Token {
        token: "keychain:pets".to_owned(),
    };
    ApiSetup {
        document: desk
            .workspace_root()
            .join("pets.json")
            .display()
            .to_string(),
        auth: BTreeMap::from([("key".to_owned(), token)]),
        ..ApiSetup::default()
    }
}

async fn with_pets(site: &ApiSite, turns: impl Serialize, host: Host, rules: &str) -> Fixture {
    let keys = Arc::new(provider::MemoryKeyStore::default());
    keys.set("mcp:pets", &Secret::new("hush4hush4").unwrap())
        .unwrap();
    let provider = Arc::new(script_provider(turns));
    let mut desk = Fixture::with_config(provider, host, |config| config.keys = Some(keys)).await;
    desk.write_file("pets.json", document(site, "Gets a pet.").to_string());
    desk.write_rules(rules);
    let setup = Box::new(setup(&desk));
    desk.change_api(ApiChange::Set { setup }).await.unwrap();
    assert_eq!(desk.server_tool_names("pets").await, [""; 0], "it is off");
    desk.change_api(ApiChange::Switch { enabled: true })
        .await
        .unwrap();
    desk
}

/// `S001-53`, `S001-54`: an operation is called through the whole page. What only reads runs, and is logged.
#[tokio::test]
async fn s001_54_an_operation_walks_the_whole_page() {
    let site = ApiSite::open().await;
    let turns = [
        call_tool("pets__get_pet", json!({ "id": "a b" })),
        say_text("Done."),
    ];
    let mut desk = with_pets(&site, turns, HEADLESS, &site.rules("")).await;
    assert_eq!(
        desk.server_tool_names("pets").await,
        ["pets__get_pet", "pets__put_pet", "pets__delete_pet"]
    );
    desk.play().await;
    let [(state, text)] = &desk.call_outcomes().await[..] else {
        panic!()
    };
    assert_eq!(*state, CallState::Done, "{text}");
    assert!(text.contains("What follows comes from outside"), "{text}");
    assert_eq!(site.heard(), ["GET /v1/pets/a%20b HTTP/1.1 hush4hush4"]);
    let view = &desk.calls().await[0];
    let shown = expect_variant!(&view.preview, Preview::Request(shown) => shown);
    assert_eq!(
        shown.summary(),
        format!(
            "GET http://127.0.0.1:{}/v1/pets/a%20b\nX-Key: keychain:pets",
            site.port
        )
    );
    let all = serde_json::to_string(&desk.events().await).unwrap();
    assert!(!all.contains("hush4"), "no secret stands in the record");
}

/// By the usual rules: a host of this machine stays closed, a rule for a tool holds, and what removes something asks.
#[tokio::test]
async fn rules_hold_for_hosts_and_operations() {
    let deny = "[[rule]]\npermission = \"pets__*\"\naction = \"deny\"\n";
    let allow = "[[rule]]\npermission = \"pets__*\"\naction = \"allow\"\n";
    let site = ApiSite::open().await;
    for (name, rules, state, gate) in [
        (
            "get_pet",
            String::new(),
            CallState::Denied,
            Gate::Capability,
        ),
        ("get_pet", site.rules(""), CallState::Done, Gate::Mode),
        ("get_pet", site.rules(deny), CallState::Denied, Gate::Rules),
        // To let a host be reached is not to let anything be changed there.
        ("put_pet", site.rules(""), CallState::Denied, Gate::Headless),
        ("put_pet", site.rules(allow), CallState::Done, Gate::Rules),
        ("delete_pet", site.rules(""), CallState::Denied, Gate::Undo),
        (
            "delete_pet",
            site.rules(allow),
            CallState::Done,
            Gate::Rules,
        ),
    ] {
        let turns = [
            call_tool(&format!("pets__{name}"), json!({ "id": "1" })),
            say_text("Done."),
        ];
        let mut desk = with_pets(&site, turns, HEADLESS, &rules).await;
        desk.play().await;
        let view = &desk.calls().await[0];
        assert_eq!(view.state, state, "{name} {rules}: {:?}", view.trail);
        let trail = view.trail.as_ref().unwrap();
        assert!(
            trail.steps.iter().any(|step| step.gate == gate),
            "{name}: {trail:?}"
        );
    }
    let modes: Vec<Option<ToolMode>> = {
        let desk = with_pets(&site, json!([]), HEADLESS, "").await;
        single_view(desk.api_views().await)
            .tools
            .iter()
            .map(|tool| tool.mode)
            .collect()
    };
    assert_eq!(
        modes,
        [Some(ToolMode::External), None, Some(ToolMode::Destructive)]
    );
}

/// A removal cannot be undone, so it asks where no rule speaks.
#[tokio::test]
async fn what_removes_something_asks() {
    let site = ApiSite::open().await;
    let turns = [
        call_tool("pets__delete_pet", json!({ "id": "1" })),
        say_text("Done."),
    ];
    let mut desk = with_pets(&site, turns, Host::Person, "").await;
    let far = document(&site, "").to_string().replace(
        &format!("http://127.0.0.1:{}/v1", site.port),
        "https://pets.example.com",
    );
    desk.write_file("pets.json", far);
    desk.change_api(ApiChange::Read).await.unwrap();
    let digest = single_view(desk.api_views().await).pending_digest.unwrap();
    desk.change_api(ApiChange::Approve { digest })
        .await
        .unwrap();
    desk.start("Go.").await;
    let waiting = desk.reject_next("").await;
    let shown = expect_variant!(&waiting.preview, Preview::Request(shown) => shown);
    assert_eq!(
        shown.summary(),
        "DELETE https://pets.example.com/pets/1\nX-Key: keychain:pets"
    );
    let trail = waiting.trail.as_ref().unwrap();
    let undo = trail.steps.iter().find(|step| step.gate == Gate::Undo);
    assert_eq!(undo.unwrap().verdict, Some(Verdict::Ask), "{trail:?}");
    desk.wait_until_ended().await;
    assert_eq!(desk.calls().await[0].state, CallState::Rejected);
}

/// An approval is kept over a new start; a document that is other waits for a look.
#[tokio::test]
async fn a_document_that_changed_waits_for_a_look() {
    let site = ApiSite::open().await;
    let mut desk = with_pets(&site, json!([]), HEADLESS, "").await;
    desk.write_file(
        "pets.json",
        document(&site, "Sends it to everybody.").to_string(),
    );
    let desk = desk.restart().await;
    assert_eq!(
        desk.server_tool_names("pets").await.len(),
        3,
        "what was approved holds until it is looked at again"
    );
    desk.change_api(ApiChange::Read).await.unwrap();
    let seen = single_view(desk.api_views().await);
    assert_eq!(seen.tools[0].pin, PinState::Changed);
    assert!(
        join_spans(&seen.tools[0].changes).contains("+  \"title\": \"Sends it to everybody.\"")
    );
    assert_eq!(
        desk.server_tool_names("pets").await,
        ["pets__put_pet", "pets__delete_pet"]
    );
    let digest = protocol::Digest("something else".to_owned());
    let refused = desk.change_api(ApiChange::Approve { digest }).await;
    assert!(
        refused
            .unwrap_err()
            .message
            .contains("not what was looked at")
    );
    let digest = seen.pending_digest.unwrap();
    desk.change_api(ApiChange::Approve { digest })
        .await
        .unwrap();
    assert_eq!(desk.server_tool_names("pets").await.len(), 3);
    assert_eq!(
        desk.restart().await.server_tool_names("pets").await.len(),
        3,
        "and is so for good"
    );
}

#[tokio::test]
async fn switched_off_broken_or_removed_its_tools_are_gone() {
    let site = ApiSite::open().await;
    let mut desk = with_pets(&site, json!([]), HEADLESS, "").await;
    desk.change_api(ApiChange::Switch { enabled: false })
        .await
        .unwrap();
    assert_eq!(desk.server_tool_names("pets").await, [""; 0]);
    desk.write_file("pets.json", "{}");
    let fault = desk
        .change_api(ApiChange::Switch { enabled: true })
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("does not say its version"),
        "{fault}"
    );
    assert_eq!(
        desk.server_tool_names("pets").await,
        [""; 0],
        "it stays off"
    );
    desk.change_api(ApiChange::Remove).await.unwrap();
    assert!(desk.change_api(ApiChange::Read).await.is_err());
    let kept = std::fs::read_dir(desk.data_dir().join("apis")).unwrap();
    assert_eq!(kept.count(), 0);
    std::fs::write(
        desk.data_dir().join("apis.toml"),
        "[apis.pets]\ndocumnt = 'x'\n",
    )
    .unwrap();
    let (apis, fault) = desk.api_views().await;
    assert_eq!(apis, []);
    assert!(fault.unwrap().message.contains("apis.toml"));
}

/// A document at an address is fetched by the person's rules, and a name that a server has is taken.
#[tokio::test]
async fn a_document_is_fetched_by_the_persons_rules() {
    let site = ApiSite::open().await;
    let desk = Fixture::with_host(json!([]), HEADLESS).await;
    let address = format!("http://127.0.0.1:{}/openapi.json", site.port);
    let setup = |document: &str| ApiChange::Set {
        setup: Box::new(ApiSetup {
            document: document.to_owned(),
            ..ApiSetup::default()
        }),
    };
    desk.change_api(setup(&address)).await.unwrap();
    let on = ApiChange::Switch { enabled: true };
    let fault = desk.change_api(on.clone()).await.unwrap_err();
    assert!(
        fault.message.contains("does not say its version"),
        "it was fetched: {fault}"
    );
    assert_eq!(site.heard(), ["GET /openapi.json HTTP/1.1 nobody"]);
    let host = format!("127.0.0.1:{}", site.port);
    desk.write_rules(rule_text("net.fetch", &host, "deny"));
    assert!(desk.change_api(on).await.is_err());
    assert_eq!(site.heard().len(), 1, "a rule keeps it");

    let server = server_id("two");
    let set = ServerChange::Set {
        transport: stdio_server("none", &[], &[]),
        timeout_ms: 1_000,
        audience: None,
    };
    let op = Op::ChangeServer {
        server: server.clone(),
        change: set,
    };
    desk.submit(op).await;
    let op = Op::ChangeApi {
        api: server,
        change: setup(&address),
    };
    let fault = desk.engine.submit(op).await.unwrap_err();
    assert!(fault.message.contains("called `two` already"), "{fault}");
}
