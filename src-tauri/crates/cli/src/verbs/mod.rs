//! One file for each thing that can be asked.

mod addresses;
mod apis;
mod briefing;
mod call;
mod config;
mod demo;
mod doctor;
mod documents;
mod dry_run;
mod gateway;
mod history;
mod inspect;
mod kept;
mod keys;
mod policy;
mod prompt;
mod providers;
mod rulebook;
mod run;
mod servers;
mod sessions;
mod trust;
mod undo;

use std::path::{Path, PathBuf};

use agent::{Desk, DeskConfig, Host};
use protocol::query::{Answer, Query};
use protocol::{Fault, SessionId};

use crate::args::{Args, Collect, Consent, Policy, Redo, SessionsAsked, Undo, Verb};
use crate::ending::{Ended, Ending};
use crate::out::Out;

/// Does what was asked.
pub(crate) async fn run(args: Args, out: &mut Out) -> Ended {
    let data_dir = args.data_dir;
    match args.verb {
        Verb::Run(asked) => run::run(data_dir, *asked, args.color, out).await,
        Verb::Call(call) => call::run(data_dir, call, out).await,
        Verb::Demo => demo::run(data_dir, out).await,
        Verb::Gateway(asked) => gateway::run(data_dir, asked, out).await,
        Verb::Policy(Policy::Backtest(asked)) => {
            rulebook::backtest(&look(data_dir).await?, asked, out).await
        }
        Verb::Policy(Policy::Import(asked)) => rulebook::import(data_dir, asked, out).await,
        Verb::Policy(Policy::Grants { asked }) => {
            rulebook::grants(&look(data_dir).await?, asked, out).await
        }
        Verb::Policy(asked) => policy::run(data_dir, asked, out).await,
        Verb::Apis(asked) => apis::run(&look(data_dir).await?, asked, out).await,
        Verb::Servers(asked) => servers::run(&look(data_dir).await?, asked, out).await,
        Verb::Tools { workspace } => {
            inspect::tools(&look(data_dir).await?, workspace.as_deref(), out).await
        }
        Verb::Config(asked) => config::run(data_dir, asked, out).await,
        Verb::Providers => providers::list(&look(data_dir).await?, out).await,
        Verb::Models { provider } => providers::models(&look(data_dir).await?, provider, out).await,
        Verb::Keys(asked) => keys::run(&look(data_dir).await?, asked, out).await,
        Verb::Completions { shell } => documents::completions(shell, out),
        Verb::Man { folder } => documents::manual(&folder, out),
        Verb::Briefing { workspace } => {
            briefing::show(&look(data_dir).await?, &workspace, out).await
        }
        Verb::Sessions(asked) => {
            let desk = look(data_dir).await?;
            match asked.asked {
                Some(SessionsAsked::Close { sessions }) => {
                    sessions::close(&desk, &sessions, out).await
                }
                None => sessions::list(&desk, asked.workspace.as_deref(), asked.limit, out).await,
            }
        }
        Verb::Show { session, call } => {
            let desk = look(data_dir).await?;
            match call {
                Some(call) => inspect::account(&desk, &session, &call, out).await,
                None => inspect::show(&desk, &session, out).await,
            }
        }
        Verb::Search {
            query,
            limit,
            offset,
        } => inspect::search(&look(data_dir).await?, &query.join(" "), limit, offset, out).await,
        Verb::Export { session, format } => {
            inspect::export(&look(data_dir).await?, &session, format, out).await
        }
        Verb::DryRun {
            workspace,
            commit: false,
            in_place: false,
            allow_host,
            command,
        } => {
            dry_run::show(
                &look(data_dir).await?,
                &workspace,
                &command,
                &allow_host,
                out,
            )
            .await
        }
        Verb::DryRun {
            workspace,
            in_place: true,
            allow_host,
            command,
            ..
        } => dry_run::in_place(data_dir, workspace, &command, allow_host, out).await,
        Verb::DryRun {
            workspace,
            commit: true,
            command,
            ..
        } => dry_run::commit(data_dir, workspace, &command, out).await,
        Verb::Doctor { workspace } => {
            let folder = DeskConfig::data_dir(data_dir.clone()).map_err(Ending::unusable)?;
            let settings = agent::settings_file::path(&folder);
            doctor::show(&look(data_dir).await?, &workspace, &settings, out).await
        }
        Verb::History(asked) => {
            let desk = look(data_dir).await?;
            match asked.asked {
                Some(Collect::Gc) => history::collect(&desk, out).await,
                None => history::list(&desk, asked, out).await,
            }
        }
        Verb::Undo(asked) => {
            let desk = look(data_dir).await?;
            let asked = Undo {
                entries: history::whole_ids(&desk, asked.entries).await?,
                to: history::whole_id(&desk, asked.to).await?,
                ..asked
            };
            undo::undo(&desk, asked, out).await
        }
        Verb::Redo(asked) => {
            let desk = look(data_dir).await?;
            let asked = Redo {
                entry: history::whole_id(&desk, asked.entry).await?,
                ..asked
            };
            undo::redo(&desk, asked, out).await
        }
    }
}

