//! What a person signed in with: kept in the keychain and nowhere else, and for the address that they signed in to alone.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::server::mcp_servers::ServerId;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};

use crate::limits::SIGN_IN_RECORD_BYTES_MAX;

/// Where sign-ins are kept. May block: it is asked away from the async threads.
pub trait CredentialVault: Send + Sync {
    /// What was kept of a server.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence.
    fn get(&self, server: &ServerId) -> Result<Option<String>, String>;

    /// Keeps it, in the place of what was there.
    ///
    /// # Errors
    /// The keychain does not take it; a sentence.
    fn set(&self, server: &ServerId, record: &str) -> Result<(), String>;

    /// Forgets it; fine if there is none.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence.
    fn remove(&self, server: &ServerId) -> Result<(), String>;

    /// Keeps other processes from renewing it until what is given is dropped: a renewal is good for one use.
    ///
    /// # Errors
    /// Another process does not come to an end of it; a sentence.
    fn lock_renewal(&self, server: &ServerId) -> Result<Box<dyn Send>, String>;
}

/// One sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SignInRecord {
    /// The address of the server that it is for. It is sent to no other.
    pub url: String,
    /// Where the browser came back to.
    pub redirect: String,
    /// The secret of the client, if it was given one.
    pub secret: Option<String>,
    /// What the server said of whom to go to.
    pub challenge: Option<String>,
    pub credentials: StoredCredentials,
}

/// The place of one server's sign-in. Cheap to clone.
#[derive(Clone)]
pub(super) struct SignInStore {
    pub vault: Arc<dyn CredentialVault>,
    pub server: ServerId,
    pub url: String,
    pub redirect: String,
    pub secret: Option<String>,
    pub challenge: Option<String>,
    /// Held by whoever renews it.
    pub renewal_lock: Arc<tokio::sync::Mutex<()>>,
}

impl SignInStore {
    /// What is kept for this address. What cannot be read is none.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence.
    pub async fn load_record(&self) -> Result<Option<SignInRecord>, String> {
        let (vault, server) = (self.vault.clone(), self.server.clone());
        let kept = run_blocking(move || vault.get(&server)).await?;
        let record = kept.and_then(|text| serde_json::from_str::<SignInRecord>(&text).ok());
        Ok(record.filter(|record| record.url == self.url))
    }

    /// Forgets it.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence.
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

/// The keychain may ask the person first.
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

    /// A refused renewal is good for nothing any more.
    async fn on_refresh_token_rejected(
        &self,
        refused: &StoredCredentials,
    ) -> Result<(), AuthError> {
        let kept = self.load().await?;
        let token =
            |credentials: &StoredCredentials| serde_json::to_value(credentials).unwrap_or_default();
        match kept.is_some_and(|kept| token(&kept) == token(refused)) {
            true => self.clear().await,
            false => Ok(()),
        }
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let here = self.renewal_lock.clone().lock_owned().await;
        let (vault, server) = (self.vault.clone(), self.server.clone());
        let everywhere = run_blocking(move || vault.lock_renewal(&server)).await;
        let everywhere = everywhere.map_err(AuthError::CredentialStoreError)?;
        Ok(Some(CredentialRefreshGuard::new((everywhere, here))))
    }
}
