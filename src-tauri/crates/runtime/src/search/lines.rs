//! Collects the matching lines of one file.

use std::io;

use grep_searcher::{Searcher, Sink, SinkMatch};
use protocol::text::cut::complete_chars_len;

use super::GrepMatch;
use crate::limits::LINE_BYTES_MAX;

/// The matches of one file so far.
pub(super) struct LineCollector {
    pub path: String,
    pub matches: Vec<GrepMatch>,
    pub matches_max: usize,
}

impl Sink for LineCollector {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches.push(GrepMatch {
            path: self.path.clone(),
            line: hit.line_number().unwrap_or(0),
            text: display_line(hit.bytes()),
        });
        Ok(self.matches.len() < self.matches_max)
    }
}

/// Returns a line as text: without its end, bytes that are not UTF-8 replaced, cut when it is very long.
fn display_line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= LINE_BYTES_MAX {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let end = complete_chars_len(&bytes[..LINE_BYTES_MAX]);
    let head = String::from_utf8_lossy(&bytes[..end]);
    format!("{head} … [{} bytes more in this line]", bytes.len() - end)
}
