//! The made-up model of an agent: it makes the calls that it is told to make, one in each turn.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::endpoint::FakeEndpoint;
use crate::support::CliFixture;

/// What the person writes to the agent.
pub const PROMPT: &str = "Use every tool, please.";
/// What the model says at the end.
pub const FINAL: &str = "All of it is over.";

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
        // Agents ask for titles and summaries as well.
        let other = json!({ "match": {}, "response": { "content": "Fine." } });
        let answers: Vec<Value> = calls.chain([ended, other]).collect();
        let answers = json!({ "fixtures": answers }).to_string();
        let answers = place.write_outside_file("answers.json", &answers);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        Self(FakeEndpoint::start(&root, Path::new(&answers)))
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
}
