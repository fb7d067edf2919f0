//! A patch as an agent writes it: the files that are added, deleted, moved and changed, and the changed places in them.
//!
//! Two forms are parsed, each strictly: the envelope (`*** Begin Patch`) in [`envelope`], and a unified diff in
//! [`unified`]. The place of a change in a file is found in [`apply`]: where it matches exactly, or nowhere.

mod apply;
mod envelope;
mod mismatch;
pub(crate) mod not_found_hint;
#[cfg(test)]
mod tests;
mod unified;

use std::borrow::Cow;

use crate::limits::{PATCH_FILES_MAX, PATCH_HUNKS_MAX};
use crate::text::is_crlf_only;

pub(crate) use self::apply::apply_hunks;

/// The part of a patch that concerns one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The path as it was written.
    pub path: String,
    pub act: PatchAction,
}

/// The change that a patch makes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchAction {
    /// The file is added, with this content.
    Add(String),
    /// The file is deleted. A unified diff gives its content, which must match; an envelope does not.
    Delete(Vec<PatchHunk>),
    /// The content of the file changes, and the file may move to another path.
    Update {
        to: Option<String>,
        hunks: Vec<PatchHunk>,
    },
}

/// A changed place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PatchHunk {
    /// Lines above the place, from the outside in: `@@ class A`, `@@ def b`.
    pub anchors: Vec<String>,
    /// First line of the hunk as a unified diff gives it, from 1; for a hunk that only adds lines, the line above them,
    /// where 0 is before the first line.
    pub line: Option<usize>,
    pub lines: Vec<PatchLine>,
    /// Whether the place is the end of the file.
    pub at_end: bool,
    /// Whether the hunk says that the last line of the file has no line end: before, and after the change.
    pub open_before: bool,
    pub open_after: bool,
}

/// A line of a hunk, without its sign and its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchLine {
    Context(String),
    Removed(String),
    Added(String),
}

impl PatchHunk {
    /// Returns the lines that the file must have at this place.
    fn old_lines(&self) -> Vec<&str> {
        let lines = self.lines.iter().filter(|line| line.is_old());
        lines.map(PatchLine::text).collect()
    }

    /// Returns the lines that replace the old ones.
    fn new_lines(&self) -> Vec<&str> {
        let lines = self.lines.iter().filter(|line| line.is_new());
        lines.map(PatchLine::text).collect()
    }

    /// Sets the position given by the hunk's `@@` line: the first line, and the number of old lines. If the header
    /// counts old lines but the hunk has none, its context was lost, and it is not known whether the new lines belong
    /// above or below that line.
    fn set_start(&mut self, line: usize, counted: usize) {
        let is_told = counted == 0 || !self.old_lines().is_empty();
        self.line = is_told.then_some(line);
    }

    /// Appends a line of the hunk's body. Returns `false` if the line does not belong to a hunk.
    fn push_line(&mut self, line: &str) -> bool {
        let patch_line = match line.split_at_checked(1) {
            // White space at the end is what is lost first: an empty line is one that stays.
            None => PatchLine::Context(String::new()),
            Some((" ", rest)) => PatchLine::Context(rest.to_owned()),
            Some(("-", rest)) => PatchLine::Removed(rest.to_owned()),
            Some(("+", rest)) => PatchLine::Added(rest.to_owned()),
            Some(_) => return false,
        };
        self.lines.push(patch_line);
        true
    }

    /// Drops the empty lines that only separate the hunk from what follows, and checks that the hunk changes something.
    fn finish(&mut self, blank_tail: usize) -> Result<(), String> {
        self.lines
            .truncate(self.lines.len() - blank_tail.min(self.lines.len()));
        match (self.lines.is_empty(), self.old_lines() == self.new_lines()) {
            (true, _) => Err("has no lines".to_owned()),
            (false, true) if self.open_before == self.open_after => {
                Err("changes nothing: it has no line with `+` or `-`, or both are equal".to_owned())
            }
            (false, _) => Ok(()),
        }
    }
}

impl PatchLine {
    /// Whether the file has the line before the change.
    fn is_old(&self) -> bool {
        !matches!(self, Self::Added(_))
    }

    /// Whether the file has the line after the change.
    fn is_new(&self) -> bool {
        !matches!(self, Self::Removed(_))
    }

    fn text(&self) -> &str {
        match self {
            Self::Context(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// Parses a patch.
///
/// # Errors
/// The problem and its place, as the end of a sentence that begins with "`patch`".
pub(crate) fn parse_patch(text: &str) -> Result<Vec<FilePatch>, String> {
    let text = match is_crlf_only(text) {
        true => Cow::from(text.replace("\r\n", "\n")),
        false => Cow::from(text),
    };
    let text = text.trim_start_matches('\n');
    let first = text.split('\n').next().unwrap_or_default();
    let files = match first.trim_end() {
        envelope::BEGIN_MARKER => {
            envelope::parse_envelope(&split_lines(text.trim_end_matches('\n')))?
        }
        // An empty line at its end may be one that a hunk keeps.
        _ if unified::is_diff_start(first) => {
            unified::parse_unified(&split_lines(text.strip_suffix('\n').unwrap_or(text)))?
        }
        _ => {
            return Err(format!(
                "must begin with `{}`, or be a unified diff that begins with `--- ` or `diff --git `",
                envelope::BEGIN_MARKER
            ));
        }
    };
    let hunks = files.iter().map(|file| match &file.act {
        PatchAction::Add(_) => 0,
        PatchAction::Delete(hunks) | PatchAction::Update { hunks, .. } => hunks.len(),
    });
    match (files.len(), hunks.sum::<usize>()) {
        (0, _) => Err("names no file: it is empty".to_owned()),
        (files, _) if files > PATCH_FILES_MAX => Err(format!(
            "names {files} files, and at most {PATCH_FILES_MAX} can be changed at once; send it in parts"
        )),
        (_, hunks) if hunks > PATCH_HUNKS_MAX => Err(format!(
            "has {hunks} hunks, and at most {PATCH_HUNKS_MAX} can be placed at once; send it in parts"
        )),
        _ => Ok(files),
    }
}
