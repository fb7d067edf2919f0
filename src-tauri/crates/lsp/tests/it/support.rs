//! A folder, a server that behaves in some way, and questions to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lsp::{LanguageServers, LspTimeouts};
use protocol::ToolError;
use protocol::server::language_servers::LanguageServer;
use runtime::{InheritedEnv, Workspace};
use tokio_util::sync::CancellationToken;
use tools::language_service::{
    LanguageQuery, LanguageResponse, LanguageResult, LanguageService, SourceDocument, SourceLines,
    TextPosition,
};

/// Long enough that what must come comes on any machine.
const LONG: Duration = Duration::from_secs(60);

pub struct Desk {
    folder: tempfile::TempDir,
    pub servers: Arc<LanguageServers>,
    pub workspace: Workspace,
    pub cancel: CancellationToken,
}

/// Nothing comes to its end by time.
pub fn patient() -> LspTimeouts {
    LspTimeouts {
        start: LONG,
        answer: LONG,
        problems: LONG,
        loading: LONG,
        idle: LONG * 60,
        retry_after: vec![Duration::ZERO],
    }
}

impl Desk {
    pub fn new(how: &str) -> Self {
        Self::with(how, patient())
    }

    pub fn with(how: &str, patience: LspTimeouts) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("ws");
        std::fs::create_dir(&root).unwrap();
        let desk = Self {
            servers: Arc::new(LanguageServers::new(InheritedEnv::default(), patience)),
            workspace: Workspace::open(&root).unwrap(),
            cancel: CancellationToken::new(),
            folder,
        };
        desk.servers.apply_settings(&[desk.settings(how)]);
        desk
    }

    pub fn settings(&self, how: &str) -> LanguageServer {
        LanguageServer {
            id: "toy".to_owned(),
            enabled: true,
            command: env!("CARGO_BIN_EXE_lsp_fixture").to_owned(),
            args: vec![how.to_owned(), self.log_file().display().to_string()],
            files: BTreeMap::from([("toy".to_owned(), "toy".to_owned())]),
        }
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Messages that the server was sent.
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log_file()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until the server was sent this so often.
    pub async fn sent(&self, what: &str, times: usize) {
        let deadline = tokio::time::Instant::now() + LONG;
        while self.log().iter().filter(|line| *line == what).count() < times {
            assert!(
                tokio::time::Instant::now() < deadline,
                "{what}: {:?}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub fn put(&self, path: &str, text: &str) {
        let file = self.workspace.root().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn document(&self, path: &str) -> SourceDocument {
        let text = std::fs::read_to_string(self.workspace.root().join(path)).unwrap();
        SourceDocument {
            path: path.to_owned(),
            text: text.into(),
        }
    }

    pub async fn ask(
        &self,
        path: &str,
        question: LanguageQuery,
    ) -> Result<LanguageResponse, ToolError> {
        let document = self.document(path);
        self.servers
            .ask(&self.workspace, &document, &question, &self.cancel)
            .await
    }

    /// Asks for the definition of the first word `foo` of a file.
    pub async fn definition(&self, path: &str) -> Result<LanguageResponse, ToolError> {
        let place = self.place(path, "foo");
        self.ask(path, LanguageQuery::Definition(place)).await
    }

    pub fn place(&self, path: &str, word: &str) -> TextPosition {
        let document = self.document(path);
        let lines = SourceLines::new(&document.text);
        let found = (0..lines.count()).find_map(|line| {
            let byte = lines.line(line)?.find(word)?;
            Some(TextPosition { line, byte })
        });
        found.unwrap()
    }

    /// Error of a definition that cannot be had.
    pub async fn error(&self) -> String {
        self.definition("a.toy").await.unwrap_err().to_string()
    }

    /// Places as `file:line:unit`, lines from 1.
    pub fn told(&self, answered: &LanguageResponse) -> Vec<String> {
        let LanguageResult::Locations(spots) = &answered.result else {
            panic!("{answered:?}");
        };
        let told = spots.iter().map(|spot| {
            let file = spot.file.as_deref().unwrap();
            let file = file.strip_prefix(self.workspace.root()).unwrap().display();
            format!(
                "{file}:{}:{}",
                spot.range.start.line + 1,
                spot.range.start.unit
            )
        });
        told.collect()
    }
}
