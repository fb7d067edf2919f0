//! Tests of the transport with arbitrary input: every request gets exactly one answer, and the connection goes on or
//! ends with a reason.

use std::collections::HashMap;

use proptest::prelude::*;
use rmcp::ServerHandler;
use rmcp::service::serve_server_with_ct;
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::progress::spawn_progress_sender;
use super::transport::split_transport;
use crate::limits::PROGRESS_PAUSE_MAX;

/// Longest line of these tests, in bytes.
const BYTES_MAX: usize = 4 * 1024;

/// A server without tools. A request for `never` is answered only when the connection ends.
struct Bare(CancellationToken);

impl ServerHandler for Bare {
    async fn on_custom_request(
        &self,
        request: rmcp::model::CustomRequest,
        _: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CustomResult, rmcp::ErrorData> {
        if request.method == "never" {
            self.0.cancelled().await;
        }
        Err(rmcp::ErrorData::new(
            rmcp::model::ErrorCode::METHOD_NOT_FOUND,
            "no such method",
            None,
        ))
    }
}

/// Returns the answers of a server to these bytes, after a valid initialization.
async fn answers(sent: &[u8]) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (from, to) = tokio::io::split(ours);
    let (transport, last) = split_transport(from, to, BYTES_MAX);
    let end = CancellationToken::new();
    let gone = end.clone();
    let serving = tokio::spawn(async move {
        let served = serve_server_with_ct(Bare(end), transport, CancellationToken::new()).await;
        if let Ok(running) = served {
            running.waiting().await.unwrap();
        }
        last.finish().await;
    });
    let (mut hears, mut says) = tokio::io::split(theirs);
    let begin = json!({ "jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let sent = [format!("{begin}\n{begun}\n").as_bytes(), sent].concat();
    let writes = async {
        says.write_all(&sent).await.unwrap();
        says.shutdown().await.unwrap();
        gone.cancel();
    };
    let mut heard = Vec::new();
    let (_, read) = tokio::join!(writes, hears.read_to_end(&mut heard));
    read.unwrap();
    serving.await.unwrap();
    let heard = String::from_utf8(heard).unwrap();
    let heard = heard
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    heard.filter(|answer| answer["id"] != "begin").collect()
}

/// A server whose calls say one word and then take a while.
struct Slow;

impl ServerHandler for Slow {
    async fn call_tool(
        &self,
        _: rmcp::model::CallToolRequestParams,
        context: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData> {
        let token = context.meta.get_progress_token().unwrap();
        let (sender, task) = spawn_progress_sender(context.peer.clone(), token);
        sender.send("waits".to_owned()).await.unwrap();
        tokio::time::sleep(PROGRESS_PAUSE_MAX * 5 / 2).await;
        drop(sender);
        task.await.unwrap();
        Ok(rmcp::model::CallToolResult::success(Vec::new()).into())
    }
}

/// A client that gives up where nothing is told goes on to wait.
#[tokio::test(start_paused = true)]
async fn progress_is_told_again_while_nothing_happens() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        let running = rmcp::service::serve_server(Slow, tokio::io::split(ours)).await;
        running.unwrap().waiting().await.unwrap();
    });
    let (hears, mut says) = tokio::io::split(theirs);
    let begin = json!({ "jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": {
        "name": "any", "_meta": { "progressToken": "t" } } });
    let sent = format!("{begin}\n{begun}\n{call}\n");
    says.write_all(sent.as_bytes()).await.unwrap();
    let mut lines = tokio::io::BufReader::new(hears).lines();
    let mut told = Vec::new();
    loop {
        let line = lines.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["id"].as_str() {
            Some("call") => break,
            Some(_) => {}
            None => told.push(message["params"].clone()),
        }
    }
    let progress =
        |number: f64| json!({ "progressToken": "t", "progress": number, "message": "waits" });
    assert_eq!(told, [progress(1.0), progress(2.0), progress(3.0)]);
}

fn request(id: &Value, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string()
}

/// Returns the id and the error code of each answer.
async fn codes(lines: &[String]) -> Vec<(Value, Option<i64>)> {
    let answers = answers(lines.join("\n").as_bytes()).await;
    let code = |answer: &Value| (answer["id"].clone(), answer["error"]["code"].as_i64());
    answers.iter().map(code).collect()
}

