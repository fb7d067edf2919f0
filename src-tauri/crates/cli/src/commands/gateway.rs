//! `gateway`: serves tools to clients, on standard input and output or at an address, and answers the hooks of agents.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use agent::{EngineConfig, Host};
use gateway::agent_hooks::client::open_agent_folder;
use gateway::endpoint::{self, EndpointError, ListenRequest, LocalStream, McpRequest, RequestBody};
use gateway::endpoint_server;
use gateway::mcp::ServedTools;
use gateway::window::{DemoMode, WindowConfig};
use protocol::settings::Posture;
use protocol::{SessionId, UserError};
use tokio::io::BufReader;

use super::{gateway_http, gateway_servers};
use crate::args::{GatewayCommand, McpGatewayArgs};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::OutputWriter;

/// Serves until the client closes its side, or the program is told to stop.
pub(crate) async fn run_gateway(
    data_dir: Option<PathBuf>,
    gateway: GatewayCommand,
    out: &mut OutputWriter,
) -> CliResult {
    match gateway {
        GatewayCommand::Mcp(args) => serve_mcp(data_dir, *args, out).await,
        GatewayCommand::Token(command) => {
            let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
            gateway_http::run_token(&config, command, out)
        }
        GatewayCommand::Hooks { stop: false } => serve_hooks(data_dir).await,
        GatewayCommand::Hooks { stop: true } => stop_hooks(data_dir, out).await,
        GatewayCommand::Window { demo } => host_window(data_dir, demo.map(Into::into), out).await,
    }
}

/// Hosts the engine of the app's window until the window closes its side.
async fn host_window(
    data_dir: Option<PathBuf>,
    demo: Option<DemoMode>,
    out: &mut OutputWriter,
) -> CliResult {
    // Standard output is the window's alone.
    out.redirect_to_stderr();
    let own = std::env::current_exe().ok();
    let engine = EngineConfig::resolve_data_dir(data_dir).map(|data_dir| EngineConfig {
        home: EngineConfig::home_dir(),
        watches_record: true,
        sandbox_program: own.as_deref().and_then(agent::find_sandbox_program),
        ..EngineConfig::new(data_dir, Host::Person)
    });
    let config = WindowConfig {
        engine,
        variables: std::env::vars_os().collect(),
        hook_program: own,
        demo,
    };
    let input = BufReader::new(tokio::io::stdin());
    gateway::window::serve(config, input, tokio::io::stdout()).await?;
    Ok(ExitReason::Done)
}

/// Serves tools, on standard input and output unless an address is given: by the app where it is open, so that a person is asked there, and otherwise
/// by an engine of this process.
async fn serve_mcp(
    data_dir: Option<PathBuf>,
    args: McpGatewayArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let request = McpRequest {
        workspace: super::absolute_path("folder", &args.workspace)?,
        server: gateway_servers::choose_server(&args)?,
    };
    let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    if let Some(address) = args.listen {
        let request = ListenRequest {
            mcp: request,
            address,
        };
        let passed = args.passed_questions();
        return gateway_http::listen(config, request, passed, args.consent, out).await;
    }
    // Standard output is the protocol's alone.
    out.redirect_to_stderr();
    if let Some(session) = args.agent_session {
        return serve_agent_session(&config.data_dir, &SessionId(session), request).await;
    }
    if std::io::stdin().is_terminal() {
        out.write_warning(&UserError::new(
            "This waits for a client that speaks MCP on standard input.",
            "Name it in the settings of a client: see the README. Ctrl+D ends it.",
        ));
    }
    if !args.consent.is_given() {
        match endpoint::open_mcp(&config.data_dir, request.clone()).await {
            Ok(Some(stream)) => return relay_mcp(stream).await,
            Ok(None) | Err(EndpointError::Absent) => {}
            Err(EndpointError::Failed(fault)) => return Err(fault.into()),
            Err(EndpointError::Broken(error)) => return Err(unreachable_error("app", &error)),
        }
    }
    let passed = args.passed_questions();
    let config = super::apply_approval_args(config, args.consent)?;
    let has_rules = config.rules.is_some();
    let desk = super::open_engine(config).await?;
    let served = ServedTools::open(&desk, &request)
        .await
        .map_err(CliError::usage_error)?
        .passing_questions(passed);
    desk.check_rules(&request.workspace)
        .map_err(CliError::usage_error)?;
    super::report_rule_faults(&desk, has_rules, out).await?;
    let (from, to) = (tokio::io::stdin(), tokio::io::stdout());
    gateway::mcp::serve(served, from, to, wait_for_termination()).await?;
    desk.close();
    Ok(ExitReason::Done)
}

/// Serves the agent of a session, whose calls are made there. Where nobody works in the session, nothing is served.
async fn serve_agent_session(
    data_dir: &Path,
    session: &SessionId,
    request: McpRequest,
) -> CliResult {
    let folder = open_agent_folder(data_dir, session)?;
    match endpoint::open_mcp(folder.path(), request).await {
        Ok(Some(stream)) => relay_mcp(stream).await,
        Ok(None) | Err(EndpointError::Absent) => Err(UserError::new(
            "The session of this agent is not open, so its tools are not served.",
            "Open the session, and let the agent go on there.",
        )
        .into()),
        Err(EndpointError::Failed(fault)) => Err(fault.into()),
        Err(EndpointError::Broken(error)) => Err(unreachable_error("session", &error)),
    }
}

/// Hands on what a client and the app say to each other.
async fn relay_mcp(stream: LocalStream) -> CliResult {
    let relaying = endpoint::relay(stream, tokio::io::stdin(), tokio::io::stdout());
    let relayed = tokio::select! {
        relayed = relaying => relayed,
        () = wait_for_termination() => Ok(()),
    };
    match relayed {
        Ok(()) => Ok(ExitReason::Done),
        Err(error) => Err(unreachable_error("app", &error)),
    }
}

pub(super) fn unreachable_error(what: &str, error: &std::io::Error) -> CliError {
    CliError::failure(&format!("The {what} cannot be reached.")).with_cause(error)
}

/// Answers the hooks of agents until nobody needs it any more.
async fn serve_hooks(data_dir: Option<PathBuf>) -> CliResult {
    let mut config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    config.posture = Some(Posture::Unattended);
    let served = endpoint_server::serve_data_dir(config, wait_for_termination()).await;
    served.map(|()| ExitReason::Done).map_err(CliError::from)
}

/// Ends the program without a window that answers the hooks of agents.
async fn stop_hooks(data_dir: Option<PathBuf>, out: &mut OutputWriter) -> CliResult {
    let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    match endpoint::send_request(&config.data_dir, RequestBody::Retire).await {
        Ok(_) => out.write_line("It ends once what is open there is over.")?,
        Err(EndpointError::Absent) => out.write_line("Nobody answers hooks now.")?,
        Err(EndpointError::Failed(fault)) => return Err(fault.into()),
        Err(EndpointError::Broken(error)) => {
            return Err(unreachable_error("program that answers hooks", &error));
        }
    }
    Ok(ExitReason::Done)
}

/// Waits until the program is asked to terminate.
pub(super) async fn wait_for_termination() {
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
