//! Measures an engine in which 50 agents wait with 1,000 cards beside one whose one agent waits for nothing: what the
//! interface asks for when it opens, and a turn of an agent whose call passes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Engine, EngineConfig, EventStream, Host};
use async_trait::async_trait;
use futures::StreamExt as _;
use protocol::event::{CallChange, SessionEvent};
use protocol::model::Message;
use protocol::{EventBody, ModelChoice, Op, SessionId, SessionState, Usage};
use provider::{Chunk, ChunkStream, MemoryKeyStore, ModelRequest, Provider, ProviderError, Stop};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::BenchResult;
use crate::engine_loop::SETTINGS;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_difference, format_ratio, format_time, print_table};

/// Number of agents that wait.
const AGENTS: usize = 50;
/// Number of sessions of each agent.
const SESSIONS: usize = 2;
/// Number of cards that each session waits with: no more of its calls are open at the same time.
const CARDS: usize = 10;
/// Number of measurements.
const ROUNDS: usize = 51;
/// Rules by which reading some files asks, so that no file is written.
const RULES: &str = "[[rule]]\npermission = \"fs.read\"\npattern = \"asks/**\"\naction = \"ask\"\n";
/// What the person says so that an agent waits.
const WAIT: &str = "Wait.";
/// Name of the model's provider.
const MODEL_NAME: &str = "waiting";

/// Measures both engines in alternation, and prints the results.
pub fn run() -> BenchResult<()> {
    let runtime = Runtime::new()?;
    let busy = runtime.block_on(WaitingDesk::open(AGENTS))?;
    let idle = runtime.block_on(WaitingDesk::open(0))?;
    let opening = measure_both(
        || runtime.block_on(busy.time_snapshot()),
        || runtime.block_on(idle.time_snapshot()),
    )?;
    let turn = measure_both(
        || runtime.block_on(busy.time_turn()),
        || runtime.block_on(idle.time_turn()),
    )?;
    let cards = AGENTS * SESSIONS * CARDS;
    let row = |what: &str, taken: BothMedians| TableRow {
        what: format!("{what}, while {AGENTS} agents wait with {cards} cards"),
        ours: format_time(taken.busy),
        theirs: format_time(taken.idle),
        ratio: format!(
            "{}, {}",
            format_ratio(taken.busy, taken.idle),
            format_difference(taken.busy, taken.idle)
        ),
        aim: "",
    };
    print_table(
        "Many agents that wait (theirs: one agent that waits for nothing)",
        &[
            row("all that the interface shows first", opening),
            row("a turn with a call that passes", turn),
        ],
    );
    Ok(())
}

/// Medians of the engine with cards, and of the one without.
struct BothMedians {
    busy: Duration,
    idle: Duration,
}

