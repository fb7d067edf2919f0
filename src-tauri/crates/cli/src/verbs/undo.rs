//! `undo` and `redo`: what would happen is looked at first, then done, and told path by path.

use std::path::Path;

use agent::{Desk, amount};
use protocol::history::{
    Choice, Lost, PathChange, PathChoice, PathReceipt, Restore, RestorePreview, RestoreReceipt,
};
use protocol::query::{Answer, Query};
use protocol::shown::counted;
use protocol::{Direction, Fault, Op, UndoEntry, UndoId, UndoState};
use serde_json::json;

use super::history::page;
use crate::args::{Choices, Redo, Undo};
use crate::ending::{Code, Ended, Ending};
use crate::limits::PAGE;
use crate::out::{Ink, Out};

/// Paths that are told of in words; those that stay are all told of.
const PATHS_TOLD: usize = 20;

/// Takes effects back.
pub(crate) async fn undo(desk: &Desk, asked: Undo, out: &mut Out) -> Ended {
    let restore = match (asked.to, asked.entries.is_empty()) {
        (Some(entry), _) => Restore::UndoTo {
            entry: entry.into(),
        },
        (None, false) => Restore::Undo {
            entries: asked.entries.into_iter().map(UndoId).collect(),
        },
        (None, true) => {
            let stands =
                |entry: &UndoEntry| entry.act.is_none() && entry.state == UndoState::Applied;
            Restore::Undo {
                entries: vec![newest(desk, &asked.workspace, stands, out).await?],
            }
        }
    };
    act(desk, restore, asked.choices, asked.look, out).await
}

/// Brings an effect again: the last that was taken back if none is named.
pub(crate) async fn redo(desk: &Desk, asked: Redo, out: &mut Out) -> Ended {
    let restore = match asked.entry {
        Some(entry) => Restore::Redo {
            entry: entry.into(),
        },
        None => {
            let undid = |entry: &UndoEntry| {
                let undo = |act: &protocol::history::Act| act.direction == Direction::Undo;
                entry.state == UndoState::Applied && entry.act.as_ref().is_some_and(undo)
            };
            Restore::Undo {
                entries: vec![newest(desk, &asked.workspace, undid, out).await?],
            }
        }
    };
    act(desk, restore, asked.choices, false, out).await
}

async fn act(desk: &Desk, restore: Restore, choices: Choices, look: bool, out: &mut Out) -> Ended {
    let query = Query::Restore {
        restore: restore.clone(),
    };
    let preview = super::ask(desk, query, |answer| match answer {
        Answer::Restore(preview) => Some(*preview),
        _ => None,
    })
    .await
    .map_err(unknown)?;
    if look {
        return looked(&preview, out);
    }
    let choices = chosen(choices);
    let open: Vec<&str> = preview
        .conflicts
        .iter()
        .map(|conflict| conflict.path.as_str())
        .filter(|path| !choices.iter().any(|choice| choice.path == *path))
        .collect();
    if !open.is_empty() {
        let message = format!(
            "Nothing was touched, because this changed since: {}.",
            open.join(", ")
        );
        let hint = "Say what becomes of each: --keep PATH, --restore PATH or --merge PATH.";
        return Err(Ending::Fault(
            Code::Conflict,
            Box::new(Fault::new(message, hint)),
        ));
    }
    let receipt = desk.submit(Op::Restore { restore, choices }).await?;
    match receipt.restored {
        Some(receipt) => done(&receipt, &preview, out),
        None => Ok(Code::Done),
    }
}

/// An entry that is not there is a mistake on the command line.
fn unknown(ending: Ending) -> Ending {
    match ending {
        Ending::Fault(_, fault) if fault.message.starts_with("There is no history entry") => {
            Ending::usage(*fault)
        }
        other => other,
    }
}

fn chosen(choices: Choices) -> Vec<PathChoice> {
    let each = [
        (choices.keep, Choice::Keep),
        (choices.restore, Choice::Restore),
        (choices.merge, Choice::Merge),
    ];
    let each = each.into_iter().flat_map(|(paths, choice)| {
        paths
            .into_iter()
            .map(move |path| PathChoice { path, choice })
    });
    each.collect()
}

