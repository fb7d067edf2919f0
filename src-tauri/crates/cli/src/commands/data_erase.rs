//! `data erase`: removes what the app keeps on this machine, once the person agreed to it.

use std::path::Path;

use agent::{ErasurePlan, format_byte_size, plan_erasure};
use gateway::connections::find_dependent_agents;
use protocol::UserError;
use provider::SystemKeyStore;
use serde_json::json;

use super::connect;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};
use crate::terminal::{external_programs, is_attended};

/// Erases a data folder, and what belongs to it. Fails if anything of it is left.
pub(super) fn erase(data_dir: &Path, is_agreed: bool, out: &mut OutputWriter) -> CliResult {
    check_connections(data_dir)?;
    let plan = plan_erasure(data_dir).map_err(CliError::config_error)?;
    let folders = plan.folders().map(|folder| folder.path.display());
    let folders: Vec<String> = folders.map(|path| path.to_string()).collect();
    if !is_agreed && !ask_person(&plan, out)? {
        let hint = "To erase without a question: --yes";
        return Err(CliError::usage("Nothing was erased.", hint));
    }
    let has_keys = !plan.keychain().is_empty();
    let left = plan.carry_out(&SystemKeyStore::default());
    match out.is_json() {
        true => {
            out.write_json(&json!({ "folders": folders, "keychain": has_keys, "left": left }))?
        }
        false => report(&folders, &left, out)?,
    }
    match left.is_empty() {
        true => Ok(ExitReason::Done),
        false => Ok(ExitReason::Failed),
    }
}

/// Makes sure that no agent is left with a hook that leads nowhere.
fn check_connections(data_dir: &Path) -> Result<(), CliError> {
    // Without a home folder there is no agent that is configured.
    let Ok(place) = connect::find_place(Some(data_dir.to_owned())) else {
        return Ok(());
    };
    let agents = find_dependent_agents(&place);
    if agents.is_empty() {
        return Ok(());
    }
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title.as_str()).collect();
    let commands: Vec<String> = agents
        .iter()
        .map(|agent| format!("countersign disconnect {}", agent.id))
        .collect();
    Err(CliError::usage(
        format!(
            "Agents are connected that could not work any more: {}.",
            titles.join(", ")
        ),
        format!(
            "Disconnect them first: {}. Nothing was erased.",
            commands.join(", ")
        ),
    ))
}

/// Shows what goes, and asks whether it may. Where nobody can be asked, nobody agrees.
fn ask_person(plan: &ErasurePlan, out: &mut OutputWriter) -> Result<bool, CliError> {
    if out.is_json() {
        return Ok(false);
    }
    for folder in plan.folders() {
        let path = out.apply_style(TextStyle::Strong, &folder.path.display().to_string());
        out.write_line(&format!("{path}  {}", format_byte_size(folder.bytes)))?;
    }
    if !plan.keychain().is_empty() {
        let titles: Vec<&str> = plan
            .keychain()
            .iter()
            .map(|item| item.title.as_str())
            .collect();
        out.write_styled(
            TextStyle::Plain,
            &format!(
                "In the system keychain, as far as it is there: {}.",
                titles.join(", ")
            ),
        )?;
    }
    Ok(is_attended() && external_programs::ask("Erase all of this? This cannot be undone.")?)
}

fn report(folders: &[String], left: &[UserError], out: &mut OutputWriter) -> Result<(), CliError> {
    if left.is_empty() {
        out.write_line("Erased; nothing of it is left:")?;
    } else {
        out.write_line("Erased, but for what is named below:")?;
    }
    for folder in folders {
        out.write_styled(TextStyle::Plain, &format!("  {folder}"))?;
    }
    for fault in left {
        out.write_styled(TextStyle::Bad, &fault.to_string())?;
    }
    Ok(())
}
