//! Stores a person's sign-in: in the keychain and nowhere else, and only for the URL that they signed in to.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::server::mcp_servers::ServerId;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};

use crate::limits::SIGN_IN_RECORD_BYTES_MAX;

/// Storage of sign-ins. Its methods may block: they are called away from the async threads.
pub trait CredentialVault: Send + Sync {
    /// Returns the stored sign-in of a server.
    ///
    /// # Errors
    /// The keychain is not available; a sentence.
    fn get(&self, server: &ServerId) -> Result<Option<String>, String>;

    /// Stores a sign-in, replacing the previous one.
    ///
    /// # Errors
    /// The keychain does not accept the sign-in; a sentence.
    fn set(&self, server: &ServerId, record: &str) -> Result<(), String>;

    /// Removes the sign-in of a server; succeeds if there is none.
    ///
    /// # Errors
    /// The keychain is not available; a sentence.
    fn remove(&self, server: &ServerId) -> Result<(), String>;

    /// Keeps other processes from renewing the sign-in until the returned lock is dropped: a refresh token can be used
    /// only once.
    ///
    /// # Errors
    /// Another process does not finish its renewal; a sentence.
    fn lock_renewal(&self, server: &ServerId) -> Result<Box<dyn Send>, String>;
}

/// A stored sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SignInRecord {
    /// URL of the server that the sign-in is for. The sign-in is sent to no other.
    pub url: String,
    /// Redirect URL to which the browser came back.
    pub redirect: String,
    /// The client secret, if the client has one.
    pub secret: Option<String>,
    /// The server's challenge, which says where to sign in.
    pub challenge: Option<String>,
    pub credentials: StoredCredentials,
}

/// Storage of one server's sign-in. Cheap to clone.
#[derive(Clone)]
pub(super) struct SignInStore {
    pub vault: Arc<dyn CredentialVault>,
    pub server: ServerId,
    pub url: String,
    pub redirect: String,
    pub secret: Option<String>,
    pub challenge: Option<String>,
    /// Held during a renewal of the sign-in.
    pub renewal_lock: Arc<tokio::sync::Mutex<()>>,
}

impl SignInStore {
    /// Returns the stored sign-in for this URL; none if it cannot be parsed.
    ///
    /// # Errors
    /// The keychain is not available; a sentence.
    pub async fn load_record(&self) -> Result<Option<SignInRecord>, String> {
        let (vault, server) = (self.vault.clone(), self.server.clone());
        let text = run_blocking(move || vault.get(&server)).await?;
        let record = text.and_then(|text| serde_json::from_str::<SignInRecord>(&text).ok());
        Ok(record.filter(|record| record.url == self.url))
    }

    /// Removes the stored sign-in.
    ///
    /// # Errors
    /// The keychain is not available; a sentence.
    pub async fn remove_record(&self) -> Result<(), String> {
        let (vault, server) = (self.vault.clone(), self.server.clone());
        run_blocking(move || vault.remove(&server)).await
    }

    async fn save_record(&self, credentials: StoredCredentials) -> Result<(), String> {
        let record = SignInRecord {
            url: self.url.clone(),
            redirect: self.redirect.clone(),
            secret: self.secret.clone(),
            challenge: self.challenge.clone(),
            credentials,
        };
        let text = serde_json::to_string(&record).map_err(|error| error.to_string())?;
        if text.len() > SIGN_IN_RECORD_BYTES_MAX {
            return Err(format!(
                "What was signed in with is longer than {SIGN_IN_RECORD_BYTES_MAX} bytes."
            ));
        }
        let (vault, server) = (self.vault.clone(), self.server.clone());
        run_blocking(move || vault.set(&server, &text)).await
    }
}

/// Runs keychain work on a blocking thread, since the keychain may ask the person first.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err("The keychain could not be asked.".to_owned()))
}

#[async_trait]
impl CredentialStore for SignInStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let record = self.load_record().await;
        let record = record.map_err(AuthError::CredentialStoreError)?;
        Ok(record.map(|record| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let put = self.save_record(credentials).await;
        put.map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.remove_record()
            .await
            .map_err(AuthError::CredentialStoreError)
    }

    /// Removes the sign-in after a refused renewal: it is no longer valid.
    async fn on_refresh_token_rejected(
        &self,
        refused: &StoredCredentials,
    ) -> Result<(), AuthError> {
        let stored = self.load().await?;
        let token =
            |credentials: &StoredCredentials| serde_json::to_value(credentials).unwrap_or_default();
        match stored.is_some_and(|stored| token(&stored) == token(refused)) {
            true => self.clear().await,
            false => Ok(()),
        }
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let local_lock = self.renewal_lock.clone().lock_owned().await;
        let (vault, server) = (self.vault.clone(), self.server.clone());
        let process_lock = run_blocking(move || vault.lock_renewal(&server)).await;
        let process_lock = process_lock.map_err(AuthError::CredentialStoreError)?;
        Ok(Some(CredentialRefreshGuard::new((
            process_lock,
            local_lock,
        ))))
    }
}
