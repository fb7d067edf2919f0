//! Models for the measurement, behind an endpoint as OpenAI's: some stream words at a given pace, some propose calls that wait.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::BenchResult;

/// Id of the provider in the settings.
pub const PROVIDER: &str = "measured";
/// How often a stream sends what is due.
const SEND_EVERY: Duration = Duration::from_millis(10);

/// A model of the endpoint; its name says what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasuredModel {
    /// Streams so many words a second for so many seconds.
    Streams {
        /// Words a second.
        rate: u32,
        /// Seconds.
        seconds: u32,
    },
    /// Proposes to read so many files at once, each of which asks.
    Asks {
        /// Number of files.
        calls: u32,
    },
    /// Proposes to write a file in which so many lines are replaced.
    Rewrites {
        /// Number of lines.
        lines: u32,
    },
    /// Works as agents do: for each message it reads, writes, runs a command, changes what a service runs later, which
    /// asks, and reports.
    Works,
}

impl MeasuredModel {
    /// Name of the model on the wire.
    pub fn name(&self) -> String {
        match self {
            Self::Streams { rate, seconds } => format!("streams-{rate}-{seconds}"),
            Self::Asks { calls } => format!("asks-{calls}"),
            Self::Rewrites { lines } => format!("rewrites-{lines}"),
            Self::Works => "works".to_owned(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let what = parts.next()?;
        let mut number = || parts.next()?.parse().ok();
        Some(match what {
            "streams" => Self::Streams {
                rate: number()?,
                seconds: number()?,
            },
            "asks" => Self::Asks { calls: number()? },
            "rewrites" => Self::Rewrites { lines: number()? },
            "works" => Self::Works,
            _ => return None,
        })
    }
}

/// The file that [`MeasuredModel::Rewrites`] writes.
pub const REWRITTEN_FILE: &str = "table.txt";

/// Folder of the files that [`MeasuredModel::Asks`] reads.
pub const ASKED_FOLDER: &str = "asks";

/// One of the files that [`MeasuredModel::Asks`] reads.
pub fn asked_file(number: u32) -> String {
    format!("{ASKED_FOLDER}/part-{number}.txt")
}

/// The file that [`MeasuredModel::Works`] reads.
pub const NOTES_FILE: &str = "notes.txt";

/// Words of the report at the end of each turn of [`MeasuredModel::Works`].
const REPORT_WORDS: usize = 120;

/// Content of the rewritten file before or after it is rewritten.
pub fn rewritten_content(lines: u32, after: bool) -> String {
    let word = if after { "new" } else { "old" };
    (0..lines)
        .map(|line| format!("row {line} of the table is {word} and ends here\n"))
        .collect()
}

/// Starts the endpoint; returns the settings with the provider of its models. It ends with the program.
pub fn start_endpoint() -> BenchResult<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_request(stream));
        }
    });
    Ok(format!(
        "[[providers]]\nid = \"{PROVIDER}\"\ntitle = \"Measured\"\nwire = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/\"\n"
    ))
}

/// Answers one request; who asked may have gone away, which ends the answer.
fn answer_request(mut stream: TcpStream) {
    let Some(request) = read_request(&mut stream) else {
        return;
    };
    let name = request["model"].as_str().unwrap_or_default();
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let is_first = !messages.iter().any(|one| one["role"] == "assistant");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| match MeasuredModel::from_name(name) {
            Some(MeasuredModel::Streams { rate, seconds }) => {
                stream_words(&mut stream, rate, Duration::from_secs(seconds.into()))
            }
            Some(MeasuredModel::Asks { calls }) if is_first => send_calls(
                &mut stream,
                (0..calls)
                    .map(|call| ("read", json!({ "path": asked_file(call) })))
                    .collect(),
            ),
            Some(MeasuredModel::Rewrites { lines }) if is_first => {
                let content = rewritten_content(lines, true);
                let arguments = json!({ "path": REWRITTEN_FILE, "content": content });
                send_calls(&mut stream, vec![("write", arguments)])
            }
            Some(MeasuredModel::Works) => work_on(&mut stream, messages),
            _ => send_chunk(&mut stream, &json!({ "content": "Done." }), None),
        })
        .and_then(|()| send_chunk(&mut stream, &json!({}), Some("stop")))
        .and_then(|()| stream.write_all(b"data: [DONE]\n\n"));
}

/// Takes the next step of [`MeasuredModel::Works`] after what was said so far.
fn work_on(stream: &mut TcpStream, messages: &[Value]) -> std::io::Result<()> {
    let is_from = |role: &'static str| move |one: &&Value| one["role"] == role;
    let part = messages.iter().filter(is_from("user")).count();
    let since = messages.iter().rposition(|one| one["role"] == "user");
    let turn = messages
        .get(since.unwrap_or_default()..)
        .unwrap_or_default();
    let content = format!("line of part {part}\n").repeat(40);
    let call = match turn.iter().filter(is_from("tool")).count() {
        0 => ("read", json!({ "path": NOTES_FILE })),
        1 => {
            let path = format!("part-{part}.txt");
            ("write", json!({ "path": path, "content": content }))
        }
        2 => ("bash", json!({ "command": "wc -l *.txt | tail -n 1" })),
        3 => {
            let path = format!(".github/workflows/part-{part}.yml");
            let content = format!(
                "on: push\njobs:\n  part:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make part-{part}\n"
            );
            ("write", json!({ "path": path, "content": content }))
        }
        _ => {
            let words = "It went well. ".repeat(REPORT_WORDS / 3);
            let report = format!("Part {part} is done. {words}");
            return send_chunk(stream, &json!({ "content": report }), None);
        }
    };
    send_calls(stream, vec![call])
}

fn stream_words(stream: &mut TcpStream, rate: u32, length: Duration) -> std::io::Result<()> {
    let began = Instant::now();
    let mut sent = 0;
    while began.elapsed() < length {
        let due = began.elapsed().as_secs_f64() * f64::from(rate);
        while f64::from(sent) < due {
            sent += 1;
            let end = if sent % 200 == 0 { ".\n\n" } else { " " };
            send_chunk(
                stream,
                &json!({ "content": format!("token{sent}{end}") }),
                None,
            )?;
        }
        sleep(SEND_EVERY);
    }
    Ok(())
}

fn send_calls(stream: &mut TcpStream, calls: Vec<(&str, Value)>) -> std::io::Result<()> {
    let calls: Vec<Value> = calls
        .into_iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
        })
        .collect();
    send_chunk(
        stream,
        &json!({ "role": "assistant", "tool_calls": calls }),
        None,
    )?;
    send_chunk(stream, &json!({}), Some("tool_calls"))
}

fn send_chunk(stream: &mut TcpStream, delta: &Value, ends: Option<&str>) -> std::io::Result<()> {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": ends }]);
    let chunk =
        json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices });
    stream.write_all(format!("data: {chunk}\n\n").as_bytes())
}

/// Reads a request to its end; returns its body, null if it has none.
fn read_request(stream: &mut TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 16_384];
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(piece.get(..read)?);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let (head, rest) = bytes.split_at(end + 4);
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(Some(0), |length| length.trim().parse().ok())?;
        if let Some(body) = rest.get(..length) {
            return Some(serde_json::from_slice(body).unwrap_or_default());
        }
    }
}
