//! Finds a range of lines or bytes in a file of any size and formats it for a model.

use protocol::ToolError;
use protocol::text::cut;
use runtime::{FileBytes, FileError, Workspace};
use tokio_util::sync::CancellationToken;

use crate::builtin::file_error;
use crate::builtin::fs::file_access::{as_text, missing_file_error};
use crate::builtin::fs::secret_ranges::{CONTEXT_BYTES_AFTER, CONTEXT_BYTES_BEFORE, SecretRanges};
use crate::limits::{COUNT_LINES_BYTES_MAX, OUTPUT_BYTES_MAX, OUTPUT_NOTE_BYTES, READ_CHUNK_BYTES};
use crate::text::{format_byte_size, format_count, group_digits};

/// A range of lines to read.
#[derive(Debug, Clone, Copy)]
pub(in crate::builtin) struct LineRange {
    /// First line, from 1.
    pub first: u64,
    /// Number of lines; as many as fit if `None`.
    pub count: Option<u64>,
    /// Whether secrets are masked.
    pub masks: bool,
}

/// A formatted excerpt of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::builtin) struct Excerpt {
    /// Text that the model reads.
    pub text: String,
    /// First and last line; `None` for bytes and for an empty file.
    pub lines: Option<(u64, u64)>,
    /// Number of lines in the whole file, where they were counted.
    pub total_lines: Option<u64>,
    /// Offsets of the first byte and of the byte after the last.
    pub bytes: (u64, u64),
    /// Length of the file in bytes.
    pub total_bytes: u64,
    /// Number of secrets that are masked as `***` in the text.
    pub secrets_masked: u32,
}

/// Largest text of one answer, in bytes.
const EXCERPT_BYTES_MAX: usize = OUTPUT_BYTES_MAX as usize - OUTPUT_NOTE_BYTES;

/// A file that is read in several steps and must not change between them.
struct StableFile<'a> {
    workspace: &'a Workspace,
    path: &'a str,
    /// Length and modification time at the first step; holds no bytes.
    first_read: Option<FileBytes>,
}

impl StableFile<'_> {
    fn read_chunk(&mut self, from: u64, bytes_max: u64) -> Result<FileBytes, ToolError> {
        let mut piece =
            self.workspace
                .read(self.path, from, bytes_max)
                .map_err(|error| match error {
                    FileError::NotFound { .. } => missing_file_error(self.workspace, self.path),
                    other => file_error(other),
                })?;
        let bytes = std::mem::take(&mut piece.bytes);
        let now = piece;
        if *self.first_read.get_or_insert_with(|| now.clone()) != now {
            return Err(ToolError::Failed(format!(
                "`{}` changed while it was read. Read it again.",
                self.path
            )));
        }
        Ok(FileBytes { bytes, ..now })
    }
}

/// Returns the requested lines, each after its number and a tab.
pub(in crate::builtin) fn read_lines(
    workspace: &Workspace,
    path: &str,
    range: LineRange,
    cancel: &CancellationToken,
) -> Result<Excerpt, ToolError> {
    let mut source = StableFile {
        workspace,
        path,
        first_read: None,
    };
    let start = source.read_chunk(0, READ_CHUNK_BYTES)?;
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
        &start.bytes[..cut::complete_chars_len(&start.bytes)],
        "can be read",
    )?;
    let total_lines = match total_bytes <= COUNT_LINES_BYTES_MAX {
        true => Some(count_lines(&mut source, cancel)?),
        false => None,
    };
    let from = find_line_start(&mut source, range.first, cancel)?;
    let before = from.min(CONTEXT_BYTES_BEFORE) as usize;
    let around = source.read_chunk(
        from - before as u64,
        before as u64 + EXCERPT_BYTES_MAX as u64 + 4 + CONTEXT_BYTES_AFTER,
    )?;
    let piece = trim_surroundings(&around.bytes, before, EXCERPT_BYTES_MAX + 4);
    let ends_file = from + piece.len() as u64 >= total_bytes;
    let length = match ends_file {
        true => piece.len(),
        false => cut::complete_chars_len(piece),
    };
    let content = as_text(path, &piece[..length], "can be read")?;
    let mut page = ExcerptBuilder {
        secrets: SecretRanges::find(&around.bytes, range.masks),
        before,
        ..ExcerptBuilder::default()
    };
    for line in content.split_inclusive('\n') {
        if range.count.is_some_and(|count| page.count >= count) {
            break;
        }
        let whole = line.ends_with('\n') || (ends_file && page.bytes + line.len() == content.len());
        if !page.push_line(range.first + page.count, line, whole) {
            break;
        }
    }
    let end = from + page.bytes as u64;
    let last = range.first + page.count.saturating_sub(1);
    let mut text = page.text;
    text += &match page.cut_line {
        true => format!(
            "[Line {last} is too long to be shown whole; it goes on at byte {end} of {}. Go on with byte_offset={end}, \
             or with offset={}.]",
            group_digits(total_bytes),
            last + 1
        ),
        false if end >= total_bytes && range.first == 1 => String::new(),
        false => {
            let of = total_lines.map_or_else(
                || format!("a file of {}", format_byte_size(total_bytes)),
                |total| format_count(total, "line", "lines"),
            );
            match end >= total_bytes {
                true => format!(
                    "[Lines {} to {last} of {of}: the end of the file.]",
                    range.first
                ),
                false => format!(
                    "[Lines {} to {last} of {of}. Go on with offset={}.]",
                    range.first,
                    last + 1
                ),
            }
        }
    };
    Ok(Excerpt {
        text,
        lines: Some((range.first, last)),
        total_lines,
        bytes: (from, end),
        total_bytes,
        secrets_masked: page.secrets.count_in(before..before + page.bytes),
    })
}

