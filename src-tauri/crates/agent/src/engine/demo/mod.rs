//! The built-in demo: a scripted agent on a real sample workspace, every call through the real pipeline.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use protocol::event::{CallChange, SessionEvent};
use protocol::{
    CallId, CallView, Decision, EntryBody, EventBody, ModelChoice, Op, Preview, SessionId,
    SessionState, UserError,
};
use provider::{Provider, Script, ScriptedProvider};

use crate::Engine;
use crate::permissions::rules::SAMPLES_FOLDER;

/// The demo's provider id.
pub const DEMO_PROVIDER: &str = "demo";
/// First message of the person in the demo.
pub const DEMO_PROMPT: &str = "Mend the sign: `-2^2` gives 4, not -4. Then tidy up the drafts.";

const SCRIPT: &str = include_str!("script.json");
const FILES: [(&str, &str); 8] = [
    ("README.md", include_str!("sample/README.md")),
    ("src/lib.rs", include_str!("sample/src/lib.rs")),
    ("src/parser.rs", include_str!("sample/src/parser.rs")),
    (
        "drafts/shunting-yard.md",
        include_str!("sample/drafts/shunting-yard.md"),
    ),
    (
        "drafts/grammar.txt",
        include_str!("sample/drafts/grammar.txt"),
    ),
    ("drafts/cases.csv", include_str!("sample/drafts/cases.csv")),
    (".env", include_str!("sample/dot-env")),
    (".countersign/rules.toml", include_str!("sample/rules.toml")),
];

/// Returns the model of the demo.
pub fn demo_model() -> ModelChoice {
    ModelChoice {
        provider: DEMO_PROVIDER.to_owned(),
        model: String::new(),
    }
}

/// Loads the script of the agent: its messages and calls.
pub fn load_script() -> Result<Script, UserError> {
    Script::parse(SCRIPT)
}

/// Returns the provider of the scripted agent.
pub fn demo_provider() -> Result<Arc<dyn Provider>, UserError> {
    Ok(Arc::new(ScriptedProvider::with_id(
        DEMO_PROVIDER,
        load_script()?,
    )))
}

/// Creates a fresh sample workspace in the data folder, and returns its path.
pub fn workspace(data_dir: &Path) -> Result<PathBuf, UserError> {
    runtime::fs::sample::create_sample_workspace(&data_dir.join(SAMPLES_FOLDER), "tally", &FILES)
}

/// Acts in a person's place until the demo is over: decides on each of its calls a while after the call began to wait,
/// and at the end undoes the deletion. Calls of other sessions are not decided on.
pub async fn run_demo(desk: &Engine, pace: Duration) -> Result<SessionId, UserError> {
    let mut events = desk.subscribe(desk.last_seq()?);
    let session = desk
        .submit(Op::PlayDemo)
        .await?
        .session
        .unwrap_or(SessionId(String::new()));
    let mut deleted = None;
    while let Some(batch) = events.next().await? {
        for event in batch.iter().filter(|event| event.session == session) {
            match &event.body {
                EventBody::Call {
                    call,
                    change: CallChange::Waiting { .. },
                } => {
                    tokio::time::sleep(pace).await;
                    decide_call(desk, &session, call).await?;
                }
                EventBody::Call {
                    change: CallChange::UndoPrepared { entry },
                    ..
                } if entry.title.starts_with("Deleted") => {
                    deleted = Some(entry.id.clone());
                }
                EventBody::Session(SessionEvent::Changed {
                    state: SessionState::Done,
                }) => {
                    if let Some(entry) = deleted.take() {
                        tokio::time::sleep(pace).await;
                        desk.submit(Op::Undo { entry }).await?;
                    }
                    return Ok(session);
                }
                _ => {}
            }
        }
    }
    Ok(session)
}

async fn decide_call(desk: &Engine, session: &SessionId, call: &CallId) -> Result<(), UserError> {
    for entry in desk.snapshot().await?.desk {
        let EntryBody::Call(view) = entry.body else {
            continue;
        };
        let Some(pending) = view.pending.as_ref().filter(|_| view.call.id == *call) else {
            continue;
        };
        let (session, digest, decision) =
            (session.clone(), pending.digest.clone(), decision_for(&view));
        desk.submit(Op::Decide {
            session,
            call: call.clone(),
            digest,
            decision,
        })
        .await?;
    }
    Ok(())
}

/// Returns the decision that a person might make on each of the demo's calls, to play the demo without a person.
pub fn decision_for(view: &CallView) -> Decision {
    match &view.preview {
        Preview::Form { questions } => Decision::Answer {
            answers: questions
                .iter()
                .map(|question| {
                    question
                        .options
                        .iter()
                        .take(1)
                        .map(|option| option.label.clone())
                        .collect()
                })
                .collect(),
        },
        Preview::Diff { files } => {
            let ids: Vec<u32> = files
                .iter()
                .flat_map(|file| file.hunks.iter().map(|hunk| hunk.id))
                .collect();
            let first = ids.len().div_ceil(2).max(ids.len().saturating_sub(1));
            Decision::Allow {
                hunks: Some(ids[..first].to_vec()),
                note: String::new(),
                always: None,
            }
        }
        Preview::Nothing
        | Preview::Command(_)
        | Preview::Effects(_)
        | Preview::Loss(_)
        | Preview::Response(_)
        | Preview::Todo { .. }
        | Preview::Plan { .. }
        | Preview::Request(_) => Decision::Allow {
            hunks: None,
            note: String::new(),
            always: None,
        },
    }
}
