//! The subcommands, one file for each.

mod acp;
mod agent_sessions;
mod apis;
mod attention;
mod briefing;
mod call;
mod command_reference;
mod config;
mod connect;
mod connect_servers;
mod data;
mod data_erase;
mod data_size;
mod demo;
mod doctor;
mod dry_run;
mod gateway;
mod gateway_http;
mod gateway_servers;
mod history;
mod hook;
mod inspect;
mod keys;
mod man_and_completions;
mod policy;
mod policy_replay;
mod policy_rules;
mod policy_trust;
mod problem_report;
mod prompt;
mod provider_addresses;
mod providers;
mod record_rescue;
mod replay_input;
mod run;
mod servers;
mod session_deletion;
mod session_import;
mod sessions;
mod source_commands;
mod transcript_calls;
mod undo;

use std::path::{Path, PathBuf};

use agent::{Engine, EngineConfig, Host};
use protocol::SessionId;
use protocol::query::{Answer, Query};

use crate::args::{ApprovalArgs, CliArgs, CliCommand, RecordCommand};
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Runs the given subcommand.
#[expect(
    clippy::cognitive_complexity,
    reason = "one arm a command, and nothing else"
)]
pub(crate) async fn run_command(args: CliArgs, out: &mut OutputWriter) -> CliResult {
    let data_dir = args.data_dir;
    let open = || open_readonly_engine(data_dir.clone());
    match args.command {
        CliCommand::Run(run) => run::run_agent(data_dir, *run, args.color, out).await,
        CliCommand::Call(call) => call::run_call(data_dir, call, out).await,
        CliCommand::Demo => demo::run_demo(data_dir, out).await,
        CliCommand::Acp(acp) => acp::serve_agent(data_dir, acp, out).await,
        CliCommand::Gateway(gateway) => gateway::run_gateway(data_dir, gateway, out).await,
        CliCommand::Hook(hook) => hook::answer_hook(data_dir, hook, out).await,
        CliCommand::Commit(commit) => hook::commit_captured(data_dir, commit, out).await,
        CliCommand::Connect(connect) => connect::run_connect(data_dir, connect, out).await,
        CliCommand::Disconnect(disconnect) => connect::run_disconnect(data_dir, disconnect, out),
        CliCommand::Policy(policy) => policy::run_policy(data_dir, policy, out).await,
        CliCommand::Apis(apis) => apis::run_apis(&open().await?, apis, out).await,
        CliCommand::Servers(servers) => servers::run_servers(&open().await?, servers, out).await,
        CliCommand::Tools { workspace } => {
            inspect::list_tools(&open().await?, workspace.as_deref(), out).await
        }
        CliCommand::Config(config) => config::run_config(data_dir, config, out),
        CliCommand::Providers => providers::list_providers(&open().await?, out).await,
        CliCommand::Models { provider } => {
            providers::list_models(&open().await?, provider, out).await
        }
        CliCommand::Keys(keys) => keys::run_keys(&open().await?, keys, out).await,
        CliCommand::Completions { shell } => man_and_completions::write_completions(shell, out),
        CliCommand::Man { folder, markdown } => match markdown {
            true => man_and_completions::write_reference(&folder, out),
            false => man_and_completions::write_man_pages(&folder, out),
        },
        CliCommand::Briefing { workspace } => {
            briefing::show_briefing(&open().await?, &workspace, out).await
        }
        CliCommand::Sessions(sessions) => {
            sessions::run_sessions(&open().await?, sessions, out).await
        }
        CliCommand::Show { session, call } => {
            inspect::show(&open().await?, &session, call.as_deref(), out).await
        }
        CliCommand::Search(search) => inspect::search_record(&open().await?, search, out).await,
        CliCommand::Attention { since } => attention::show_report(&open().await?, since, out).await,
        CliCommand::Export { session, format } => {
            inspect::export_session(&open().await?, &session, format, out).await
        }
        CliCommand::DryRun(dry_run) => dry_run::run_dry_run(data_dir, dry_run, out).await,
        CliCommand::Doctor {
            workspace,
            bundle: None,
        } => doctor::show_report(data_dir, &workspace, out).await,
        CliCommand::Doctor {
            workspace,
            bundle: Some(file),
        } => problem_report::write_bundle(data_dir, &workspace, &file, out).await,
        CliCommand::Data(data) => data::run_data(data_dir, &data, out),
        CliCommand::Record(RecordCommand::Rescue(rescue)) => {
            record_rescue::rescue_record(data_dir, &rescue, out)
        }
        CliCommand::History(history) => history::run_history(&open().await?, history, out).await,
        CliCommand::Undo(undo) => undo::run_undo(&open().await?, undo, out).await,
        CliCommand::Redo(redo) => undo::run_redo(&open().await?, redo, out).await,
    }
}

