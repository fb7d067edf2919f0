//! Our side of the gate: a whole desk with a scripted agent, rules, schema check, trail, and a listener.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Desk, DeskConfig, Events, Host};
use protocol::{EventBody, ModelChoice, Op, SessionState};
use provider::{MemoryKeys, Script, ScriptCall, ScriptTurn, Scripted};

use crate::Outcome;

/// Rules as a person may have them, so that the gate has something to weigh.
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
permission = "*"
pattern = ".env*"
action = "ask"
"#;

/// Where events go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// The record in its database.
    Record,
    /// Nowhere: they are numbered and published only.
    Memory,
}

/// Plays `turns` turns of `calls` calls and one that says goodbye; gives how long it took from the person's words until
/// a listener heard that the session is done.
pub async fn play(journal: Journal, turns: usize, calls: usize) -> Outcome<Duration> {
    let folder = tempfile::tempdir()?;
    let (workspace, data) = (folder.path().join("workspace"), folder.path().join("data"));
    std::fs::create_dir(&workspace)?;
    std::fs::create_dir(&data)?;
    std::fs::write(data.join("rules.toml"), RULES)?;
    let desk = Desk::open(DeskConfig {
        provider: Some(Arc::new(Scripted::new(script(turns, calls)))),
        keys: Some(Arc::new(MemoryKeys::default())),
        throwaway: journal == Journal::Memory,
        ..DeskConfig::new(data, Host::Person)
    })
    .await?;
    let opened = desk
        .submit(Op::OpenSession {
            workspace: workspace.display().to_string(),
            model: ModelChoice {
                provider: "script".to_owned(),
                model: String::new(),
            },
            prompt: None,
            output_schema: None,
        })
        .await?;
    let session = opened.session.ok_or("no session was opened")?;
    let mut events = desk.subscribe(0);
    let began = Instant::now();
    desk.submit(Op::Say {
        session,
        text: "Go.".to_owned(),
    })
    .await?;
    let done = until_done(&mut events).await?;
    let took = began.elapsed();
    if done != turns * calls {
        return Err(format!("{done} calls were done instead of {}", turns * calls).into());
    }
    Ok(took)
}

/// Listens until the session is done; gives how many calls were.
async fn until_done(events: &mut Events) -> Outcome<usize> {
    let mut done = 0;
    while let Some(batch) = events.next().await? {
        for event in batch.iter() {
            match &event.body {
                EventBody::CallEnded { outcome, .. } if outcome.is_success() => done += 1,
                EventBody::SessionChanged {
                    state: SessionState::Done,
                } => return Ok(done),
                _ => {}
            }
        }
    }
    Err("the desk closed before the session was done".into())
}

fn script(turns: usize, calls: usize) -> Script {
    let call = ScriptCall {
        name: "todo".to_owned(),
        arguments: r#"{"items":[]}"#.to_owned(),
    };
    let turn = ScriptTurn {
        calls: vec![call; calls],
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
