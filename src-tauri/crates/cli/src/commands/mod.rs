//! The subcommands, one file for each.

mod apis;
mod briefing;
mod call;
mod config;
mod demo;
mod doctor;
mod dry_run;
mod gateway;
mod history;
mod inspect;
mod keys;
mod man_and_completions;
mod policy;
mod policy_rules;
mod policy_trust;
mod prompt;
mod provider_addresses;
mod providers;
mod run;
mod servers;
mod sessions;
mod source_commands;
mod undo;

use std::path::{Path, PathBuf};

use agent::{Engine, EngineConfig, Host};
use protocol::query::{Answer, Query};
use protocol::{SessionId, UserError};

use crate::args::{
    ApprovalArgs, CliArgs, CliCommand, HistoryCommand, PolicyCommand, RedoArgs, SessionsCommand,
    UndoArgs,
};
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Runs the given subcommand.
#[expect(
    clippy::cognitive_complexity,
    reason = "one arm a command, and nothing else"
)]
pub(crate) async fn run_command(args: CliArgs, out: &mut OutputWriter) -> CliResult {
    let data_dir = args.data_dir;
    match args.command {
        CliCommand::Run(command_args) => {
            run::run_agent(data_dir, *command_args, args.color, out).await
        }
        CliCommand::Call(call) => call::run_call(data_dir, call, out).await,
        CliCommand::Demo => demo::run_demo(data_dir, out).await,
        CliCommand::Gateway(command_args) => {
            gateway::run_gateway(data_dir, command_args, out).await
        }
        CliCommand::Policy(PolicyCommand::Backtest(command_args)) => {
            policy_rules::backtest_rule_change(
                &open_readonly_engine(data_dir).await?,
                command_args,
                out,
            )
            .await
        }
        CliCommand::Policy(PolicyCommand::Import(command_args)) => {
            policy_rules::import_rules(data_dir, command_args, out).await
        }
        CliCommand::Policy(PolicyCommand::Grants {
            asked: command_args,
        }) => {
            policy_rules::manage_grants(&open_readonly_engine(data_dir).await?, command_args, out)
                .await
        }
        CliCommand::Policy(command_args) => policy::run_policy(data_dir, command_args, out).await,
        CliCommand::Apis(command_args) => {
            apis::run_apis(&open_readonly_engine(data_dir).await?, command_args, out).await
        }
        CliCommand::Servers(command_args) => {
            servers::run_servers(&open_readonly_engine(data_dir).await?, command_args, out).await
        }
        CliCommand::Tools { workspace } => {
            inspect::list_tools(
                &open_readonly_engine(data_dir).await?,
                workspace.as_deref(),
                out,
            )
            .await
        }
        CliCommand::Config(command_args) => config::run_config(data_dir, command_args, out).await,
        CliCommand::Providers => {
            providers::list_providers(&open_readonly_engine(data_dir).await?, out).await
        }
        CliCommand::Models { provider } => {
            providers::list_models(&open_readonly_engine(data_dir).await?, provider, out).await
        }
        CliCommand::Keys(command_args) => {
            keys::run_keys(&open_readonly_engine(data_dir).await?, command_args, out).await
        }
        CliCommand::Completions { shell } => man_and_completions::write_completions(shell, out),
        CliCommand::Man { folder } => man_and_completions::write_man_pages(&folder, out),
        CliCommand::Briefing { workspace } => {
            briefing::show_briefing(&open_readonly_engine(data_dir).await?, &workspace, out).await
        }
        CliCommand::Sessions(command_args) => {
            let desk = open_readonly_engine(data_dir).await?;
            match command_args.command {
                Some(SessionsCommand::Close { sessions }) => {
                    sessions::close_sessions(&desk, &sessions, out).await
                }
                None => {
                    sessions::list_sessions(
                        &desk,
                        command_args.workspace.as_deref(),
                        command_args.limit,
                        out,
                    )
                    .await
                }
            }
        }
        CliCommand::Show { session, call } => {
            let desk = open_readonly_engine(data_dir).await?;
            match call {
                Some(call) => inspect::show_account(&desk, &session, &call, out).await,
                None => inspect::show_session(&desk, &session, out).await,
            }
        }
        CliCommand::Search {
            query,
            limit,
            offset,
        } => {
            inspect::search_record(
                &open_readonly_engine(data_dir).await?,
                &query.join(" "),
                limit,
                offset,
                out,
            )
            .await
        }
        CliCommand::Export { session, format } => {
            inspect::export_session(
                &open_readonly_engine(data_dir).await?,
                &session,
                format,
                out,
            )
            .await
        }
        CliCommand::DryRun {
            workspace,
            commit: false,
            in_place: false,
            allow_host,
            command,
        } => {
            dry_run::run_dry(
                &open_readonly_engine(data_dir).await?,
                &workspace,
                &command,
                &allow_host,
                out,
            )
            .await
        }
        CliCommand::DryRun {
            workspace,
            in_place: true,
            allow_host,
            command,
            ..
        } => dry_run::run_in_place(data_dir, workspace, &command, allow_host, out).await,
        CliCommand::DryRun {
            workspace,
            commit: true,
            command,
            ..
        } => dry_run::run_and_commit(data_dir, workspace, &command, out).await,
        CliCommand::Doctor { workspace } => {
            let folder =
                EngineConfig::resolve_data_dir(data_dir.clone()).map_err(CliError::config_error)?;
            let settings = agent::engine::settings::file::settings_path(&folder);
            doctor::show_report(
                &open_readonly_engine(data_dir).await?,
                &workspace,
                &settings,
                out,
            )
            .await
        }
        CliCommand::History(command_args) => {
            let desk = open_readonly_engine(data_dir).await?;
            match command_args.command {
                Some(HistoryCommand::Gc) => history::collect_garbage(&desk, out).await,
                None => history::list_history(&desk, command_args, out).await,
            }
        }
        CliCommand::Undo(command_args) => {
            let desk = open_readonly_engine(data_dir).await?;
            let command_args = UndoArgs {
                entries: history::resolve_ids(&desk, command_args.entries).await?,
                to: history::resolve_id(&desk, command_args.to).await?,
                ..command_args
            };
            undo::run_undo(&desk, command_args, out).await
        }
        CliCommand::Redo(command_args) => {
            let desk = open_readonly_engine(data_dir).await?;
            let command_args = RedoArgs {
                entry: history::resolve_id(&desk, command_args.entry).await?,
                ..command_args
            };
            undo::run_redo(&desk, command_args, out).await
        }
    }
}

