//! Tests of the network policy, over loopback.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// Host names made up by a test, and the names that were looked up.
#[derive(Default)]
struct MadeUp {
    names: BTreeMap<&'static str, Vec<IpAddr>>,
    looked_up: Mutex<Vec<String>>,
}

#[async_trait]
impl HostResolver for MadeUp {
    async fn resolve_host(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        self.looked_up.lock().unwrap().push(host.to_owned());
        Ok(self.names.get(host).cloned().unwrap_or_default())
    }
}

/// A policy that admits some hosts, and some of them on this machine too.
struct Door {
    hosts: Vec<&'static str>,
    granted: Vec<&'static str>,
}

impl NetworkPolicy for Door {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        match self.hosts.iter().any(|host| host_of(url) == *host) {
            true => Ok(()),
            false => Err("nobody allowed that host.".to_owned()),
        }
    }

    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        let granted = self.granted.iter().any(|host| host_of(url) == *host);
        match granted || !ip.is_loopback() {
            true => Ok(()),
            false => Err(format!("{ip} is this machine.")),
        }
    }
}

fn host_of(url: &str) -> String {
    Url::parse(url).unwrap().host_str().unwrap().to_owned()
}

/// A server that answers each path in its own way and remembers its requests.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let heard = heard.clone();
                tokio::spawn(async move {
                    let mut bytes = vec![0; 4_096];
                    let length = stream.read(&mut bytes).await.unwrap_or(0);
                    let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                    heard.lock().unwrap().push(path.clone());
                    let answer = answer(&path, port);
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(path: &str, port: u16) -> String {
    let to = |location: String| {
        format!(
            "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    match path {
        "/away" => to(format!("http://other.test:{port}/")),
        "/inside" => to(format!("http://127.0.0.1:{port}/secret")),
        "/on" => to("/page".to_owned()),
        "/round" => to("/round".to_owned()),
        "/file" => to("file:///etc/passwd".to_owned()),
        "/login" => to(format!("http://me:pw@site.test:{port}/")),
        _ => "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\nconnection: close\r\n\r\n0123456789"
            .to_owned(),
    }
}

const LIMITS: FetchLimits = FetchLimits {
    timeout_ms: 20_000,
    body_bytes_max: 100,
};

/// Returns the network access to a site whose names all resolve to this machine.
fn net(hosts: &[&'static str], granted: &[&'static str]) -> (NetworkClient, Arc<MadeUp>) {
    let here = vec![IpAddr::from([127, 0, 0, 1])];
    let names = ["site.test", "other.test", "rebound.test"];
    let names = Arc::new(MadeUp {
        names: names.into_iter().map(|name| (name, here.clone())).collect(),
        ..MadeUp::default()
    });
    let door = Arc::new(Door {
        hosts: hosts.to_vec(),
        granted: granted.to_vec(),
    });
    (
        NetworkClient::offline()
            .with_resolver(names.clone())
            .with_policy(door),
        names,
    )
}

async fn got(net: &NetworkClient, url: &str) -> Result<HttpResponse, NetError> {
    net.get(url, LIMITS, &CancellationToken::new()).await
}

#[tokio::test]
async fn what_is_admitted_is_fetched() {
    let site = Site::open().await;
    let (net, names) = net(&["site.test"], &["site.test"]);
    let url = format!("http://site.test:{}/on", site.port);
    let page = format!("http://site.test:{}/page", site.port);
    assert_eq!(
        got(&net, &url).await,
        Ok(HttpResponse {
            url: page.clone(),
            status: 200,
            headers: [
                ("content-type", "text/plain"),
                ("content-length", "10"),
                ("connection", "close"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
            content_type: "text/plain".to_owned(),
            body: b"0123456789".to_vec(),
            is_truncated: false,
        })
    );
    assert_eq!(site.asked(), ["/on", "/page"]);
    assert_eq!(*names.looked_up.lock().unwrap(), ["site.test", "site.test"]);
    let short = FetchLimits {
        body_bytes_max: 4,
        ..LIMITS
    };
    let fetched = net
        .get(&page, short, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(
        (fetched.body.as_slice(), fetched.is_truncated),
        (&b"0123"[..], true)
    );
}

/// A refused address is not even looked up, and nothing is sent; the same holds after a redirect.
#[tokio::test]
async fn every_address_on_the_way_is_judged() {
    let site = Site::open().await;
    let at = |host: &str, path: &str| format!("http://{host}:{}{path}", site.port);
    for (url, asked, why) in [
        (at("other.test", "/"), &[][..], "nobody allowed that host"),
        (
            at("site.test", "/away"),
            &["/away"],
            "nobody allowed that host",
        ),
        (
            at("site.test", "/inside"),
            &["/inside"],
            "nobody allowed that host",
        ),
        (
            at("site.test", "/file"),
            &["/file"],
            "neither http nor https",
        ),
        (
            at("site.test", "/login"),
            &["/login"],
            "a name or a password",
        ),
        ("ftp://site.test/".to_owned(), &[], "neither http nor https"),
        (
            "http://a:b@site.test/".to_owned(),
            &[],
            "a name or a password",
        ),
        ("nonsense".to_owned(), &[], "it is not an address"),
    ] {
        let (net, names) = net(&["site.test"], &["site.test"]);
        let before = site.asked().len();
        let refused = got(&net, &url).await.unwrap_err();
        let NetError::Refused { why: told, .. } = &refused else {
            panic!("{url}: {refused:?}");
        };
        assert!(told.contains(why), "{url}: {told}");
        assert_eq!(site.asked()[before..], *asked, "{url}");
        assert_eq!(names.looked_up.lock().unwrap().len(), asked.len(), "{url}");
    }
}

/// A public host name that resolves to this machine counts as this machine: the connection is judged by its address.
#[tokio::test]
async fn a_name_that_leads_home_is_refused() {
    let site = Site::open().await;
    let hosts = ["rebound.test", "127.0.0.1", "[::1]", "mixed.test"];
    for host in hosts {
        let (net, _) = net(&hosts, &[]);
        let names = MadeUp {
            names: BTreeMap::from([
                ("rebound.test", vec![IpAddr::from([127, 0, 0, 1])]),
                // One good address does not make the other one good.
                (
                    "mixed.test",
                    vec![IpAddr::from([192, 0, 2, 1]), IpAddr::from([127, 0, 0, 1])],
                ),
            ]),
            ..MadeUp::default()
        };
        let net = net.with_resolver(Arc::new(names));
        let refused = got(&net, &format!("http://{host}:{}/", site.port))
            .await
            .unwrap_err();
        assert!(
            refused.to_string().contains("is this machine"),
            "{host}: {refused}"
        );
    }
    assert_eq!(site.asked(), [""; 0]);
}

#[tokio::test]
async fn what_does_not_work_is_said() {
    let site = Site::open().await;
    let (open, _) = net(&["site.test", "nowhere.test"], &["site.test"]);
    let at = |path: &str| format!("http://site.test:{}{path}", site.port);
    let told = got(&open, &at("/round")).await.unwrap_err().to_string();
    assert!(told.contains("redirected more than"), "{told}");
    let told = got(&open, "http://nowhere.test/")
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("leads nowhere"), "{told}");
    let told = got(&NetworkClient::offline(), &at("/"))
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("no network access"), "{told}");
    let stopped = CancellationToken::new();
    stopped.cancel();
    assert_eq!(
        open.get(&at("/"), LIMITS, &stopped).await,
        Err(NetError::Cancelled)
    );
}

/// A site that accepts a connection and says nothing, or a byte now and then, is given up.
#[tokio::test]
async fn a_slow_site_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n";
                let _ = stream.read(&mut [0; 4_096]).await;
                let _ = stream.write_all(head).await;
                while stream.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
        }
    });
    let (net, _) = net(&["site.test"], &["site.test"]);
    let url = format!("http://site.test:{port}/");
    let limits = FetchLimits {
        timeout_ms: 200,
        ..LIMITS
    };
    assert_eq!(
        net.get(&url, limits, &CancellationToken::new()).await,
        Err(NetError::TimedOut {
            url,
            timeout_ms: 200
        })
    );
}