/// Returns the requested bytes, cut at character boundaries.
pub(in crate::builtin) fn read_bytes(
    workspace: &Workspace,
    path: &str,
    from: u64,
    count: u64,
    masks: bool,
) -> Result<Excerpt, ToolError> {
    let mut source = StableFile {
        workspace,
        path,
        first_read: None,
    };
    let before = from.min(CONTEXT_BYTES_BEFORE) as usize;
    let count = count.min(EXCERPT_BYTES_MAX as u64) as usize;
    let around = source.read_chunk(
        from - before as u64,
        before as u64 + count as u64 + CONTEXT_BYTES_AFTER,
    )?;
    let piece = trim_surroundings(&around.bytes, before, count);
    let total = around.total;
    if from >= total {
        return Err(ToolError::Failed(format!(
            "`{path}` has {}, so byte_offset {from} is past its end. Use a smaller one.",
            format_count(total, "byte", "bytes")
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
        false => cut::complete_chars_len(bytes),
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
    let secrets = SecretRanges::find(&around.bytes, masks);
    let at = before + skipped;
    let shown = secrets.mask_text(content, at);
    Ok(Excerpt {
        text: format!("{shown}\n[Bytes {first} to {end} of {total}: {next}.]"),
        lines: None,
        total_lines: None,
        bytes: (first, end),
        total_bytes: total,
        secrets_masked: secrets.count_in(at..at + length),
    })
}

/// An excerpt under construction.
#[derive(Debug, Default)]
struct ExcerptBuilder {
    text: String,
    count: u64,
    bytes: usize,
    cut_line: bool,
    secrets: SecretRanges,
    /// Number of bytes of context before the first line.
    before: usize,
}

impl ExcerptBuilder {
    /// Appends a line, or as much of it as fits if it is the first one. Returns `false` when nothing more fits.
    fn push_line(&mut self, number: u64, line: &str, whole: bool) -> bool {
        let head = format!("{number:>6}\t");
        let shown = line.strip_suffix('\n').unwrap_or(line);
        let shown = shown.strip_suffix('\r').unwrap_or(shown);
        let at = self.before + self.bytes;
        let shown = &self.secrets.mask_text(shown, at);
        let room = EXCERPT_BYTES_MAX.saturating_sub(self.text.len() + head.len() + 1);
        if whole && shown.len() <= room {
            self.text.push_str(&head);
            self.text.push_str(shown);
            self.text.push('\n');
            self.bytes += line.len();
            self.count += 1;
            return true;
        }
        if self.count == 0 {
            let end = cut::take_head(line, room).len();
            self.text.push_str(&head);
            self.text
                .push_str(&self.secrets.mask_text(&line[..end], at));
            self.text.push('\n');
            self.bytes = end;
            self.count = 1;
            self.cut_line = true;
        }
        false
    }
}

/// Returns the byte offset at which a line begins.
fn find_line_start(
    source: &mut StableFile<'_>,
    number: u64,
    cancel: &CancellationToken,
) -> Result<u64, ToolError> {
    if number <= 1 {
        return Ok(0);
    }
    let (mut line, mut from) = (1, 0);
    loop {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let piece = source.read_chunk(from, READ_CHUNK_BYTES)?;
        for (index, _) in piece
            .bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
        {
            line += 1;
            let start = from + index as u64 + 1;
            if line == number && start < piece.total {
                return Ok(start);
            }
        }
        from += piece.bytes.len() as u64;
        if piece.bytes.is_empty() || from >= piece.total {
            // A line end at the very end of the file begins no further line.
            let ends_with_newline = piece.bytes.last() == Some(&b'\n');
            let lines = line - u64::from(ends_with_newline);
            return Err(ToolError::Failed(format!(
                "`{}` has {}, so offset {number} is past its end. Use an offset from 1 to {lines}.",
                source.path,
                format_count(lines, "line", "lines")
            )));
        }
    }
}

fn count_lines(source: &mut StableFile<'_>, cancel: &CancellationToken) -> Result<u64, ToolError> {
    let (mut lines, mut from) = (0, 0);
    loop {
        if cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let piece = source.read_chunk(from, READ_CHUNK_BYTES)?;
        lines += piece.bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        from += piece.bytes.len() as u64;
        if piece.bytes.is_empty() || from >= piece.total {
            return Ok(lines + u64::from(piece.bytes.last().is_some_and(|byte| *byte != b'\n')));
        }
    }
}

/// Cuts the requested bytes out of bytes that were read with their surroundings.
fn trim_surroundings(bytes: &[u8], before: usize, count: usize) -> &[u8] {
    let start = before.min(bytes.len());
    &bytes[start..(start + count).min(bytes.len())]
}
