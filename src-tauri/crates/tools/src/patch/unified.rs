//! Parses a unified diff of one or several files, as `diff -u` and `git diff` write it.

use super::{FilePatch, PatchAction, PatchHunk, PatchLine};

/// Path of a file that does not exist.
const DEV_NULL: &str = "/dev/null";

/// Whether a text that begins with this line is a unified diff.
pub(super) fn is_diff_start(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("diff --git ")
}

/// Place and size of a hunk, as given in its `@@` line.
pub(super) struct HunkHeader {
    /// First line of the hunk in the old file, from 1; for a hunk that only adds lines, the line above them.
    pub old_start: usize,
    /// Number of lines in the old file.
    pub old_count: usize,
    /// Number of lines in the new file.
    pub new_count: usize,
}

/// Parses the text after `@@`.
pub(super) fn parse_hunk_header(head: &str) -> Option<HunkHeader> {
    let (ranges, _) = head.trim_start().split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let numbers = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (old_start, old_count) = numbers(old.strip_prefix('-')?)?;
    let (_, new_count) = numbers(new.strip_prefix('+')?)?;
    Some(HunkHeader {
        old_start,
        old_count,
        new_count,
    })
}

/// Parses all lines of a unified diff.
pub(super) fn parse_unified(lines: &[&str]) -> Result<Vec<FilePatch>, String> {
    let mut reader = UnifiedReader { lines, next: 0 };
    let mut files = Vec::new();
    while reader.next < lines.len() {
        if reader.peek().trim().is_empty() {
            reader.next += 1;
        } else {
            files.push(reader.parse_file()?);
        }
    }
    Ok(files)
}

struct UnifiedReader<'a> {
    lines: &'a [&'a str],
    next: usize,
}

impl<'a> UnifiedReader<'a> {
    fn peek(&self) -> &'a str {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &'a str {
        self.lines
            .get(self.next + ahead)
            .copied()
            .unwrap_or_default()
    }

    fn parse_file(&mut self) -> Result<FilePatch, String> {
        let (mut from, mut to) = (None, None);
        let mut is_named = false;
        while self.next < self.lines.len() && !self.peek().starts_with("--- ") {
            let line = self.peek();
            let head = |name: &str| line.strip_prefix(name);
            if let Some(path) = head("rename from ") {
                from = Some(self.parse_path(path)?);
            } else if let Some(path) = head("rename to ") {
                to = Some(self.parse_path(path)?);
            } else if head("diff --git ").is_some() && !is_named {
                is_named = true;
            } else if head("diff --git ").is_some() || line.trim().is_empty() {
                break;
            } else if !self.is_ignorable_line()? {
                return Err(format!(
                    "has a line that is not part of a unified diff, line {}",
                    self.next + 1
                ));
            }
            self.next += 1;
        }
        if !self.peek().starts_with("--- ") {
            return match (from, to) {
                (Some(path), Some(to)) => Ok(FilePatch {
                    path,
                    act: PatchAction::Update {
                        to: Some(to),
                        hunks: Vec::new(),
                    },
                }),
                _ => Err(format!(
                    "has a file without `--- ` and `+++ ` above line {}: content that is empty or not text cannot be told \
                     by a unified diff",
                    self.next + 1
                )),
            };
        }
        self.build_file_patch(from, to)
    }

    /// Whether a line of git's can be ignored, since it asks for no change.
    fn is_ignorable_line(&self) -> Result<bool, String> {
        let line = self.peek();
        for (start, fits) in [
            ("index ", ""),
            ("similarity index ", ""),
            ("dissimilarity index ", ""),
            ("new file mode ", "100644"),
            ("deleted file mode ", ""),
        ] {
            match line.strip_prefix(start) {
                Some(rest) if fits.is_empty() || rest.trim() == fits => return Ok(true),
                Some(_) => break,
                None => {}
            }
        }
        match line.split(' ').next().unwrap_or_default() {
            "new" | "old" => Err(format!(
                "changes permissions, line {}: that is for bash with chmod",
                self.next + 1
            )),
            "copy" => Err(format!(
                "copies a file, line {}: write the new file whole",
                self.next + 1
            )),
            "Binary" | "GIT" => Err(format!(
                "changes a file that is not text, line {}: only text can be patched",
                self.next + 1
            )),
            _ => Ok(false),
        }
    }

