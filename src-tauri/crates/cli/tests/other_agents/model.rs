//! The made-up model of an agent: it makes the calls that it is told to make, one in each turn.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::endpoint::FakeEndpoint;
use crate::support::CliFixture;

/// What the person writes to the agent.
pub const PROMPT: &str = "Use every tool, please.";
/// What the model says at the end.
pub const FINAL: &str = "All of it is over.";
/// What the person writes later, and the model's answer.
pub const SECOND_PROMPT: &str = "And what comes now?";
pub const SECOND_FINAL: &str = "Nothing comes now.";
/// What the person writes and the model does not answer while a test runs.
pub const SLOW_PROMPT: &str = "Take your time, please.";

/// What an agent that cannot be told with the refusal hears afterwards.
const REFUSED: &str = "was not allowed";

/// How long the model takes for that, in milliseconds.
const SLOW_MS: u64 = 600_000;
/// How often the model is asked whether a request came, and for how long.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_MAX: u32 = 1_200;

/// A call of a tool: its name and its input, as the agent has them.
pub type ToolTurn = (&'static str, Value);

/// A running model.
pub struct Model(FakeEndpoint);

impl Model {
    /// Starts a model that makes these calls.
    pub fn start(place: &CliFixture, turns: &[ToolTurn]) -> Self {
        let calls = turns.iter().enumerate().map(|(turn, (tool, input))| {
            let call = json!({ "type": "toolCall", "name": tool, "arguments": input.to_string() });
            json!({
                "match": { "userMessage": PROMPT, "turnIndex": turn },
                // A text before the call would be a turn of its own for one of the wire formats.
                "response": { "blocks": [call] },
            })
        });
        let ended = json!({ "match": { "userMessage": PROMPT, "turnIndex": turns.len() }, "response": { "content": FINAL } });
        let refused =
            json!({ "match": { "userMessage": REFUSED }, "response": { "content": FINAL } });
        let second = json!({ "match": { "userMessage": SECOND_PROMPT }, "response": { "content": SECOND_FINAL } });
        let slow = json!({ "match": { "userMessage": SLOW_PROMPT }, "latency": SLOW_MS, "response": { "content": "Done." } });
        // Agents ask for titles and summaries as well.
        let other = json!({ "match": {}, "response": { "content": "Fine." } });
        let answers: Vec<Value> = calls.chain([ended, refused, second, slow, other]).collect();
        let answers = json!({ "fixtures": answers }).to_string();
        let answers = place.write_outside_file("answers.json", &answers);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let mut endpoint = FakeEndpoint::start(&root, Path::new(&answers));
        // By its address, an enclosed agent would be led out of its sandbox to its own server as well.
        endpoint.base_url = endpoint.base_url.replace("127.0.0.1", "localhost");
        Self(endpoint)
    }

    /// Returns the address of the model, without a slash at its end.
    pub fn base_url(&self) -> &str {
        self.0.base_url.trim_end_matches('/')
    }

    /// Returns everything that was sent to the model, as JSON.
    pub fn requests(&self) -> String {
        let (_, host) = self.base_url().split_once("://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "GET /__aimock/journal HTTP/1.0\r\nHost: {host}\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits until a request with all of these texts came.
    pub fn wait_for_request(&self, texts: &[&str]) {
        for _ in 0..LOOKS_MAX {
            if self.has_request(texts) {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        panic!("no request with {texts:?} came: {}", self.requests());
    }

    /// Returns whether one request with all of these texts came. Agents ask for titles as well, with the last prompt alone.
    pub fn has_request(&self, texts: &[&str]) -> bool {
        let answer = self.requests();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let requests: Vec<Value> = serde_json::from_str(body).unwrap();
        let mut requests = requests.iter().map(Value::to_string);
        requests.any(|request| texts.iter().all(|text| request.contains(text)))
    }
}
