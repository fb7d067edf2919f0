//! `connect --servers` and `disconnect`: put the servers of an agent behind the gateway, and put them back.

use gateway::connections::servers::{
    ServersChange, plan_servers_behind_gateway, plan_servers_restored,
};
use gateway::connections::{ConnectableAgent, ConnectionPlace};
use protocol::connection::ServerNote;
use serde_json::json;

use super::connect::{ask_for_change, exit_of};
use super::source_commands::print_diff;
use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};

/// Puts the servers of an agent behind the gateway.
pub(super) fn connect_servers(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
    is_agreed: bool,
    out: &mut OutputWriter,
) -> CliResult {
    let plan = plan_servers_behind_gateway(agent, place)?;
    let Some(change) = plan.change else {
        let text = format!(
            "{} has no server that is not behind the gateway.",
            agent.title
        );
        let answer = json!({ "done": true, "notes": plan.notes });
        return out.write_answer(&answer, |out| {
            out.write_line(&text)?;
            print_notes(&plan.notes, out)
        });
    };
    let is_applied = settle_change(&change, &plan.notes, is_agreed, out)?;
    if is_applied && !out.is_json() {
        let servers = change.servers().join(", ");
        out.write_line(&format!("Behind the gateway: {servers}."))?;
        if let Some(copy) = change.copy_file() {
            let line = format!("What the file was before is kept in {}.", copy.display());
            out.write_styled(TextStyle::Plain, &line)?;
        }
        let id = &agent.id;
        out.write_line(&format!(
            "To put them back: countersign disconnect {id} --servers"
        ))?;
    }
    Ok(exit_of(is_applied))
}

/// Puts back the servers of an agent; none if none are behind the gateway, and otherwise whether it was done.
pub(super) fn restore_servers(
    agent: &'static ConnectableAgent,
    place: &ConnectionPlace,
    is_agreed: bool,
    out: &mut OutputWriter,
) -> Result<Option<bool>, CliError> {
    let plan = plan_servers_restored(agent, place)?;
    let Some(change) = plan.change else {
        return Ok(None);
    };
    let is_applied = settle_change(&change, &plan.notes, is_agreed, out)?;
    if is_applied && !out.is_json() {
        out.write_line(&format!("The servers of {} are as they were.", agent.title))?;
    }
    Ok(Some(is_applied))
}

/// Shows a change, and applies it if the person agrees. Where nobody can be asked, nothing is changed.
fn settle_change(
    change: &ServersChange,
    notes: &[ServerNote],
    is_agreed: bool,
    out: &mut OutputWriter,
) -> Result<bool, CliError> {
    let diff = change.diff()?;
    if !out.is_json() {
        print_diff(&diff, out)?;
        print_notes(notes, out)?;
    }
    let is_agreed = is_agreed || ask_for_change(out)?;
    if is_agreed {
        change.apply()?;
    }
    match out.is_json() {
        true => out.write_json(&json!({
            "file": change.file(),
            "diff": diff,
            "notes": notes,
            "applied": is_agreed,
        }))?,
        false if !is_agreed => out.write_line("Nothing was changed. To make this change: --yes")?,
        false => {}
    }
    Ok(is_agreed)
}

fn print_notes(notes: &[ServerNote], out: &mut OutputWriter) -> Result<(), CliError> {
    notes.iter().try_for_each(|note| {
        out.write_styled(TextStyle::Warn, &format!("{}: {}", note.server, note.text))
    })
}
