//! A site on this machine: each path is answered as it was told to, letter for letter.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The answer of a path.
#[derive(Clone)]
pub enum SiteResponse {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// A head, and then this again and again, for as long as somebody listens.
    Endless(Vec<u8>),
    /// Nothing at all, for as long as somebody listens.
    Silence,
}

/// A whole answer.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> SiteResponse {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    SiteResponse::Bytes([head.as_bytes(), body].concat())
}

/// A page of this type.
pub fn page_response(content_type: &str, body: impl AsRef<[u8]>) -> SiteResponse {
    answer("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

/// A redirect.
pub fn redirect_response(location: &str) -> SiteResponse {
    answer("302 Found", &format!("location: {location}\r\n"), "")
}

/// The bytes, packed.
pub fn gzip_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A site that is open.
pub struct TestSite {
    /// The port on which it listens on this machine.
    pub port: u16,
    answers: Arc<Mutex<BTreeMap<String, SiteResponse>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TestSite {
    /// A site on a port of its own, where nothing stands yet.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self {
            port: listener.local_addr().unwrap().port(),
            answers: Arc::default(),
            asked: Arc::default(),
        };
        let (answers, asked) = (site.answers.clone(), site.asked.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answers, asked) = (answers.clone(), asked.clone());
                tokio::spawn(async move {
                    let Some(request) = read_request(&mut stream).await else {
                        return;
                    };
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    let path = path.split('?').next().unwrap_or_default().to_owned();
                    asked.lock().unwrap().push(request);
                    let found = answers.lock().unwrap().get(&path).cloned();
                    let found = found.unwrap_or_else(|| {
                        answer(
                            "404 Not Found",
                            "content-type: text/html\r\n",
                            "<h1>No such page</h1>",
                        )
                    });
                    write_response(&mut stream, found).await;
                });
            }
        });
        site
    }

    /// Says what a path answers from now on.
    pub fn add_response(&self, path: &str, answer: SiteResponse) -> &Self {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
        self
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Its host, as rules name it.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The requests that came, whole.
    pub fn request_log(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// One request with the body that it says it has.
async fn read_request(stream: &mut tokio::net::TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let read = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.to_ascii_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text);
        }
    }
}

async fn write_response(stream: &mut tokio::net::TcpStream, found: SiteResponse) {
    match found {
        SiteResponse::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
        }
        SiteResponse::Endless(bytes) => {
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
            if stream.write_all(head).await.is_ok() {
                while stream.write_all(&bytes).await.is_ok() {}
            }
        }
        SiteResponse::Silence => {
            let mut piece = [0; 64];
            while stream.read(&mut piece).await.is_ok_and(|read| read > 0) {}
        }
    }
}
