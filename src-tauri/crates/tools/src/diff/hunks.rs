//! Builds the hunks of one file within the display limits, and reports what was left out.

use std::time::Instant;

use protocol::view::preview::{DiffLine, DiffLineKind, Hunk};
use similar::DiffOp;

use super::lines::{LineEndings, ends_without_newline};
use super::marks::{Segments, mark_changes, unmarked_line};
use super::structure::Structures;
use crate::limits::{DIFF_SHOWN_BYTES_MAX, DIFF_SHOWN_LINE_BYTES_MAX, DIFF_SHOWN_LINES_MAX};
use crate::text::{format_byte_size, format_count};

/// A line of a difference, by its index in the old text, in the new one, or in both.
enum LineIndex {
    Context { old: usize, new: usize },
    Removed { old: usize },
    Added { new: usize },
}

/// Builds hunks one after the other and counts added, removed and omitted lines.
pub(super) struct HunkBuilder<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    ends: LineEndings,
    deadline: Instant,
    lines_left: usize,
    bytes_left: usize,
    hidden_changes: u64,
    long_lines: u64,
    /// Number of added lines, shown or not.
    pub added: u32,
    /// Number of removed lines, shown or not.
    pub removed: u32,
}

impl<'a> HunkBuilder<'a> {
    pub(super) fn new(old: &'a [&'a str], new: &'a [&'a str], deadline: Instant) -> Self {
        Self {
            old,
            new,
            ends: LineEndings::detect(old, new),
            deadline,
            lines_left: DIFF_SHOWN_LINES_MAX,
            bytes_left: DIFF_SHOWN_BYTES_MAX,
            hidden_changes: 0,
            long_lines: 0,
            added: 0,
            removed: 0,
        }
    }

    /// Builds the hunk of one group of operations; `None` once nothing more may be shown.
    pub(super) fn build_hunk(
        &mut self,
        id: u32,
        group: &[DiffOp],
        structures: &Structures<'_>,
    ) -> Option<Hunk> {
        let first = group.first()?;
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        let mut hunk = Hunk {
            id,
            old_start: line_number(old_start),
            new_start: line_number(new_start),
            section: structures.find_section(group),
            added: 0,
            removed: 0,
            lines: Vec::new(),
        };
        for op in group {
            let (old, new) = (op.old_range(), op.new_range());
            match op {
                DiffOp::Equal { .. } => {
                    for (old, new) in old.zip(new) {
                        let segments = unmarked_line(self.old[old]);
                        self.push_line(&mut hunk, LineIndex::Context { old, new }, segments);
                    }
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    hunk.removed += line_count(old.len());
                    hunk.added += line_count(new.len());
                    let (gone, come) = if self.lines_left == 0 {
                        (Vec::new(), Vec::new())
                    } else {
                        mark_changes(
                            &self.old[old.clone()],
                            &self.new[new.clone()],
                            self.deadline,
                        )
                    };
                    let mut gone = gone.into_iter();
                    for old in old {
                        let segments = gone.next().unwrap_or_default();
                        self.push_line(&mut hunk, LineIndex::Removed { old }, segments);
                    }
                    let mut come = come.into_iter();
                    for new in new {
                        let segments = come.next().unwrap_or_default();
                        self.push_line(&mut hunk, LineIndex::Added { new }, segments);
                    }
                }
            }
        }
        self.added += hunk.added;
        self.removed += hunk.removed;
        (!hunk.lines.is_empty()).then_some(hunk)
    }

    fn push_line(&mut self, hunk: &mut Hunk, index: LineIndex, segments: Segments<'_>) {
        let (kind, old, new) = match index {
            LineIndex::Context { old, new } => (DiffLineKind::Context, Some(old), Some(new)),
            LineIndex::Removed { old } => (DiffLineKind::Removed, Some(old), None),
            LineIndex::Added { new } => (DiffLineKind::Added, None, Some(new)),
        };
        let Some(line) = old
            .and_then(|index| self.old.get(index))
            .or_else(|| new.and_then(|index| self.new.get(index)))
        else {
            return;
        };
        let bytes = line.len().min(DIFF_SHOWN_LINE_BYTES_MAX);
        if self.lines_left == 0 || self.bytes_left < bytes {
            // Once a line is left out all later ones are: what is shown has no hole in it.
            self.lines_left = 0;
            self.hidden_changes += u64::from(kind != DiffLineKind::Context);
            return;
        }
        self.lines_left -= 1;
        self.bytes_left -= bytes;
        let (parts, whole) = self.ends.visible_parts(segments, DIFF_SHOWN_LINE_BYTES_MAX);
        self.long_lines += u64::from(!whole);
        hunk.lines.push(DiffLine {
            kind,
            old: old.map(line_number),
            new: new.map(line_number),
            parts,
            no_newline: match kind {
                DiffLineKind::Context | DiffLineKind::Removed => {
                    old.is_some_and(|index| ends_without_newline(self.old, index))
                }
                DiffLineKind::Added => {
                    new.is_some_and(|index| ends_without_newline(self.new, index))
                }
            },
        });
    }

    /// Describes the lines that are not shown, in one or two sentences; `None` if all are shown.
    pub(super) fn truncation_note(&self) -> Option<String> {
        let mut sentences = Vec::new();
        if self.hidden_changes > 0 {
            let all = u64::from(self.added) + u64::from(self.removed);
            sentences.push(format!(
                "The difference is too large to be shown whole: {} of {} not shown, all after what is shown here.",
                self.hidden_changes,
                format_count(all, "changed line is", "changed lines are")
            ));
        }
        if self.long_lines > 0 {
            sentences.push(format!(
                "{} longer than {} and shown only to there.",
                format_count(self.long_lines, "line is", "lines are"),
                format_byte_size(DIFF_SHOWN_LINE_BYTES_MAX as u64)
            ));
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

/// Returns the number of a line, counted from 1.
fn line_number(index: usize) -> u32 {
    line_count(index).saturating_add(1)
}

fn line_count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
