//! Builds the hunks of one file within the limits of what is shown, and says what had to be left out.

use std::time::Instant;

use protocol::preview::{DiffLine, Hunk, LineKind};
use similar::DiffOp;

use super::lines::{Ends, ends_without_newline};
use super::marks::{Segments, marks, plain};
use super::section::section;
use crate::limits::{DIFF_SHOWN_BYTES_MAX, DIFF_SHOWN_LINE_BYTES_MAX, DIFF_SHOWN_LINES_MAX};
use crate::text::{amount, plural};

/// Makes hunks one after the other and keeps the account.
pub(super) struct Builder<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    ends: Ends,
    deadline: Instant,
    lines_left: usize,
    bytes_left: usize,
    hidden_changes: u64,
    long_lines: u64,
    /// Lines that come, shown or not.
    pub added: u32,
    /// Lines that go, shown or not.
    pub removed: u32,
}

impl<'a> Builder<'a> {
    pub(super) fn new(old: &'a [&'a str], new: &'a [&'a str], deadline: Instant) -> Self {
        Self {
            old,
            new,
            ends: Ends::of(old, new),
            deadline,
            lines_left: DIFF_SHOWN_LINES_MAX,
            bytes_left: DIFF_SHOWN_BYTES_MAX,
            hidden_changes: 0,
            long_lines: 0,
            added: 0,
            removed: 0,
        }
    }

    /// The hunk of one group of operations; none once nothing more may be shown.
    pub(super) fn hunk(&mut self, id: u32, group: &[DiffOp], language: &str) -> Option<Hunk> {
        let first = group.first()?;
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        // A function that begins within the context is the one that the change stands in.
        let changes = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
        let changed = group
            .iter()
            .find(changes)
            .map_or(old_start, |op| op.old_range().start);
        let mut hunk = Hunk {
            id,
            old_start: number(old_start),
            new_start: number(new_start),
            section: section(self.old, changed, language),
            added: 0,
            removed: 0,
            lines: Vec::new(),
        };
        for op in group {
            let (old, new) = (op.old_range(), op.new_range());
            match op {
                DiffOp::Equal { .. } => {
                    for (o, n) in old.zip(new) {
                        let text = self.old[o];
                        self.push(&mut hunk, LineKind::Context, Some(o), Some(n), plain(text));
                    }
                }
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    hunk.removed += count(old.len());
                    hunk.added += count(new.len());
                    let (gone, come) = if self.lines_left == 0 {
                        (Vec::new(), Vec::new())
                    } else {
                        marks(
                            &self.old[old.clone()],
                            &self.new[new.clone()],
                            self.deadline,
                        )
                    };
                    let mut gone = gone.into_iter();
                    for o in old {
                        let segments = gone.next().unwrap_or_default();
                        self.push(&mut hunk, LineKind::Removed, Some(o), None, segments);
                    }
                    let mut come = come.into_iter();
                    for n in new {
                        let segments = come.next().unwrap_or_default();
                        self.push(&mut hunk, LineKind::Added, None, Some(n), segments);
                    }
                }
            }
        }
        self.added += hunk.added;
        self.removed += hunk.removed;
        (!hunk.lines.is_empty()).then_some(hunk)
    }

    fn push(
        &mut self,
        hunk: &mut Hunk,
        kind: LineKind,
        old: Option<usize>,
        new: Option<usize>,
        segments: Segments<'_>,
    ) {
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
            self.hidden_changes += u64::from(kind != LineKind::Context);
            return;
        }
        self.lines_left -= 1;
        self.bytes_left -= bytes;
        let (parts, whole) = self.ends.parts(segments, DIFF_SHOWN_LINE_BYTES_MAX);
        self.long_lines += u64::from(!whole);
        hunk.lines.push(DiffLine {
            kind,
            old: old.map(number),
            new: new.map(number),
            parts,
            no_newline: match kind {
                LineKind::Context | LineKind::Removed => {
                    old.is_some_and(|index| ends_without_newline(self.old, index))
                }
                LineKind::Added => new.is_some_and(|index| ends_without_newline(self.new, index)),
            },
        });
    }

    /// What is not shown, in one or two sentences; none if all is.
    pub(super) fn cut(&self) -> Option<String> {
        let mut sentences = Vec::new();
        if self.hidden_changes > 0 {
            let all = u64::from(self.added) + u64::from(self.removed);
            sentences.push(format!(
                "The difference is too large to be shown whole: {} of {} not shown, all after what is shown here.",
                self.hidden_changes,
                plural(all, "changed line is", "changed lines are")
            ));
        }
        if self.long_lines > 0 {
            sentences.push(format!(
                "{} longer than {} and shown only to there.",
                plural(self.long_lines, "line is", "lines are"),
                amount(DIFF_SHOWN_LINE_BYTES_MAX as u64)
            ));
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

/// A line's number as a person counts.
fn number(index: usize) -> u32 {
    count(index).saturating_add(1)
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
