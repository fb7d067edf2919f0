//! A server that wants to know who asks, and the authority that signs people in to it, on this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// Deviations from the behaviour of a good server.
#[derive(Debug, Clone, Default)]
pub struct Mood {
    /// The browser brings another word back.
    pub state: Option<&'static str>,
    /// It says that it is somebody else.
    pub issuer: Option<&'static str>,
    /// The person says no there.
    pub refuses: bool,
    /// Its tokens are good for so long, in seconds; an hour if it does not say.
    pub expires_in_s: Option<u64>,
    /// It does not renew.
    pub renews_not: bool,
    /// Its server wants more to be allowed for a call.
    pub wants_more: bool,
    /// It knows nothing of what protects what comes back.
    pub is_plain: bool,
    /// It introduces nobody.
    pub knows_nobody: bool,
    /// Its server greets whoever comes, and wants to know who asks for whatever comes next.
    pub greets_everybody: bool,
    /// Its server answers whoever asks.
    pub asks_nobody: bool,
    /// It takes back what it gave, with this status.
    pub takes_back: Option<&'static str>,
}

#[derive(Default)]
pub struct Heard {
    /// Method and path of every request, in order.
    pub paths: Vec<String>,
    /// Authorization header of every request to the server.
    pub shown: Vec<Option<String>>,
    /// Form of every request for a token.
    pub tokens: Vec<HashMap<String, String>>,
    /// Requests to revoke a token, each with the client in its header.
    pub taken_back: Vec<(HashMap<String, String>, Option<String>)>,
    challenge: String,
}

#[derive(Clone)]
pub struct Authority {
    pub base: String,
    pub mood: Arc<Mutex<Mood>>,
    pub heard: Arc<Mutex<Heard>>,
}

struct Asked {
    method: String,
    url: Url,
    shown: Option<String>,
    body: String,
}

