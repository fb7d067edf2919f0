//! `history`: what was done to files, newest first, with what the copies take; and dropping what is too old.

use agent::{Desk, amount};
use protocol::history::Timeline;
use protocol::query::{Answer, Query};
use protocol::shown::counted;
use protocol::{At, Fault, Op, UndoEntry, UndoId, UndoState};
use serde_json::json;

use crate::args::History;
use crate::columns::{self, Cell, ago, cell};
use crate::ending::{Code, Ended, Ending};
use crate::ids::{self, Ids};
use crate::limits::PAGE;
use crate::out::{Ink, Out};

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
    let length = match timeline.entries.is_empty() {
        true => 0,
        false => ids_of(&all_ids(desk).await?).short_length(),
    };
    let now = columns::now();
    let rows: Vec<_> = timeline
        .entries
        .iter()
        .map(|entry| row(entry, length, now))
        .collect();
    for line in columns::lines(out, &rows, columns::terminal_width()) {
        out.line(&line)?;
    }
    let more = match timeline.more {
        true => ": --limit shows more",
        false => "",
    };
    let words = format!(
        "{}{more}. The copies take {} of {}, and are kept for {}.",
        counted(timeline.entries_total, "change"),
        amount(timeline.store_bytes),
        amount(timeline.store_bytes_max),
        counted(timeline.keep_days.into(), "day")
    );
    let words = out.ink(Ink::Faint, &words);
    out.line(&words)?;
    for warning in timeline.warnings {
        out.aside(&Fault::new(warning, ""));
    }
    Ok(Code::Done)
}

fn row(entry: &UndoEntry, length: usize, now: At) -> Vec<Cell> {
    let (mark, state) = match (entry.state, &entry.act) {
        (UndoState::Prepared, _) => ("?", "may have taken effect"),
        (UndoState::Applied, None) => (" ", "can be taken back"),
        (UndoState::Applied, Some(_)) => ("·", "can be taken back"),
        (UndoState::Undone, _) => ("↶", "was taken back"),
    };
    vec![
        cell(Ink::Plain, mark),
        cell(Ink::Strong, ids::end(entry.id.as_str(), length)),
        cell(Ink::Faint, &ago(entry.at, now)),
        cell(Ink::Faint, state),
        cell(Ink::Faint, &counted(entry.paths, "path")),
        cell(Ink::Plain, &entry.title),
    ]
}

/// The whole id of an entry that is named by its end or its beginning.
pub(crate) async fn whole_id(desk: &Desk, named: Option<String>) -> Result<Option<String>, Ending> {
    let found = whole_ids(desk, named.into_iter().collect()).await?;
    Ok(found.into_iter().next())
}

/// The same for several.
pub(crate) async fn whole_ids(desk: &Desk, named: Vec<String>) -> Result<Vec<String>, Ending> {
    if named.is_empty() {
        return Ok(named);
    }
    let all = all_ids(desk).await?;
    let ids = ids_of(&all);
    named
        .iter()
        .map(|word| Ok(ids.all[ids.find(word)?].to_owned()))
        .collect()
}

fn ids_of(all: &[UndoId]) -> Ids<'_> {
    Ids {
        thing: "history entry",
        hint: "Look at the list: countersign history.",
        all: all.iter().map(UndoId::as_str).collect(),
    }
}

async fn all_ids(desk: &Desk) -> Result<Vec<UndoId>, Ending> {
    let mut all = Vec::new();
    loop {
        let timeline = page(desk, None, all.len() as u32, PAGE).await?;
        let got = timeline.entries.len();
        all.extend(timeline.entries.into_iter().map(|entry| entry.id));
        if !timeline.more || got == 0 {
            return Ok(all);
        }
    }
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
            counted(done.entries, "change"),
            amount(done.bytes_freed),
            counted(done.entries_left, "change"),
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
