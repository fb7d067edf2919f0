//! Our side of the pipeline benchmark: a whole engine with a scripted agent, rules, schema check, trail, and a
//! listener.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Engine, EngineConfig, EventStream, Host};
use protocol::event::{CallChange, SessionEvent};
use protocol::server::mcp_servers::{ServerChange, ServerId, ServerTransport};
use protocol::{EventBody, ModelChoice, Op, SessionState};
use provider::{MemoryKeyStore, Script, ScriptCall, ScriptTurn, ScriptedProvider};
use serde_json::json;

use crate::BenchResult;

/// Rules as a person may have them, so that the policy has rules to evaluate.
const RULES: &str = r#"
[[rule]]
permission = "fs.read"
pattern = "secrets/**"
action = "deny"

[[rule]]
permission = "fs.write"
pattern = "src/**"
action = "allow"

[[rule]]
permission = "shell.run"
pattern = "git status*"
action = "allow"

[[rule]]
permission = "shell.run"
pattern = "git push*"
action = "deny"

[[rule]]
permission = "mode:destructive"
action = "ask"

[[rule]]
permission = "mode:external"
action = "ask"

[[rule]]
permission = "todo"
action = "allow"

[[rule]]
permission = "bench__*"
action = "allow"

[[rule]]
permission = "*"
pattern = ".env*"
action = "ask"
"#;

/// Settings without limits: a run of a thousand turns is intended here, and so are calls that repeat.
pub const SETTINGS: &str = "[limits]\nturns = 0\ncalls = 0\nrepeats = 0\n";

/// Destination of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSink {
    /// The record in its database.
    Record,
    /// The record in its database, including the time until its deferred work is done.
    SyncedRecord,
    /// None: events are numbered and published only.
    Memory,
}

/// Runs `turns` turns of `calls` calls and a final turn without calls; returns the time from the person's message until
/// a listener hears that the session is done.
pub async fn time_turns(journal: EventSink, turns: usize, calls: usize) -> BenchResult<Duration> {
    let folder = tempfile::tempdir()?;
    let call = script_call("todo", r#"{"items":[]}"#.to_owned());
    let script = create_script(vec![call; calls], turns);
    run_script(folder.path(), journal, script, no_setup).await
}

/// Runs turns of one call each to a tool of a server, in a workspace of `count` files; returns the time. The server is
/// known, approved and running before the time starts.
pub async fn time_server_calls(
    server: ServerTransport,
    tool: &str,
    turns: usize,
    count: usize,
) -> BenchResult<Duration> {
    let folder = tempfile::tempdir()?;
    create_files(folder.path(), count)?;
    let script = create_script(vec![script_call(tool, "{}".to_owned())], turns);
    run_script(folder.path(), EventSink::Record, script, async |desk| {
        let id = ServerId::try_from("bench".to_owned())?;
        let set = ServerChange::Set {
            transport: server,
            timeout_ms: 20_000,
            audience: None,
        };
        for change in [set, ServerChange::Switch { enabled: true }] {
            let server = id.clone();
            desk.submit(Op::ChangeServer { server, change }).await?;
        }
        Ok(())
    })
    .await
}

/// Runs one turn of `calls` calls that each read a file of their own.
pub async fn time_reads(journal: EventSink, calls: usize) -> BenchResult<Duration> {
    let folder = tempfile::tempdir()?;
    let calls = create_files(folder.path(), calls)?
        .iter()
        .map(|path| script_call("read", json!({ "path": path }).to_string()))
        .collect();
    run_script(folder.path(), journal, create_script(calls, 1), no_setup).await
}

/// Setup of an engine that needs none.
async fn no_setup(_: &Engine) -> BenchResult<()> {
    Ok(())
}

/// Creates files of a screenful each; returns their paths.
pub fn create_files(folder: &Path, count: usize) -> BenchResult<Vec<PathBuf>> {
    let workspace = folder.join(WORKSPACE);
    std::fs::create_dir_all(&workspace)?;
    let text = "One line of a file that is read.\n".repeat(40);
    (0..count)
        .map(|n| {
            let path = workspace.join(format!("{n}.txt"));
            std::fs::write(&path, &text)?;
            Ok(path)
        })
        .collect()
}

/// Name of the folder that the agent works in, below a folder of its own.
const WORKSPACE: &str = "workspace";

/// Runs a script and measures the time from the person's message until a listener hears that the session is done.
async fn run_script(
    folder: &Path,
    journal: EventSink,
    script: Script,
    prepare: impl AsyncFnOnce(&Engine) -> BenchResult<()>,
) -> BenchResult<Duration> {
    let expected: usize = script.turns.iter().map(|turn| turn.calls.len()).sum();
    let (workspace, data) = (folder.join(WORKSPACE), folder.join("data"));
    std::fs::create_dir_all(&workspace)?;
    std::fs::create_dir(&data)?;
    std::fs::write(data.join("rules.toml"), RULES)?;
    std::fs::write(data.join("settings.toml"), SETTINGS)?;
    let desk = Engine::open(EngineConfig {
        provider: Some(Arc::new(ScriptedProvider::new(script))),
        keys: Some(Arc::new(MemoryKeyStore::default())),
        in_memory: journal == EventSink::Memory,
        ..EngineConfig::new(data, Host::Person)
    })
    .await?;
    prepare(&desk).await?;
    let opened = desk
        .submit(Op::OpenSession {
            workspace: workspace.display().to_string(),
            model: ModelChoice {
                provider: "script".to_owned(),
                model: String::new(),
            },
            prompt: None,
            output_schema: None,
            temperature: None,
            agent: None,
            planning: false,
            enclosure: None,
            servers: None,
            former: None,
        })
        .await?;
    let session = opened.session.ok_or("no session was opened")?;
    let mut events = desk.subscribe(0);
    let began = Instant::now();
    desk.submit(Op::say(session, "Go.")).await?;
    let done = count_calls_until_done(&mut events).await?;
    if journal == EventSink::SyncedRecord {
        tokio::task::block_in_place(|| desk.wait_for_record());
    }
    let took = began.elapsed();
    if done != expected {
        return Err(format!("{done} calls were done instead of {expected}").into());
    }
    Ok(took)
}

/// Listens until the session is done; returns the number of calls.
async fn count_calls_until_done(events: &mut EventStream) -> BenchResult<usize> {
    let mut done = 0;
    while let Some(batch) = events.next().await? {
        for event in batch.iter() {
            match &event.body {
                EventBody::Call {
                    change: CallChange::Ended { outcome, .. },
                    ..
                } if outcome.is_success() => done += 1,
                EventBody::Session(SessionEvent::Changed {
                    state: SessionState::Done,
                }) => return Ok(done),
                EventBody::Session(SessionEvent::Changed {
                    state: SessionState::Running,
                }) => {}
                EventBody::Session(SessionEvent::Changed { state }) => {
                    return Err(format!("the session is {state:?} instead of running").into());
                }
                _ => {}
            }
        }
    }
    Err("the engine closed before the session was done".into())
}

fn script_call(name: &str, arguments: String) -> ScriptCall {
    ScriptCall {
        name: name.to_owned(),
        arguments,
    }
}

fn create_script(calls: Vec<ScriptCall>, turns: usize) -> Script {
    let turn = ScriptTurn {
        calls,
        ..ScriptTurn::default()
    };
    let goodbye = ScriptTurn {
        text: "Done.".to_owned(),
        ..ScriptTurn::default()
    };
    Script {
        turns: std::iter::repeat_n(turn, turns).chain([goodbye]).collect(),
    }
}
