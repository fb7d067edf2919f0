//! Runs over a real wire: the program asks an endpoint on this machine that speaks as OpenAI does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::support::CliFixture;

/// Says these texts, one for each request, and gives the bodies of the requests that came.
fn endpoint(says: Vec<String>) -> (String, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let mut says = says.iter();
        let mut bodies = Vec::new();
        while says.len() > 0 {
            let (mut stream, _) = listener.accept().unwrap();
            let (is_post, body) = request(&stream);
            if !is_post {
                let models = r#"{"object":"list","data":[{"id":"m"}]}"#;
                let reply = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{models}",
                    models.len()
                );
                stream.write_all(reply.as_bytes()).unwrap();
                continue;
            }
            bodies.push(serde_json::from_slice(&body).unwrap());
            let says = says.next().unwrap();
            stream.write_all(answer(says).as_bytes()).unwrap();
        }
        bodies
    });
    (base_url, asked)
}

/// Whether a request posts something, and what.
fn request(stream: &TcpStream) -> (bool, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let length = head.to_ascii_lowercase().lines().find_map(|line| {
        let bytes = line.strip_prefix("content-length:")?;
        bytes.trim().parse().ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    (head.starts_with("POST"), body)
}

/// A streamed answer, in two pieces.
fn answer(says: &str) -> String {
    let (first, rest) = says.split_at(says.len() / 2);
    let frame = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk = json!({ "id": "a", "object": "chat.completion.chunk", "model": "m", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let frames = [
        frame(
            json!({ "role": "assistant", "content": first }),
            Value::Null,
        ),
        frame(json!({ "content": rest }), Value::Null),
        frame(json!({}), json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ];
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{}",
        frames.concat()
    )
}

/// `S004-30`, `S004-31`, `S004-35`, `S004-41`: the tools stand in the one schema that goes out, none beside it; what comes back is
/// read from the stream's pieces, an answer that breaks the schema is reported, and results go back as JSON.
#[test]
fn a_run_comes_to_its_output_over_the_wire() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let (base_url, asked) = endpoint(vec![
        json!({ "calls": [{ "_tool": "reed", "path": "a.txt" }], "output": null }).to_string(),
        json!({ "calls": [{ "_tool": "read", "path": "a.txt" }], "output": null }).to_string(),
        json!({ "calls": [], "output": { "summary": "It says alpha." } }).to_string(),
    ]);
    let settings = format!(
        "[[providers]]\nid = \"near\"\ntitle = \"Near\"\nwire = \"openai\"\nbase_url = \"{base_url}\"\n"
    );
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("settings.toml"), settings).unwrap();
    let schema = json!({ "type": "object", "properties": { "summary": { "type": "string", "maxLength": 80 } },
        "required": ["summary"] });
    let file = place.write_outside_file("schema.json", &schema.to_string());
    let args = [
        "run",
        "--provider",
        "near",
        "--model",
        "m",
        "--output-schema",
        &file,
        "Sum it up.",
    ];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "{\n  \"summary\": \"It says alpha.\"\n}\n");

    let bodies = asked.join().unwrap();
    let [first, second, third] = bodies.as_slice() else {
        panic!("{bodies:#?}")
    };
    assert_eq!((&first["model"], first.get("tools")), (&json!("m"), None));
    let system = first["messages"][0]["content"].as_str().unwrap();
    let calls = r#""_tool":{"const":"read"}"#;
    assert!(
        system.contains(calls) && system.contains(r#""required":["calls","output"]"#),
        "{system}"
    );
    let last = |body: &Value| body["messages"].as_array().unwrap().last().unwrap().clone();
    let report = last(second);
    assert!(
        report["content"]
            .as_str()
            .unwrap()
            .contains("there is no tool `reed`. Did you mean `read`?"),
        "{report}"
    );
    let results = last(third);
    assert_eq!(results["role"], "user");
    let results: Value = serde_json::from_str(results["content"].as_str().unwrap()).unwrap();
    assert_eq!(results["results"][0]["_tool"], "read");
    assert!(
        results["results"][0]["_output"]
            .as_str()
            .unwrap()
            .contains("alpha")
    );
}
