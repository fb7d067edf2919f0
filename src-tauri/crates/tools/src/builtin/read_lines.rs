//! Finds a range of lines or bytes in a file of any size and writes it out for a model.

use protocol::{ToolError, cut};
use runtime::{FileBytes, FileError, Workspace};
use tokio_util::sync::CancellationToken;

use super::failed;
use super::files::{as_text, missing};
use super::read_masked::{BEFORE_BYTES, BEHIND_BYTES, Secrets};
use crate::limits::{COUNT_LINES_BYTES_MAX, OUTPUT_BYTES_MAX, OUTPUT_NOTE_BYTES, READ_CHUNK_BYTES};
use crate::text::{amount, grouped, plural};

/// Which lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first, from 1.
    pub first: u64,
    /// How many; as many as fit if none.
    pub count: Option<u64>,
    /// Whether secrets are masked.
    pub masks: bool,
}

/// A piece of a file, written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// What the model reads.
    pub text: String,
    /// First and last line; none for bytes and for an empty file.
    pub lines: Option<(u64, u64)>,
    /// Lines of the whole file, where they were counted.
    pub total_lines: Option<u64>,
    /// First byte and the one after the last.
    pub bytes: (u64, u64),
    /// Length of the file in bytes.
    pub total_bytes: u64,
    /// Secrets that stand as `***` in the text.
    pub secrets_masked: u32,
}

/// Bytes of text that one answer holds.
const ROOM: usize = OUTPUT_BYTES_MAX as usize - OUTPUT_NOTE_BYTES;

/// A file that is read in several steps and must not change between them.
struct Source<'a> {
    workspace: &'a Workspace,
    path: &'a str,
    /// Length and time of change at the first step; holds no bytes.
    seen: Option<FileBytes>,
}

impl Source<'_> {
    fn read(&mut self, from: u64, bytes_max: u64) -> Result<FileBytes, ToolError> {
        let mut piece =
            self.workspace
                .read(self.path, from, bytes_max)
                .map_err(|error| match error {
                    FileError::NotFound { .. } => missing(self.workspace, self.path),
                    other => failed(other),
                })?;
        let bytes = std::mem::take(&mut piece.bytes);
        let now = piece;
        if *self.seen.get_or_insert_with(|| now.clone()) != now {
            return Err(ToolError::Failed(format!(
                "`{}` changed while it was read. Read it again.",
                self.path
            )));
        }
        Ok(FileBytes { bytes, ..now })
    }
}

/// The lines that are wanted, each after its number and a tab.
pub(super) fn read_lines(
    workspace: &Workspace,
    path: &str,
    wanted: Wanted,
    cancel: &CancellationToken,
) -> Result<Excerpt, ToolError> {
    let mut source = Source {
        workspace,
        path,
        seen: None,
    };
    let start = source.read(0, READ_CHUNK_BYTES)?;
    let total_bytes = start.total;
    if total_bytes == 0 {
        return Ok(Excerpt {
            text: String::new(),
            lines: None,
            total_lines: Some(0),
            bytes: (0, 0),
            total_bytes,
            secrets_masked: 0,
        });
    }
    as_text(
        path,
        &start.bytes[..cut::whole(&start.bytes)],
        "can be read",
    )?;
    let total_lines = match total_bytes <= COUNT_LINES_BYTES_MAX {
        true => Some(count_lines(&mut source, cancel)?),
        false => None,
    };
    let from = find_line(&mut source, wanted.first, cancel)?;
    let before = from.min(BEFORE_BYTES) as usize;
    let around = source.read(
        from - before as u64,
        before as u64 + ROOM as u64 + 4 + BEHIND_BYTES,
    )?;
    let piece = within(&around.bytes, before, ROOM + 4);
    let ends_file = from + piece.len() as u64 >= total_bytes;
    let length = match ends_file {
        true => piece.len(),
        false => cut::whole(piece),
    };
    let content = as_text(path, &piece[..length], "can be read")?;
    let mut page = Page {
        secrets: Secrets::of(&around.bytes, wanted.masks),
        before,
        ..Page::default()
    };
    for line in content.split_inclusive('\n') {
        if wanted.count.is_some_and(|count| page.count >= count) {
            break;
        }
        let whole = line.ends_with('\n') || (ends_file && page.bytes + line.len() == content.len());
        if !page.push(wanted.first + page.count, line, whole) {
            break;
        }
    }
    let end = from + page.bytes as u64;
    let last = wanted.first + page.count.saturating_sub(1);
    let mut text = page.text;
    text += &match page.cut_line {
        true => format!(
            "[Line {last} is too long to be shown whole; it goes on at byte {end} of {}. Go on with byte_offset={end}, \
             or with offset={}.]",
            grouped(total_bytes),
            last + 1
        ),
        false if end >= total_bytes && wanted.first == 1 => String::new(),
        false => {
            let of = total_lines.map_or_else(
                || format!("a file of {}", amount(total_bytes)),
                |total| plural(total, "line", "lines"),
            );
            match end >= total_bytes {
                true => format!(
                    "[Lines {} to {last} of {of}: the end of the file.]",
                    wanted.first
                ),
                false => format!(
                    "[Lines {} to {last} of {of}. Go on with offset={}.]",
                    wanted.first,
                    last + 1
                ),
            }
        }
    };
    Ok(Excerpt {
        text,
        lines: Some((wanted.first, last)),
        total_lines,
        bytes: (from, end),
        total_bytes,
        secrets_masked: page.secrets.count(before..before + page.bytes),
    })
}

