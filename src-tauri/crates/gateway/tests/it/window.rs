//! The engine as the app's window has it: over two pipes, one line a request, a head and a body a message.

use std::path::Path;

use agent::{EngineConfig, Host};
use gateway::window::{WindowConfig, serve};
use protocol::engine_process::{
    EngineRequest, MessageHead, MessageKind, NumberedRequest, OngoingWork,
};
use protocol::query::EngineView;
use protocol::{Op, Settings, UserError};
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
    duplex, split,
};
use tokio::task::JoinHandle;

/// The window's side of the pipes.
struct Window {
    requests: Option<WriteHalf<DuplexStream>>,
    messages: BufReader<ReadHalf<DuplexStream>>,
    served: JoinHandle<Result<(), UserError>>,
    requests_sent: u64,
}

impl Window {
    fn open(engine: Result<EngineConfig, UserError>) -> Self {
        let (ours, theirs) = duplex(1 << 16);
        let (messages, requests) = split(ours);
        let (input, output) = split(theirs);
        let config = WindowConfig {
            engine,
            variables: Vec::new(),
            hook_program: None,
            demo: None,
        };
        Self {
            requests: Some(requests),
            messages: BufReader::new(messages),
            served: tokio::spawn(serve(config, BufReader::new(input), output)),
            requests_sent: 0,
        }
    }

    fn open_on(data_dir: &Path) -> Self {
        Self::open(Ok(EngineConfig::new(data_dir.to_owned(), Host::Person)))
    }

    async fn send(&mut self, request: EngineRequest) -> u64 {
        self.requests_sent += 1;
        let id = self.requests_sent;
        let mut line = serde_json::to_vec(&NumberedRequest { id, request }).unwrap();
        line.push(b'\n');
        self.requests
            .as_mut()
            .unwrap()
            .write_all(&line)
            .await
            .unwrap();
        id
    }

    async fn next_message(&mut self) -> (MessageKind, Value) {
        let mut line = String::new();
        self.messages.read_line(&mut line).await.unwrap();
        let head: MessageHead = serde_json::from_str(&line).unwrap();
        let mut body = vec![0; head.bytes];
        self.messages.read_exact(&mut body).await.unwrap();
        (head.kind, serde_json::from_slice(&body).unwrap())
    }

    async fn wait_for(&mut self, kind: MessageKind) -> Value {
        loop {
            let (came, body) = self.next_message().await;
            if came == kind {
                return body;
            }
        }
    }

    async fn ask(&mut self, request: EngineRequest) -> Value {
        let id = self.send(request).await;
        self.wait_for(MessageKind::Answer(id)).await
    }

    async fn close(mut self) -> Result<(), UserError> {
        let mut requests = self.requests.take().unwrap();
        requests.shutdown().await.unwrap();
        self.served.await.unwrap()
    }
}

fn rename(title: &str) -> Op {
    let op = serde_json::json!({ "type": "rename_session", "session": "ses_none", "title": title });
    serde_json::from_value(op).unwrap()
}

#[tokio::test]
async fn a_window_is_answered_what_it_asks() {
    let data = tempfile::tempdir().unwrap();
    let mut window = Window::open_on(data.path());
    let snapshot = window.ask(EngineRequest::Snapshot).await;
    let snapshot: EngineView = serde_json::from_value(snapshot).unwrap();
    assert!(snapshot.sessions.is_empty() && snapshot.desk.is_empty());
    let settings = window.ask(EngineRequest::Settings).await;
    assert_eq!(
        serde_json::from_value::<Settings>(settings).unwrap(),
        Settings::default()
    );
    let op = rename("Another");
    let refused = window.send(EngineRequest::Submit { op }).await;
    let fault = window.wait_for(MessageKind::Failure(refused)).await;
    assert!(!fault["message"].as_str().unwrap().is_empty(), "{fault}");
    window.close().await.unwrap();
}

