//! `tools`, `show`, `search`, `export`: questions that change nothing.

use std::path::Path;

use agent::Desk;
use protocol::EntryBody;
use protocol::account::AccountLine;
use protocol::query::{Answer, Query};
use protocol::search::{HitPart, SearchHit, SearchPage};
use serde_json::json;

use super::sessions;
use crate::ending::{Code, Ended, Ending};
use crate::ids::Ids;
use crate::out::{Ink, Out};
use crate::story::{self, mark, mode_name, time};

/// Lists the tools.
pub(crate) async fn tools(desk: &Desk, workspace: Option<&Path>, out: &mut Out) -> Ended {
    let workspace = workspace.map(super::absolute);
    let tools = super::ask(desk, Query::Tools { workspace }, |answer| match answer {
        Answer::Tools { tools } => Some(tools),
        _ => None,
    })
    .await?;
    if out.is_json() {
        out.json(&json!({ "tools": tools }))?;
        return Ok(Code::Done);
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
            out.ink(Ink::Strong, &format!("{:<12}", tool.record.id())),
            out.ink(Ink::Faint, &format!("{mode:<11}")),
            out.ink(Ink::Plain, first.unwrap_or_default()),
            out.ink(Ink::Warn, setup),
        );
        let line = line.trim_end().to_owned();
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// Shows a session.
pub(crate) async fn show(desk: &Desk, name: &str, out: &mut Out) -> Ended {
    let view = sessions::find(desk, name).await?;
    if !out.is_json() {
        let facts = format!("{} · {} · {}", view.id, view.state.as_str(), view.workspace);
        let head = format!(
            "{}\n{}\n",
            out.ink(Ink::Strong, &view.title),
            out.ink(Ink::Faint, &facts)
        );
        out.line(&head)?;
    }
    super::for_each_entry(desk, &view.id, |entry| match out.is_json() {
        true => out.json(entry),
        false => {
            let text = story::entry(out, entry);
            out.text(&text)
        }
    })
    .await?;
    Ok(Code::Done)
}

/// Tells how a call was validated, authorised, executed, streamed, rendered, persisted and audited.
pub(crate) async fn account(desk: &Desk, name: &str, call: &str, out: &mut Out) -> Ended {
    let session = sessions::find(desk, name).await?.id;
    let mut calls = Vec::new();
    super::for_each_entry(desk, &session, |entry| {
        if let EntryBody::Call(_) = entry.body {
            calls.push(entry.id.clone());
        }
        Ok(())
    })
    .await?;
    let ids = Ids {
        thing: "call",
        hint: "The session's entries name each call's id: countersign show SESSION --json.",
        all: calls.iter().map(String::as_str).collect(),
    };
    let call = ids.find(call)?;
    let call = calls.swap_remove(call).into();
    let query = Query::Account { session, call };
    let answer = desk.query(query).await.map_err(Ending::usage)?;
    let Answer::Account { told, account } = answer else {
        return Err(Ending::failed("The desk answered something else."));
    };
    if out.is_json() {
        out.json(&json!({ "account": account, "told": told }))?;
        return Ok(Code::Done);
    }
    for AccountLine { part, text } in &told {
        let line = format!(
            "{}  {}",
            out.ink(Ink::Strong, &format!("{part:<10}")),
            out.ink(Ink::Plain, &text.replace('\n', "\n            ")),
        );
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// Finds anything recorded.
pub(crate) async fn search(
    desk: &Desk,
    text: &str,
    limit: u32,
    offset: u32,
    out: &mut Out,
) -> Ended {
    let query = Query::Search {
        text: text.to_owned(),
        offset,
        limit,
    };
    let page: SearchPage = super::ask(desk, query, |answer| match answer {
        Answer::Search(page) => Some(page),
        _ => None,
    })
    .await?;
    if let Some(problem) = page.problem {
        return Err(Ending::usage(problem));
    }
    if out.is_json() {
        out.json(&page)?;
        return Ok(Code::Done);
    }
    for hit in &page.hits {
        found(out, hit)?;
    }
    let (total, searched, took_ms) = (page.total, page.searched, page.took_us / 1000);
    let line = format!("{total} of {searched} entries · {took_ms} ms");
    let line = out.ink(Ink::Faint, &line);
    out.line(&line)?;
    Ok(Code::Done)
}

fn found(out: &mut Out, hit: &SearchHit) -> Result<(), Ending> {
    let (mark, ink) = hit.state.map_or(("·", Ink::Plain), mark);
    let head = format!(
        "{} {} {}  {}",
        out.ink(ink, mark),
        out.ink(Ink::Strong, &hit.title),
        out.ink(Ink::Plain, &hit.target.replace('\n', "⏎")),
        out.ink(
            Ink::Faint,
            &format!("{} · {} · {}", hit.session_title, time(hit.at), hit.session)
        ),
    );
    out.line(&head)?;
    for line in &hit.lines {
        let part = |part: &HitPart| match part.matched {
            true => out.ink(Ink::Warn, &part.text),
            false => out.ink(Ink::Plain, &part.text),
        };
        let text: String = line.parts.iter().map(part).collect();
        let number = out.ink(Ink::Faint, &format!("{:>6}", line.number));
        out.line(&format!("{number}  {text}"))?;
    }
    out.line("")
}

/// Writes a whole session.
pub(crate) async fn export(desk: &Desk, name: &str, format: String, out: &mut Out) -> Ended {
    let session = sessions::find(desk, name).await?.id;
    let query = Query::Export {
        session: session.clone(),
        format: format.clone(),
    };
    let text = super::ask(desk, query, |answer| match answer {
        Answer::Export { text } => Some(text),
        _ => None,
    })
    .await?;
    match out.is_json() {
        true => out.json(&json!({ "session": session, "format": format, "text": text }))?,
        false => out.text(&text)?,
    }
    Ok(Code::Done)
}