impl Authority {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = Self {
            base: format!("http://{}", listener.local_addr().unwrap()),
            mood: Arc::default(),
            heard: Arc::default(),
        };
        let own = authority.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.serve(stream).await });
            }
        });
        authority
    }

    pub fn server(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub fn is(&self, change: impl FnOnce(&mut Mood)) {
        change(&mut self.mood.lock().unwrap());
    }

    pub fn paths(&self) -> Vec<String> {
        self.heard.lock().unwrap().paths.clone()
    }

    async fn serve(&self, mut stream: TcpStream) {
        let Some(asked) = read(&mut stream, &self.base).await else {
            return;
        };
        let path = asked.url.path().to_owned();
        let said = format!("{} {path}", asked.method);
        self.heard.lock().unwrap().paths.push(said);
        let (status, headers, body) = match path.as_str() {
            "/mcp" => self.server_answers(&asked),
            "/.well-known/oauth-protected-resource/mcp" => json_of(json!({
                "resource": self.server(), "authorization_servers": [self.base], "scopes_supported": ["read"] })),
            "/.well-known/oauth-authorization-server" => json_of(self.metadata()),
            "/register" if !self.mood.lock().unwrap().knows_nobody => {
                let asked: Value = serde_json::from_str(&asked.body).unwrap();
                json_of(json!({ "client_id": "known-1", "redirect_uris": asked["redirect_uris"] }))
            }
            "/authorize" => self.leads_back(&asked.url),
            "/token" => self.gives(&asked.body),
            "/revoke" => self.takes_back(&asked),
            _ => ("404 Not Found", String::new(), String::new()),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }

    fn metadata(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.base);
        let methods = match self.mood.lock().unwrap().is_plain {
            true => json!(["plain"]),
            false => json!(["S256"]),
        };
        let mut told = json!({ "issuer": self.base, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": methods, "authorization_response_iss_parameter_supported": true });
        if self.mood.lock().unwrap().takes_back.is_some() {
            told["revocation_endpoint"] = at("/revoke").into();
        }
        told
    }

    fn takes_back(&self, asked: &Asked) -> (&'static str, String, String) {
        let form = url::form_urlencoded::parse(asked.body.as_bytes());
        let told = (form.into_owned().collect(), asked.shown.clone());
        self.heard.lock().unwrap().taken_back.push(told);
        let status = self.mood.lock().unwrap().takes_back.unwrap();
        (status, String::new(), String::new())
    }

    /// Redirect for the browser of a person who says yes, or no.
    fn leads_back(&self, asked: &Url) -> (&'static str, String, String) {
        let pairs: HashMap<_, _> = asked.query_pairs().into_owned().collect();
        assert_eq!(pairs["code_challenge_method"], "S256");
        assert_eq!(pairs["response_type"], "code");
        assert_eq!(pairs["resource"], self.server());
        self.heard.lock().unwrap().challenge = pairs["code_challenge"].clone();
        let mood = self.mood.lock().unwrap().clone();
        let mut back = Url::parse(&pairs["redirect_uri"]).unwrap();
        assert_eq!(back.host_str(), Some("127.0.0.1"));
        let state = mood.state.unwrap_or(&pairs["state"]).to_owned();
        back.query_pairs_mut()
            .append_pair("state", &state)
            .append_pair("iss", mood.issuer.unwrap_or(&self.base));
        match mood.refuses {
            true => back.query_pairs_mut().append_pair("error", "access_denied"),
            false => back.query_pairs_mut().append_pair("code", "code-1"),
        };
        ("302 Found", format!("Location: {back}\r\n"), String::new())
    }

    fn gives(&self, body: &str) -> (&'static str, String, String) {
        let form: HashMap<_, _> = url::form_urlencoded::parse(body.as_bytes())
            .into_owned()
            .collect();
        assert_eq!(form["resource"], self.server());
        let mood = self.mood.lock().unwrap().clone();
        let mut heard = self.heard.lock().unwrap();
        let is_renewal = form["grant_type"] == "refresh_token";
        if !is_renewal {
            // Whether it belongs to the challenge is looked at by the conformance suite.
            assert!(form["code_verifier"].len() >= 43 && heard.challenge.len() == 43);
        }
        heard.tokens.push(form);
        if is_renewal && mood.renews_not {
            let (_, headers, body) = json_of(json!({ "error": "invalid_grant" }));
            return ("400 Bad Request", headers, body);
        }
        let count = heard.tokens.len();
        json_of(
            json!({ "access_token": format!("token-{count}"), "refresh_token": format!("renew-{count}"),
            "token_type": "Bearer", "expires_in": mood.expires_in_s.unwrap_or(3600) }),
        )
    }

    /// The server itself, in words of 2026.
    fn server_answers(&self, asked: &Asked) -> (&'static str, String, String) {
        let mut heard = self.heard.lock().unwrap();
        heard.shown.push(asked.shown.clone());
        let known = heard.tokens.len();
        let at = format!("{}/.well-known/oauth-protected-resource/mcp", self.base);
        let header =
            |more: &str| format!("WWW-Authenticate: Bearer resource_metadata=\"{at}\"{more}\r\n");
        let mood = self.mood.lock().unwrap().clone();
        let is_greeting = asked.body.contains("\"server/discover\"");
        let is_open = mood.asks_nobody || mood.greets_everybody && is_greeting;
        if !is_open && (known == 0 || asked.shown != Some(format!("Bearer token-{known}"))) {
            return (
                "401 Unauthorized",
                header(", scope=\"read\""),
                String::new(),
            );
        }
        let message: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("server/discover") => {
                json!({ "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": { "tools": {} }, "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "far", "version": "1" } } })
            }
            Some("tools/list") => json!({ "ttlMs": 0, "cacheScope": "private",
                "tools": [{ "name": "hello", "inputSchema": { "type": "object" } }] }),
            Some("tools/call") if self.mood.lock().unwrap().wants_more => {
                let more = header(", error=\"insufficient_scope\", scope=\"write\"");
                return ("403 Forbidden", more, String::new());
            }
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "hello" }] }),
            _ => return ("405 Method Not Allowed", String::new(), String::new()),
        };
        let mut result = result;
        result["resultType"] = "complete".into();
        json_of(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    }
}

fn json_of(value: Value) -> (&'static str, String, String) {
    let head = "Content-Type: application/json\r\n".to_owned();
    ("200 OK", head, value.to_string())
}

async fn read(stream: &mut TcpStream, base: &str) -> Option<Asked> {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |name: &str| {
                let mut lines = head.lines().filter_map(|line| line.split_once(": "));
                let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.to_owned())
            };
            let length = header("content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let mut words = head.split(' ');
                return Some(Asked {
                    method: words.next()?.to_owned(),
                    url: Url::parse(&format!("{base}{}", words.next()?)).unwrap(),
                    shown: header("authorization"),
                    body: body.to_owned(),
                });
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => all.extend_from_slice(&piece[..read]),
        }
    }
}
