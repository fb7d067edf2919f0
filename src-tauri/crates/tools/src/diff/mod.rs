//! Differences between two versions of a file, as hunks that a person reads and may accept one by one.
//!
//! Start at [`diff_file`]. The content that a choice of hunks writes is computed in `select.rs`; both are exact: all
//! hunks give the new content, none give the old.

mod effects;
mod hunks;
mod language;
mod lines;
mod marks;
#[cfg(test)]
mod properties;
mod select;
mod structure;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use protocol::view::preview::FileDiff;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use self::hunks::HunkBuilder;
use self::lines::split_lines;
use self::structure::Structures;
use crate::limits::{DIFF_DEADLINE_MS, DIFF_LINES_MAX};
use crate::text::format_byte_size;

pub use self::effects::add_file_diffs;
pub use self::language::detect_language;
pub(crate) use self::select::content_before;
pub use self::select::{describe_left_out, select_hunks, select_plan};

/// Number of unchanged lines around a change.
pub const CONTEXT_LINES: u32 = 3;

/// Computes the difference of one file. Hunks are numbered from `first_hunk_id` and carry `context` unchanged lines on
/// either side. `before` is none if there is no file. Anything that is not shown (content that is not text, lines past
/// a limit) is described in `cut`; `added` and `removed` count all lines, shown or not.
///
/// The starts of a hunk are positions: a hunk that only adds names the line before which it adds.
pub fn diff_file(
    path: &str,
    before: Option<&[u8]>,
    after: &[u8],
    first_hunk_id: u32,
    context: u32,
) -> FileDiff {
    let mut file = FileDiff {
        path: path.to_owned(),
        exists: before.is_some(),
        language: detect_language(path).to_owned(),
        added: 0,
        removed: 0,
        summary: Vec::new(),
        summary_more: 0,
        hunks: Vec::new(),
        from: None,
        gone: false,
        cut: None,
    };
    let before = before.unwrap_or_default();
    let Ok(new) = std::str::from_utf8(after) else {
        file.cut = Some(format!(
            "The new content is not text ({}); it is not shown.",
            format_byte_size(after.len() as u64)
        ));
        return file;
    };
    let Ok(old) = std::str::from_utf8(before) else {
        add_hunks(&mut file, "", new, first_hunk_id, context);
        let gone = format_byte_size(before.len() as u64);
        let whole =
            format!("The old content is not text ({gone}); it is replaced whole and not shown.");
        file.cut = Some(match file.cut.take() {
            Some(cut) => format!("{whole} {cut}"),
            None => whole,
        });
        return file;
    };
    add_hunks(&mut file, old, new, first_hunk_id, context);
    file
}

fn add_hunks(file: &mut FileDiff, old: &str, new: &str, first_hunk_id: u32, context: u32) {
    let deadline = Instant::now() + Duration::from_millis(DIFF_DEADLINE_MS);
    let (old_lines, new_lines) = (split_lines(old), split_lines(new));
    let structures = Structures::read(&file.path, &file.language, old, new);
    let mut builder = HunkBuilder::new(&old_lines, &new_lines, deadline);
    let mut id = first_hunk_id;
    for group in group_diff_ops(
        diff_operations(&old_lines, &new_lines, deadline),
        context as usize,
    ) {
        if group.iter().all(|op| matches!(op, DiffOp::Equal { .. })) {
            continue;
        }
        if let Some(hunk) = builder.build_hunk(id, &group, &structures) {
            file.hunks.push(hunk);
        }
        id += 1;
    }
    (file.added, file.removed) = (builder.added, builder.removed);
    let summary = structures.summarize();
    (file.summary, file.summary_more) = (summary.lines, summary.more);
    file.cut = builder.truncation_note();
}

/// Computes the operations that turn the old lines into the new ones. Above the limit the unequal middle is one
/// replaced block, so that the result does not depend on the speed of the machine.
fn diff_operations(old: &[&str], new: &[&str], deadline: Instant) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
    if old_len + new_len <= DIFF_LINES_MAX {
        return capture_diff_slices_deadline(Algorithm::Histogram, old, new, Some(deadline));
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let mut operations = Vec::new();
    if head > 0 {
        operations.push(equal(0, 0, head));
    }
    operations.push(DiffOp::Replace {
        old_index: head,
        old_len,
        new_index: head,
        new_len,
    });
    if tail > 0 {
        operations.push(equal(head + old_len, head + new_len, tail));
    }
    operations
}
