//! `history`, `undo`, `redo`: what calls did to files, taken back and brought again.

use agent::Desk;
use protocol::query::{Answer, Query};
use protocol::{Fault, Op, UndoEntry, UndoId, UndoState};
use serde_json::json;

use crate::ending::{Code, Ended, Ending};
use crate::limits::PAGE;
use crate::out::{Ink, Out};
use crate::story::{count, time};

/// Lists the history.
pub(crate) async fn list(desk: &Desk, limit: u32, out: &mut Out) -> Ended {
    let (entries, more) = page(desk, 0, limit).await?;
    if out.is_json() {
        out.json(&json!({ "entries": entries, "more": more }))?;
        return Ok(Code::Done);
    }
    if entries.is_empty() {
        out.line("Nothing was changed yet that could be taken back.")?;
    }
    for entry in &entries {
        let (mark, state) = match entry.state {
            UndoState::Prepared => ("?", "may have taken effect"),
            UndoState::Applied => (" ", "can be taken back"),
            UndoState::Undone => ("↶", "was taken back"),
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
        out.line(&line)?;
    }
    if more {
        let line = out.ink(Ink::Faint, "There are more: --limit shows them.");
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// Takes an effect back.
pub(crate) async fn undo(desk: &Desk, named: Option<String>, out: &mut Out) -> Ended {
    let entry = pick(desk, named, |state| state != UndoState::Undone).await?;
    let id = entry.id.clone();
    desk.submit(Op::Undo { entry: id }).await?;
    done(desk, entry, "undone", "Took back", out).await
}

/// Brings an effect again.
pub(crate) async fn redo(desk: &Desk, named: Option<String>, out: &mut Out) -> Ended {
    let entry = pick(desk, named, |state| state == UndoState::Undone).await?;
    let id = entry.id.clone();
    desk.submit(Op::Redo { entry: id }).await?;
    done(desk, entry, "redone", "Brought again", out).await
}

async fn done(desk: &Desk, entry: UndoEntry, member: &str, did: &str, out: &mut Out) -> Ended {
    if out.is_json() {
        let now = find(desk, |found| found.id == entry.id).await?;
        out.json(&json!({ member: now.unwrap_or(entry) }))?;
    } else {
        let line = out.ink(
            Ink::Plain,
            &format!("{did}: {} ({})", entry.title, count(entry.paths, "path")),
        );
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// The named entry, or the newest in a state.
async fn pick(
    desk: &Desk,
    named: Option<String>,
    fits: impl Fn(UndoState) -> bool,
) -> Result<UndoEntry, Ending> {
    let found = match &named {
        Some(name) => {
            let id = UndoId::from(name.as_str());
            find(desk, |entry| entry.id == id).await?
        }
        None => find(desk, |entry| fits(entry.state)).await?,
    };
    found.ok_or_else(|| match named {
        Some(name) => Ending::usage(Fault::new(
            format!("There is no history entry {name}."),
            "Look at the list: countersign history.",
        )),
        None => Ending::failed("There is nothing to do it to: the history has no such entry."),
    })
}

/// The newest entry that fits.
async fn find(desk: &Desk, fits: impl Fn(&UndoEntry) -> bool) -> Result<Option<UndoEntry>, Ending> {
    let mut offset = 0;
    loop {
        let (entries, more) = page(desk, offset, PAGE).await?;
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        if let Some(found) = entries.into_iter().find(&fits) {
            return Ok(Some(found));
        }
        if !more || count == 0 {
            return Ok(None);
        }
        offset = offset.saturating_add(count);
    }
}

async fn page(desk: &Desk, offset: u32, limit: u32) -> Result<(Vec<UndoEntry>, bool), Ending> {
    super::ask(
        desk,
        Query::History { offset, limit },
        |answer| match answer {
            Answer::History { entries, more } => Some((entries, more)),
            _ => None,
        },
    )
    .await
}
