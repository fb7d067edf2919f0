//! Transcripts that other agents keep: the calls in them, in the order in which they were made, and their sessions, to be
//! imported into the record.
//!
//! Files are read line by line and never changed. **A transcript is somebody else's text**: a line that is too long, is
//! no JSON, or has another form is counted and named, and the rest is read.
//!
//! Start reading at [`read_transcripts`] and [`import_sessions`].

mod claude_code;
mod codex;
mod content;
mod form;
mod gemini_cli;
mod image_files;
mod lines;
mod places;
mod session_builder;
mod session_import;
mod session_state;
mod sessions;
mod transcript_file;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use protocol::{At, UserError};
use serde_json::{Map, Value};

pub use crate::transcripts::places::{TranscriptPlace, resolve_workspace};
pub use crate::transcripts::session_import::{ImportQuery, import_sessions};
pub use crate::transcripts::sessions::count_sessions_since;

use crate::agent_calls::ExternalAgent;
use crate::limits::{TRANSCRIPT_BYTES_MAX, TRANSCRIPT_CALLS_MAX, TRANSCRIPT_FAULTS_SHOWN};
use crate::transcripts::form::{TRANSCRIPT_AGENTS_HINT, find_form};
use crate::transcripts::session_state::{EntryBody, SessionState, TranscriptEntry};
use crate::transcripts::transcript_file::TranscriptFile;

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

/// Returns the agent with this name, whose transcripts can be read.
///
/// # Errors
/// There is no such agent, or the form of its transcripts is not known.
pub fn find_transcript_agent(id: &str) -> Result<ExternalAgent, UserError> {
    let agent = ExternalAgent::from_id(id).ok_or_else(|| {
        let message = format!("There is no agent `{id}` whose transcripts can be read.");
        UserError::new(message, TRANSCRIPT_AGENTS_HINT)
    })?;
    find_form(agent).map(|_| agent)
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
    let mut found = CollectedCalls::default();
    let mut faults = TranscriptFaults::default();
    for file in files {
        let transcript = TranscriptFile {
            root: &root,
            file: &file,
            form: &form,
            workspace: Some(query.workspace),
        };
        transcript.read_entries(&mut faults, &mut |state, bytes| {
            found.take_calls(query, state, bytes);
        });
        if found.is_full() {
            let message = "The transcripts hold more calls than can be taken at a time.";
            return Err(UserError::new(message, "Name a later time with --since."));
        }
    }
    let mut found = found.found;
    found.calls.sort_by_key(|call| call.at);
    Ok(Transcripts { faults, ..found })
}

/// The calls that were found so far.
#[derive(Default)]
struct CollectedCalls {
    found: Transcripts,
    /// Ids of the calls that were seen, with their times: some models number the calls of every session from 1.
    ids: HashSet<(String, At)>,
    /// Bytes of the lines with calls that were kept.
    bytes: u64,
}

impl CollectedCalls {
    fn is_full(&self) -> bool {
        self.bytes > TRANSCRIPT_BYTES_MAX || self.found.calls.len() > TRANSCRIPT_CALLS_MAX
    }

    /// Takes those calls of a line that are looked for and were not seen before.
    fn take_calls(
        &mut self,
        query: &TranscriptQuery<'_>,
        state: &mut SessionState<'_>,
        bytes: u64,
    ) {
        let before = self.found.calls.len();
        for TranscriptEntry { at, body } in state.entries.drain(..) {
            let EntryBody::Call { id, tool, input } = body else {
                continue;
            };
            if self.is_full() || at < query.since || !self.ids.insert((id.clone(), at)) {
                continue;
            }
            let folder = state.folder.as_ref();
            match folder.filter(|folder| folder.starts_with(query.workspace)) {
                Some(folder) => self.found.calls.push(TranscriptCall {
                    id,
                    session: state.session.clone(),
                    at,
                    tool,
                    input,
                    folder: folder.clone(),
                }),
                None => self.found.elsewhere += 1,
            }
        }
        if self.found.calls.len() > before {
            self.bytes += bytes;
        }
    }
}
