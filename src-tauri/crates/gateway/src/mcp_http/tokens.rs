//! The tokens of clients, kept in the data folder: a name and a digest each. The token itself is shown once, where it is
//! made.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::text::display_text::to_single_line;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::{CLIENT_NAME_CHARS_MAX, CLIENT_TOKENS_BYTES_MAX, CLIENT_TOKENS_MAX};

/// The file in the data folder.
const TOKENS_FILE: &str = "gateway-tokens.json";
/// The lock that a change of the file holds.
const LOCK_FILE: &str = "gateway-tokens.lock";
/// The file is for the person alone.
const PRIVATE_MODE: u32 = 0o600;
/// Beginning of each token, by which scanners for secrets know it.
const TOKEN_PREFIX: &str = "csgw_";

/// The tokens of a data folder. Each question reads the file, so that what another process changed counts at once.
#[derive(Debug, Clone)]
pub struct ClientTokens {
    data_dir: PathBuf,
}

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    tokens: Vec<StoredToken>,
}

/// What is kept of a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredToken {
    /// Name of the client that has it.
    client: String,
    /// BLAKE3 digest of the token, in hex. A token is random and long enough, so that nobody finds it by its digest.
    digest: String,
}

impl ClientTokens {
    /// Returns the tokens of a data folder.
    pub fn new(data_dir: &Path) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
        }
    }

    /// Makes a token for a client, and returns it; it is kept nowhere.
    ///
    /// # Errors
    /// A name that is empty, too long, or has one already; a file that cannot be read or written.
    pub fn add(&self, client: &str) -> Result<String, UserError> {
        check_name(client)?;
        let _lock = runtime::lock_file(&self.data_dir.join(LOCK_FILE))?;
        let mut file = self.load()?;
        if file.tokens.iter().any(|stored| stored.client == client) {
            return Err(UserError::new(
                format!("The client `{client}` has a token already."),
                format!("Revoke it first: countersign gateway token revoke {client}."),
            ));
        }
        if file.tokens.len() >= CLIENT_TOKENS_MAX {
            return Err(UserError::new(
                format!("There are {CLIENT_TOKENS_MAX} tokens already."),
                "Revoke those that nobody uses: countersign gateway token list.",
            ));
        }
        let (first, second) = (Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let token = format!("{TOKEN_PREFIX}{first}{second}");
        file.tokens.push(StoredToken {
            client: client.to_owned(),
            digest: blake3::hash(token.as_bytes()).to_hex().to_string(),
        });
        self.save(&file)?;
        Ok(token)
    }

    /// Returns the names of the clients that have a token, in the order in which they were added.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<String>, UserError> {
        let tokens = self.load()?.tokens.into_iter();
        Ok(tokens.map(|stored| stored.client).collect())
    }

    /// Revokes the token of a client. Requests with it are refused from now on, and its sessions end.
    ///
    /// # Errors
    /// There is no such client; a file that cannot be read or written.
    pub fn revoke(&self, client: &str) -> Result<(), UserError> {
        let _lock = runtime::lock_file(&self.data_dir.join(LOCK_FILE))?;
        let mut file = self.load()?;
        let before = file.tokens.len();
        file.tokens.retain(|stored| stored.client != client);
        if file.tokens.len() == before {
            let client = to_single_line(client, CLIENT_NAME_CHARS_MAX);
            return Err(UserError::new(
                format!("The client `{client}` has no token."),
                "List those that have one: countersign gateway token list.",
            ));
        }
        self.save(&file)
    }

    /// Returns the name of the client that has this token; none if nobody has. Digests are compared in constant time.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn find_client(&self, token: &str) -> Result<Option<String>, UserError> {
        let presented = blake3::hash(token.as_bytes());
        let mut tokens = self.load()?.tokens.into_iter();
        let found = tokens.find(|stored| {
            let digest = blake3::Hash::from_hex(&stored.digest);
            digest.is_ok_and(|digest| digest == presented)
        });
        Ok(found.map(|stored| stored.client))
    }

    fn path(&self) -> PathBuf {
        self.data_dir.join(TOKENS_FILE)
    }

    fn load(&self) -> Result<TokensFile, UserError> {
        let Some(text) = runtime::read_text_within(&self.path(), CLIENT_TOKENS_BYTES_MAX)? else {
            return Ok(TokensFile::default());
        };
        serde_json::from_str(&text).map_err(|error| {
            UserError::new(
                format!(
                    "{} does not say which tokens there are.",
                    self.path().display()
                ),
                "Remove it, and make the tokens again: countersign gateway token add NAME.",
            )
            .with_source(&error)
        })
    }

    fn save(&self, file: &TokensFile) -> Result<(), UserError> {
        let text = serde_json::to_string_pretty(file).map_err(|error| {
            UserError::new("The tokens cannot be written.", "").with_source(&error)
        })?;
        Ok(runtime::write_atomic(
            &self.path(),
            text.as_bytes(),
            PRIVATE_MODE,
        )?)
    }
}

/// Checks a name: letters, digits, `-`, `_`, and `.`, so that it stands in lines and commands as it is.
fn check_name(client: &str) -> Result<(), UserError> {
    let is_name = client
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if client.is_empty() || !is_name || client.len() > CLIENT_NAME_CHARS_MAX {
        return Err(UserError::new(
            format!(
                "`{}` is no name for a client.",
                to_single_line(client, CLIENT_NAME_CHARS_MAX)
            ),
            format!(
                "Use up to {CLIENT_NAME_CHARS_MAX} letters, digits, `-`, `_`, and `.`: laptop-editor."
            ),
        ));
    }
    Ok(())
}