#[tokio::test]
async fn events_go_to_the_page_that_subscribed_last() {
    let data = tempfile::tempdir().unwrap();
    let mut window = Window::open_on(data.path());
    let first = window.send(EngineRequest::Subscribe { since: 0 }).await;
    window.wait_for(MessageKind::Answer(first)).await;
    let second = window.send(EngineRequest::Subscribe { since: 0 }).await;
    window.wait_for(MessageKind::Answer(second)).await;
    window
        .send(EngineRequest::Submit { op: Op::PlayDemo })
        .await;
    let mut waiting = 0;
    let mut batches = 0;
    while waiting == 0 || batches == 0 {
        match window.next_message().await {
            (MessageKind::Events(id), events) => {
                assert_eq!(id, second);
                assert!(!events.as_array().unwrap().is_empty());
                batches += 1;
            }
            (MessageKind::Attention, change) => waiting = change["waiting"].as_u64().unwrap(),
            (MessageKind::Failure(_), fault) => panic!("{fault}"),
            (MessageKind::Answer(_), _) => {}
        }
    }
    window.close().await.unwrap();
}

/// The app is not replaced while a session is at work or a call waits.
#[tokio::test]
async fn what_goes_on_in_the_engine_is_told_until_it_is_over() {
    async fn wait_until(window: &mut Window, is_reached: fn(&OngoingWork) -> bool) -> OngoingWork {
        loop {
            let work = window.ask(EngineRequest::OngoingWork).await;
            let work = serde_json::from_value(work).unwrap();
            if is_reached(&work) {
                return work;
            }
        }
    }
    let data = tempfile::tempdir().unwrap();
    let mut window = Window::open_on(data.path());
    let at_first = wait_until(&mut window, |_| true).await;
    assert_eq!(at_first, OngoingWork::default());
    window.ask(EngineRequest::Submit { op: Op::PlayDemo }).await;
    let waiting = wait_until(&mut window, |work| work.waiting_calls > 0).await;
    assert_eq!(waiting.active_sessions, 1);
    let snapshot = window.ask(EngineRequest::Snapshot).await;
    let session = snapshot["sessions"][0]["id"].clone();
    let stop = serde_json::json!({ "type": "interrupt", "session": session });
    let op = serde_json::from_value(stop).unwrap();
    window.ask(EngineRequest::Submit { op }).await;
    let over = wait_until(&mut window, |work| work.active_sessions == 0).await;
    assert_eq!(over, OngoingWork::default());
    window.close().await.unwrap();
}

#[tokio::test]
async fn an_engine_that_cannot_be_opened_is_tried_again_with_each_request() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::write(&data, "a file where the folder belongs").unwrap();
    let mut window = Window::open_on(&data);
    let refused = window.send(EngineRequest::Snapshot).await;
    let fault = window.wait_for(MessageKind::Failure(refused)).await;
    let fault = serde_json::from_value::<UserError>(fault).unwrap();
    assert!(fault.to_string().contains("data"), "{fault}");
    std::fs::remove_file(&data).unwrap();
    window.ask(EngineRequest::Snapshot).await;
    window.close().await.unwrap();

    let why = UserError::new("There is no data folder.", "Name one.");
    let mut window = Window::open(Err(why.clone()));
    let refused = window.send(EngineRequest::Snapshot).await;
    let fault = window.wait_for(MessageKind::Failure(refused)).await;
    assert_eq!(serde_json::from_value::<UserError>(fault).unwrap(), why);
    window.close().await.unwrap();
}

#[tokio::test]
async fn what_no_window_says_ends_the_engine_with_the_reason() {
    for line in [
        "GET / HTTP/1.1\n",
        "{\"id\":1}\n",
        "{\"id\":1,\"request\":{\"type\":\"erase\"}}\n",
    ] {
        let data = tempfile::tempdir().unwrap();
        let mut window = Window::open_on(data.path());
        let requests = window.requests.as_mut().unwrap();
        requests.write_all(line.as_bytes()).await.unwrap();
        let fault = window.served.await.unwrap().unwrap_err();
        assert!(
            fault.to_string().contains("none of the app's window"),
            "{fault}"
        );
    }
}
