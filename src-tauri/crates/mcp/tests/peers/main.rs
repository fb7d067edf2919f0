//! Servers that other people wrote, as programs and by HTTP, in both eras; installed by `cargo xtask test --peers`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, print what a sign-in came to, and set up real folders and a page to fetch"
)]

mod client;
mod conformance;
#[path = "../it/support.rs"]
mod support;
mod tasks;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mcp::{McpServer, ServerDependencies};
use protocol::Message;
use protocol::server::mcp_servers::{ServerSettings, ServerState, ServerTransport};
use protocol::server::resources::{ServerResourceQuery, ServerResources};
use protocol::text::display_text::join_spans;
use serde_json::{Value, json};
use support::*;
use tools::elicitation::{ElicitationKind, ElicitationReply, ElicitationRequest};

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/peers")
}

/// The Python that the servers of PyPI are installed for.
fn python() -> String {
    let root = std::env::var("COUNTERSIGN_PEERS");
    let root = root
        .expect("run these tests by `cargo xtask test --peers`, which installs what they talk to");
    Path::new(&root).join("bin/python").display().to_string()
}

/// A server of npm: its file is given to node.
fn node(package: &str, args: &[&str]) -> (String, Vec<String>) {
    let file = peers().join(format!(
        "node_modules/@modelcontextprotocol/{package}/dist/index.js"
    ));
    let all = std::iter::once(file.display().to_string());
    (
        "node".to_owned(),
        all.chain(args.iter().map(|arg| (*arg).to_owned()))
            .collect(),
    )
}

fn module(name: &str, args: &[&str]) -> (String, Vec<String>) {
    let all = ["-m", name].into_iter().chain(args.iter().copied());
    (python(), all.map(str::to_owned).collect())
}

fn stdio(command: String, args: Vec<String>) -> ServerSettings {
    ServerSettings {
        transport: ServerTransport::Stdio {
            command,
            args,
            env: BTreeMap::new(),
            folder: None,
            sandbox: None,
        },
        ..settings(&[])
    }
}

fn http(port: &str) -> ServerSettings {
    ServerSettings {
        transport: ServerTransport::Http {
            url: format!("http://127.0.0.1:{port}/mcp"),
            headers: BTreeMap::from([("X-Whose".to_owned(), "${KNOWN}".to_owned())]),
            client: None,
        },
        ..settings(&[])
    }
}

async fn started(settings: ServerSettings) -> Arc<McpServer> {
    let quick = ServerDependencies {
        retry_after: vec![Duration::from_millis(50)],
        ..ground()
    };
    let server = Arc::new(McpServer::new(settings, mcp::ToolPins::default(), quick));
    // One that was only just started does not listen yet.
    if server.ensure_connected().await.is_err() {
        until(|| server.view().state == ServerState::Ready).await;
    }
    server.set_pins(mcp::ToolPins::approve_initial(&server.catalogue().unwrap()));
    server
}

fn protocol(server: &McpServer) -> String {
    server.view().said.unwrap().protocol
}

/// A table of servers as programs: how many tools, and what one of them answers.
#[tokio::test]
async fn programs_of_others_answer() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let at = place.display().to_string();
    std::fs::write(place.join("notes.txt"), "The borrow checker is right.\n").unwrap();
    let git = Command::new("git")
        .args(["init", "-q", &at])
        .status()
        .unwrap();
    assert!(git.success());
    let page = page("<html><body><h1>Hello</h1><p>from this machine</p></body></html>");
    let modern = (
        python(),
        vec![
            peers().join("modern.py").display().to_string(),
            "stdio".to_owned(),
        ],
    );
    let table: [(_, usize, &str, Value, &str, &str); 7] = [
        (
            node("server-everything", &["stdio"]),
            10,
            "echo",
            json!({ "message": "hi" }),
            "Echo: hi",
            "2025-11-25",
        ),
        (
            node("server-filesystem", &[&at]),
            10,
            "read_text_file",
            json!({ "path": place.join("notes.txt") }),
            "borrow checker",
            "2025-11-25",
        ),
        (
            node("server-memory", &[]),
            9,
            "read_graph",
            json!({}),
            "entities",
            "2025-11-25",
        ),
        (
            module("mcp_server_git", &["--repository", &at]),
            10,
            "git_status",
            json!({ "repo_path": at }),
            "notes.txt",
            "",
        ),
        (
            module("mcp_server_time", &[]),
            2,
            "get_current_time",
            json!({ "timezone": "UTC" }),
            "UTC",
            "",
        ),
        (
            module(
                "mcp_server_fetch",
                &["--ignore-robots-txt", "--allow-private-ips"],
            ),
            1,
            "fetch",
            json!({ "url": page }),
            "from this machine",
            "",
        ),
        (
            modern,
            1,
            "add",
            json!({ "a": 2, "b": 3 }),
            "5",
            "2026-07-28",
        ),
    ];
    let calls = table.map(
        |(program, tools, tool, arguments, told, version)| async move {
            let (command, args) = program.clone();
            let server = started(stdio(command, args)).await;
            let listed = server.tools().len();
            assert!(listed >= tools, "{program:?} lists {listed}");
            let answer = call(&server, tool, arguments).await;
            let answer = answer.unwrap_or_else(|error| panic!("{program:?}: {error}"));
            assert!(answer.text.contains(told), "{program:?}: {}", answer.text);
            let spoken = protocol(&server);
            assert!(
                version.is_empty() || spoken == version,
                "{program:?} speaks {spoken}"
            );
            let (_, faults) = tools::Registry::builtin().with_tools(server.tools());
            assert_eq!(faults, [], "{program:?}: every schema is one");
        },
    );
    for one in calls {
        one.await;
    }
}

/// Ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(program: &str, args: &[String], env: &[(&str, &str)]) -> Program {
    let mut command = Command::new(program);
    command.args(args).envs(env.iter().copied());
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Program(quiet.spawn().unwrap())
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

/// Both eras by streamable HTTP; one that is gone is an error at once, and is found again when it is back.
#[tokio::test]
async fn servers_of_others_answer_by_http() {
    let port = free_port();
    let (program, args) = node("server-everything", &["streamableHttp"]);
    let everything = run(&program, &args, &[("PORT", &port)]);
    let server = started(http(&port)).await;
    assert_eq!(protocol(&server), "2025-11-25");
    assert_eq!(
        said(&server, "echo", json!({ "message": "far" })).await,
        "Echo: far"
    );
    drop(everything);
    let gone = call(&server, "echo", json!({ "message": "x" }))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        gone.starts_with("mcp server one is unavailable: nothing could be sent to it: "),
        "{gone}"
    );
    let _again = run(&program, &args, &[("PORT", &port)]);
    let back = async {
        while call(&server, "echo", json!({ "message": "back" }))
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, back).await;
    let lines = server.log_lines();
    let told: Vec<String> = lines.iter().map(|line| join_spans(&line.text)).collect();
    assert!(in_time.is_ok(), "{told:?}");

    let port = free_port();
    let script = peers().join("modern.py").display().to_string();
    let _modern = run(&python(), &[script, port.clone()], &[]);
    let server = started(http(&port)).await;
    assert_eq!(protocol(&server), "2026-07-28");
    assert_eq!(
        said(&server, "add", json!({ "a": 20, "b": 22 })).await,
        "42"
    );
}

/// A page of this machine; gives its address.
fn page(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{at}/page.html")
}

/// Prompts and resources of other people's servers.
#[tokio::test]
async fn servers_of_others_have_prompts_and_resources() {
    let (command, args) = node("server-everything", &["stdio"]);
    let server = started(stdio(command, args)).await;
    let listed = server
        .inspect(&ServerResourceQuery::Prompts { cursor: None })
        .await;
    let ServerResources::Page { items, .. } = listed.unwrap() else {
        panic!("a list is a page");
    };
    let filled_in = items
        .iter()
        .find(|item| item.arguments.iter().any(|one| one.required));
    let filled_in = filled_in.unwrap();
    let arguments = filled_in.arguments.iter();
    let arguments = arguments.map(|one| (one.name.clone(), "Lisbon".to_owned()));
    let asked = ServerResourceQuery::Prompt {
        name: filled_in.name.clone(),
        arguments: arguments.collect(),
    };
    let ServerResources::Text { parts } = server.inspect(&asked).await.unwrap() else {
        panic!("a prompt is text");
    };
    assert!(join_spans(&parts[0].text).contains("Lisbon"), "{parts:?}");
    let listed = server
        .inspect(&ServerResourceQuery::Resources { cursor: None })
        .await;
    let ServerResources::Page { items, .. } = listed.unwrap() else {
        panic!("a list is a page");
    };
    assert!(items.iter().any(|item| item.is_pattern), "{items:?}");
    let there = items.iter().find(|item| !item.is_pattern).unwrap();
    let uri = there.name.clone();
    let ServerResources::Text { parts } = server
        .inspect(&ServerResourceQuery::Resource { uri })
        .await
        .unwrap()
    else {
        panic!("a resource is text");
    };
    assert!(!join_spans(&parts[0].text).is_empty());
    let gone = ServerResourceQuery::Resource {
        uri: "demo://nowhere".to_owned(),
    };
    assert!(
        server
            .inspect(&gone)
            .await
            .unwrap_err()
            .message
            .contains("refused")
    );
}

/// Fills forms in with what it says of itself, and lets a model say what it heard.
struct Talkative;

#[async_trait::async_trait]
impl tools::ElicitationChannel for Talkative {
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply {
        match asking.kind {
            ElicitationKind::Form(fields) => {
                assert!(fields.len() > 5, "{fields:?}");
                let values = json!({ "name": "Ada", "integer": 7 });
                ElicitationReply::Filled(values.as_object().unwrap().clone())
            }
            ElicitationKind::Url { .. } => ElicitationReply::Opened,
            ElicitationKind::Sampling(wanted) => {
                let Some(Message::User { text, .. }) = wanted.messages.first() else {
                    panic!("the server said nothing: {wanted:?}")
                };
                ElicitationReply::Sampled {
                    model: "none".to_owned(),
                    text: format!("heard {text}"),
                    calls: Vec::new(),
                    is_cut: false,
                }
            }
        }
    }
}

/// A server of others asks the person and a model in the middle of a call.
#[tokio::test]
async fn servers_of_others_ask_in_between() {
    let (command, args) = node("server-everything", &["stdio"]);
    let server = started(stdio(command, args)).await;
    for (tool, arguments, told) in [
        ("trigger-elicitation-request", json!({}), "Ada"),
        (
            "trigger-sampling-request",
            json!({ "prompt": "the sky" }),
            "the sky",
        ),
    ] {
        let answer = call_asking(&server, tool, arguments, Arc::new(Talkative)).await;
        let answer = answer.unwrap().text;
        assert!(answer.contains(told), "{tool}: {answer}");
    }
}