/// The bytes that are wanted, cut between characters.
pub(super) fn read_bytes(
    workspace: &Workspace,
    path: &str,
    from: u64,
    count: u64,
    masks: bool,
) -> Result<Excerpt, ToolError> {
    let mut source = Source {
        workspace,
        path,
        seen: None,
    };
    let before = from.min(BEFORE_BYTES) as usize;
    let count = count.min(ROOM as u64) as usize;
    let around = source.read(
        from - before as u64,
        before as u64 + count as u64 + BEHIND_BYTES,
    )?;
    let piece = within(&around.bytes, before, count);
    let total = around.total;
    if from >= total {
        return Err(ToolError::Failed(format!(
            "`{path}` has {}, so byte_offset {from} is past its end. Use a smaller one.",
            plural(total, "byte", "bytes")
        )));
    }
    let is_tail = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let skipped = match from {
        0 => 0,
        _ => piece.iter().take(3).take_while(is_tail).count(),
    };
    let bytes = &piece[skipped..];
    let ends_file = from + piece.len() as u64 >= total;
    let length = match ends_file {
        true => bytes.len(),
        false => cut::whole(bytes),
    };
    if length == 0 {
        return Err(ToolError::InvalidArgs(format!(
            "byte_limit {count} ends within a character at byte {from}; use at least 4"
        )));
    }
    let content = as_text(path, &bytes[..length], "can be read")?;
    let first = from + skipped as u64;
    let end = first + length as u64;
    let next = match end >= total {
        true => "the end of the file".to_owned(),
        false => format!("go on with byte_offset={end}"),
    };
    let secrets = Secrets::of(&around.bytes, masks);
    let at = before + skipped;
    let shown = secrets.masked(content, at);
    Ok(Excerpt {
        text: format!("{shown}\n[Bytes {first} to {end} of {total}: {next}.]"),
        lines: None,
        total_lines: None,
        bytes: (first, end),
        total_bytes: total,
        secrets_masked: secrets.count(at..at + length),
    })
}

/// What is written out so far.
#[derive(Debug, Default)]
struct Page {
    text: String,
    count: u64,
    bytes: usize,
    cut_line: bool,
    secrets: Secrets,
    /// How much was looked at before the first line.
    before: usize,
}

impl Page {
    /// Adds a line, or as much of it as there is room for when it is the first; false when nothing more goes in.
    fn push(&mut self, number: u64, line: &str, whole: bool) -> bool {
        let head = format!("{number:>6}\t");
        let shown = line.strip_suffix('\n').unwrap_or(line);
        let shown = shown.strip_suffix('\r').unwrap_or(shown);
        let at = self.before + self.bytes;
        let shown = &self.secrets.masked(shown, at);
        let room = ROOM.saturating_sub(self.text.len() + head.len() + 1);
        if whole && shown.len() <= room {
            self.text.push_str(&head);
            self.text.push_str(shown);
            self.text.push('\n');
            self.bytes += line.len();
            self.count += 1;
            return true;
        }
        if self.count == 0 {
            let end = cut::head(line, room).len();
            self.text.push_str(&head);
            self.text.push_str(&self.secrets.masked(&line[..end], at));
            self.text.push('\n');
            self.bytes = end;
            self.count = 1;
            self.cut_line = true;
        }
        false
    }
}

/// Where a line begins.
fn find_line(
    source: &mut Source<'_>,
    wanted: u64,
    cancel: &CancellationToken,
) -> Result<u64, ToolError> {
    if wanted <= 1 {
        return Ok(0);
    }
    let (mut line, mut from) = (1, 0);
    loop {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let piece = source.read(from, READ_CHUNK_BYTES)?;
        for (index, _) in piece
            .bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
        {
            line += 1;
            let start = from + index as u64 + 1;
            if line == wanted && start < piece.total {
                return Ok(start);
            }
        }
        from += piece.bytes.len() as u64;
        if piece.bytes.is_empty() || from >= piece.total {
            // A line end at the very end of the file begins no further line.
            let ends_with_newline = piece.bytes.last() == Some(&b'\n');
            let lines = line - u64::from(ends_with_newline);
            return Err(ToolError::Failed(format!(
                "`{}` has {}, so offset {wanted} is past its end. Use an offset from 1 to {lines}.",
                source.path,
                plural(lines, "line", "lines")
            )));
        }
    }
}

fn count_lines(source: &mut Source<'_>, cancel: &CancellationToken) -> Result<u64, ToolError> {
    let (mut lines, mut from) = (0, 0);
    loop {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let piece = source.read(from, READ_CHUNK_BYTES)?;
        lines += piece.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        from += piece.bytes.len() as u64;
        if piece.bytes.is_empty() || from >= piece.total {
            return Ok(lines + u64::from(piece.bytes.last().is_some_and(|byte| *byte != b'\n')));
        }
    }
}

/// Of what was read with its surroundings, the piece that was wanted.
fn within(bytes: &[u8], before: usize, count: usize) -> &[u8] {
    let start = before.min(bytes.len());
    &bytes[start..(start + count).min(bytes.len())]
}
