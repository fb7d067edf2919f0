//! The fake endpoint: answers what it was told to, one answer for each request, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response};
use futures::{StreamExt, stream};
use protocol::UserError;
use protocol::model::{Message, ToolChoice};
use protocol::settings::{ProviderSettings, WireFormat};
use provider::{
    Chunk, ChunkStream, MemoryKeyStore, ModelRequest, Provider, ProviderEnv, ProviderError,
    Providers, Timing,
};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub const KEY: &str = "sk-fake-0123456789abcdef";
pub const WIRES: [WireFormat; 4] = [
    WireFormat::Anthropic,
    WireFormat::Openai,
    WireFormat::Gemini,
    WireFormat::Ollama,
];

/// How an answer goes on after its frames.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// It ends as HTTP wants it.
    Close,
    /// The connection breaks, as soon as [`Fake::break_off`] was called.
    Break,
    /// Nothing more comes.
    Hang,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub frames: Vec<String>,
    pub then: Then,
}

impl Reply {
    pub fn frames(frames: &[String], then: Then) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            frames: frames.to_vec(),
            then,
        }
    }

    pub fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            frames: vec![body.to_owned()],
            then: Then::Close,
        }
    }

    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// One request as it came in.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
}

#[derive(Default)]
struct Desk {
    replies: VecDeque<Reply>,
    asked: Vec<Asked>,
}

/// The endpoint; it stops with the runtime of its test.
#[derive(Clone)]
pub struct Fake {
    pub base_url: String,
    desk: Arc<Mutex<Desk>>,
    breaks: Arc<Semaphore>,
}

impl Fake {
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let desk = Arc::new(Mutex::new(Desk {
            replies: replies.into_iter().collect(),
            asked: Vec::new(),
        }));
        let breaks = Arc::new(Semaphore::new(0));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/", listener.local_addr().unwrap());
        let app = axum::Router::new()
            .fallback(answer)
            .with_state((desk.clone(), breaks.clone()));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            base_url,
            desk,
            breaks,
        }
    }

    /// Lets every answer that waits for it break.
    pub fn break_off(&self) {
        self.breaks.close();
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.desk.lock().unwrap().asked.clone()
    }
}

async fn answer(
    State((desk, breaks)): State<(Arc<Mutex<Desk>>, Arc<Semaphore>)>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 24).await.unwrap();
    let reply = {
        let mut desk = desk.lock().unwrap();
        desk.asked.push(Asked {
            path: parts.uri.to_string(),
            headers: parts.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        });
        desk.replies.pop_front()
    };
    let reply = reply.unwrap_or_else(|| Reply::status(418, "nothing was left to say"));
    let frames = stream::iter(reply.frames).then(|frame| async move {
        // Each frame goes out by itself.
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(Bytes::from(frame))
    });
    let body = match reply.then {
        Then::Close => Body::from_stream(frames),
        Then::Break => Body::from_stream(frames.chain(stream::once(async move {
            let _closed = breaks.acquire().await;
            Err(std::io::Error::other("broken"))
        }))),
        Then::Hang => Body::from_stream(frames.chain(stream::pending())),
    };
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(body).unwrap()
}

/// Times for tests: no pauses, and patience where a test does not want it to run out.
pub fn timing() -> Timing {
    Timing {
        backoff_ms: 0,
        ..Timing::default()
    }
}

pub fn settings(wire: WireFormat, base_url: &str) -> ProviderSettings {
    ProviderSettings {
        id: "fake".to_owned(),
        title: "Fake".to_owned(),
        wire,
        base_url: base_url.to_owned(),
        key_env: Some("FAKE_KEY".to_owned()),
        input_usd_per_mtok: Some(1.0),
        output_usd_per_mtok: Some(2.0),
    }
}

pub fn provider_with(wire: WireFormat, fake: &Fake, timing: Timing) -> Arc<dyn Provider> {
    let keys = Arc::new(MemoryKeyStore::new().with_env("FAKE_KEY", KEY));
    let settings = [settings(wire, &fake.base_url)];
    let list = Providers::with_env(&settings, keys, &ProviderEnv::default(), timing);
    assert_eq!(list.errors(), [] as [UserError; 0]);
    list.get("fake").unwrap()
}

pub fn provider(wire: WireFormat, fake: &Fake) -> Arc<dyn Provider> {
    provider_with(wire, fake, timing())
}

pub fn request() -> ModelRequest {
    ModelRequest {
        model: "some-model".to_owned(),
        system: "Be brief.".to_owned(),
        messages: Arc::new(vec![Message::user("Read both.")]),
        tools: Arc::default(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        temperature: None,
        effort: None,
        tokens_max: None,
    }
}

pub type Item = Result<Chunk, ProviderError>;

pub async fn begin(provider: &dyn Provider) -> Result<ChunkStream, ProviderError> {
    provider.stream(request(), CancellationToken::new()).await
}

/// A whole turn.
pub async fn played(provider: &dyn Provider) -> Vec<Item> {
    match begin(provider).await {
        Ok(stream) => stream.collect().await,
        Err(error) => vec![Err(error)],
    }
}