    /// Parses the patch of the file whose `--- ` line is next.
    fn build_file_patch(
        &mut self,
        from: Option<String>,
        to: Option<String>,
    ) -> Result<FilePatch, String> {
        let old = self.parse_path(&self.peek()[4..])?;
        self.next += 1;
        let Some(new) = self.peek().strip_prefix("+++ ") else {
            return Err(format!("lacks `+++ ` after `--- `, line {}", self.next + 1));
        };
        let new = self.parse_path(new)?;
        self.next += 1;
        let (old, new) = strip_side_prefixes(old, new);
        let (old, new) = (from.unwrap_or(old), to.unwrap_or(new));
        let path = if old == DEV_NULL { &new } else { &old };
        let mut hunks: Vec<PatchHunk> = Vec::new();
        while let Some(head) = self.peek().strip_prefix("@@") {
            let number = hunks.len() + 1;
            let failed = |why| format!("has a hunk that {why}: hunk {number} of `{path}`");
            let Some(header) = parse_hunk_header(head) else {
                return Err(failed(format!(
                    "does not begin as `@@ -1,2 +1,2 @@` does, line {}",
                    self.next + 1
                )));
            };
            self.next += 1;
            let mut hunk = self.parse_hunk(&header);
            let blank_tail = count_blank_tail(&hunk, header.old_count);
            hunk.finish(blank_tail).map_err(failed)?;
            hunk.set_start(header.old_start, header.old_count);
            hunks.push(hunk);
        }
        let path = path.clone();
        let act = match (old == DEV_NULL, new == DEV_NULL) {
            (true, true) => return Err(format!("has a file that is `{DEV_NULL}` on both sides")),
            (true, false) => PatchAction::Add(added_content(&hunks, &path)?),
            (false, true) => PatchAction::Delete(hunks),
            (false, false) if hunks.is_empty() && old == new => {
                return Err(format!("says nothing of what is to change in `{path}`"));
            }
            (false, false) => PatchAction::Update {
                to: (old != new).then_some(new),
                hunks,
            },
        };
        Ok(FilePatch { path, act })
    }

    /// Parses the body of a hunk. The counts only serve to distinguish lines of the hunk that look like the head of a
    /// file from such a head; otherwise they are often wrong.
    fn parse_hunk(&mut self, header: &HunkHeader) -> PatchHunk {
        let (mut old, mut new) = (header.old_count, header.new_count);
        let mut hunk = PatchHunk::default();
        while self.next < self.lines.len() {
            let line = self.peek();
            let is_head = line.starts_with("--- ")
                && self.peek_at(1).starts_with("+++ ")
                && (self.peek_at(2).starts_with("@@ ") || self.next + 2 == self.lines.len())
                && (old == 0 || new == 0);
            if let Some(remark) = line.strip_prefix('\\') {
                let open = remark.to_ascii_lowercase().contains("no newline");
                match hunk.lines.last() {
                    Some(PatchLine::Context(_)) => {
                        (hunk.open_before, hunk.open_after) = (open, open)
                    }
                    Some(PatchLine::Removed(_)) => hunk.open_before = open,
                    Some(PatchLine::Added(_)) => hunk.open_after = open,
                    None => {}
                }
            } else if is_head || !hunk.push_line(line) {
                break;
            }
            let last = hunk.lines.last();
            old = old.saturating_sub(usize::from(last.is_some_and(PatchLine::is_old)));
            new = new.saturating_sub(usize::from(last.is_some_and(PatchLine::is_new)));
            self.next += 1;
        }
        hunk
    }

    fn parse_path(&self, written: &str) -> Result<String, String> {
        // `diff -u` puts the time behind a tab.
        match written.split('\t').next().unwrap_or_default().trim_end() {
            "" => Err(format!("has a file without a path, line {}", self.next + 1)),
            quoted if quoted.starts_with('"') => Err(format!(
                "has a path in quotes, line {}: write it as it is, letter for letter",
                self.next + 1
            )),
            path => Ok(path.to_owned()),
        }
    }
}

/// Counts the empty lines at the end that exceed the number of old lines.
fn count_blank_tail(hunk: &PatchHunk, old_count: usize) -> usize {
    let blank = hunk.lines.iter().rev();
    let blank = blank.take_while(|line| **line == PatchLine::Context(String::new()));
    blank
        .count()
        .min(hunk.old_lines().len().saturating_sub(old_count))
}

/// Strips git's `a/` and `b/` from the paths, if both sides have them.
fn strip_side_prefixes(old: String, new: String) -> (String, String) {
    let bare = |path: &str, side: &str| match path {
        DEV_NULL => Some(DEV_NULL.to_owned()),
        path => path.strip_prefix(side).map(str::to_owned),
    };
    match (bare(&old, "a/"), bare(&new, "b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (old, new),
    }
}

/// Returns the content of a new file.
fn added_content(hunks: &[PatchHunk], path: &str) -> Result<String, String> {
    let mut content = String::new();
    for hunk in hunks {
        if !hunk.old_lines().is_empty() {
            return Err(format!(
                "has lines without `+` in the new file `{path}`: every line of it begins with `+`"
            ));
        }
        for line in hunk.new_lines() {
            content.push_str(line);
            content.push('\n');
        }
        if hunk.open_after {
            content.pop();
        }
    }
    Ok(content)
}
