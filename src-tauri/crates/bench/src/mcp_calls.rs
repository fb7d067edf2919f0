//! Measures the overhead of Countersign in a call of a server's tool: the whole pipeline of a call, beside the bare
//! client.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::server::mcp_servers::ServerTransport;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, serve_client_with_lifecycle};
use rmcp::transport::{TokioChildProcess, stdio};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Map;

use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};
use crate::{BenchResult, engine_loop};

const ROUNDS: usize = 9;
/// Number of calls per measurement, one after the other.
const CALLS_PER_ROUND: usize = 500;
/// Number of files in the folder that a server's tool may change, and number of calls per measurement there.
const WORKSPACE_FILES: usize = 5_000;
const CALLS_IN_FOLDER: usize = 5;
/// Argument that makes this program act as the called server.
pub const SERVER_ARGUMENT: &str = "answer-calls";
/// The only tool of that server.
const TOOL_NAME: &str = "nothing";

/// Measures both pairs and prints the results.
pub fn run() -> BenchResult<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let program = std::env::current_exe()?.display().to_string();
    let through_us = |calls: usize, files: usize| {
        let server = ServerTransport::Stdio {
            command: program.clone(),
            args: vec![SERVER_ARGUMENT.to_owned()],
            env: BTreeMap::new(),
            folder: None,
            sandbox: None,
        };
        runtime.block_on(engine_loop::time_server_calls(
            server,
            &format!("bench__{TOOL_NAME}"),
            calls,
            files,
        ))
    };
    let [ours, theirs] = median_per_call(
        CALLS_PER_ROUND,
        [
            Contender::new("through us", || through_us(CALLS_PER_ROUND, 0)),
            Contender::new("bare client", || {
                runtime.block_on(time_bare_client(&program))
            }),
        ],
    )?;
    let alone = TableRow {
        what: "a call of a server's tool, durable record (beside the bare client)".to_owned(),
        ours: format_time(ours),
        theirs: format_time(theirs),
        ratio: format!("+{}", format_time(ours.saturating_sub(theirs))),
        aim: "under 1 ms over",
    };
    let folder = tempfile::tempdir()?;
    engine_loop::create_files(folder.path(), WORKSPACE_FILES)?;
    let [ours, theirs] = median_per_call(
        CALLS_IN_FOLDER,
        [
            Contender::new("through us", || {
                through_us(CALLS_IN_FOLDER, WORKSPACE_FILES)
            }),
            Contender::new("cp -a", || time_copies(folder.path())),
        ],
    )?;
    let in_folder = TableRow {
        what: format!(
            "the same in a folder of {WORKSPACE_FILES} files (beside `cp -a` of it and `sync -f`)"
        ),
        ours: format_time(ours),
        theirs: format_time(theirs),
        ratio: format_ratio(ours, theirs),
        aim: "no more than 2 ×",
    };
    print_table("Servers", &[alone, in_folder]);
    Ok(())
}

/// Returns the median time per call of each side, given the number of calls in one round.
fn median_per_call(calls: usize, mut sides: [Contender<'_>; 2]) -> BenchResult<[Duration; 2]> {
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let calls = u32::try_from(calls)?;
    let taken: Vec<Duration> = taken.into_iter().map(|took| took / calls).collect();
    Ok(taken.try_into().map_err(|_| "two sides give two medians")?)
}

/// Measures preserving a folder without Countersign, as often as there are calls: copies the folder and waits until the
/// copy is on disk.
fn time_copies(folder: &Path) -> BenchResult<Duration> {
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

/// Measures the same calls to the same server with the bare client.
async fn time_bare_client(program: &str) -> BenchResult<Duration> {
    let mut command = tokio::process::Command::new(program);
    command.arg(SERVER_ARGUMENT);
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    let client =
        serve_client_with_lifecycle((), TokioChildProcess::new(command)?, lifecycle).await?;
    let began = Instant::now();
    for _ in 0..CALLS_PER_ROUND {
        let call = CallToolRequestParams::new(TOOL_NAME).with_arguments(Map::new());
        std::hint::black_box(client.call_tool(call).await?);
    }
    let took = began.elapsed();
    client.cancel().await?;
    Ok(took)
}

/// Runs the server that both sides call, until its input ends.
pub fn run_server() -> BenchResult<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        NoopServer.serve(stdio()).await?.waiting().await?;
        Ok(())
    })
}

/// A server of one tool that does nothing.
struct NoopServer;

impl ServerHandler for NoopServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), "object".into())]);
        let tool = Tool::new(TOOL_NAME, "Does nothing.", Arc::new(schema));
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
