//! `history`: what was done to files, newest first, with what the copies take; and dropping what is too old.

use agent::{Desk, amount};
use protocol::history::Timeline;
use protocol::query::{Answer, Query};
use protocol::{Fault, Op, UndoEntry, UndoState};
use serde_json::json;

use crate::args::History;
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};
use crate::story::{count, time};

/// Lists the history.
pub(crate) async fn list(desk: &Desk, asked: History, out: &mut Out) -> Ended {
    let workspace = asked.workspace.map(std::path::absolute).transpose();
    let workspace = workspace.map_err(|error| {
        Ending::usage(Fault::new("The workspace has no place.", "")).because(&error)
    })?;
    let workspace = workspace.map(|path| path.display().to_string());
    let timeline = page(desk, workspace, 0, asked.limit).await?;
    if out.is_json() {
        out.json(&timeline)?;
        return Ok(Code::Done);
    }
    if timeline.entries.is_empty() {
        out.line("Nothing was changed yet that could be taken back.")?;
    }
    for entry in &timeline.entries {
        line(entry, out)?;
    }
    let more = match timeline.more {
        true => ": --limit shows more",
        false => "",
    };
    let words = format!(
        "{}{more}. The copies take {} of {}, and are kept for {} days.",
        count(timeline.entries_total, "change"),
        amount(timeline.store_bytes),
        amount(timeline.store_bytes_max),
        timeline.keep_days
    );
    let words = out.ink(Ink::Faint, &words);
    out.line(&words)?;
    for warning in timeline.warnings {
        out.aside(&Fault::new(warning, ""));
    }
    Ok(Code::Done)
}

fn line(entry: &UndoEntry, out: &mut Out) -> Result<(), Ending> {
    let (mark, state) = match (entry.state, &entry.act) {
        (UndoState::Prepared, _) => ("?", "may have taken effect"),
        (UndoState::Applied, None) => (" ", "can be taken back"),
        (UndoState::Applied, Some(_)) => ("·", "can be taken back"),
        (UndoState::Undone, _) => ("↶", "was taken back"),
    };
    let line = format!(
        "{mark} {}  {}  {}  {}",
        out.ink(Ink::Faint, entry.id.as_str()),
        out.ink(Ink::Faint, &time(entry.at)),
        out.ink(Ink::Strong, &entry.title),
        out.ink(
            Ink::Faint,
            &format!("{}, {state}", count(entry.paths, "path"))
        ),
    );
    out.line(&line)
}

/// Drops what is too old or too much by the settings.
pub(crate) async fn collect(desk: &Desk, out: &mut Out) -> Ended {
    let receipt = desk.submit(Op::CollectHistory).await?;
    let done = receipt.collected.unwrap_or_default();
    if out.is_json() {
        out.json(&json!({ "collected": done }))?;
    } else {
        let words = format!(
            "Dropped {} and freed {}. The history holds {} in {}.",
            count(done.entries, "change"),
            amount(done.bytes_freed),
            count(done.entries_left, "change"),
            amount(done.bytes_left)
        );
        out.line(&words)?;
    }
    Ok(Code::Done)
}

/// A stretch of the history.
pub(crate) async fn page(
    desk: &Desk,
    workspace: Option<String>,
    offset: u32,
    limit: u32,
) -> Result<Timeline, Ending> {
    let query = Query::Timeline {
        workspace,
        offset,
        limit,
    };
    super::ask(desk, query, |answer| match answer {
        Answer::Timeline(timeline) => Some(timeline),
        _ => None,
    })
    .await
}
