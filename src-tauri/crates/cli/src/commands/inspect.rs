//! `tools`, `show`, `search`, `export`: queries that change nothing.

use std::path::Path;

use agent::Engine;
use protocol::EntryBody;
use protocol::account::AccountLine;
use protocol::query::{Answer, Query};
use protocol::view::search::{HitPart, SearchHit, SearchPage};
use serde_json::json;

use super::sessions;
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
    let workspace = workspace.map(super::absolute_path);
    let tools = super::query_engine(desk, Query::Tools { workspace }, |answer| match answer {
        Answer::Tools { tools } => Some(tools),
        _ => None,
    })
    .await?;
    if out.is_json() {
        out.write_json(&json!({ "tools": tools }))?;
        return Ok(ExitReason::Done);
    }
    for tool in &tools {
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
        let line = line.trim_end().to_owned();
        out.write_line(&line)?;
    }
    Ok(ExitReason::Done)
}

/// Shows a session.
pub(crate) async fn show_session(desk: &Engine, name: &str, out: &mut OutputWriter) -> CliResult {
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
pub(crate) async fn show_account(
    desk: &Engine,
    name: &str,
    call: &str,
    out: &mut OutputWriter,
) -> CliResult {
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
        return Err(CliError::failure(
            "The engine answered a different question.",
        ));
    };
    if out.is_json() {
        out.write_json(&json!({ "account": account, "summary": summary }))?;
        return Ok(ExitReason::Done);
    }
    for AccountLine { part, text } in &summary {
        let line = format!(
            "{}  {}",
            out.apply_style(TextStyle::Strong, &format!("{part:<10}")),
            out.apply_style(TextStyle::Plain, &text.replace('\n', "\n            ")),
        );
        out.write_line(&line)?;
    }
    Ok(ExitReason::Done)
}

/// Searches the whole record.
pub(crate) async fn search_record(
    desk: &Engine,
    text: &str,
    limit: u32,
    offset: u32,
    out: &mut OutputWriter,
) -> CliResult {
    let query = Query::Search {
        text: text.to_owned(),
        offset,
        limit,
    };
    let page: SearchPage = super::query_engine(desk, query, |answer| match answer {
        Answer::Search(page) => Some(page),
        _ => None,
    })
    .await?;
    if let Some(problem) = page.problem {
        return Err(CliError::usage_error(problem));
    }
    if out.is_json() {
        out.write_json(&page)?;
        return Ok(ExitReason::Done);
    }
    for hit in &page.hits {
        print_hit(out, hit)?;
    }
    let (total, searched, took_ms) = (page.total, page.searched, page.took_us / 1000);
    let line = format!("{total} of {searched} entries · {took_ms} ms");
    let line = out.apply_style(TextStyle::Faint, &line);
    out.write_line(&line)?;
    Ok(ExitReason::Done)
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
    let text = super::query_engine(desk, query, |answer| match answer {
        Answer::Export { text } => Some(text),
        _ => None,
    })
    .await?;
    match out.is_json() {
        true => out.write_json(&json!({ "session": session, "format": format, "text": text }))?,
        false => out.write_text(&text)?,
    }
    Ok(ExitReason::Done)
}
