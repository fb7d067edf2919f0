//! Transcripts that other agents keep: the calls in them, in the order in which they were made.
//!
//! Files are read line by line and never changed. **A transcript is somebody else's text**: a line that is too long, is
//! no JSON, or has another form is counted and named, and the rest is read.
//!
//! Start reading at [`read_transcripts`].

mod claude_code;
mod codex;
mod form;
mod gemini_cli;
mod lines;
mod places;
mod session_state;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use protocol::{At, UserError};
use runtime::Workspace;
use serde_json::{Map, Value};

pub use crate::transcripts::places::{TranscriptPlace, resolve_workspace};

use crate::agent_calls::ExternalAgent;
use crate::limits::{
    TRANSCRIPT_BYTES_MAX, TRANSCRIPT_CALLS_MAX, TRANSCRIPT_FAULTS_SHOWN, TRANSCRIPT_FILE_BYTES_MAX,
};
use crate::transcripts::form::find_form;
use crate::transcripts::lines::{Line, TranscriptLines};
use crate::transcripts::session_state::SessionState;

/// A call of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptCall {
    /// The agent's id of the call.
    pub id: String,
    /// The agent's id of the session.
    pub session: String,
    /// When the call was made.
    pub at: At,
    /// The tool's name, as the agent says it.
    pub tool: String,
    /// Arguments, as the agent says them.
    pub input: Map<String, Value>,
    /// Folder that the agent worked in, absolute.
    pub folder: PathBuf,
}

/// Which calls are looked for.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptQuery<'a> {
    /// Agent whose transcripts are read.
    pub agent: ExternalAgent,
    /// Workspace that the agent worked in, with the folders below it; see [`resolve_workspace`].
    pub workspace: &'a Path,
    /// Calls before it are left out.
    pub since: At,
}

/// What transcripts hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcripts {
    /// The calls, those that were made first at the beginning.
    pub calls: Vec<TranscriptCall>,
    /// Number of calls in other folders.
    pub elsewhere: u64,
    /// The files and lines that cannot be read.
    pub faults: TranscriptFaults,
}

/// Files and lines that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptFaults {
    /// Number of them.
    pub count: u64,
    /// The first of them, each with its reason.
    pub shown: Vec<String>,
}

impl TranscriptFaults {
    fn add(&mut self, fault: String) {
        self.count += 1;
        if self.shown.len() < TRANSCRIPT_FAULTS_SHOWN {
            self.shown.push(fault);
        }
    }
}

/// Reads the transcripts of an agent. A call that stands in several files, because a session was continued in another
/// one, counts once.
///
/// # Errors
/// The agent's transcripts have no form that is known, there is no such place, or it holds too much.
pub fn read_transcripts(
    query: &TranscriptQuery<'_>,
    place: &TranscriptPlace,
) -> Result<Transcripts, UserError> {
    let form = find_form(query.agent)?;
    let (root, files) = place.open(query.agent, &form)?;
    let mut found = Transcripts::default();
    let mut ids = HashSet::new();
    let mut faults = TranscriptFaults::default();
    let mut kept_bytes = 0;
    for file in files {
        let mut state = SessionState {
            query,
            found: &mut found,
            ids: &mut ids,
            session: file.clone(),
            folder: places::find_project_root(&root, &file),
            at: At::MIN,
        };
        let mut read = |bytes: &[u8]| -> Result<(), String> {
            let entry = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
            let calls = state.found.calls.len();
            if kept_bytes <= TRANSCRIPT_BYTES_MAX && calls <= TRANSCRIPT_CALLS_MAX {
                (form.read_entry)(&mut state, &entry);
            }
            if state.found.calls.len() > calls {
                kept_bytes += bytes.len() as u64;
            }
            Ok(())
        };
        read_entries(&root, &file, &mut read, &mut faults);
        if kept_bytes > TRANSCRIPT_BYTES_MAX || found.calls.len() > TRANSCRIPT_CALLS_MAX {
            let message = "The transcripts hold more calls than can be taken at a time.";
            return Err(UserError::new(message, "Name a later time with --since."));
        }
    }
    found.calls.sort_by_key(|call| call.at);
    Ok(Transcripts { faults, ..found })
}

/// Reads each entry of a file: a line, or the whole document of an earlier version.
fn read_entries(
    root: &Workspace,
    file: &str,
    read: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    faults: &mut TranscriptFaults,
) {
    if file.ends_with(".json") {
        let bytes = root.read_whole(file, TRANSCRIPT_FILE_BYTES_MAX);
        let bytes = bytes.map_err(|error| error.to_string());
        if let Err(why) = bytes.and_then(|bytes| read(&bytes.unwrap_or_default())) {
            faults.add(format!("{file}: {why}"));
        }
        return;
    }
    let mut lines = TranscriptLines::open(root, file);
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
