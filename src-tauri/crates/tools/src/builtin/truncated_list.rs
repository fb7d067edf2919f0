//! A list that is truncated by its own count: the head inline, the whole in the sidecar file (`S002-65`, `S002-73`,
//! `S002-74`).

use protocol::call::outcome::Truncation;
use protocol::{CallId, ToolError, ToolOutput};

use super::file_error;
use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_NOTE_BYTES};
use crate::text::group_digits;
use crate::tool::ToolContext;

/// The lines of a result.
pub(super) struct TruncatedList {
    /// All lines that were collected.
    pub lines: Vec<String>,
    /// Number of lines that are given inline.
    pub shown_max: usize,
    /// Whether there are more lines than were collected.
    pub has_more: bool,
    /// Plural noun for the lines: "files".
    pub noun: &'static str,
    /// Count shown to the person: "3 matches in 2 files".
    pub count: String,
}

impl TruncatedList {
    /// Returns the output; past the limit the whole list is first written to the session's folder.
    pub(super) fn into_output(
        self,
        context: &ToolContext,
        call: &CallId,
    ) -> Result<ToolOutput, ToolError> {
        let shown = self.shown_count();
        let count = match self.has_more {
            true => format!("more than {}", self.count),
            false => self.count,
        };
        if shown == self.lines.len() {
            return Ok(ToolOutput::new(self.lines.join("\n"), count));
        }
        let whole = self.lines.join("\n");
        let path = context
            .folder
            .save_output(call, whole.as_bytes())
            .map_err(file_error)?;
        let path = path.to_string_lossy().into_owned();
        let beyond = match self.has_more {
            true => format!(
                "; it ends at {} and there are more",
                group_digits(self.lines.len() as u64)
            ),
            false => String::new(),
        };
        let text = format!(
            "{}\n[The first {shown} of {count}. Narrow the search, or read the whole list at {path}{beyond}.]",
            self.lines[..shown].join("\n")
        );
        Ok(ToolOutput {
            truncated: Some(Truncation {
                output_path: Some(path),
                bytes: whole.len() as u64,
            }),
            ..ToolOutput::new(
                text,
                format!("{count}, the first {shown} {} shown", self.noun),
            )
        })
    }

    /// Returns the number of lines that fit, by count and by bytes.
    fn shown_count(&self) -> usize {
        let mut room = OUTPUT_BYTES_MAX as usize - OUTPUT_NOTE_BYTES;
        let fits = |line: &&String| match room.checked_sub(line.len() + 1) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        self.lines
            .iter()
            .take(self.shown_max)
            .take_while(fits)
            .count()
    }
}
