//! A client that says what it is told to, line by line, and keeps what it hears.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::CliFixture;

/// How long an answer is waited for before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program as a server, and who speaks with it.
pub struct Client {
    child: Child,
    to: Option<ChildStdin>,
    heard: Receiver<Value>,
    /// Heard and not asked for yet.
    kept: Vec<Value>,
    asked: u64,
    /// Metadata of each request; null where the connection was begun with `initialize`.
    meta: Value,
}

impl Client {
    /// Starts the program; nothing is said yet.
    pub fn start(place: &CliFixture, args: &[&str]) -> Self {
        let args = [&["gateway", "mcp"], args].concat();
        let mut child = place
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (says, heard) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines() {
                // Nothing but the protocol is on standard output.
                let line = serde_json::from_str(&line.unwrap()).unwrap();
                if says.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            to: child.stdin.take(),
            child,
            heard,
            kept: Vec::new(),
            asked: 0,
            meta: Value::Null,
        }
    }

    /// One that begins as clients of 2025 do.
    pub fn greeted(place: &CliFixture, args: &[&str]) -> Self {
        let mut client = Self::start(place, args);
        let info = json!({ "name": "probe", "version": "1.0" });
        let said = client.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        );
        assert_eq!(said["result"]["protocolVersion"], "2025-11-25", "{said}");
        assert_eq!(said["result"]["serverInfo"]["name"], "countersign");
        client.tell("notifications/initialized", json!({}));
        client
    }

    /// One of 2026, whose requests stand for themselves.
    pub fn modern(place: &CliFixture, args: &[&str]) -> Self {
        let mut client = Self::start(place, args);
        client.meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "2.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        client
    }

    /// Writes a line as it is.
    pub fn raw(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Asks without waiting; gives the request's id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if let (Some(meta), Some(params)) = (self.meta.as_object(), params.as_object_mut()) {
            let own = params.entry("_meta").or_insert_with(|| json!({}));
            own.as_object_mut().unwrap().extend(meta.clone());
        }
        let (id, version) = (self.asked, "2.0");
        let request = json!({ "jsonrpc": version, "id": id, "method": method, "params": params });
        self.raw(&request.to_string());
        id
    }

    /// The first message that fits, heard or to come.
    pub fn hears(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&fits) {
            return self.kept.remove(at);
        }
        loop {
            let next = self.heard.recv_timeout(PATIENCE);
            let next = next.unwrap_or_else(|why| panic!("{why}; heard {:?}", self.kept));
            match fits(&next) {
                true => return next,
                false => self.kept.push(next),
            }
        }
    }

    pub fn answer(&mut self, id: u64) -> Value {
        self.hears(|message| message["id"] == id)
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool; gives the result, or the error of the protocol.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let said = self.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        );
        said.get("result").or(said.get("error")).unwrap().clone()
    }

    /// The same, with its text and whether it is an error of the tool.
    pub fn called(&mut self, name: &str, arguments: Value) -> (String, bool) {
        text(&self.call(name, arguments))
    }

    /// Begins a command that says that it runs and then goes on for an hour; gives the request once it runs.
    pub fn begins_to_sleep(&mut self) -> u64 {
        let arguments = json!({ "command": "echo begun; sleep 3600" });
        let params =
            json!({ "name": "bash", "arguments": arguments, "_meta": { "progressToken": "t" } });
        let id = self.begin("tools/call", params);
        let word = self.hears(|message| message["method"] == "notifications/progress");
        assert_eq!(
            word["params"],
            json!({ "progressToken": "t", "progress": 1.0, "message": "begun" })
        );
        id
    }

    /// Closes its side. Gives the exit code, what was heard and not asked for, and the log.
    pub fn close(mut self) -> (i32, Vec<Value>, String) {
        self.to = None;
        self.ended()
    }

    /// Waits for the end of the program.
    pub fn ended(mut self) -> (i32, Vec<Value>, String) {
        let mut log = String::new();
        let mut err = self.child.stderr.take().unwrap();
        err.read_to_string(&mut log).unwrap();
        let status = self.child.wait().unwrap();
        let mut heard = std::mem::take(&mut self.kept);
        heard.extend(self.heard.iter());
        (status.code().unwrap_or(-1), heard, log)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it the hard way.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result, and whether it is an error of the tool.
pub fn text(result: &Value) -> (String, bool) {
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text: {result}"));
    (text.to_owned(), result["isError"] == true)
}