/// Returns the configuration of an engine for the command line. A window may be open on the same data folder, so the
/// engine takes over no work of other processes.
fn engine_config(data_dir: Option<PathBuf>, host: Host) -> Result<EngineConfig, CliError> {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let data_dir = std::path::absolute(&data_dir).map_err(|error| {
        let message = format!("The data folder {} has no place.", data_dir.display());
        CliError::config_error(UserError::new(message, "Name another with --data-dir."))
            .with_cause(&error)
    })?;
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
    let rules = consent.rules.map(std::path::absolute).transpose();
    Ok(EngineConfig {
        host: Host::Headless {
            approve_all: consent.approve_all,
        },
        rules: rules.map_err(|error| {
            CliError::usage_error(UserError::new("The rules file has no place.", ""))
                .with_cause(&error)
        })?,
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

/// Returns a path in the form that the engine takes: absolute.
fn absolute_path(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
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

/// Sends a query to the engine and returns its answer, which must be of one kind.
async fn query_engine<T>(
    desk: &Engine,
    query: Query,
    of_kind: impl FnOnce(Answer) -> Option<T>,
) -> Result<T, CliError> {
    of_kind(desk.query(query).await?)
        .ok_or_else(|| CliError::failure("The engine answered a different question."))
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
        let (entries, more) = query_engine(desk, query, |answer| match answer {
            Answer::Transcript { entries, more, .. } => Some((entries, more)),
            _ => None,
        })
        .await?;
        entries.iter().try_for_each(&mut with)?;
        match entries.last() {
            Some(last) if more => from = last.seq + 1,
            _ => return Ok(()),
        }
    }
}
