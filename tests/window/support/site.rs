//! A site on this machine for the stories: pages, a service, and models that play scripts, as an endpoint of OpenAI's would.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A site that is open for as long as its test runs.
pub struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

/// Page of the site: its path, its content type and its text.
pub type Page = (&'static str, &'static str, String);

/// The script of a model by its name, or of an agent by words of what it is told first.
pub type Part = (&'static str, Value);

impl Site {
    /// A site with these pages, and these models. A turn of a script is chosen by how often its model has spoken.
    pub async fn open(pages: Vec<Page>, parts: Vec<Part>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (heard, shown) = (asked.clone(), Arc::new((pages, parts)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, heard.clone(), shown.clone()));
            }
        });
        Self { port, asked }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// Its host, as rules name it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The first lines of the requests for anything but models, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The settings of whoever asks its models.
    pub fn settings(&self) -> String {
        format!(
            "[[providers]]\nid = \"stories\"\ntitle = \"Stories\"\nwire = \"openai\"\nbase_url = \"{}\"\n",
            self.url("/models-of/")
        )
    }
}

async fn answer(
    mut stream: TcpStream,
    heard: Arc<Mutex<Vec<String>>>,
    shown: Arc<(Vec<Page>, Vec<Part>)>,
) {
    let Some((first, body)) = request(&mut stream).await else {
        return;
    };
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (pages, parts) = &*shown;
    let (kind, text) = match path {
        "/models-of/chat/completions" => ("text/event-stream", played(parts, &body)),
        "/models-of/models" => {
            let models: Vec<Value> = parts
                .iter()
                .map(|(name, _)| json!({ "id": name }))
                .collect();
            ("application/json", json!({ "data": models }).to_string())
        }
        path => {
            heard.lock().unwrap().push(first.clone());
            let bare = path.split('?').next().unwrap_or_default();
            let page = pages.iter().find(|(at, _, _)| *at == bare);
            page.map_or(("application/json", "{\"done\":true}".to_owned()), |page| {
                (page.1, page.2.clone())
            })
        }
    };
    // This path requires a sign-in.
    let status = match path {
        "/locked" => "401 Unauthorized\r\nwww-authenticate: Bearer",
        _ => "200 OK",
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let _ = stream.write_all([head, text].concat().as_bytes()).await;
}

/// One request: its first line, and the body that it says it has.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 16_384];
        let read = stream.read(&mut piece).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.to_ascii_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        if bytes.len() >= end + 4 + length {
            let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
            return Some((head.lines().next().unwrap_or_default().to_owned(), body));
        }
    }
}

/// The next turn of whoever is asked, as a stream of chunks.
fn played(parts: &[Part], body: &str) -> String {
    let asked: Value = serde_json::from_str(body).unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let told = messages.first().map(Value::to_string).unwrap_or_default();
    let name = asked["model"].as_str().unwrap_or_default();
    let by_words = parts
        .iter()
        .find(|(mark, _)| mark.contains(' ') && told.contains(mark));
    let (mark, turns) = by_words
        .or_else(|| parts.iter().find(|(mark, _)| *mark == name))
        .unwrap_or_else(|| panic!("nobody plays {name}"));
    let spoken = messages
        .iter()
        .filter(|one| one["role"] == "assistant")
        .count();
    let turn = &turns[spoken];
    let calls = turn["calls"].as_array().cloned().unwrap_or_default();
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let id = format!("call_{}_{spoken}_{at}", mark.replace(|c: char| !c.is_ascii_alphanumeric(), ""));
            let arguments = call["arguments"].to_string();
            json!({ "index": at, "id": id, "type": "function", "function": { "name": call["name"], "arguments": arguments } })
        })
        .collect();
    let mut delta =
        json!({ "role": "assistant", "content": turn["text"].as_str().unwrap_or_default() });
    let mut ends = "stop";
    if !calls.is_empty() {
        delta["tool_calls"] = calls.into();
        ends = "tool_calls";
    }
    let chunk = |delta: Value, ends: Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": ends }]);
        let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "model": name, "choices": choices });
        format!("data: {chunk}\n\n")
    };
    [
        chunk(delta, Value::Null),
        chunk(json!({}), json!(ends)),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

/// A turn of one call.
pub fn call(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}
