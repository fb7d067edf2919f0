//! Collects the matching lines of one file with their context.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use protocol::text::cut::complete_chars_len;

use crate::limits::LINE_BYTES_MAX;

/// One matching line.
pub(super) struct MatchedLine {
    pub number: u64,
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// The lines of one file so far.
pub(super) struct LineCollector {
    pub found: Vec<MatchedLine>,
    found_max: usize,
    before: Vec<String>,
}

impl LineCollector {
    pub(super) fn new(found_max: usize) -> Self {
        Self {
            found: Vec::new(),
            found_max,
            before: Vec::new(),
        }
    }
}

impl Sink for LineCollector {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, hit: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.push(MatchedLine {
            number: hit.line_number().unwrap_or(0),
            text: display_line(hit.bytes()),
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(self.found.len() < self.found_max)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = display_line(context.bytes());
        match context.kind() {
            SinkContextKind::Before => self.before.push(text),
            SinkContextKind::After | SinkContextKind::Other => {
                if let Some(last) = self.found.last_mut() {
                    last.after.push(text);
                }
            }
        }
        Ok(true)
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