/// A request arrives as it was given, follows no redirect, and is never printed with its headers.
#[tokio::test]
async fn a_request_is_sent_as_it_is() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        while !text.ends_with("{}") {
            let mut bytes = [0; 4_096];
            let length = stream.read(&mut bytes).await.unwrap();
            text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        let away = "HTTP/1.1 302 Found\r\nlocation: /on\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(away.as_bytes()).await.unwrap();
        text
    });
    let (net, _) = net(&["site.test"], &["site.test"]);
    let outgoing = HttpRequest {
        method: RequestMethod::Post,
        headers: vec![("x-key".to_owned(), "secret".to_owned())],
        body: Some(b"{}".to_vec()),
        ..HttpRequest::get(format!("http://site.test:{port}/ask?q=1"))
    };
    assert!(!format!("{outgoing:?}").contains("secret"));
    let answer = net.send(&outgoing, LIMITS, &CancellationToken::new()).await;
    assert_eq!(answer.unwrap().status, 302);
    let heard = heard.await.unwrap();
    assert!(heard.starts_with("POST /ask?q=1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("x-key: secret\r\n"), "{heard}");
    let wrong = HttpRequest {
        headers: vec![("x-key".to_owned(), "sec\nret".to_owned())],
        ..outgoing
    };
    let refused = net.send(&wrong, LIMITS, &CancellationToken::new()).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("`x-key` cannot be sent") && !refused.contains("ret."),
        "{refused}"
    );
}
