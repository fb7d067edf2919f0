//! `gateway mcp --listen`: the program serves at an address until it is told to end; clients are let in by their tokens.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::CliFixture;

/// The program, and the address that it told.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    fn start(place: &CliFixture, args: &[&str]) -> Self {
        let args = [
            &["gateway", "mcp", "--listen", "127.0.0.1:0", "--json"],
            args,
        ]
        .concat();
        let mut child = place
            .command(&args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Self {
            child,
            url: told["url"].as_str().unwrap().to_owned(),
        }
    }

    /// Sends a message, and returns the status line and the whole answer.
    fn post(&self, headers: &str, message: &Value) -> (String, String) {
        let host = self
            .url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp");
        let body = message.to_string();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.lines().next().unwrap_or_default().to_owned();
        (status, answer)
    }

    /// Tells the program to end, and returns its exit code.
    fn end(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        let told = std::process::Command::new("kill").arg(&pid).status();
        assert!(told.unwrap().success());
        self.child.wait().unwrap().code()
    }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "probe", "version": "1" } } })
}

/// A self-contained call of 2026.
fn read_call() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "read", "arguments": { "path": "a.txt" }, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} } } })
}

#[test]
fn a_client_with_a_token_calls_tools_at_the_address() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let workspace = place.workspace();
    let token = place.run_json(&["gateway", "token", "add", "editor"]);
    let token = token["token"].as_str().unwrap();
    let listening = Listening::start(&place, &["--workspace", workspace.to_str().unwrap()]);
    let (status, answer) = listening.post("", &initialize());
    assert!(
        status.contains("401") && answer.contains("gateway token add"),
        "{answer}"
    );
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (status, answer) = listening.post(&bearer, &initialize());
    assert!(
        status.contains("200") && answer.contains("countersign"),
        "{answer}"
    );
    let headers = format!(
        "{bearer}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n"
    );
    let (status, answer) = listening.post(&headers, &read_call());
    assert!(
        status.contains("200") && answer.contains("alpha"),
        "{answer}"
    );
    assert_eq!(listening.end(), Some(0));
    let story = place.run_ok(&["show", "last"]);
    assert!(story.starts_with("Calls of editor (probe 1)\n"), "{story}");
    assert!(
        story.contains("It was let in by the token editor"),
        "{story}"
    );
}

#[test]
fn tokens_are_made_once_listed_and_revoked() {
    let place = CliFixture::new();
    let none = place.run_ok(&["gateway", "token", "list"]);
    assert_eq!(none, "No client has a token.\n");
    let made = place.run(&["gateway", "token", "add", "editor"]);
    assert!(
        made.code == 0 && made.out.starts_with("csgw_") && made.out.lines().count() == 1,
        "{made:?}"
    );
    assert!(made.err.contains("is shown this once"), "{}", made.err);
    let again = place.run(&["gateway", "token", "add", "editor"]);
    assert_eq!(again.code, 2);
    assert!(
        again
            .err
            .contains("countersign gateway token revoke editor"),
        "{}",
        again.err
    );
    for name in ["", "two words", "../up", "\u{202e}x"] {
        assert_eq!(
            place.run(&["gateway", "token", "add", name]).code,
            2,
            "{name}"
        );
    }
    let listed = place.run_json(&["gateway", "token", "list"]);
    assert_eq!(listed, json!({ "clients": ["editor"] }));
    place.run_ok(&["gateway", "token", "revoke", "editor"]);
    assert_eq!(place.run(&["gateway", "token", "revoke", "editor"]).code, 2);
}

#[test]
fn an_address_for_other_machines_is_no_address() {
    let place = CliFixture::new();
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let refused = place.run(&["gateway", "mcp", "--listen", address]);
        assert_eq!(refused.code, 2, "{address}");
        assert!(refused.err.contains("other machines"), "{}", refused.err);
    }
    let unknown = place.run(&["gateway", "mcp", "--listen", "here"]);
    assert_eq!(unknown.code, 2);
}
