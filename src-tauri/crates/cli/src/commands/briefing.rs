//! `briefing`: the initial instructions of an agent in a workspace, and the parts of them that could not be read.

use std::path::Path;

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::view::briefing::{Briefing, BriefingSource};

use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};
use crate::transcript;

/// Shows the briefing.
pub(crate) async fn show_briefing(
    desk: &Engine,
    workspace: &Path,
    out: &mut OutputWriter,
) -> CliResult {
    let workspace = super::absolute_workspace(workspace)?;
    let Answer::Briefing(briefing) = desk.query(Query::Briefing { workspace }).await? else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&briefing, |out| print_briefing(&briefing, out))
}

fn print_briefing(briefing: &Briefing, out: &mut OutputWriter) -> Result<(), CliError> {
    let whole = format!(
        "{} bytes, about {} tokens, before anything is said.",
        briefing.bytes, briefing.tokens
    );
    out.write_line(&whole)?;
    print_heading("Instructions", briefing.instructions.is_empty(), out)?;
    for file in &briefing.instructions {
        let cut = if file.cut { ", cut" } else { "" };
        let line = format!(
            "{}  {} bytes{cut}",
            out.apply_style(TextStyle::Strong, &file.file),
            file.bytes
        );
        out.write_line(&line)?;
    }
    print_heading("Skills", briefing.skills.is_empty(), out)?;
    for skill in &briefing.skills {
        print_item(
            &skill.name,
            &skill.description,
            skill.source,
            &skill.file,
            out,
        )?;
    }
    print_heading("Agents", briefing.agents.is_empty(), out)?;
    for agent in &briefing.agents {
        print_item(
            &agent.name,
            &agent.description,
            agent.source,
            &agent.file,
            out,
        )?;
    }
    for fault in &briefing.faults {
        let text = transcript::format_turn_error(out, fault);
        out.write_text(&text)?;
    }
    Ok(())
}

fn print_heading(title: &str, is_empty: bool, out: &mut OutputWriter) -> Result<(), CliError> {
    let none = if is_empty { ": none" } else { "" };
    let line = format!("\n{}{none}", out.apply_style(TextStyle::Strong, title));
    out.write_line(&line)
}

fn print_item(
    name: &str,
    description: &str,
    source: BriefingSource,
    file: &str,
    out: &mut OutputWriter,
) -> Result<(), CliError> {
    let whose = match source {
        BriefingSource::Project => "project",
        BriefingSource::Person => "yours",
        BriefingSource::Configured => "settings",
        BriefingSource::House => "built in",
    };
    let line = format!(
        "{}  {}\n    {}",
        out.apply_style(TextStyle::Strong, name),
        out.apply_style(TextStyle::Plain, description),
        out.apply_style(TextStyle::Faint, &format!("{whose} · {file}")),
    );
    out.write_line(&line)
}
