//! The sessions in an agent's transcripts, one file at a time.

use std::path::{Path, PathBuf};

use agent::ImportedSession;
use protocol::{At, UserError};
use runtime::Workspace;

use crate::agent_calls::ExternalAgent;
use crate::limits::{TRANSCRIPT_BYTES_MAX, TRANSCRIPT_CALLS_MAX};
use crate::transcripts::form::{TranscriptForm, find_form};
use crate::transcripts::session_builder::SessionBuilder;
use crate::transcripts::transcript_file::TranscriptFile;
use crate::transcripts::{TranscriptFaults, TranscriptPlace};

/// Returns the number of sessions that an agent has written to since a point in time; `None` if it keeps no transcripts
/// that can be read. Nothing is read of them.
pub fn count_sessions_since(
    agent: ExternalAgent,
    place: &TranscriptPlace,
    since: At,
) -> Option<u64> {
    let form = find_form(agent).ok()?;
    let (root, files) = place.open(agent, &form).ok()?;
    let is_recent = |file: &&String| {
        let transcript = TranscriptFile {
            root: &root,
            file,
            form: &form,
            workspace: None,
        };
        form.is_whole_session(file) && transcript.modified_at().is_some_and(|at| at >= since)
    };
    Some(files.iter().filter(is_recent).count() as u64)
}

/// Reader of the sessions in an agent's transcripts.
pub(super) struct SessionReader {
    agent: ExternalAgent,
    workspace: Option<PathBuf>,
    since: At,
    form: TranscriptForm,
    root: Workspace,
    files: std::vec::IntoIter<String>,
    /// Number of sessions in other folders, or whose folder is not known.
    pub elsewhere: u64,
    /// The files and lines that cannot be read.
    pub faults: TranscriptFaults,
}

impl SessionReader {
    /// Opens the transcripts of an agent: of sessions that went on since a point in time, in a workspace and the folders
    /// below it, or in every folder.
    ///
    /// # Errors
    /// The agent's transcripts have no form that is known, or there is no such place.
    pub fn open(
        agent: ExternalAgent,
        place: &TranscriptPlace,
        workspace: Option<PathBuf>,
        since: At,
    ) -> Result<Self, UserError> {
        let form = find_form(agent)?;
        let (root, files) = place.open(agent, &form)?;
        Ok(Self {
            agent,
            workspace,
            since,
            form,
            root,
            files: files.into_iter(),
            elsewhere: 0,
            faults: TranscriptFaults::default(),
        })
    }

    /// Reads the sessions of the next file, each with all that the file has of it; `None` after the last file.
    pub fn read_next_file(&mut self) -> Option<Vec<ImportedSession>> {
        let file = self.files.next()?;
        let transcript = TranscriptFile {
            root: &self.root,
            file: &file,
            form: &self.form,
            workspace: self.workspace.as_deref(),
        };
        if transcript.modified_at().is_some_and(|at| at < self.since) {
            return Some(Vec::new());
        }
        let mut found = CollectedSessions {
            agent: self.agent,
            sessions: Vec::new(),
            bytes: 0,
            entries: 0,
        };
        transcript.read_entries(&mut self.faults, &mut |state, bytes| {
            if !found.is_full() && !state.entries.is_empty() {
                (found.bytes, found.entries) =
                    (found.bytes + bytes, found.entries + state.entries.len());
                found.builder_of(&state.session).add_entries(state);
            }
        });
        if found.is_full() {
            self.faults.add(format!(
                "{file}: it holds more than can be taken, so its end is left out"
            ));
        }
        let mut taken = Vec::new();
        for builder in found.sessions {
            if builder.last_at() < self.since {
                continue;
            }
            let workspace = self.workspace.as_deref();
            let is_here = |folder: &Path| workspace.is_none_or(|root| folder.starts_with(root));
            match builder.folder().is_some_and(is_here) {
                true => taken.extend(builder.build()),
                false => self.elsewhere += 1,
            }
        }
        Some(taken)
    }
}

/// The sessions that were found in one file.
struct CollectedSessions {
    agent: ExternalAgent,
    sessions: Vec<SessionBuilder>,
    bytes: u64,
    entries: usize,
}

impl CollectedSessions {
    fn is_full(&self) -> bool {
        self.bytes > TRANSCRIPT_BYTES_MAX || self.entries > TRANSCRIPT_CALLS_MAX
    }

    /// Returns the builder of a session, which is begun with its first entry.
    fn builder_of(&mut self, session: &str) -> &mut SessionBuilder {
        let known = self
            .sessions
            .iter()
            .position(|one| one.session() == session);
        let place = known.unwrap_or(self.sessions.len());
        if known.is_none() {
            let begun = SessionBuilder::new(self.agent, session.to_owned());
            self.sessions.push(begun);
        }
        &mut self.sessions[place]
    }
}