/// Returns the configuration of an engine for the command line. A window may be open on the same data folder, so the
/// engine takes over no work of other processes.
fn engine_config(data_dir: Option<PathBuf>, host: Host) -> Result<EngineConfig, CliError> {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let data_dir = absolute_path("data folder", &data_dir)?;
    let own = std::env::current_exe().ok();
    Ok(EngineConfig {
        recovers: false,
        home: EngineConfig::home_dir(),
        sandbox_program: own.and_then(|own| agent::find_sandbox_program(&own)),
        ..EngineConfig::new(data_dir, host)
    })
}

/// Returns the host and the rules that the approval arguments ask for.
fn apply_approval_args(
    config: EngineConfig,
    consent: ApprovalArgs,
) -> Result<EngineConfig, CliError> {
    let rules = consent.rules.as_deref();
    Ok(EngineConfig {
        host: Host::Headless {
            approve_all: consent.approve_all,
        },
        rules: rules
            .map(|file| absolute_path("rules file", file))
            .transpose()?,
        posture: consent.posture.map(Into::into),
        ..config
    })
}

async fn open_engine(config: EngineConfig) -> Result<Engine, CliError> {
    Engine::open(config).await.map_err(CliError::config_error)
}

/// Opens an engine for reading.
async fn open_readonly_engine(data_dir: Option<PathBuf>) -> Result<Engine, CliError> {
    open_engine(engine_config(
        data_dir,
        Host::Headless { approve_all: false },
    )?)
    .await
}

/// Returns a path in the form that the engine takes: absolute. `what` names it in the error.
fn absolute_path(what: &str, path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|error| {
        let message = format!("The {what} {} has no absolute path.", path.display());
        CliError::usage(message, "Name another.").with_cause(&error)
    })
}

/// Returns the absolute path of a workspace, as text.
fn absolute_workspace(path: &Path) -> Result<String, CliError> {
    Ok(absolute_path("folder", path)?.display().to_string())
}

/// Reports problems with settings and rules; stricter behaviour is in force meanwhile. If the caller named rules, a
/// problem is an error and nothing starts.
async fn report_rule_faults(
    desk: &Engine,
    has_rules_file: bool,
    out: &OutputWriter,
) -> Result<(), CliError> {
    let faults = desk.snapshot().await?.faults;
    match faults.first() {
        Some(fault) if has_rules_file => Err(CliError::config_error(fault.clone())),
        _ => {
            faults.iter().for_each(|fault| out.write_warning(fault));
            Ok(())
        }
    }
}

/// Visits all entries of a session, page by page.
async fn for_each_entry(
    desk: &Engine,
    session: &SessionId,
    mut with: impl FnMut(&protocol::Entry) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut from = 0;
    loop {
        let query = Query::TranscriptFrom {
            session: session.clone(),
            from,
            limit: crate::limits::PAGE_ENTRIES,
        };
        let Answer::Transcript { entries, more, .. } = desk.query(query).await? else {
            return Err(CliError::unexpected_answer());
        };
        entries.iter().try_for_each(&mut with)?;
        match entries.last() {
            Some(last) if more => from = last.seq + 1,
            _ => return Ok(()),
        }
    }
}
