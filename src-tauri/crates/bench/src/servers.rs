//! What Countersign adds to a call of a server's tool: the whole page that a call walks, beside the bare client.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::servers::ServerWay;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, serve_client_with_lifecycle};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Map;

use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};
use crate::{Outcome, ours};

const ROUNDS: usize = 9;
/// Calls of one measurement, one after the other.
const CALLS: usize = 500;
/// Files of the folder in which a server's tool may change something, and calls of one measurement there.
const FILES: usize = 5_000;
const CALLS_IN_FOLDER: usize = 5;
/// The word by which this program is the server that is called.
pub const AS_SERVER: &str = "answer-calls";
/// The one tool of that server.
const TOOL: &str = "nothing";

/// Measures both pairs and prints them.
pub fn run() -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let program = std::env::current_exe()?.display().to_string();
    let through_us = |calls: usize, files: usize| {
        let server = ServerWay::Stdio {
            command: program.clone(),
            args: vec![AS_SERVER.to_owned()],
            env: BTreeMap::new(),
            folder: None,
            room: None,
        };
        runtime.block_on(ours::ask(server, &format!("bench__{TOOL}"), calls, files))
    };
    let [ours, theirs] = per_call(
        CALLS,
        [
            Side::new("through us", || through_us(CALLS, 0)),
            Side::new("bare client", || runtime.block_on(bare(&program))),
        ],
    )?;
    let alone = Line {
        what: "a call of a server's tool, durable record (beside the bare client)".to_owned(),
        ours: time(ours),
        theirs: time(theirs),
        ratio: format!("+{}", time(ours.saturating_sub(theirs))),
        aim: "under 1 ms over",
    };
    let folder = tempfile::tempdir()?;
    ours::files(folder.path(), FILES)?;
    let [ours, theirs] = per_call(
        CALLS_IN_FOLDER,
        [
            Side::new("through us", || through_us(CALLS_IN_FOLDER, FILES)),
            Side::new("cp -a", || copied(folder.path())),
        ],
    )?;
    let in_folder = Line {
        what: format!("the same in a folder of {FILES} files (beside `cp -a` of it and `sync -f`)"),
        ours: time(ours),
        theirs: time(theirs),
        ratio: times(ours, theirs),
        aim: "no more than 2 ×",
    };
    print("Servers", &[alone, in_folder]);
    Ok(())
}

/// The median of each side, for one of the calls that it makes.
fn per_call(calls: usize, mut sides: [Side<'_>; 2]) -> Outcome<[Duration; 2]> {
    let taken = medians(&mut sides, ROUNDS)?;
    let calls = u32::try_from(calls)?;
    let taken: Vec<Duration> = taken.into_iter().map(|took| took / calls).collect();
    Ok(taken.try_into().map_err(|_| "two sides give two medians")?)
}

/// What keeps a folder as it is without us, as often as there are calls: copies it and waits until the copy is on disk.
fn copied(folder: &Path) -> Outcome<Duration> {
    let mut took = Duration::ZERO;
    for _ in 0..CALLS_IN_FOLDER {
        let copy = tempfile::tempdir()?;
        let began = Instant::now();
        for (program, option, paths) in [
            ("cp", "-a", [Some(folder), Some(copy.path())]),
            ("sync", "-f", [Some(copy.path()), None]),
        ] {
            let done = Command::new(program)
                .arg(option)
                .args(paths.iter().flatten())
                .status()?;
            if !done.success() {
                return Err(format!("{program} {option} failed").into());
            }
        }
        took += began.elapsed();
    }
    Ok(took)
}

/// The same calls by the client alone, of the same server.
async fn bare(program: &str) -> Outcome<Duration> {
    let mut command = tokio::process::Command::new(program);
    command.arg(AS_SERVER);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let client =
        serve_client_with_lifecycle((), TokioChildProcess::new(command)?, lifecycle).await?;
    let began = Instant::now();
    for _ in 0..CALLS {
        let call = CallToolRequestParams::new(TOOL).with_arguments(Map::new());
        std::hint::black_box(client.call_tool(call).await?);
    }
    let took = began.elapsed();
    client.cancel().await?;
    Ok(took)
}

/// Is the server that both sides call, until its input ends.
pub fn answer() -> Outcome<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        Answering.serve(stdio()).await?.waiting().await?;
        Ok(())
    })
}

/// A server of one tool that does nothing.
struct Answering;

impl ServerHandler for Answering {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        let tool = Tool::new(TOOL, "Does nothing.", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text("Done.")]).into())
    }
}
