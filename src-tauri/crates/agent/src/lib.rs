//! The engine: sessions, their turns, and the pipeline that every tool call goes through.
//!
//! **The engine knows no window.** The same engine serves the desktop, the command line, and continuous integration; if
//! no person is there, *ask* means *deny*. **It opens no file and no database itself**: `runtime` and `record` do. **A
//! tool runs only through the pipeline**, because running needs a `policy::Approved`, which only a judgement creates.
//! **An event is recorded before any subscriber receives it**: the record publishes events after committing them.
//!
//! Start reading at `pipeline/mod.rs`; then `run/mod.rs` (the run around the calls) and [`engine`] (the entry points).
//!
//! ```
//! use std::sync::Arc;
//!
//! use agent::{Engine, EngineConfig, Host};
//! use protocol::{ModelChoice, Op};
//! use provider::{Script, ScriptedProvider};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (data, workspace) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let mut config = EngineConfig::new(data.path().to_owned(), Host::Headless { approve_all: false });
//! let script = Script::parse(r#"{ "turns": [{ "text": "Hello." }] }"#)?;
//! config.provider = Some(Arc::new(ScriptedProvider::new(script)));
//! let engine = Engine::open(config).await?;
//! let mut events = engine.subscribe(0);
//! let receipt = engine
//!     .submit(Op::OpenSession {
//!         workspace: workspace.path().display().to_string(),
//!         model: ModelChoice { provider: "script".to_owned(), model: String::new() },
//!         prompt: Some("Say hello.".to_owned()),
//! #         output_schema: None,
//! #         temperature: None,
//! #         agent: None,
//! #         planning: false,
//! #         enclosure: None,
//! #         servers: None,
//! #         former: None,
//!     })
//!     .await?;
//! let batch = events.next().await?.expect("the engine is open");
//! assert_eq!(Some(&batch[0].session), receipt.session.as_ref());
//! # engine.close();
//! # Ok(())
//! # }
//! ```

mod briefing;
pub mod engine;
mod host;
mod limits;
pub mod permissions;
mod pipeline;
pub mod problem_report;
pub mod replay;
pub mod rulebook;
mod run;
mod session;
pub(crate) mod toolset;
mod undo;

pub use crate::engine::agent_options::AgentOptionRecord;
pub use crate::engine::agent_servers::WeakEngine;
pub use crate::engine::backing_server::{BackingChanges, BackingLog, BackingServer, BackingTool};
pub use crate::engine::delegated_calls::{
    DelegatedCall, DelegatedResult, DelegatedTool, DelegatedVerdict,
};
pub use crate::engine::dry_run_command::CommandDryRun;
pub use crate::engine::enclosed_turns::EnclosureNeeds;
pub use crate::engine::external_agents::{AgentTurn, ExternalAgents};
pub use crate::engine::external_client::{
    ClientCall, ClientOutcome, ExternalClient, ProgressSender,
};
pub use crate::engine::maintenance::backup::{
    BackupManifest, RestoredBackup, back_up, restore_backup,
};
pub use crate::engine::maintenance::erasure::{
    ErasedFolder, ErasurePlan, KeychainItem, plan_erasure,
};
pub use crate::engine::maintenance::folder_size::{
    DataFolderSize, DataPart, PartSize, measure_data_folder,
};
pub use crate::engine::maintenance::record_rescue::{
    RescuedRecord, replace_damaged_record, rescue_record,
};
pub use crate::engine::session_import::{
    ImportReceipt, ImportedBody, ImportedCall, ImportedEntry, ImportedResult, ImportedSession,
};
pub use crate::host::config::{EngineConfig, Host};
pub use crate::session::agent_runner::{AGENT_PROVIDER, AgentPrompt, AgentTurnEnd};
pub use crate::session::delegates::DelegatedRun;
pub use crate::session::engine_state::event_hub::{EventBatch, EventStream};
pub use crate::session::manual_calls::{
    BY_HAND_CLIENT, IMPORTED_PROVIDER, is_manual as is_manual_provider,
};
pub use crate::toolset::servers::backing::{GivenServer, ServerChoice};
pub use crate::toolset::servers::servers_from_file;
pub use engine::Engine;
pub use host::{config, hooks};
pub use mcp::catalogue::ServerToolDefinition;
pub use mcp::{
    ChangedList, LogLevel, LogMessage, ResourceWatch, ServerList, ServerOffers, ServerRead,
    WantedLogLevel,
};
pub use record::Rescued;
pub use runtime::dry_run::find_sandbox_program;
pub use tools::custom::StructuredRequest;
pub use tools::elicitation::ElicitationReply;
pub use tools::text::format_byte_size;
pub use tools::{AgentToolReach, EnclosedTurn, OfferedTool};
