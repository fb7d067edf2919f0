//! One transcript, read entry by entry.

use std::path::Path;

use protocol::At;
use runtime::Workspace;

use crate::limits::TRANSCRIPT_FILE_BYTES_MAX;
use crate::transcripts::TranscriptFaults;
use crate::transcripts::form::TranscriptForm;
use crate::transcripts::lines::{Line, TranscriptLines};
use crate::transcripts::places::find_project_root;
use crate::transcripts::session_state::SessionState;

/// Nanoseconds of a millisecond.
const NANOS_PER_MS: i64 = 1_000_000;

/// A transcript.
#[derive(Clone, Copy)]
pub(super) struct TranscriptFile<'a> {
    /// Folder of the transcripts.
    pub root: &'a Workspace,
    /// Path of the transcript in it.
    pub file: &'a str,
    /// Form of the transcript.
    pub form: &'a TranscriptForm,
    /// Workspace that is looked for, if it is one.
    pub workspace: Option<&'a Path>,
}

impl TranscriptFile<'_> {
    /// Returns when the file was written last; `None` if it cannot be opened.
    pub(super) fn modified_at(&self) -> Option<At> {
        let looked_at = self.root.read(self.file, 0, 0).ok()?;
        Some(looked_at.mtime_ns / NANOS_PER_MS)
    }

    /// Reads each entry: a line, or the whole document of an earlier version. `take` gets the session after each, with what
    /// the entry added to it, and the length of the entry in bytes.
    pub(super) fn read_entries(
        &self,
        faults: &mut TranscriptFaults,
        take: &mut dyn FnMut(&mut SessionState<'_>, u64),
    ) {
        let file = self.file;
        let mut state = SessionState {
            workspace: self.workspace,
            session: file.to_owned(),
            folder: find_project_root(self.root, file),
            version: String::new(),
            at: At::MIN,
            entries: Vec::new(),
        };
        let mut read = |bytes: &[u8]| -> Result<(), String> {
            let entry = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
            (self.form.read_entry)(&mut state, &entry);
            take(&mut state, bytes.len() as u64);
            state.entries.clear();
            Ok(())
        };
        if file.ends_with(".json") {
            let bytes = self.root.read_whole(file, TRANSCRIPT_FILE_BYTES_MAX);
            let bytes = bytes.map_err(|error| error.to_string());
            if let Err(why) = bytes.and_then(|bytes| read(&bytes.unwrap_or_default())) {
                faults.add(format!("{file}: {why}"));
            }
            return;
        }
        let mut lines = TranscriptLines::open(self.root, file);
        loop {
            let (number, read) = match lines.next_line() {
                Ok(None) => break,
                Ok(Some(Line::Text { number, bytes })) => (number, read(bytes)),
                Ok(Some(Line::TooLong { number })) => (number, Err("it is too long".to_owned())),
                Err(error) => {
                    faults.add(format!("{file}: {error}"));
                    break;
                }
            };
            if let Err(why) = read {
                faults.add(format!("{file}, line {number}: {why}"));
            }
        }
    }
}
