//! A list that is cut by its own count: the head inline, the whole in the sidecar file (`S002-65`, `S002-73`, `S002-74`).

use protocol::outcome::Truncated;
use protocol::{CallId, ToolError, ToolOutput};

use super::failed;
use crate::limits::{OUTPUT_BYTES_MAX, OUTPUT_NOTE_BYTES};
use crate::text::grouped;
use crate::tool::Hands;

/// Lines that were found.
pub(super) struct Listing {
    /// All of them that were looked for.
    pub lines: Vec<String>,
    /// How many are given inline.
    pub shown_max: usize,
    /// Whether there are more than were looked for.
    pub more: bool,
    /// What they are: "files".
    pub what: &'static str,
    /// How many there are, for the person: "3 matches in 2 files".
    pub count: String,
}

impl Listing {
    /// The output; past the limit the whole list goes to the session's folder first.
    pub(super) fn output(self, hands: &Hands, call: &CallId) -> Result<ToolOutput, ToolError> {
        let shown = self.shown();
        let count = match self.more {
            true => format!("more than {}", self.count),
            false => self.count,
        };
        if shown == self.lines.len() {
            return Ok(ToolOutput::new(self.lines.join("\n"), count));
        }
        let whole = self.lines.join("\n");
        let path = hands.folder.spill(call, whole.as_bytes()).map_err(failed)?;
        let path = path.to_string_lossy().into_owned();
        let beyond = match self.more {
            true => format!(
                "; it ends at {} and there are more",
                grouped(self.lines.len() as u64)
            ),
            false => String::new(),
        };
        let text = format!(
            "{}\n[The first {shown} of {count}. Narrow the search, or read the whole list at {path}{beyond}.]",
            self.lines[..shown].join("\n")
        );
        Ok(ToolOutput {
            truncated: Some(Truncated {
                output_path: Some(path),
                bytes: whole.len() as u64,
            }),
            ..ToolOutput::new(
                text,
                format!("{count}, the first {shown} {} shown", self.what),
            )
        })
    }

    /// How many lines fit, by count and by bytes.
    fn shown(&self) -> usize {
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
