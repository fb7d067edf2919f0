//! `undo` and `redo`: preview the changes first, then make them, and report them path by path.

use std::path::Path;

use agent::{Engine, format_byte_size};
use protocol::history::{
    ConflictChoice, IrreversibleEffect, PathChange, PathChoice, PathReceipt, RestorePreview,
    RestoreReceipt, RestoreRequest,
};
use protocol::query::{Answer, Query};
use protocol::text::display_text::format_count;
use protocol::{Op, UndoDirection, UndoEntry, UndoId, UndoState, UserError};
use serde_json::json;

use super::history::{self, load_page};
use crate::args::{ConflictArgs, RedoArgs, UndoArgs};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::PAGE_ENTRIES;
use crate::output::{OutputWriter, TextStyle};

/// Maximum number of paths that are listed; skipped paths are all listed.
const PATHS_LISTED_MAX: usize = 20;

/// Undoes effects.
pub(crate) async fn run_undo(desk: &Engine, args: UndoArgs, out: &mut OutputWriter) -> CliResult {
    let entries = history::resolve_ids(desk, args.entries).await?;
    let restore = match (
        history::resolve_id(desk, args.to).await?,
        entries.is_empty(),
    ) {
        (Some(entry), _) => RestoreRequest::UndoTo {
            entry: entry.into(),
        },
        (None, false) => RestoreRequest::Undo {
            entries: entries.into_iter().map(UndoId).collect(),
        },
        (None, true) => {
            let stands =
                |entry: &UndoEntry| entry.action.is_none() && entry.state == UndoState::Applied;
            RestoreRequest::Undo {
                entries: vec![find_newest_entry(desk, &args.workspace, stands, out).await?],
            }
        }
    };
    run_restore(desk, restore, args.choices, args.look, out).await
}

/// Redoes an effect: the last undone one if none is named.
pub(crate) async fn run_redo(desk: &Engine, args: RedoArgs, out: &mut OutputWriter) -> CliResult {
    let restore = match history::resolve_id(desk, args.entry).await? {
        Some(entry) => RestoreRequest::Redo {
            entry: entry.into(),
        },
        None => {
            let undid = |entry: &UndoEntry| {
                let undo = |action: &protocol::history::UndoAction| {
                    action.direction == UndoDirection::Undo
                };
                entry.state == UndoState::Applied && entry.action.as_ref().is_some_and(undo)
            };
            RestoreRequest::Undo {
                entries: vec![find_newest_entry(desk, &args.workspace, undid, out).await?],
            }
        }
    };
    run_restore(desk, restore, args.choices, false, out).await
}

async fn run_restore(
    desk: &Engine,
    restore: RestoreRequest,
    choices: ConflictArgs,
    look: bool,
    out: &mut OutputWriter,
) -> CliResult {
    let query = Query::Restore {
        restore: restore.clone(),
    };
    let Answer::Restore(preview) = desk.query(query).await.map_err(restore_error)? else {
        return Err(CliError::unexpected_answer());
    };
    if look {
        return out.write_answer(&preview, |out| print_preview(&preview, out));
    }
    let choices = parse_path_choices(choices);
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
        return Err(CliError::User(
            ExitReason::Conflict,
            Box::new(UserError::new(message, hint)),
        ));
    }
    let receipt = desk.submit(Op::Restore { restore, choices }).await?;
    match receipt.restored {
        Some(receipt) => print_receipt(&receipt, &preview, out),
        None => Ok(ExitReason::Done),
    }
}

/// Returns the error for a preview that failed: of an unknown entry a usage error.
fn restore_error(fault: UserError) -> CliError {
    match fault.message.starts_with("There is no history entry") {
        true => CliError::usage_error(fault),
        false => fault.into(),
    }
}

fn parse_path_choices(choices: ConflictArgs) -> Vec<PathChoice> {
    let each = [
        (choices.keep, ConflictChoice::Keep),
        (choices.restore, ConflictChoice::Restore),
        (choices.merge, ConflictChoice::Merge),
    ];
    let each = each.into_iter().flat_map(|(paths, choice)| {
        paths
            .into_iter()
            .map(move |path| PathChoice { path, choice })
    });
    each.collect()
}

