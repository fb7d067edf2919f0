//! `gateway mcp --listen`: serves tools at an address of this machine, for several clients at a time; and the tokens by
//! which these are let in.

use std::net::SocketAddr;

use agent::EngineConfig;
use gateway::endpoint::{self, EndpointError, ListenRequest};
use gateway::mcp::PassedQuestions;
use gateway::mcp_http::{ClientTokens, McpListener};
use protocol::UserError;
use serde_json::json;

use super::gateway::{unreachable_error, wait_for_termination};
use super::source_commands::report_done;
use crate::args::{ApprovalArgs, TokenCommand};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::OutputWriter;

/// Serves at an address until the program is told to stop: by the app where it is open, so that a person is asked there, and
/// otherwise by an engine of this process.
pub(super) async fn listen(
    config: EngineConfig,
    request: ListenRequest,
    passed: PassedQuestions,
    consent: ApprovalArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let tokens = ClientTokens::new(&config.data_dir);
    if !consent.is_given() {
        match endpoint::listen_mcp(&config.data_dir, request.clone()).await {
            Ok(Some(app)) => {
                print_address(app.address(), &tokens, out)?;
                return tokio::select! {
                    () = app.wait_until_closed() => Err(CliError::failure("The app was closed, so nothing is served any more.")),
                    () = wait_for_termination() => Ok(ExitReason::Done),
                };
            }
            Ok(None) | Err(EndpointError::Absent) => {}
            Err(EndpointError::Failed(fault)) => return Err(fault.into()),
            Err(EndpointError::Broken(error)) => return Err(unreachable_error("app", &error)),
        }
    }
    let config = super::apply_approval_args(config, consent)?;
    let has_rules = config.rules.is_some();
    let desk = super::open_engine(config).await?;
    let listener = McpListener::open(&desk, &request)
        .await
        .map_err(CliError::usage_error)?
        .passing_questions(passed);
    desk.check_rules(&request.mcp.workspace)
        .map_err(CliError::usage_error)?;
    super::report_rule_faults(&desk, has_rules, out).await?;
    print_address(listener.address(), &tokens, out)?;
    listener.serve(wait_for_termination()).await?;
    desk.close();
    Ok(ExitReason::Done)
}

/// Prints the address, and how a client is set up.
fn print_address(
    address: SocketAddr,
    tokens: &ClientTokens,
    out: &mut OutputWriter,
) -> Result<(), CliError> {
    let url = format!("http://{address}/mcp");
    if tokens.list()?.is_empty() {
        out.write_warning(&UserError::new(
            "No client has a token, so nobody is let in.",
            "Make one for each client: countersign gateway token add NAME.",
        ));
    }
    out.write_answer(&json!({ "url": url }), |out| {
        out.write_line(&format!("MCP is served at {url} until Ctrl+C."))?;
        out.write_line(&format!(
            "A client: {{ \"type\": \"http\", \"url\": \"{url}\", \"headers\": {{ \"Authorization\": \"Bearer TOKEN\" }} }}"
        ))
    })?;
    Ok(())
}

/// Makes, lists, or revokes tokens of clients.
pub(super) fn run_token(
    config: &EngineConfig,
    command: TokenCommand,
    out: &mut OutputWriter,
) -> CliResult {
    let tokens = ClientTokens::new(&config.data_dir);
    match command {
        TokenCommand::Add { name } => {
            let token = tokens.add(&name).map_err(CliError::usage_error)?;
            out.write_answer(&json!({ "client": name, "token": token }), |out| {
                out.write_line(&token)?;
                out.write_warning(&UserError::new(
                    format!("The token of {name} is shown this once and kept nowhere."),
                    "Put it into the client's settings, as the header `Authorization: Bearer TOKEN`.",
                ));
                Ok(())
            })
        }
        TokenCommand::List => {
            let clients = tokens.list()?;
            out.write_answer(&json!({ "clients": clients }), |out| {
                if clients.is_empty() {
                    return out.write_line("No client has a token.");
                }
                clients.iter().try_for_each(|client| out.write_line(client))
            })
        }
        TokenCommand::Revoke { name } => {
            tokens.revoke(&name).map_err(CliError::usage_error)?;
            report_done(
                out,
                &format!("The token of {name} lets nobody in any more."),
            )
        }
    }
}
