//! The app of a test: an engine that serves the local endpoint, and a person who allows every card.

use std::path::Path;
use std::sync::{Arc, Mutex};

use agent::{Engine, EngineConfig, Host};
use gateway::endpoint_server::{ServeOptions, serve, take_over};
use protocol::event::CallChange;
use protocol::settings::Posture;
use protocol::{Decision, EventBody, Op};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::CliFixture;

/// An open app.
pub struct Desk {
    engine: Engine,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    answering: JoinHandle<()>,
    cards: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    /// Opens the app over the data folder of a test.
    pub async fn open(place: &CliFixture) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        let config = EngineConfig {
            home: Some(place.workspace().with_file_name("home")),
            sandbox_program: agent::find_sandbox_program(program),
            posture: Some(Posture::AskAboutEffects),
            ..EngineConfig::new(place.data(), Host::Person)
        };
        let listener = take_over(&config.data_dir).await.unwrap();
        let engine = Engine::open(config).await.unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let cards = Arc::default();
        let answering = tokio::spawn(allow_every_card(engine.clone(), Arc::clone(&cards)));
        let serving = tokio::spawn({
            let engine = engine.clone();
            async move {
                let options = ServeOptions {
                    can_ask: true,
                    idle_max: None,
                };
                let stopped = async { drop(stopped.await) };
                serve(&engine, listener, options, stopped).await;
            }
        });
        Self {
            engine,
            stop,
            serving,
            answering,
            cards,
        }
    }

    /// Closes the app, and returns the tools of the cards that the person saw.
    pub async fn close(self) -> Vec<String> {
        drop(self.stop);
        self.serving.await.unwrap();
        self.answering.abort();
        self.engine.close();
        self.cards.lock().unwrap().clone()
    }
}

/// Allows what waits, and keeps the tools that asked.
async fn allow_every_card(engine: Engine, cards: Arc<Mutex<Vec<String>>>) {
    let mut events = engine.subscribe(0);
    let mut proposed = Vec::new();
    while let Ok(Some(batch)) = events.next().await {
        for event in batch.iter() {
            match &event.body {
                EventBody::Proposal(proposal) => proposed.push(proposal.call.clone()),
                EventBody::Call {
                    call,
                    change: CallChange::Waiting { digest, .. },
                } => {
                    let asked = proposed.iter().find(|one| one.id == *call).unwrap();
                    cards.lock().unwrap().push(asked.name.clone());
                    let decide = Op::Decide {
                        session: event.session.clone(),
                        call: call.clone(),
                        digest: digest.clone(),
                        decision: Decision::allow(),
                    };
                    engine.submit(decide).await.unwrap();
                }
                _ => {}
            }
        }
    }
}
