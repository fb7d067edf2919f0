//! `tools`, `show`, `search`, `export`: queries that change nothing.

use std::path::Path;

use agent::Engine;
use protocol::EntryBody;
use protocol::account::AccountLine;
use protocol::query::{Answer, Query, ToolView};
use protocol::view::search::{HitPart, SearchHit};
use serde_json::json;

use super::sessions;
use crate::args::SearchArgs;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};
use crate::short_ids::ShortIds;
use crate::transcript::{self, format_time, mode_name, state_mark};

/// Lists the tools.
pub(crate) async fn list_tools(
    desk: &Engine,
    workspace: Option<&Path>,
    out: &mut OutputWriter,
) -> CliResult {
    let workspace = workspace.map(super::absolute_workspace).transpose()?;
    let Answer::Tools { tools } = desk.query(Query::Tools { workspace }).await? else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&json!({ "tools": tools }), |out| {
        tools.iter().try_for_each(|tool| print_tool(tool, out))
    })
}

fn print_tool(tool: &ToolView, out: &mut OutputWriter) -> Result<(), CliError> {
    let mode = match tool.enabled {
        true => tool.mode.map_or("unclear", mode_name),
        false => "off",
    };
    let first = tool.record.description().split(['.', '\n']).next();
    let setup = tool.setup.as_deref().unwrap_or_default();
    let line = format!(
        "{}  {}  {}  {}",
        out.apply_style(TextStyle::Strong, &format!("{:<12}", tool.record.id())),
        out.apply_style(TextStyle::Faint, &format!("{mode:<11}")),
        out.apply_style(TextStyle::Plain, first.unwrap_or_default()),
        out.apply_style(TextStyle::Warn, setup),
    );
    out.write_line(line.trim_end())
}

/// Shows a session, or one of its calls.
pub(crate) async fn show(
    desk: &Engine,
    session: &str,
    call: Option<&str>,
    out: &mut OutputWriter,
) -> CliResult {
    match call {
        Some(call) => show_account(desk, session, call, out).await,
        None => show_session(desk, session, out).await,
    }
}

async fn show_session(desk: &Engine, name: &str, out: &mut OutputWriter) -> CliResult {
    let view = sessions::find_session(desk, name).await?;
    if !out.is_json() {
        let facts = format!("{} · {} · {}", view.id, view.state.as_str(), view.workspace);
        let head = format!(
            "{}\n{}\n",
            out.apply_style(TextStyle::Strong, &view.title),
            out.apply_style(TextStyle::Faint, &facts)
        );
        out.write_line(&head)?;
    }
    super::for_each_entry(desk, &view.id, |entry| match out.is_json() {
        true => out.write_json(entry),
        false => {
            let text = transcript::format_entry(out, entry);
            out.write_text(&text)
        }
    })
    .await?;
    Ok(ExitReason::Done)
}

/// Shows how a call was validated, authorised, executed, streamed, rendered, persisted and audited.
async fn show_account(desk: &Engine, name: &str, call: &str, out: &mut OutputWriter) -> CliResult {
    let session = sessions::find_session(desk, name).await?.id;
    let mut calls = Vec::new();
    super::for_each_entry(desk, &session, |entry| {
        if let EntryBody::Call(_) = entry.body {
            calls.push(entry.id.clone());
        }
        Ok(())
    })
    .await?;
    let ids = ShortIds {
        thing: "call",
        hint: "The session's entries name each call's id: countersign show SESSION --json.",
        all: calls.iter().map(String::as_str).collect(),
    };
    let call = ids.find(call)?;
    let call = calls.swap_remove(call).into();
    let query = Query::Account { session, call };
    let answer = desk.query(query).await.map_err(CliError::usage_error)?;
    let Answer::Account { summary, account } = answer else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&json!({ "account": account, "summary": summary }), |out| {
        summary.iter().try_for_each(|AccountLine { part, text }| {
            let line = format!(
                "{}  {}",
                out.apply_style(TextStyle::Strong, &format!("{part:<10}")),
                out.apply_style(TextStyle::Plain, &text.replace('\n', "\n            ")),
            );
            out.write_line(&line)
        })
    })
}

/// Searches the whole record.
pub(crate) async fn search_record(
    desk: &Engine,
    args: SearchArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let query = Query::Search {
        text: args.query.join(" "),
        offset: args.offset,
        limit: args.limit,
    };
    let Answer::Search(mut page) = desk.query(query).await? else {
        return Err(CliError::unexpected_answer());
    };
    if let Some(problem) = page.problem.take() {
        return Err(CliError::usage_error(problem));
    }
    out.write_answer(&page, |out| {
        page.hits.iter().try_for_each(|hit| print_hit(out, hit))?;
        let (total, searched, took_ms) = (page.total, page.searched, page.took_us / 1000);
        let line = format!("{total} of {searched} entries · {took_ms} ms");
        out.write_styled(TextStyle::Faint, &line)
    })
}

fn print_hit(out: &mut OutputWriter, hit: &SearchHit) -> Result<(), CliError> {
    let (mark, ink) = hit.state.map_or(("·", TextStyle::Plain), state_mark);
    let head = format!(
        "{} {} {}  {}",
        out.apply_style(ink, mark),
        out.apply_style(TextStyle::Strong, &hit.title),
        out.apply_style(TextStyle::Plain, &hit.target.replace('\n', "⏎")),
        out.apply_style(
            TextStyle::Faint,
            &format!(
                "{} · {} · {}",
                hit.session_title,
                format_time(hit.at),
                hit.session
            )
        ),
    );
    out.write_line(&head)?;
    for line in &hit.lines {
        let part = |part: &HitPart| match part.matched {
            true => out.apply_style(TextStyle::Warn, &part.text),
            false => out.apply_style(TextStyle::Plain, &part.text),
        };
        let text: String = line.parts.iter().map(part).collect();
        let number = out.apply_style(TextStyle::Faint, &format!("{:>6}", line.number));
        out.write_line(&format!("{number}  {text}"))?;
    }
    out.write_line("")
}

/// Exports a whole session.
pub(crate) async fn export_session(
    desk: &Engine,
    name: &str,
    format: String,
    out: &mut OutputWriter,
) -> CliResult {
    let session = sessions::find_session(desk, name).await?.id;
    let query = Query::Export {
        session: session.clone(),
        format: format.clone(),
    };
    let Answer::Export { text } = desk.query(query).await? else {
        return Err(CliError::unexpected_answer());
    };
    let json = json!({ "session": session, "format": format, "text": text });
    out.write_answer(&json, |out| out.write_text(&text))
}
