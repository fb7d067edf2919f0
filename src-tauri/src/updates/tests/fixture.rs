//! A server on loopback with a release, and an app that asks it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::StreamExt as _;
use minisign::KeyPair;
use protocol::UserError;
use protocol::engine_process::OngoingWork;
use protocol::update::{ReleaseView, UpdateState, UpdateView};
use serde_json::{Value, json};
use tauri::App;
use tauri::ipc::{Channel, InvokeResponseBody};
use tauri::test::{MockRuntime, mock_builder, mock_context, noop_assets};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::super::{AtRest, InstalledCopy, Mutex, UpdateLimits, Updates, lock};

pub(super) const PRESENT: &str = "0.1.0";
pub(super) const NEWER: &str = "0.2.0";
pub(super) const PRESENT_BYTES: &[u8] = b"the present version";
/// As long as the head of a program, and with its beginning.
pub(super) const NEWER_BYTES: &[u8] =
    b"\x7fELF the newer version, which is longer than the head of a program";

/// What the server answers to one kind of request.
#[derive(Clone)]
pub(super) enum Served {
    Bytes(Vec<u8>),
    Status(StatusCode),
    /// The beginning of a body, and nothing more.
    Beginning(&'static [u8]),
}

/// A server with a release.
pub(super) struct Server {
    pub(super) release: Mutex<Served>,
    pub(super) file: Mutex<Served>,
    /// The addresses that were asked for.
    pub(super) asked: Mutex<Vec<&'static str>>,
}

impl Server {
    pub(super) async fn start() -> (Arc<Self>, String) {
        let server = Arc::new(Self {
            release: Mutex::new(Served::Status(StatusCode::NOT_FOUND)),
            file: Mutex::new(Served::Bytes(NEWER_BYTES.to_vec())),
            asked: Mutex::default(),
        });
        let router = Router::new()
            .route("/latest.json", get(Self::answer_release))
            .route("/app.AppImage", get(Self::answer_file))
            .with_state(Arc::clone(&server));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, address)
    }

    async fn answer_release(State(server): State<Arc<Self>>) -> Response {
        lock(&server.asked).push("release");
        answer(lock(&server.release).clone())
    }

    async fn answer_file(State(server): State<Arc<Self>>) -> Response {
        lock(&server.asked).push("file");
        answer(lock(&server.file).clone())
    }
}

fn answer(served: Served) -> Response {
    match served {
        Served::Bytes(bytes) => bytes.into_response(),
        Served::Status(status) => status.into_response(),
        Served::Beginning(bytes) => {
            let begun = futures::stream::iter([Ok::<_, std::io::Error>(bytes)]);
            Body::from_stream(begun.chain(futures::stream::pending())).into_response()
        }
    }
}

/// The app, started from an AppImage, with a server that it asks.
pub(super) struct Fixture {
    pub(super) app: App<MockRuntime>,
    pub(super) updates: Updates,
    pub(super) server: Arc<Server>,
    pub(super) address: String,
    pub(super) key: KeyPair,
    pub(super) folder: TempDir,
}

impl Fixture {
    pub(super) async fn start() -> Self {
        Self::start_with(UpdateLimits::default()).await
    }

    pub(super) async fn start_with(limits: UpdateLimits) -> Self {
        let (server, address) = Server::start().await;
        let key = KeyPair::generate_unencrypted_keypair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Countersign.AppImage");
        std::fs::write(&file, PRESENT_BYTES).unwrap();
        let app = build_app(json!({
            "endpoints": [format!("{address}/latest.json")],
            "pubkey": BASE64_STANDARD.encode(key.pk.to_box().unwrap().into_string()),
            "requireSignedVersion": true,
        }));
        let copy = InstalledCopy::in_appimage(file, folder.path().join("mount"));
        let updates = Updates::new(app.handle(), copy, limits);
        Self {
            app,
            updates,
            server,
            address,
            key,
            folder,
        }
    }

    /// Has the server tell of a release.
    pub(super) fn serve_release(&self, release: &Value) {
        *lock(&self.server.release) = Served::Bytes(release.to_string().into_bytes());
    }

    /// Has the server tell of a version, whose file is signed with a key as another version.
    pub(super) fn serve_version(&self, version: &str, key: &KeyPair, signed_version: &str) {
        let comment = format!("timestamp:0\tfile:app.AppImage\tversion:{signed_version}");
        self.serve_signed(version, key, &comment);
    }

    /// Has the server tell of a version, whose file is signed with a key together with a comment.
    pub(super) fn serve_signed(&self, version: &str, key: &KeyPair, comment: &str) {
        let signature = minisign::sign(None, &key.sk, NEWER_BYTES, Some(comment), None).unwrap();
        self.serve_release(&json!({
            "version": version,
            "notes": "- **Faster**",
            "pub_date": "2026-01-31T00:00:00Z",
            "platforms": { format!("linux-{}", std::env::consts::ARCH): {
                "url": format!("{}/app.AppImage", self.address),
                "signature": BASE64_STANDARD.encode(signature.to_string()),
            } },
        }));
    }

    pub(super) fn serve_newer(&self) {
        self.serve_version(NEWER, &self.key, NEWER);
    }

    pub(super) async fn check(&self) -> Result<(), UserError> {
        self.updates.check(self.app.handle()).await
    }

    pub(super) fn state(&self) -> UpdateState {
        self.updates.view().state
    }

    pub(super) fn app_file(&self) -> Vec<u8> {
        std::fs::read(self.app_path()).unwrap()
    }

    pub(super) fn app_path(&self) -> PathBuf {
        self.folder.path().join("Countersign.AppImage")
    }

    /// Downloads what the server offers, and returns why that is refused.
    pub(super) async fn refused_download(&self) -> String {
        self.check().await.unwrap();
        let fault = self.updates.download().await.unwrap_err();
        assert_eq!(self.state(), UpdateState::Available { release: newer() });
        assert_eq!(self.updates.view().fault, Some(fault.clone()));
        assert_eq!(self.app_file(), PRESENT_BYTES);
        fault.message
    }
}

pub(super) fn build_app(config: Value) -> App<MockRuntime> {
    let mut context = mock_context(noop_assets());
    let plugins = &mut context.config_mut().plugins.0;
    plugins.insert("updater".to_owned(), config);
    mock_builder()
        .plugin(tauri_plugin_updater::Builder::new().build())
        .build(context)
        .unwrap()
}

pub(super) fn newer() -> ReleaseView {
    ReleaseView {
        version: NEWER.to_owned(),
        released_at: Some(1_769_817_600_000),
        notes: "- **Faster**".to_owned(),
    }
}

pub(super) fn at_rest() -> AtRest {
    AtRest::confirm(&OngoingWork::default()).unwrap()
}

/// Gives what a page is told, one view after the other.
pub(super) fn open_page(updates: &Updates) -> mpsc::UnboundedReceiver<UpdateView> {
    let (views, page) = mpsc::unbounded_channel();
    updates.tell_page(Channel::new(move |body| {
        if let InvokeResponseBody::Json(json) = body {
            let _ = views.send(serde_json::from_str(&json)?);
        }
        Ok(())
    }));
    page
}
