//! `briefing`: what an agent is told first in a workspace, and what could not be read of it.

use std::path::Path;

use agent::Desk;
use protocol::briefing::{Briefing, Source};
use protocol::query::{Answer, Query};

use crate::ending::{Code, Ended};
use crate::out::{Ink, Out};
use crate::story;

/// Shows it.
pub(crate) async fn show(desk: &Desk, workspace: &Path, out: &mut Out) -> Ended {
    let workspace = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
    let query = Query::Briefing {
        workspace: workspace.display().to_string(),
    };
    let briefing = super::ask(desk, query, |answer| match answer {
        Answer::Briefing(briefing) => Some(briefing),
        _ => None,
    })
    .await?;
    match out.is_json() {
        true => out.json(&briefing)?,
        false => tell(&briefing, out)?,
    }
    Ok(Code::Done)
}

fn tell(briefing: &Briefing, out: &mut Out) -> Result<(), crate::ending::Ending> {
    let whole = format!(
        "{} bytes, about {} tokens, before anything is said.",
        briefing.bytes, briefing.tokens
    );
    out.line(&whole)?;
    heading("Instructions", briefing.instructions.is_empty(), out)?;
    for file in &briefing.instructions {
        let cut = if file.cut { ", cut" } else { "" };
        let line = format!(
            "{}  {} bytes{cut}",
            out.ink(Ink::Strong, &file.file),
            file.bytes
        );
        out.line(&line)?;
    }
    heading("Skills", briefing.skills.is_empty(), out)?;
    for skill in &briefing.skills {
        item(
            (&skill.name, &skill.description),
            skill.source,
            &skill.file,
            out,
        )?;
    }
    heading("Agents", briefing.agents.is_empty(), out)?;
    for agent in &briefing.agents {
        item(
            (&agent.name, &agent.description),
            agent.source,
            &agent.file,
            out,
        )?;
    }
    for fault in &briefing.faults {
        let told = story::cut_off(out, fault);
        out.text(&told)?;
    }
    Ok(())
}

fn heading(title: &str, is_empty: bool, out: &mut Out) -> Result<(), crate::ending::Ending> {
    let none = if is_empty { ": none" } else { "" };
    let line = format!("\n{}{none}", out.ink(Ink::Strong, title));
    out.line(&line)
}

fn item(
    (name, description): (&str, &str),
    source: Source,
    file: &str,
    out: &mut Out,
) -> Result<(), crate::ending::Ending> {
    let whose = match source {
        Source::Project => "project",
        Source::Person => "yours",
        Source::Configured => "settings",
        Source::House => "built in",
    };
    let line = format!(
        "{}  {}\n    {}",
        out.ink(Ink::Strong, name),
        out.ink(Ink::Plain, description),
        out.ink(Ink::Faint, &format!("{whose} · {file}")),
    );
    out.line(&line)
}
