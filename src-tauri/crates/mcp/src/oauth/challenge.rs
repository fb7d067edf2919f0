//! How a server said that it wants to know who asks, kept for a command that signs in later.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::{Deserialize, Serialize};

use crate::limits::CHALLENGE_BYTES_MAX;

/// How a server said that it wants to know who asks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuthChallenge {
    /// What it said of whom to go to, as its header has it.
    pub header: Option<String>,
    /// It knows who asks, and wants them to be allowed more.
    pub is_more: bool,
}

/// Where the challenge of one server is kept.
pub(crate) struct ChallengeStore<'a> {
    pub data_dir: &'a Path,
    pub server: &'a ServerId,
    /// The address as it is set up: what another one said is nothing of it.
    pub url: &'a str,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredChallenge {
    url: String,
    challenge: AuthChallenge,
}

fn challenge_path(data_dir: &Path, server: &ServerId) -> PathBuf {
    let name = format!("{server}.challenge.json");
    data_dir.join("servers").join(name)
}

impl ChallengeStore<'_> {
    /// Keeps a challenge in the place of the one before.
    ///
    /// # Errors
    /// It is too long, or cannot be written.
    pub(crate) fn save(&self, challenge: &AuthChallenge) -> Result<(), UserError> {
        let record = StoredChallenge {
            url: self.url.to_owned(),
            challenge: challenge.clone(),
        };
        let text = serde_json::to_vec(&record).unwrap_or_default();
        if text.len() as u64 > CHALLENGE_BYTES_MAX {
            return Err(UserError::new(
                "The server says too much of who signs people in.",
                "Sign in to it while it is in use.",
            ));
        }
        let file = challenge_path(self.data_dir, self.server);
        Ok(runtime::write_atomic(&file, &text, 0o600)?)
    }

    /// The challenge that was kept for this address; none if none was, or it cannot be read.
    pub(crate) fn load(&self) -> Option<AuthChallenge> {
        let file = challenge_path(self.data_dir, self.server);
        let text = runtime::read_text_within(&file, CHALLENGE_BYTES_MAX).ok()??;
        let record: StoredChallenge = serde_json::from_str(&text).ok()?;
        (record.url == self.url).then_some(record.challenge)
    }
}

/// Forgets what was kept of a server; fine if nothing was.
///
/// # Errors
/// It cannot be removed.
pub(crate) fn remove_challenge(data_dir: &Path, server: &ServerId) -> Result<(), UserError> {
    Ok(runtime::remove_if_exists(&challenge_path(
        data_dir, server,
    ))?)
}
