//! A callback address for a browser: one address of this machine that is known to nobody else, served for as long as a
//! caller waits there. The first line of a request is all of HTTP that it reads, and needs no library.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::limits::{
    CALLBACK_BYTES_MAX, CALLBACK_RESPONSE_TIMEOUT, CALLBACK_TIMEOUT, CALLBACKS_MAX,
};

/// The only path that is answered.
const CALLBACK_PATH: &str = "/callback";

/// Waits for a browser on the loopback interface, at a free port. The port is closed when this is dropped.
#[derive(Debug)]
pub struct CallbackListener {
    address: String,
    visits: mpsc::Receiver<CallbackRequest>,
    _stop_guard: DropGuard,
}

/// A browser that has arrived and waits for its answer.
#[derive(Debug)]
pub struct CallbackRequest {
    /// The whole address that the browser requested, with its query.
    pub url: String,
    stream: TcpStream,
}

impl CallbackListener {
    /// Opens the port and begins to wait.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}{CALLBACK_PATH}", listener.local_addr()?);
        let (tell, visits) = mpsc::channel(CALLBACKS_MAX);
        let stop = CancellationToken::new();
        let stop_guard = stop.clone().drop_guard();
        let site = address.trim_end_matches(CALLBACK_PATH).to_owned();
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = accept_connections(listener, site, tell) => {}
            }
        });
        Ok(Self {
            address,
            visits,
            _stop_guard: stop_guard,
        })
    }

    /// Returns the address: `http://127.0.0.1:PORT/callback`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the next browser that requests the address; `None` if the system took the port away.
    pub async fn next_request(&mut self) -> Option<CallbackRequest> {
        self.visits.recv().await
    }
}

/// Accepts every connection. A browser opens connections that it never uses, so none of them holds up another.
async fn accept_connections(
    listener: TcpListener,
    site: String,
    tell: mpsc::Sender<CallbackRequest>,
) {
    let room = Arc::new(Semaphore::new(CALLBACKS_MAX));
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(place) = room.clone().try_acquire_owned() else {
            continue;
        };
        let (site, tell) = (site.clone(), tell.clone());
        tokio::spawn(async move {
            let heard = tokio::time::timeout(CALLBACK_TIMEOUT, read_request_target(stream));
            if let Ok(Some((target, stream))) = heard.await {
                let visit = CallbackRequest {
                    url: format!("{site}{target}"),
                    stream,
                };
                let path = target.split('?').next();
                match path == Some(CALLBACK_PATH) {
                    // Whoever waited may be gone.
                    true => drop(tell.send(visit).await),
                    false => visit.answer(404, "There is nothing here.").await,
                }
            }
            drop(place);
        });
    }
}

/// Returns the target of a `GET` request; `None` for any other request.
async fn read_request_target(mut stream: TcpStream) -> Option<(String, TcpStream)> {
    let mut head = Vec::new();
    let mut piece = [0_u8; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok()?;
        if read == 0 || head.len() + read > CALLBACK_BYTES_MAX {
            return None;
        }
        head.extend_from_slice(piece.get(..read)?);
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("GET"), Some(target), Some(version), None)
            if target.starts_with('/') && version.starts_with("HTTP/1.") =>
        {
            Some((target.to_owned(), stream))
        }
        _ => None,
    }
}

impl CallbackRequest {
    /// Answers with a sentence, as a page that loads and runs nothing.
    pub async fn answer(mut self, status: u16, sentence: &str) {
        let sentence = sentence
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Countersign</title><h1>Countersign</h1><p>{sentence}</p></html>"
        );
        let answer = format!(
            "HTTP/1.1 {status} \r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{page}",
            page.len()
        );
        let told = async {
            // Whoever does not want to hear it is gone already.
            let _ = self.stream.write_all(answer.as_bytes()).await;
            let _ = self.stream.shutdown().await;
        };
        let _ = tokio::time::timeout(CALLBACK_RESPONSE_TIMEOUT, told).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(way: &CallbackListener) -> String {
        let at = way.address().trim_start_matches("http://");
        at.trim_end_matches(CALLBACK_PATH).to_owned()
    }

    async fn said(place: &str, text: &str) -> String {
        let mut stream = TcpStream::connect(place).await.unwrap();
        let mut answer = String::new();
        // A connection that is cut off is an answer as well.
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    /// Bad input: a connection that is no browser's request is ignored, and keeps no other from arriving.
    #[tokio::test]
    async fn only_who_comes_to_the_address_is_told() {
        let mut way = CallbackListener::open().await.unwrap();
        assert!(way.address().starts_with("http://127.0.0.1:"));
        let at = place(&way);
        let _says_nothing = TcpStream::connect(&at).await.unwrap();
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404"),
            ("GET /callback/x?code=1 HTTP/1.1\r\n\r\n", "HTTP/1.1 404"),
            ("POST /callback?code=1 HTTP/1.1\r\n\r\n", ""),
            ("GET callback HTTP/1.1\r\n\r\n", ""),
            ("\r\n\r\n", ""),
            (
                &format!("GET /{} HTTP/1.1\r\n", "x".repeat(CALLBACK_BYTES_MAX)),
                "",
            ),
        ] {
            let answer = said(&at, text).await;
            assert!(answer.starts_with(status), "{text:.40}: {answer}");
            assert_eq!(answer.is_empty(), status.is_empty(), "{text:.40}: {answer}");
        }
        let text = "GET /callback?code=1&state=2 HTTP/1.1\r\nHost: x\r\n\r\n";
        let url = format!("{}?code=1&state=2", way.address());
        let (answer, ()) = tokio::join!(said(&at, text), async {
            let visit = way.next_request().await.unwrap();
            assert_eq!(visit.url, url);
            visit.answer(200, "Go <back>.").await;
        });
        assert!(
            answer.ends_with("<p>Go &lt;back&gt;.</p></html>"),
            "{answer}"
        );
        drop(way);
        // As soon as the task that listened has seen that nobody waits.
        while TcpStream::connect(&at).await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}