fn measure_both(
    busy: impl FnMut() -> BenchResult<Duration>,
    idle: impl FnMut() -> BenchResult<Duration>,
) -> BenchResult<BothMedians> {
    let mut sides = [
        Contender::new("with cards", busy),
        Contender::new("without cards", idle),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [busy, idle] = taken.try_into().map_err(|_| "two sides give two medians")?;
    Ok(BothMedians { busy, idle })
}

/// An engine with agents that wait, and one more that does not.
struct WaitingDesk {
    engine: Engine,
    /// The agent that does not wait.
    session: SessionId,
    _folder: TempDir,
}

impl WaitingDesk {
    /// Opens an engine over a new data folder, and returns once every card waits.
    async fn open(agents: usize) -> BenchResult<Self> {
        let folder = tempfile::tempdir()?;
        let (workspace, data) = (folder.path().join("workspace"), folder.path().join("data"));
        std::fs::create_dir_all(workspace.join("asks"))?;
        std::fs::write(workspace.join("passes.txt"), "one\n")?;
        for card in 0..CARDS {
            std::fs::write(workspace.join(format!("asks/{card}.txt")), "one\n")?;
        }
        std::fs::create_dir(&data)?;
        std::fs::write(data.join("rules.toml"), RULES)?;
        std::fs::write(data.join("settings.toml"), SETTINGS)?;
        let engine = Engine::open(EngineConfig {
            provider: Some(Arc::new(WaitingModel)),
            keys: Some(Arc::new(MemoryKeyStore::default())),
            ..EngineConfig::new(data, Host::Person)
        })
        .await?;
        let mut events = engine.subscribe(0);
        let sessions = agents * SESSIONS;
        for _ in 0..sessions {
            open_session(&engine, &workspace, Some(WAIT)).await?;
        }
        count_waiting_cards(&mut events, sessions * CARDS).await?;
        Ok(Self {
            session: open_session(&engine, &workspace, None).await?,
            engine,
            _folder: folder,
        })
    }

    /// Measures what the interface asks for when it opens.
    async fn time_snapshot(&self) -> BenchResult<Duration> {
        let began = Instant::now();
        self.engine.snapshot().await?;
        Ok(began.elapsed())
    }

    /// Measures a turn of the agent that does not wait, from the person's message until a listener hears that it is done.
    async fn time_turn(&self) -> BenchResult<Duration> {
        let seen = self.engine.snapshot().await?.seq;
        let mut events = self.engine.subscribe(seen);
        let began = Instant::now();
        let said = Op::say(self.session.clone(), "Go on.");
        self.engine.submit(said).await?;
        wait_until_done(&mut events, &self.session).await?;
        Ok(began.elapsed())
    }
}

async fn open_session(
    engine: &Engine,
    workspace: &Path,
    prompt: Option<&str>,
) -> BenchResult<SessionId> {
    let opened = engine
        .submit(Op::OpenSession {
            workspace: workspace.display().to_string(),
            model: ModelChoice {
                provider: MODEL_NAME.to_owned(),
                model: String::new(),
            },
            prompt: prompt.map(str::to_owned),
            output_schema: None,
            temperature: None,
            agent: None,
            planning: false,
            enclosure: None,
            servers: None,
            former: None,
        })
        .await?;
    Ok(opened.session.ok_or("no session was opened")?)
}

/// Listens until so many calls wait.
async fn count_waiting_cards(events: &mut EventStream, expected: usize) -> BenchResult<()> {
    let mut waiting = 0;
    while waiting < expected {
        let batch = events.next().await?.ok_or("the engine closed")?;
        waiting += batch
            .iter()
            .filter(|event| {
                matches!(
                    event.body,
                    EventBody::Call {
                        change: CallChange::Waiting { .. },
                        ..
                    }
                )
            })
            .count();
    }
    Ok(())
}

/// Listens until a session is done.
async fn wait_until_done(events: &mut EventStream, session: &SessionId) -> BenchResult<()> {
    while let Some(batch) = events.next().await? {
        for event in batch.iter().filter(|event| event.session == *session) {
            if let EventBody::Session(SessionEvent::Changed { state }) = &event.body {
                match state {
                    SessionState::Done => return Ok(()),
                    SessionState::Running => {}
                    other => {
                        return Err(format!("the session is {other:?} instead of running").into());
                    }
                }
            }
        }
    }
    Err("the engine closed before the session was done".into())
}

/// A model that reads all files that ask where it is told to wait, and otherwise the one that passes.
struct WaitingModel;

#[async_trait]
impl Provider for WaitingModel {
    fn id(&self) -> &str {
        MODEL_NAME
    }

    async fn stream(
        &self,
        request: ModelRequest,
        _: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let files: Vec<String> = match request.messages.last() {
            Some(Message::User { text, .. }) if text == WAIT => {
                (0..CARDS).map(|card| format!("asks/{card}.txt")).collect()
            }
            Some(Message::User { .. }) => vec!["passes.txt".to_owned()],
            Some(Message::Assistant { .. } | Message::Tool { .. }) | None => Vec::new(),
        };
        let calls = files.into_iter().map(|file| Chunk::Call {
            id: None,
            name: "read".to_owned(),
            arguments: json!({ "path": file }).to_string(),
        });
        let end = Chunk::End {
            usage: Usage::default(),
            opaque: Value::Null,
            stop: Stop::Finished,
        };
        let chunks: Vec<_> = calls.chain([end]).map(Ok).collect();
        Ok(futures::stream::iter(chunks).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(Vec::new())
    }
}
