//! `connect` and `disconnect`: put Countersign's hooks into the configurations of other people's agents, and take them
//! out again.

use std::path::PathBuf;

use agent::EngineConfig;
use gateway::connections::{self, ConnectableAgent, ConnectionChange, ConnectionPlace};
use protocol::connection::{AgentInterface, ConnectionState, ConnectionView};
use serde_json::json;

use super::connect_servers;
use super::source_commands::{print_diff, report_done};
use crate::args::{ConnectArgs, DisconnectArgs};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};
use crate::terminal::{external_programs, is_attended};

/// Lists the agents, connects one, or checks its connection.
pub(crate) async fn run_connect(
    data_dir: Option<PathBuf>,
    args: ConnectArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let place = find_place(data_dir)?;
    let Some(name) = args.agent else {
        return list_agents(&place, out);
    };
    let agent = connections::find_agent(&name).map_err(CliError::usage_error)?;
    if args.check {
        return check_agent(agent, &place, out).await;
    }
    if args.servers {
        return connect_servers::connect_servers(agent, &place, args.yes, out);
    }
    let Some(change) = connections::plan_connect(agent, &place)? else {
        return report_done(out, &format!("{} is connected.", agent.title));
    };
    let is_applied = settle_change(&change, args.yes, out)?;
    if is_applied && !out.is_json() {
        print_next_steps(&change, &connections::inspect_agent(agent, &place), out)?;
    }
    Ok(exit_of(is_applied))
}

/// Disconnects an agent.
pub(crate) fn run_disconnect(
    data_dir: Option<PathBuf>,
    args: DisconnectArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let place = find_place(data_dir)?;
    let agent = connections::find_agent(&args.agent).map_err(CliError::usage_error)?;
    let restored = connect_servers::restore_servers(agent, &place, args.yes, out)?;
    let change = match args.servers {
        true => None,
        false => connections::plan_disconnect(agent, &place)?,
    };
    let Some(change) = change else {
        return match restored {
            Some(is_applied) => Ok(exit_of(is_applied)),
            None => report_done(out, &format!("{} is not connected.", agent.title)),
        };
    };
    let is_applied = settle_change(&change, args.yes, out)?;
    if is_applied && !out.is_json() {
        out.write_line(&format!("{} is disconnected.", agent.title))?;
    }
    Ok(exit_of(is_applied && restored.unwrap_or(true)))
}

/// Returns where agents keep their configurations, for a data folder.
pub(super) fn find_place(data_dir: Option<PathBuf>) -> Result<ConnectionPlace, CliError> {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let program = std::env::current_exe().map_err(|error| {
        CliError::failure("The path of this program is not known.").with_cause(&error)
    })?;
    let (home, variables) = (EngineConfig::home_dir(), std::env::vars_os());
    ConnectionPlace::new(home, variables, data_dir, Some(program)).map_err(CliError::usage_error)
}

/// Asks the person whether to make the change that was shown. Where nobody can be asked, nobody agrees.
pub(super) fn ask_for_change(out: &OutputWriter) -> Result<bool, CliError> {
    let can_ask = !out.is_json() && is_attended();
    Ok(can_ask && external_programs::ask("Make this change?")?)
}

/// Shows a change, and applies it if the person agrees. Where nobody can be asked, nothing is changed.
fn settle_change(
    change: &ConnectionChange,
    is_agreed: bool,
    out: &mut OutputWriter,
) -> Result<bool, CliError> {
    let diff = change.diff();
    if !out.is_json() {
        print_diff(&diff, out)?;
    }
    let is_agreed = is_agreed || ask_for_change(out)?;
    if is_agreed {
        change.apply()?;
    }
    match out.is_json() {
        true => out.write_json(&json!({
            "file": change.file(),
            "diff": diff,
            "applied": is_agreed,
        }))?,
        false if !is_agreed => out.write_line("Nothing was changed. To make this change: --yes")?,
        false => {}
    }
    Ok(is_agreed)
}

pub(super) fn exit_of(is_applied: bool) -> ExitReason {
    match is_applied {
        true => ExitReason::Done,
        false => ExitReason::Failed,
    }
}

fn print_next_steps(
    change: &ConnectionChange,
    view: &ConnectionView,
    out: &mut OutputWriter,
) -> Result<(), CliError> {
    out.write_line(&format!("{} is connected.", view.title))?;
    if let Some(copy) = change.copy_file() {
        let line = format!("What the file was before is kept in {}.", copy.display());
        out.write_styled(TextStyle::Plain, &line)?;
    }
    print_gaps(view, out)?;
    let id = &view.id;
    out.write_line(&format!(
        "To try the hook: countersign connect {id} --check"
    ))?;
    out.write_line(&format!("To take it back: countersign disconnect {id}"))
}

