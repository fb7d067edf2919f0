//! Summary of a file's changes: places with the same change are told together.

use protocol::text::display_text::to_single_line;
use protocol::view::preview::ChangeSummary;

use super::change::Change;
use super::format_way;
use super::label::mask_member;
use crate::limits::{
    SUMMARY_GROUPS_COMPARED_MAX, SUMMARY_LINES_MAX, SUMMARY_NAMES_MAX, SUMMARY_VALUE_CHARS_MAX,
};
use crate::text::join_head;

/// The first lines of a summary.
#[derive(Default)]
pub(in crate::diff) struct Summary {
    /// The lines, at most [`SUMMARY_LINES_MAX`].
    pub lines: Vec<ChangeSummary>,
    /// Number of lines that were left out.
    pub more: u32,
}

/// What changes must have in common to be told in one line.
#[derive(Clone, Copy)]
enum Grouping {
    /// The values, but for one name on the way.
    Values,
    /// The last name on the way.
    Member,
    /// All names on the way but one.
    Places,
}

/// Changes that are told in one line: their ways differ in at most one name.
struct Group<'c> {
    first: &'c Change,
    /// Position on the way of the names that differ.
    varies: Option<usize>,
    /// The different names there.
    names: Vec<&'c str>,
    before: Option<&'c str>,
    after: Option<&'c str>,
}

/// Summarizes changes in as few lines as it takes, values first.
pub(super) fn summarize(changes: &[Change]) -> Summary {
    let mut groups = group_changes(changes, Grouping::Values);
    for grouping in [Grouping::Member, Grouping::Places] {
        if groups.len() <= SUMMARY_LINES_MAX {
            break;
        }
        let coarser = group_changes(changes, grouping);
        if coarser.len() < groups.len() {
            groups = coarser;
        }
    }
    let lines: Vec<ChangeSummary> = groups
        .iter()
        .take(SUMMARY_LINES_MAX)
        .map(Group::describe)
        .collect();
    Summary {
        more: u32::try_from(groups.len() - lines.len()).unwrap_or(u32::MAX),
        lines,
    }
}

fn group_changes(changes: &[Change], grouping: Grouping) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for change in changes {
        let mut compared = groups.iter_mut().take(SUMMARY_GROUPS_COMPARED_MAX);
        let joined = compared.find_map(|group| group.join(change, grouping));
        if joined.is_none() {
            groups.push(Group {
                first: change,
                varies: None,
                names: Vec::new(),
                before: change.before.as_deref(),
                after: change.after.as_deref(),
            });
        }
    }
    groups
}

impl<'c> Group<'c> {
    /// Adds a change; none if it cannot be told in the same line.
    fn join(&mut self, change: &'c Change, grouping: Grouping) -> Option<()> {
        let (way, own) = (&change.way, &self.first.way);
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        if change.kind != self.first.kind || way.len() != own.len() {
            return None;
        }
        let mut different = (0..way.len()).filter(|index| way[*index] != own[*index]);
        let (Some(position), None) = (different.next(), different.next()) else {
            return None;
        };
        let fits = match grouping {
            Grouping::Values => before == self.before && after == self.after,
            Grouping::Member => position + 1 < way.len(),
            Grouping::Places => true,
        };
        if !fits || self.varies.is_some_and(|varies| varies != position) {
            return None;
        }
        if self.varies.is_none() {
            self.varies = Some(position);
            self.names.push(&own[position]);
        }
        self.names.push(&way[position]);
        self.before = self.before.filter(|value| before == Some(value));
        self.after = self.after.filter(|value| after == Some(value));
        Some(())
    }

    fn describe(&self) -> ChangeSummary {
        let mut way = self.first.way.clone();
        if let Some(name) = self.varies.and_then(|position| way.get_mut(position)) {
            *name = join_head(&self.names, SUMMARY_NAMES_MAX);
        }
        // What is a secret under one of the names is masked in all.
        let keys = self
            .first
            .way
            .iter()
            .map(String::as_str)
            .chain(self.names.iter().copied());
        let show = |value: &str| {
            let masked = keys
                .clone()
                .fold(value.to_owned(), |value, key| mask_member(key, &value));
            to_single_line(&masked, SUMMARY_VALUE_CHARS_MAX)
        };
        ChangeSummary {
            place: format_way(&way),
            kind: self.first.kind,
            before: self.before.map(show),
            after: self.after.map(show),
        }
    }
}
