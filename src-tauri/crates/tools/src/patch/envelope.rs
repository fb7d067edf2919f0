//! Parses a patch in the envelope form: `*** Begin Patch`, files that are added, deleted and updated, `*** End Patch`.

use super::{FilePatch, PatchAction, PatchHunk, unified};

pub(super) const BEGIN_MARKER: &str = "*** Begin Patch";
const END_MARKER: &str = "*** End Patch";
const ADD_MARKER: &str = "*** Add File: ";
const DELETE_MARKER: &str = "*** Delete File: ";
const UPDATE_MARKER: &str = "*** Update File: ";
const MOVE_MARKER: &str = "*** Move to: ";
const END_OF_FILE_MARKER: &str = "*** End of File";

/// Parses all lines of the envelope; the first is [`BEGIN_MARKER`].
pub(super) fn parse_envelope(lines: &[&str]) -> Result<Vec<FilePatch>, String> {
    // Without its last line a patch may have been cut off in the middle of a file.
    if lines
        .last()
        .is_none_or(|line| line.trim_end() != END_MARKER)
        || lines.len() < 2
    {
        return Err(format!(
            "does not end with `{END_MARKER}`, so a part of it may be missing; send it whole"
        ));
    }
    let mut reader = EnvelopeReader {
        lines: &lines[..lines.len() - 1],
        next: 1,
    };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim().is_empty() {
            reader.next += 1;
            continue;
        }
        let act = if let Some(path) = line.strip_prefix(ADD_MARKER) {
            reader.next += 1;
            (path, PatchAction::Add(reader.read_added_content(path)?))
        } else if let Some(path) = line.strip_prefix(DELETE_MARKER) {
            reader.next += 1;
            (path, PatchAction::Delete(Vec::new()))
        } else if let Some(path) = line.strip_prefix(UPDATE_MARKER) {
            reader.next += 1;
            (path, reader.parse_update(path.trim())?)
        } else {
            return Err(format!(
                "has a line that belongs to no file, line {}: only `{ADD_MARKER}`, `{DELETE_MARKER}` and `{UPDATE_MARKER}` begin one",
                reader.next + 1
            ));
        };
        files.push(FilePatch {
            path: parse_path(act.0)?,
            act: act.1,
        });
    }
    Ok(files)
}

fn parse_path(written: &str) -> Result<String, String> {
    match written.trim() {
        "" => Err("has a file without a path".to_owned()),
        path => Ok(path.to_owned()),
    }
}

struct EnvelopeReader<'a> {
    lines: &'a [&'a str],
    next: usize,
}

impl<'a> EnvelopeReader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    /// Reads the lines of a new file.
    fn read_added_content(&mut self, path: &str) -> Result<String, String> {
        let mut content = String::new();
        while let Some(line) = self.peek() {
            match line.strip_prefix('+') {
                Some(text) => {
                    content.push_str(text);
                    content.push('\n');
                }
                None if line.starts_with("*** ") || self.is_blank_to_next() => break,
                None => {
                    return Err(format!(
                        "has a line without `+` in the new file `{}`, line {}: every line of it begins with `+`",
                        path.trim(),
                        self.next + 1
                    ));
                }
            }
            self.next += 1;
        }
        Ok(content)
    }

    /// Whether only empty lines remain before the next file.
    fn is_blank_to_next(&self) -> bool {
        let mut rest = self.lines[self.next..].iter();
        rest.find(|line| !line.trim().is_empty())
            .is_none_or(|line| line.starts_with("*** "))
            && self.peek().is_some_and(|line| line.trim().is_empty())
    }

    fn parse_update(&mut self, path: &str) -> Result<PatchAction, String> {
        let to = self
            .peek()
            .and_then(|line| line.strip_prefix(MOVE_MARKER))
            .map(self::parse_path);
        let to = to.transpose()?;
        if to.is_some() {
            self.next += 1;
        }
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| !line.starts_with("*** ")) {
            if self.is_blank_to_next() {
                break;
            }
            let number = hunks.len() + 1;
            let hunk = self.parse_hunk();
            hunks.push(
                hunk.map_err(|why| format!("has a hunk that {why}: hunk {number} of `{path}`"))?,
            );
        }
        match (hunks.is_empty(), &to) {
            (true, None) => Err(format!("says nothing of what is to change in `{path}`")),
            _ => Ok(PatchAction::Update { to, hunks }),
        }
    }

    fn parse_hunk(&mut self) -> Result<PatchHunk, String> {
        let mut hunk = PatchHunk::default();
        let mut range = None;
        while let Some(head) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            match unified::parse_hunk_header(head) {
                Some(header) => range = Some(header),
                None if head.trim().is_empty() => {}
                None => hunk
                    .anchors
                    .push(head.trim().trim_end_matches("@@").trim().to_owned()),
            }
            self.next += 1;
        }
        let mut blank_tail = 0;
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE_MARKER {
                hunk.at_end = true;
                self.next += 1;
                blank_tail = 0;
                break;
            }
            if line.starts_with("*** ") || line.starts_with("@@") {
                break;
            }
            if !hunk.push_line(line) {
                return Err(format!(
                    "has a line that begins with none of ` `, `+` and `-`, line {}",
                    self.next + 1
                ));
            }
            blank_tail = match line.is_empty() {
                true => blank_tail + 1,
                false => 0,
            };
            self.next += 1;
        }
        hunk.finish(blank_tail)?;
        if let Some(header) = range {
            hunk.set_start(header.old_start, header.old_count);
        }
        Ok(hunk)
    }
}