async fn check_agent(
    agent: &ConnectableAgent,
    place: &ConnectionPlace,
    out: &mut OutputWriter,
) -> CliResult {
    let folder = super::absolute_path("folder", &PathBuf::from("."))?;
    let checked = connections::check_connection(agent, place, &folder).await?;
    out.write_answer(&checked, |out| {
        let line = format!("The hook of {} works: {}", agent.title, checked.command);
        out.write_styled(TextStyle::Good, &line)?;
        match checked.output.is_empty() {
            true => out.write_line("It left the call to the agent."),
            false => out.write_styled(
                TextStyle::Plain,
                &format!("It answered: {}", checked.output),
            ),
        }
    })
}

fn list_agents(place: &ConnectionPlace, out: &mut OutputWriter) -> CliResult {
    let views = connections::inspect_agents(place);
    out.write_answer(&views, |out| {
        let (here, absent): (Vec<_>, Vec<_>) = views.iter().partition(|view| is_here(view));
        here.iter().try_for_each(|view| print_agent(view, out))?;
        if absent.is_empty() {
            return Ok(());
        }
        let titles: Vec<&str> = absent.iter().map(|view| view.title.as_str()).collect();
        let line = format!("Not found on this machine: {}.", titles.join(", "));
        out.write_styled(TextStyle::Faint, &line)
    })
}

/// Whether an agent is on this machine, or was connected on it.
pub(super) fn is_here(view: &ConnectionView) -> bool {
    view.program.is_some() || view.state != ConnectionState::NotConnected
}

fn print_agent(view: &ConnectionView, out: &mut OutputWriter) -> Result<(), CliError> {
    let (ink, state) = describe_state(view);
    let title = out.apply_style(TextStyle::Strong, &view.title);
    let state = out.apply_style(ink, &state);
    out.write_line(&format!("{title} ({})  {state}", view.id))?;
    let program = view.program.as_deref().unwrap_or("not found");
    out.write_styled(TextStyle::Faint, &format!("  program: {program}"))?;
    out.write_styled(TextStyle::Faint, &format!("  hooks: {}", view.config))?;
    let interfaces: Vec<&str> = view.interfaces.iter().map(interface_name).collect();
    out.write_line(&format!(
        "  can be put in front of it: {}",
        interfaces.join(", ")
    ))?;
    print_gaps(view, out)?;
    if view.checked_with.is_none() {
        out.write_styled(
            TextStyle::Warn,
            "  This connection was not tried with the real program.",
        )?;
    }
    out.write_line("")
}

fn print_gaps(view: &ConnectionView, out: &mut OutputWriter) -> Result<(), CliError> {
    for gap in &view.gaps {
        let closed = gap.closed_by.as_deref().unwrap_or("Nothing closes that.");
        out.write_line(&format!("  - {} {closed}", gap.text))?;
    }
    Ok(())
}

fn interface_name(interface: &AgentInterface) -> &'static str {
    match interface {
        AgentInterface::Hooks => "hooks",
        AgentInterface::Acp => "ACP",
        AgentInterface::Mcp => "MCP",
        AgentInterface::PermissionTool => "permission tool",
    }
}

fn describe_state(view: &ConnectionView) -> (TextStyle, String) {
    let again = format!("countersign connect {}", view.id);
    match &view.state {
        ConnectionState::NotConnected => (TextStyle::Plain, "not connected".to_owned()),
        ConnectionState::Connected => (TextStyle::Good, "connected".to_owned()),
        ConnectionState::OtherProgram { program } => (
            TextStyle::Warn,
            format!("connected to {program}; to connect it to this program: {again}"),
        ),
        ConnectionState::Changed => (
            TextStyle::Bad,
            format!("its hooks were changed or are incomplete; to mend them: {again}"),
        ),
        ConnectionState::Removed => (
            TextStyle::Bad,
            format!("was connected, and its hooks are gone; to put them back: {again}"),
        ),
        ConnectionState::SwitchedOff { switch } => (
            TextStyle::Bad,
            format!("has its hooks, and its configuration switches them off at `{switch}`"),
        ),
        ConnectionState::Unreadable { error } => (TextStyle::Bad, error.to_string()),
    }
}
