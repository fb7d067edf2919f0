//! `gateway mcp`: the tools of a folder, served to a client on standard input and output.

use std::io::IsTerminal;
use std::path::PathBuf;

use agent::Host;
use protocol::Fault;

use crate::args::{Gateway, Mcp};
use crate::ending::{Code, Ended, Ending};
use crate::out::Out;

/// Serves until the client closes its side, or the program is told to stop.
pub(crate) async fn run(data_dir: Option<PathBuf>, gateway: Gateway, out: &mut Out) -> Ended {
    let Gateway::Mcp(Mcp { workspace, consent }) = gateway;
    // Standard output is the protocol's alone.
    out.leave();
    let config = super::config(data_dir, Host::Headless { approve_all: false })?;
    let config = super::consent(config, consent)?;
    let has_rules = config.rules.is_some();
    let desk = super::open(config).await?;
    let workspace = std::path::absolute(&workspace).unwrap_or(workspace);
    desk.offers(&workspace).map_err(Ending::usage)?;
    desk.read_rules(&workspace).map_err(Ending::usage)?;
    super::check_rules(&desk, has_rules, out).await?;
    if std::io::stdin().is_terminal() {
        out.aside(&Fault::new(
            "This waits for a client that speaks MCP on standard input.",
            "Name it in the settings of a client: see the README. Ctrl+D ends it.",
        ));
    }
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    gateway::mcp::serve(&desk, &workspace, streams, told_to_stop()).await?;
    desk.close();
    Ok(Code::Done)
}

/// Waits until somebody wants the program to end.
async fn told_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut ended) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        tokio::select! {
            _ = interrupted => {}
            _ = ended.recv() => {}
        }
        return;
    }
    let _ = interrupted.await;
}