fn print_preview(preview: &RestorePreview, out: &mut OutputWriter) -> Result<(), CliError> {
    out.write_line(&preview.coverage.text)?;
    print_paths(&preview.paths, preview.paths_total, out)?;
    print_lost(&preview.coverage.cannot, out)?;
    for conflict in &preview.conflicts {
        let names: Vec<&str> = conflict
            .choices
            .iter()
            .map(|choice| choice_flag(*choice))
            .collect();
        let line = format!("changed since: {} ({})", conflict.path, names.join(", "));
        out.write_line(&line)?;
    }
    Ok(())
}

fn choice_flag(choice: ConflictChoice) -> &'static str {
    match choice {
        ConflictChoice::Keep => "--keep",
        ConflictChoice::Restore => "--restore",
        ConflictChoice::Merge => "--merge",
    }
}

fn print_receipt(
    receipt: &RestoreReceipt,
    preview: &RestorePreview,
    out: &mut OutputWriter,
) -> CliResult {
    let member = match preview.direction {
        UndoDirection::Undo => "undone",
        UndoDirection::Redo => "redone",
    };
    let coverage = &preview.coverage;
    out.write_answer(
        &json!({ member: receipt, "cannot": coverage.cannot }),
        |out| {
            let entry = &receipt.entry;
            let title = out.apply_style(TextStyle::Strong, &entry.title);
            let size = format_byte_size(coverage.bytes);
            out.write_line(&format!(
                "{title} ({}, {size})",
                format_count(entry.paths, "path")
            ))?;
            print_paths(&receipt.paths, receipt.paths_total, out)?;
            print_lost(&coverage.cannot, out)
        },
    )
}

fn print_paths(paths: &[PathReceipt], total: u64, out: &mut OutputWriter) -> Result<(), CliError> {
    let (kept, moved): (Vec<_>, Vec<_>) = paths
        .iter()
        .partition(|path| path.change == PathChange::Kept);
    for path in moved.iter().take(PATHS_LISTED_MAX).chain(&kept) {
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
        out.write_line(&format!("  {word} {}{note}", path.path))?;
    }
    let listed = moved.len().min(PATHS_LISTED_MAX) + kept.len();
    if total > listed as u64 {
        out.write_styled(
            TextStyle::Faint,
            &format!("  and {} more", total - listed as u64),
        )?;
    }
    Ok(())
}

fn print_lost(lost: &[IrreversibleEffect], out: &mut OutputWriter) -> Result<(), CliError> {
    for lost in lost {
        out.write_line(&format!("  cannot undo {}: {}", lost.what, lost.reason))?;
    }
    Ok(())
}

/// Returns the newest suitable entry in the history of a workspace, to be reported to the person. The workspace is the
/// nearest folder with a history, from `folder` upwards.
async fn find_newest_entry(
    desk: &Engine,
    folder: &Path,
    fits: impl Fn(&UndoEntry) -> bool,
    out: &mut OutputWriter,
) -> Result<UndoId, CliError> {
    let folder = super::absolute_path("workspace", folder)?;
    for workspace in folder.ancestors() {
        let workspace = workspace.display().to_string();
        let mut offset = 0;
        loop {
            let timeline = load_page(desk, Some(workspace.clone()), offset, PAGE_ENTRIES).await?;
            if timeline.entries_total == 0 {
                break;
            }
            offset = offset.saturating_add(PAGE_ENTRIES);
            if let Some(found) = timeline.entries.into_iter().find(&fits) {
                print_found_entry(&found, out)?;
                return Ok(found.id);
            }
            if !timeline.more {
                return Err(nothing_to_restore(&workspace));
            }
        }
    }
    Err(nothing_to_restore(&folder.display().to_string()))
}

/// Prints the entry that was found because none was named.
fn print_found_entry(entry: &UndoEntry, out: &mut OutputWriter) -> Result<(), CliError> {
    if out.is_json() {
        return Ok(());
    }
    let line = format!("{}  in {}", entry.id.as_str(), entry.workspace);
    out.write_styled(TextStyle::Faint, &line)
}

fn nothing_to_restore(workspace: &str) -> CliError {
    let message =
        format!("There is nothing to do it to: the history of {workspace} has no such entry.");
    let hint = "`countersign history` lists every change of every folder; name one of them, or a folder with --workspace.";
    UserError::new(message, hint).into()
}
