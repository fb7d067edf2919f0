//! Importing the sessions of another agent into the record.

use std::path::PathBuf;

use agent::Engine;
use protocol::connection::SessionImport;
use protocol::{At, UserError};

use crate::agent_calls::ExternalAgent;
use crate::transcripts::TranscriptPlace;
use crate::transcripts::sessions::SessionReader;

/// Which sessions are imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportQuery {
    /// Agent whose sessions they are.
    pub agent: ExternalAgent,
    /// Where its transcripts are.
    pub place: TranscriptPlace,
    /// Workspace that the agent worked in, with the folders below it, see [`crate::transcripts::resolve_workspace`];
    /// `None` for every folder.
    pub workspace: Option<PathBuf>,
    /// Sessions in which nothing happened since then are left out.
    pub since: At,
}

/// Imports sessions of another agent, or what is new in those that are on record. Nothing is imported twice.
///
/// # Errors
/// The agent's transcripts have no form that is known, there is no such place, or the record cannot be written. What was
/// recorded by then stays.
pub async fn import_sessions(
    engine: &Engine,
    query: ImportQuery,
) -> Result<SessionImport, UserError> {
    let ImportQuery {
        agent,
        place,
        workspace,
        since,
    } = query;
    let mut reader = SessionReader::open(agent, &place, workspace, since)?;
    let mut import = SessionImport::default();
    loop {
        // A transcript may be long, and what else the program does goes on meanwhile.
        let reading = tokio::task::spawn_blocking(move || {
            let sessions = reader.read_next_file();
            (reader, sessions)
        });
        let (came_back, sessions) = reading.await.map_err(|_| broken_off_error())?;
        reader = came_back;
        let Some(sessions) = sessions else { break };
        for session in sessions {
            let receipt = engine.import_session(session).await?;
            match (receipt.is_new, receipt.entries) {
                (true, _) => import.added += 1,
                (false, 0) => import.unchanged += 1,
                (false, _) => import.grown += 1,
            }
            import.entries += receipt.entries;
        }
    }
    import.elsewhere = reader.elsewhere;
    import.faults = reader.faults.count;
    import.reasons = reader.faults.shown;
    Ok(import)
}

fn broken_off_error() -> UserError {
    UserError::new(
        "The import broke off.",
        "Import again: what is on record stays, and the rest is added.",
    )
}
