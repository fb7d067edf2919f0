//! Stores a server's authentication challenge for a command that signs in later.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use serde::{Deserialize, Serialize};

use crate::limits::CHALLENGE_BYTES_MAX;

/// A server's request for authentication.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuthChallenge {
    /// The `WWW-Authenticate` header, which says where to sign in.
    pub header: Option<String>,
    /// Whether the server knows the person and requires more scopes.
    pub is_more: bool,
}

/// Storage of the challenge of one server.
pub(crate) struct ChallengeStore<'a> {
    pub data_dir: &'a Path,
    pub server: &'a ServerId,
    /// The configured URL; a challenge from another URL is not returned.
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
    /// Stores a challenge, replacing the previous one.
    ///
    /// # Errors
    /// The challenge is too long, or cannot be written.
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

    /// Returns the stored challenge for this URL; none if there is none, or it cannot be read.
    pub(crate) fn load(&self) -> Option<AuthChallenge> {
        let file = challenge_path(self.data_dir, self.server);
        let text = runtime::read_text_within(&file, CHALLENGE_BYTES_MAX).ok()??;
        let record: StoredChallenge = serde_json::from_str(&text).ok()?;
        (record.url == self.url).then_some(record.challenge)
    }
}

/// Removes the stored challenge of a server; succeeds if there is none.
///
/// # Errors
/// The file cannot be removed.
pub(crate) fn remove_challenge(data_dir: &Path, server: &ServerId) -> Result<(), UserError> {
    Ok(runtime::remove_if_exists(&challenge_path(
        data_dir, server,
    ))?)
}
