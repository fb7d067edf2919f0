//! The lines of a file of any length, of which one at a time is in memory.

use std::io::{self, BufRead, BufReader, Read};

use runtime::Workspace;

use crate::limits::{TRANSCRIPT_LINE_BYTES_MAX, TRANSCRIPT_PIECE_BYTES};

/// A line that is not empty, with its number, from 1.
pub(super) enum Line<'a> {
    /// The line without its end.
    Text { number: u64, bytes: &'a [u8] },
    /// A line beyond the limit; it was skipped.
    TooLong { number: u64 },
}

/// Reader of a file's lines.
pub(super) struct TranscriptLines<'a> {
    input: BufReader<FilePieces<'a>>,
    number: u64,
    line: Vec<u8>,
}

impl<'a> TranscriptLines<'a> {
    pub(super) fn open(root: &'a Workspace, file: &'a str) -> Self {
        let pieces = FilePieces {
            root,
            file,
            offset: 0,
        };
        Self {
            input: BufReader::with_capacity(TRANSCRIPT_PIECE_BYTES, pieces),
            number: 0,
            line: Vec::new(),
        }
    }

    /// Reads the next line that is not empty; none after the last one.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            let limit = TRANSCRIPT_LINE_BYTES_MAX + 1;
            let mut bounded = self.input.by_ref().take(limit);
            let read = bounded.read_until(b'\n', &mut self.line)? as u64;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            if read == limit && self.line.last() != Some(&b'\n') {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Line::TooLong { number }));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                let bytes = &self.line;
                return Ok(Some(Line::Text { number, bytes }));
            }
        }
    }
}

/// A file below a folder, read piece by piece: each is opened below the folder's handle, so that no link leads out.
struct FilePieces<'a> {
    root: &'a Workspace,
    file: &'a str,
    offset: u64,
}

impl Read for FilePieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.root.read(self.file, self.offset, buffer.len() as u64);
        let piece = piece.map_err(io::Error::other)?.bytes;
        buffer[..piece.len()].copy_from_slice(&piece);
        self.offset += piece.len() as u64;
        Ok(piece.len())
    }
}
