//! Where requests to models go, and the key with them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{CliFixture, CliRun};

const RUN: [&str; 6] = ["run", "--provider", "anthropic", "--model", "m", "Say hi"];

fn ran(place: &CliFixture, variable: &str, value: &str, args: &[&str]) -> CliRun {
    let mut command = place.command(args);
    let output = command
        .env("ANTHROPIC_API_KEY", "key-of-a-proxy")
        .env(variable, value)
        .output()
        .unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Reads a request over one connection, up to its body, and answers it with an error.
fn answer(mut stream: TcpStream) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_lowercase();
        if let Some(count) = line.strip_prefix("content-length: ") {
            length = count.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let body = r#"{"error":{"message":"no such luck"}}"#;
    write!(
        stream,
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    head
}

/// The key that goes with an address of the environment goes there and nowhere else.
#[test]
fn a_run_asks_where_the_environment_says() {
    let place = CliFixture::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let head = answer(stream.unwrap());
            all.lock().unwrap().push(head);
        }
    });
    let run = ran(&place, "ANTHROPIC_BASE_URL", &address, &RUN);
    assert_eq!(run.code, 1, "{}", run.err);
    let told = format!("{}{}", run.out, run.err);
    assert!(told.contains("no such luck. Change"), "{told}");
    let heard = heard.lock().unwrap().clone();
    let asked = heard.iter().find(|head| head.starts_with("post "));
    let asked = asked.unwrap_or_else(|| panic!("nobody was asked: {heard:?}"));
    assert!(asked.starts_with("post /v1/messages "), "{asked}");
    assert!(asked.contains("x-api-key: key-of-a-proxy"), "{asked}");
    let doctor = ran(&place, "ANTHROPIC_BASE_URL", &address, &["doctor"]);
    let told = format!("Requests to Anthropic go to {address}/v1/, as ANTHROPIC_BASE_URL says.");
    assert!(doctor.out.contains(&told), "{}", doctor.out);
}

#[test]
fn an_address_that_cannot_be_used_is_an_error() {
    let place = CliFixture::new();
    let run = ran(&place, "ANTHROPIC_BASE_URL", "proxy.example", &RUN);
    assert_ne!(run.code, 0);
    let told = "ANTHROPIC_BASE_URL cannot be used: ";
    assert!(run.err.contains(told), "{}", run.err);
    let doctor = ran(&place, "ANTHROPIC_BASE_URL", "proxy.example", &["doctor"]);
    assert!(doctor.out.contains(told), "{}", doctor.out);
    let plain = ran(&place, "ANTHROPIC_BASE_URL", "", &["doctor"]);
    assert!(!plain.out.contains("Anthropic"), "{}", plain.out);
}