fn looked(preview: &RestorePreview, out: &mut Out) -> Ended {
    if out.is_json() {
        out.json(preview)?;
        return Ok(Code::Done);
    }
    out.line(&preview.coverage.text)?;
    tell_paths(&preview.paths, preview.paths_total, out)?;
    tell_lost(&preview.coverage.cannot, out)?;
    for conflict in &preview.conflicts {
        let names: Vec<&str> = conflict
            .choices
            .iter()
            .map(|choice| flag(*choice))
            .collect();
        let line = format!("changed since: {} ({})", conflict.path, names.join(", "));
        out.line(&line)?;
    }
    Ok(Code::Done)
}

fn flag(choice: Choice) -> &'static str {
    match choice {
        Choice::Keep => "--keep",
        Choice::Restore => "--restore",
        Choice::Merge => "--merge",
    }
}

fn done(receipt: &RestoreReceipt, preview: &RestorePreview, out: &mut Out) -> Ended {
    if out.is_json() {
        let member = match preview.direction {
            Direction::Undo => "undone",
            Direction::Redo => "redone",
        };
        out.json(&json!({ member: receipt, "cannot": preview.coverage.cannot }))?;
        return Ok(Code::Done);
    }
    let entry = &receipt.entry;
    let title = out.ink(Ink::Strong, &entry.title);
    let brought = amount(preview.coverage.bytes);
    out.line(&format!(
        "{title} ({}, {brought})",
        counted(entry.paths, "path")
    ))?;
    tell_paths(&receipt.paths, receipt.paths_total, out)?;
    tell_lost(&preview.coverage.cannot, out)?;
    Ok(Code::Done)
}

fn tell_paths(paths: &[PathReceipt], total: u64, out: &mut Out) -> Result<(), Ending> {
    let (kept, moved): (Vec<_>, Vec<_>) = paths
        .iter()
        .partition(|path| path.change == PathChange::Kept);
    for path in moved.iter().take(PATHS_TOLD).chain(&kept) {
        let word = match path.change {
            PathChange::Created => "created",
            PathChange::Restored => "restored",
            PathChange::Removed => "removed",
            PathChange::Merged => "merged",
            PathChange::Kept => "kept",
        };
        let note = match path.note.is_empty() {
            true => String::new(),
            false => format!(": {}", path.note),
        };
        out.line(&format!("  {word} {}{note}", path.path))?;
    }
    let told = moved.len().min(PATHS_TOLD) + kept.len();
    if total > told as u64 {
        let line = out.ink(Ink::Faint, &format!("  and {} more", total - told as u64));
        out.line(&line)?;
    }
    Ok(())
}

fn tell_lost(lost: &[Lost], out: &mut Out) -> Result<(), Ending> {
    for lost in lost {
        out.line(&format!(
            "  cannot take back {}: {}",
            lost.what, lost.reason
        ))?;
    }
    Ok(())
}

/// The newest entry that fits in the history of a workspace, which a person is told of. The workspace is the nearest folder
/// with a history, from `folder` upwards.
async fn newest(
    desk: &Desk,
    folder: &Path,
    fits: impl Fn(&UndoEntry) -> bool,
    out: &mut Out,
) -> Result<UndoId, Ending> {
    let folder = std::path::absolute(folder).map_err(|error| {
        Ending::usage(Fault::new("The workspace has no place.", "")).because(&error)
    })?;
    for workspace in folder.ancestors() {
        let workspace = workspace.display().to_string();
        let mut offset = 0;
        loop {
            let timeline = page(desk, Some(workspace.clone()), offset, PAGE).await?;
            if timeline.entries_total == 0 {
                break;
            }
            offset = offset.saturating_add(PAGE);
            if let Some(found) = timeline.entries.into_iter().find(&fits) {
                tell_found(&found, out)?;
                return Ok(found.id);
            }
            if !timeline.more {
                return Err(nothing(&workspace));
            }
        }
    }
    Err(nothing(&folder.display().to_string()))
}

/// Which change it is that nobody named.
fn tell_found(found: &UndoEntry, out: &mut Out) -> Result<(), Ending> {
    if out.is_json() {
        return Ok(());
    }
    let line = format!("{}  in {}", found.id.as_str(), found.workspace);
    let line = out.ink(Ink::Faint, &line);
    out.line(&line)
}

fn nothing(workspace: &str) -> Ending {
    let message =
        format!("There is nothing to do it to: the history of {workspace} has no such entry.");
    let hint = "`countersign history` lists every change of every folder; name one of them, or a folder with --workspace.";
    Fault::new(message, hint).into()
}
