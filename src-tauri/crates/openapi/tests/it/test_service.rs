//! A service that remembers what it heard, and tools that call it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use openapi::{ApiContext, ApiService, ApiTool, DocumentSource, OperationPins};
use protocol::server::apis::{ApiAuth, ApiSettings, ApiSetup};
use protocol::server::mcp_servers::ServerId;
use protocol::view::request_preview::RequestPreview;
use protocol::{Preview, ToolError, ToolOutput};
use runtime::{FrozenClock, NetworkClient, NetworkPolicy, Workspace};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tools::config_references::ReferenceResolver;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heard {
    pub method: String,
    /// The path, and what stands behind the `?`.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Heard {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub struct Site {
    pub port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
}

type Answer = dyn Fn(&Heard, u16) -> Vec<u8> + Send + Sync;

/// An answer with a head and a body.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub fn json_answer(body: &Value) -> Vec<u8> {
    answer(
        "200 OK",
        "content-type: application/json\r\n",
        body.to_string(),
    )
}

impl Site {
    /// Answers everything with an empty object.
    pub async fn open() -> Self {
        Self::answering(|_, _| json_answer(&json!({}))).await
    }

    pub async fn answering(by: impl Fn(&Heard, u16) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (all, by): (_, Arc<Answer>) = (heard.clone(), Arc::new(by));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, all.clone(), by.clone(), port));
            }
        });
        Self { port, heard }
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    pub fn last(&self) -> Heard {
        self.heard().pop().unwrap()
    }
}

async fn serve(mut stream: TcpStream, all: Arc<Mutex<Vec<Heard>>>, by: Arc<Answer>, port: u16) {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap().split(' ');
    let mut heard = Heard {
        method: first.next().unwrap().to_owned(),
        target: first.next().unwrap().to_owned(),
        ..Heard::default()
    };
    for line in lines {
        if let Some((name, value)) = line.split_once(": ") {
            heard.headers.push((name.to_lowercase(), value.to_owned()));
        }
    }
    let length = heard
        .header("content-length")
        .map_or(0, |text| text.parse().unwrap());
    while bytes.len() < head + length {
        stream.read_buf(&mut bytes).await.unwrap();
    }
    heard.body = bytes[head..].to_vec();
    let answer = by(&heard, port);
    all.lock().unwrap().push(heard);
    let _ = stream.write_all(&answer).await;
}

/// Lets everything of this machine pass, and remembers what was asked for.
#[derive(Default)]
pub struct Door;

impl NetworkPolicy for Door {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        match url.starts_with("http://127.0.0.1:") {
            true => Ok(()),
            false => Err("nobody allowed that host.".to_owned()),
        }
    }

    fn allows_ip(&self, _: &str, ip: IpAddr) -> Result<(), String> {
        assert!(ip.is_loopback());
        Ok(())
    }
}

pub fn net() -> NetworkClient {
    NetworkClient::offline().with_policy(Arc::new(Door))
}

/// A keychain that a test fills.
pub struct Chain(pub BTreeMap<&'static str, &'static str>);

impl ReferenceResolver for Chain {
    fn resolve_variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| (*value).to_owned())
    }

    fn resolve_secret(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.resolve_variable(name))
    }
}

/// One document with its service, ready to be called.
pub struct Desk {
    pub api: Arc<ApiService>,
    pub clock: Arc<FrozenClock>,
    pub workspace: Workspace,
    folder: tempfile::TempDir,
}

impl Desk {
    /// The document's tools, as they are approved the first time.
    pub fn new(document: Value, setup: ApiSetup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(FrozenClock::default());
        let secrets = [
            ("key", "hush4hush4"),
            ("user", "me"),
            ("password", "pass word"),
            ("id", "id:1"),
            ("secret", "s&cret"),
        ];
        let ground = ApiContext {
            lookup: Arc::new(Chain(BTreeMap::from(secrets))),
            clock: clock.clone(),
        };
        let settings = ApiSettings {
            id: ServerId::try_from("one".to_owned()).unwrap(),
            setup,
            enabled: true,
        };
        let api = ApiService::new(settings, OperationPins::default(), ground);
        let document = api
            .load_document(&DocumentSource::from_value(document).unwrap())
            .unwrap();
        assert_eq!(document.left_out, Vec::<String>::new());
        api.set_pins(OperationPins::approve_initial(&document));
        Self {
            api: Arc::new(api),
            clock,
            workspace: Workspace::open(folder.path()).unwrap(),
            folder,
        }
    }

    pub fn file(&self, name: &str, content: &[u8]) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    /// The operation that the document calls so.
    pub fn tool(&self, id: &str) -> ApiTool {
        let pins = self.api.pins();
        let pinned = pins.tools.iter().find(|pinned| pinned.definition.id == id);
        ApiTool::new(self.api.clone(), pinned.unwrap_or_else(|| panic!("{id}")))
    }

    /// Checks, shows and sends, as the pipeline does.
    pub async fn call(&self, id: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        use tools::Tool;
        let tool = self.tool(id);
        let arguments = checked(&tool, arguments)?;
        tool.validate(&arguments)?;
        tool.preview_request(&arguments, &self.workspace)?;
        let cancel = CancellationToken::new();
        tool.call_approved(&arguments, &self.workspace, &net(), &cancel)
            .await
    }

    pub fn shown(&self, id: &str, arguments: Value) -> RequestPreview {
        let tool = self.tool(id);
        let arguments = checked(&tool, arguments).unwrap();
        match tool
            .preview_request(&arguments, &self.workspace)
            .unwrap()
            .preview
        {
            Preview::Request(request) => *request,
            other => panic!("{other:?}"),
        }
    }
}

/// Arguments that fit the tool's own schema.
fn checked(tool: &ApiTool, arguments: Value) -> Result<Map<String, Value>, ToolError> {
    use tools::Tool;
    let schema = tools::Schema::from_interface(tool.interface()).unwrap();
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    tools::validate_arguments(&schema, arguments)
}

/// A document of this version with these paths.
pub fn document(site: &Site, paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "One", "version": "1" },
        "servers": [{ "url": format!("{}/v1/", site.base()) }],
        "paths": paths,
    })
}

pub fn token(name: &str) -> ApiAuth {
    ApiAuth::Token {
        token: format!("keychain:{name}"),
    }
}