#[tokio::test]
async fn what_is_no_message_is_answered_with_its_id_where_it_has_one() {
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let long = "x".repeat(BYTES_MAX);
    for (line, id, code) in [
        ("{nope".to_owned(), Value::Null, -32_700),
        (r#"{"id":1,"method":"x""#.to_owned(), json!(1), -32_700),
        (r#"{"method":"x""#.to_owned(), Value::Null, -32_700),
        (r#"{"id":1,"method":"x",}"#.to_owned(), json!(1), -32_700),
        (
            format!(r#"{{"jsonrpc":"2.0","id":2,"method":"x","params":{deep}}}"#),
            json!(2),
            -32_600,
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":"{long}"}}"#),
            json!("a"),
            -32_600,
        ),
        (
            format!(r#"{{"method":"x","params":"{long}","id":3}}"#),
            json!(3),
            -32_600,
        ),
        (format!("{long}x"), Value::Null, -32_600),
        ("7".to_owned(), Value::Null, -32_600),
        ("[]".to_owned(), Value::Null, -32_600),
        (
            format!("[{}]", request(&json!(4), "ping")),
            json!(4),
            -32_600,
        ),
        (r#"{"id":5}"#.to_owned(), json!(5), -32_600),
        (
            r#"{"jsonrpc":"1.0","id":6,"method":"ping"}"#.to_owned(),
            json!(6),
            -32_600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
            Value::Null,
            -32_600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#.to_owned(),
            json!(1.5),
            -32_600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#.to_owned(),
            Value::Null,
            -32_600,
        ),
    ] {
        let after = request(&json!("after"), "ping");
        let shown = line[..line.len().min(60)].to_owned();
        let codes = codes(&[line, after]).await;
        let mut expected = vec![(id, Some(code)), (json!("after"), None)];
        expected.sort_by_key(|one| one.0.to_string());
        let mut came = codes;
        came.sort_by_key(|one| one.0.to_string());
        assert_eq!(came, expected, "{shown}");
    }
}

#[tokio::test]
async fn a_second_request_with_an_id_in_flight_is_answered() {
    let never = request(&json!(1), "never");
    let codes = codes(&[never.clone(), never.clone(), request(&json!(2), "ping")]).await;
    let of_one: Vec<i64> = codes
        .iter()
        .filter(|one| one.0 == 1)
        .filter_map(|one| one.1)
        .collect();
    // One for the second at once, one for the first when it ended.
    assert_eq!(of_one, [-32_600, -32_601], "{codes:?}");
    assert_eq!(codes.iter().filter(|one| one.0 == 2).count(), 1);
}

/// A request that is open when the connection ends is answered then; one that the client cancelled is not.
#[tokio::test]
async fn the_end_of_the_connection_answers_what_is_open() {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    let sent = [
        request(&json!(1), "never"),
        request(&json!(2), "never"),
        cancelled.to_string(),
    ];
    let sent = sent.join("\n");
    let (to, mut hears) = tokio::io::duplex(1 << 16);
    let (mut transport, last) = split_transport(std::io::Cursor::new(sent), to, BYTES_MAX);
    while transport.receive().await.is_some() {}
    drop(transport);
    last.finish().await;
    let mut heard = String::new();
    hears.read_to_string(&mut heard).await.unwrap();
    let answer: Value = serde_json::from_str(&heard).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32_603))
    );
}

#[tokio::test]
async fn a_notification_is_not_answered_and_a_last_line_without_an_end_is_read() {
    let wrong = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":7}"#.to_owned();
    let codes = codes(&[wrong, request(&json!(1), "ping")]).await;
    assert_eq!(codes, [(json!(1), None)]);
}

/// A line that may be a request, broken somewhere or not.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let methods = proptest::sample::select(vec![
        "ping",
        "tools/list",
        "tools/call",
        "no/such",
        "never",
        "initialize",
    ]);
    let ids = prop_oneof![
        (0..6_i64).prop_map(|id| json!(id)),
        "[a-c]".prop_map(|id| json!(id)),
        Just(Value::Null),
        Just(json!(1.5)),
    ];
    let whole = (ids, methods).prop_map(|(id, method)| request(&id, method).into_bytes());
    let broken = (
        whole.clone(),
        any::<prop::sample::Index>(),
        any::<u8>(),
        0..4_u8,
    )
        .prop_map(|(mut line, at, byte, how)| {
            let at = at.index(line.len());
            match how {
                0 => line[at] = byte,
                1 => line.truncate(at),
                2 => line.insert(at, byte),
                _ => drop(line.remove(at)),
            }
            line.retain(|byte| *byte != b'\n');
            line
        });
    let deep = (0..6_i64, 1..300_usize).prop_map(|(id, depth)| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"id":{id},"jsonrpc":"2.0","params":{{"a":{open}{close}}},"method":"ping"}}"#)
            .into_bytes()
    });
    let long = (0..6_i64, 4_000..9_000_usize).prop_map(|(id, length)| {
        let text = "x".repeat(length);
        format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{"a":"{text}"}},"id":{id}}}"#)
            .into_bytes()
    });
    let noise = proptest::collection::vec(
        any::<u8>().prop_filter("no line end", |byte| *byte != b'\n'),
        0..40,
    );
    prop_oneof![3 => whole, 3 => broken, 1 => deep, 1 => long, 1 => noise]
}

/// An id by which requests and answers are compared: a number is the same however it is written, `1e5` and `100000`.
fn id_text(id: &Value) -> String {
    id.as_f64()
        .map_or_else(|| id.to_string(), |number| number.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every line that can be read as a request with an id has an answer with that id, and there are never more answers
    /// than lines.
    #[test]
    fn every_request_has_exactly_one_answer(sent in proptest::collection::vec(line(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answers = runtime.block_on(answers(&sent.join(&b'\n')));
        let mut open: HashMap<String, usize> = HashMap::new();
        for line in &sent {
            let Ok(Value::Object(request)) = serde_json::from_slice(line.trim_ascii()) else { continue };
            let id = request.get("id").filter(|id| id.is_string() || id.is_number());
            if let (Some(id), true) = (id, request.contains_key("method")) {
                *open.entry(id_text(id)).or_default() += 1;
            }
        }
        let mut answered: HashMap<String, usize> = HashMap::new();
        for answer in &answers {
            *answered.entry(id_text(&answer["id"])).or_default() += 1;
        }
        for (id, times) in &open {
            // Lines that cannot be read may name the same id.
            let got = answered.get(id).copied().unwrap_or(0);
            prop_assert!(got >= *times, "{} was asked {} times, answered {}: {:?}", id, times, got, answers);
        }
        prop_assert!(answers.len() <= sent.len(), "{} answers to {} lines", answers.len(), sent.len());
    }
}
