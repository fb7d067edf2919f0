//! Calls of a command line in the same record are shown in the window as they come, without a reload.

use agent::{Engine, EngineConfig, Host};
use protocol::Op;

use crate::support::Rig;

#[tokio::test]
async fn what_another_process_does_is_shown_as_it_comes() {
    let rig = Rig::start().await;
    rig.find("play-demo").await;
    // As `countersign run --approve-all` has it.
    let nobody = Host::Headless { approve_all: true };
    let command_line = Engine::open(EngineConfig {
        recovers: false,
        ..EngineConfig::new(rig.data_dir(), nobody)
    });
    let command_line = command_line.await.unwrap();
    let demo = command_line.submit(Op::PlayDemo).await.unwrap();
    let session = format!("rail-session-{}", demo.session.unwrap());
    rig.click(&session).await;
    rig.wait_for_text("session-state", "Done").await;
    rig.line("parser.rs").await;
    command_line.close();
    rig.end().await;
}
