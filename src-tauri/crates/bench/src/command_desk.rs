//! An engine in the posture *Ask about effects*, whose agent runs the commands that it is given, one after the other.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Engine, EngineConfig, Host};
use async_trait::async_trait;
use futures::StreamExt as _;
use protocol::model::Message;
use protocol::settings::Posture;
use protocol::{ModelChoice, Op, Usage};
use provider::{Chunk, ChunkStream, MemoryKeyStore, ModelRequest, Provider, ProviderError, Stop};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_util::sync::CancellationToken;

use crate::BenchResult;
use crate::engine_loop::SETTINGS;

/// Longest that a command may run, in milliseconds.
const TIMEOUT_MS: u64 = 600_000;

/// An open session in a workspace. Nobody is there to ask, so a command that would ask fails instead of waiting.
pub struct CommandDesk {
    commands: UnboundedSender<String>,
    results: UnboundedReceiver<CallResult>,
    _engine: Engine,
}

/// What a model got to read of a call, and when.
struct CallResult {
    text: String,
    at: Instant,
}

impl CommandDesk {
    /// Opens an engine over a new data folder, and a session in the workspace.
    pub fn open(
        runtime: &Runtime,
        sandbox_program: &Path,
        data: &Path,
        workspace: &Path,
    ) -> BenchResult<Self> {
        std::fs::create_dir(data)?;
        std::fs::write(data.join("settings.toml"), SETTINGS)?;
        let (commands, next) = mpsc::unbounded_channel();
        let (told, results) = mpsc::unbounded_channel();
        let model = CommandedModel {
            commands: Mutex::new(next),
            results: told,
        };
        let config = EngineConfig {
            provider: Some(Arc::new(model)),
            keys: Some(Arc::new(MemoryKeyStore::default())),
            sandbox_program: Some(sandbox_program.to_owned()),
            posture: Some(Posture::AskAboutEffects),
            ..EngineConfig::new(data.to_owned(), Host::Headless { approve_all: false })
        };
        let engine = runtime.block_on(async {
            let engine = Engine::open(config).await?;
            let session = Op::OpenSession {
                workspace: workspace.display().to_string(),
                model: ModelChoice {
                    provider: MODEL_NAME.to_owned(),
                    model: String::new(),
                },
                prompt: Some("Go.".to_owned()),
                output_schema: None,
                temperature: None,
                agent: None,
                planning: false,
                enclosure: None,
                servers: None,
                former: None,
            };
            engine.submit(session).await?;
            BenchResult::Ok(engine)
        })?;
        Ok(Self {
            commands,
            results,
            _engine: engine,
        })
    }

    /// Measures one command, from the model's call until the model is asked to go on with its result.
    pub fn time_command(&mut self, runtime: &Runtime, command: &str) -> BenchResult<Duration> {
        let began = Instant::now();
        self.commands.send(command.to_owned())?;
        let result = runtime.block_on(self.results.recv());
        let CallResult { text, at } = result.ok_or("the session ended")?;
        match text.starts_with("Exit code 0.") {
            true => Ok(at.duration_since(began)),
            false => Err(format!("`{command}`: {text}").into()),
        }
    }
}

/// Name of the model's provider.
const MODEL_NAME: &str = "commanded";

/// A model that calls for one command after the other, and tells what each came to.
struct CommandedModel {
    commands: Mutex<UnboundedReceiver<String>>,
    results: UnboundedSender<CallResult>,
}

#[async_trait]
impl Provider for CommandedModel {
    fn id(&self) -> &str {
        MODEL_NAME
    }

    async fn stream(
        &self,
        request: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let at = Instant::now();
        if let Some(Message::Tool { text, .. }) = request.messages.last() {
            let text = text.clone();
            // Nobody listens any more once the measurement is over.
            let _ = self.results.send(CallResult { text, at });
        }
        let command = self.commands.lock().await.recv().await;
        let call = command.map(|command| Chunk::Call {
            id: None,
            name: "bash".to_owned(),
            arguments: json!({ "command": command, "timeout_ms": TIMEOUT_MS }).to_string(),
        });
        let end = Chunk::End {
            usage: Usage::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        };
        let chunks = call.into_iter().chain([end]).map(Ok);
        Ok(futures::stream::iter(chunks.collect::<Vec<_>>()).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}