/// How a desk of the command line is set up: beside a window that may be open on the same folder, so nothing is taken
/// up that is not its own.
fn config(data_dir: Option<PathBuf>, host: Host) -> Result<DeskConfig, Ending> {
    let data_dir = DeskConfig::data_dir(data_dir).map_err(Ending::unusable)?;
    let data_dir = std::path::absolute(&data_dir).map_err(|error| {
        let message = format!("The data folder {} has no place.", data_dir.display());
        Ending::unusable(Fault::new(message, "Name another with --data-dir.")).because(&error)
    })?;
    let own = std::env::current_exe().ok();
    Ok(DeskConfig {
        takes_up: false,
        home: DeskConfig::home_dir(),
        room: own.and_then(|own| agent::room_beside(&own)),
        ..DeskConfig::new(data_dir, host)
    })
}

/// The host and the rules that the caller's words come to.
fn consent(config: DeskConfig, consent: Consent) -> Result<DeskConfig, Ending> {
    let rules = consent.rules.map(std::path::absolute).transpose();
    Ok(DeskConfig {
        host: Host::Headless {
            approve_all: consent.approve_all,
        },
        rules: rules.map_err(|error| {
            Ending::usage(Fault::new("The rules file has no place.", "")).because(&error)
        })?,
        ..config
    })
}

async fn open(config: DeskConfig) -> Result<Desk, Ending> {
    Desk::open(config).await.map_err(Ending::unusable)
}

/// A desk to look at.
async fn look(data_dir: Option<PathBuf>) -> Result<Desk, Ending> {
    open(config(data_dir, Host::Headless { approve_all: false })?).await
}

/// A path as the desk takes it: absolute.
fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
}

/// Tells what is wrong with settings and rules; stricter behaviour holds meanwhile. Where the caller named rules, nothing
/// begins until all is right.
async fn check_rules(desk: &Desk, named: bool, out: &Out) -> Result<(), Ending> {
    let faults = desk.snapshot().await?.faults;
    match faults.first() {
        Some(fault) if named => Err(Ending::unusable(fault.clone())),
        _ => {
            faults.iter().for_each(|fault| out.aside(fault));
            Ok(())
        }
    }
}

/// Asks the desk something whose answer must be of one kind.
async fn ask<T>(
    desk: &Desk,
    query: Query,
    of_kind: impl FnOnce(Answer) -> Option<T>,
) -> Result<T, Ending> {
    of_kind(desk.query(query).await?)
        .ok_or_else(|| Ending::failed("The desk answered something that was not asked."))
}

/// All entries of a session, page by page.
async fn for_each_entry(
    desk: &Desk,
    session: &SessionId,
    mut with: impl FnMut(&protocol::Entry) -> Result<(), Ending>,
) -> Result<(), Ending> {
    let mut from = 0;
    loop {
        let query = Query::TranscriptFrom {
            session: session.clone(),
            from,
            limit: crate::limits::PAGE,
        };
        let (entries, more) = ask(desk, query, |answer| match answer {
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
