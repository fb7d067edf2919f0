//! `history`: lists the undo entries, newest first, with the size of their copies; and drops those that are too old.

use agent::{Engine, format_byte_size};
use protocol::history::Timeline;
use protocol::query::{Answer, Query};
use protocol::text::display_text::format_count;
use protocol::{At, Op, UndoEntry, UndoId, UndoState, UserError};
use serde_json::json;

use crate::args::{HistoryArgs, HistoryCommand};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::limits::PAGE_ENTRIES;
use crate::output::{OutputWriter, TextStyle};
use crate::short_ids::{self, ShortIds};
use crate::table::{self, TableCell, format_age, new_cell};

/// Lists the undo entries, or runs the given subcommand.
pub(crate) async fn run_history(
    desk: &Engine,
    args: HistoryArgs,
    out: &mut OutputWriter,
) -> CliResult {
    match args.command {
        Some(HistoryCommand::Gc) => collect_garbage(desk, out).await,
        None => list_history(desk, args, out).await,
    }
}

async fn list_history(desk: &Engine, args: HistoryArgs, out: &mut OutputWriter) -> CliResult {
    let workspace = args.workspace.as_deref().map(super::absolute_workspace);
    let timeline = load_page(desk, workspace.transpose()?, 0, args.limit).await?;
    if out.is_json() {
        out.write_json(&timeline)?;
        return Ok(ExitReason::Done);
    }
    if timeline.entries.is_empty() {
        out.write_line("Nothing that could be undone was changed yet.")?;
    }
    let length = match timeline.entries.is_empty() {
        true => 0,
        false => short_ids(&load_all_ids(desk).await?).short_length(),
    };
    let now = table::current_time();
    let rows: Vec<_> = timeline
        .entries
        .iter()
        .map(|entry| format_row(entry, length, now))
        .collect();
    table::write_rows(out, &rows, table::terminal_width())?;
    let more = match timeline.more {
        true => ": --limit shows more",
        false => "",
    };
    let words = format!(
        "{}{more}. The copies take {} of {}, and are kept for {}.",
        format_count(timeline.entries_total, "change"),
        format_byte_size(timeline.store_bytes),
        format_byte_size(timeline.store_bytes_max),
        format_count(timeline.keep_days.into(), "day")
    );
    out.write_styled(TextStyle::Faint, &words)?;
    for warning in timeline.warnings {
        out.write_warning(&UserError::new(warning, ""));
    }
    Ok(ExitReason::Done)
}

fn format_row(entry: &UndoEntry, length: usize, now: At) -> Vec<TableCell> {
    let (mark, state) = match (entry.state, &entry.action) {
        (UndoState::Prepared, _) => ("?", "may have taken effect"),
        (UndoState::Applied, None) => (" ", "can be undone"),
        (UndoState::Applied, Some(_)) => ("·", "can be undone"),
        (UndoState::Undone, _) => ("↶", "was undone"),
    };
    vec![
        new_cell(TextStyle::Plain, mark),
        new_cell(
            TextStyle::Strong,
            short_ids::id_suffix(entry.id.as_str(), length),
        ),
        new_cell(TextStyle::Faint, &format_age(entry.at, now)),
        new_cell(TextStyle::Faint, state),
        new_cell(TextStyle::Faint, &format_count(entry.paths, "path")),
        new_cell(TextStyle::Plain, &entry.title),
    ]
}

/// Returns the whole id of an entry, given its end or its beginning.
pub(crate) async fn resolve_id(
    desk: &Engine,
    partial_id: Option<String>,
) -> Result<Option<String>, CliError> {
    let ids = resolve_ids(desk, partial_id.into_iter().collect()).await?;
    Ok(ids.into_iter().next())
}

/// Returns the whole ids of several entries.
pub(crate) async fn resolve_ids(
    desk: &Engine,
    partial_ids: Vec<String>,
) -> Result<Vec<String>, CliError> {
    if partial_ids.is_empty() {
        return Ok(partial_ids);
    }
    let all = load_all_ids(desk).await?;
    let ids = short_ids(&all);
    partial_ids
        .iter()
        .map(|word| Ok(ids.all[ids.find(word)?].to_owned()))
        .collect()
}

fn short_ids(all: &[UndoId]) -> ShortIds<'_> {
    ShortIds {
        thing: "history entry",
        hint: "Look at the list: countersign history.",
        all: all.iter().map(UndoId::as_str).collect(),
    }
}

async fn load_all_ids(desk: &Engine) -> Result<Vec<UndoId>, CliError> {
    let mut all = Vec::new();
    loop {
        let timeline = load_page(desk, None, all.len() as u32, PAGE_ENTRIES).await?;
        let got = timeline.entries.len();
        all.extend(timeline.entries.into_iter().map(|entry| entry.id));
        if !timeline.more || got == 0 {
            return Ok(all);
        }
    }
}

/// Drops the entries that exceed the age or the size in the settings.
async fn collect_garbage(desk: &Engine, out: &mut OutputWriter) -> CliResult {
    let receipt = desk.submit(Op::CollectHistory).await?;
    let collected = receipt.collected.unwrap_or_default();
    out.write_answer(&json!({ "collected": collected }), |out| {
        out.write_line(&format!(
            "Dropped {} and freed {}. The history holds {} in {}.",
            format_count(collected.entries, "change"),
            format_byte_size(collected.bytes_freed),
            format_count(collected.entries_left, "change"),
            format_byte_size(collected.bytes_left)
        ))
    })
}

/// Loads one page of the history.
pub(crate) async fn load_page(
    desk: &Engine,
    workspace: Option<String>,
    offset: u32,
    limit: u32,
) -> Result<Timeline, CliError> {
    let query = Query::Timeline {
        workspace,
        offset,
        limit,
    };
    match desk.query(query).await? {
        Answer::Timeline(timeline) => Ok(timeline),
        _ => Err(CliError::unexpected_answer()),
    }
}
