//! Signs a person in to a server: finds out who does that, says which address to open, and takes what the browser brings back.

pub(crate) mod challenge;
mod errands;
mod revoke;
mod vault;

use std::collections::HashMap;
use std::sync::Arc;

use protocol::servers::ServerId;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use runtime::net::WayBack;
use serde_json::Value;
use url::Url;

use crate::limits::{ASK_URL_CHARS_MAX, REASON_CHARS_MAX};
pub(crate) use challenge::Challenge;
use errands::{Errands, is_loopback};
pub(crate) use revoke::TakenBack;
use vault::Drawer;
pub(crate) use vault::Record;
pub use vault::Vault;

/// As what Countersign introduces itself.
const NAME: &str = "Countersign";

/// What signing in to one server stands on, its references looked up.
pub(crate) struct Signer {
    pub server: ServerId,
    pub url: String,
    /// The id and the secret of a client that the person was given.
    pub client: Option<(String, Option<String>)>,
    pub vault: Arc<dyn Vault>,
    pub renewing: Arc<tokio::sync::Mutex<()>>,
}

/// Why a sign-in could not begin, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotBegun {
    /// The keychain cannot be asked, so what the person signs in with could not be kept.
    NoKeychain(String),
    /// Anything else.
    Other(String),
}

impl From<String> for NotBegun {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// A sign-in that waits for the person.
pub(crate) struct Begun {
    /// The address that they open.
    pub url: String,
    /// Its host.
    pub host: String,
    state: String,
    way: WayBack,
    manager: AuthorizationManager,
}

impl Signer {
    /// The place of its sign-in, with nothing said of one.
    fn drawer(&self) -> Drawer {
        Drawer {
            vault: self.vault.clone(),
            server: self.server.clone(),
            url: self.url.clone(),
            redirect: String::new(),
            secret: None,
            challenge: None,
            renewing: self.renewing.clone(),
        }
    }

    async fn manager(&self) -> Result<AuthorizationManager, String> {
        let server = Url::parse(&self.url).map_err(|_| "its address is none".to_owned())?;
        let errands = Arc::new(Errands::of(&server).await);
        let made = AuthorizationManager::new_with_oauth_http_client(server, errands).await;
        made.map_err(|error| told(&error))
    }

    /// What the person signed in with; none if they did not.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence.
    pub(crate) async fn record(&self) -> Result<Option<Record>, String> {
        self.drawer().record().await
    }

    /// A client that shows what the person signed in with, and renews it; none if somebody else signs people in now.
    ///
    /// # Errors
    /// Nobody says who renews it, or the keychain cannot be asked; a clause.
    pub(crate) async fn client(
        &self,
        record: Record,
        client: reqwest::Client,
    ) -> Result<Option<AuthClient<reqwest::Client>>, String> {
        let drawer = Drawer {
            redirect: record.redirect.clone(),
            secret: record.secret.clone(),
            challenge: record.challenge.clone(),
            ..self.drawer()
        };
        let mut manager = self.manager().await?;
        let header = record.challenge.as_deref();
        let found = manager.resolve_metadata_from_challenge(header).await;
        let metadata = found.map_err(|error| told(&error))?.metadata;
        if metadata.issuer != record.credentials.issuer {
            // Somebody else signs people in now: what the one before gave out is for nobody there.
            drawer.empty().await?;
            return Ok(None);
        }
        manager.set_metadata(metadata);
        let mut config = OAuthClientConfig::new(record.credentials.client_id, record.redirect);
        if let Some(secret) = record.secret {
            config = config.with_client_secret(secret);
        }
        let configured = manager.configure_client(config);
        configured.map_err(|error| told(&error))?;
        manager.set_credential_store(drawer);
        Ok(Some(AuthClient::new(client, manager)))
    }

    /// Forgets what the person signed in with, then has whoever gave it take it back. Gives how that went: none where
    /// nothing was kept.
    ///
    /// # Errors
    /// The keychain cannot be asked; a sentence. Then nobody was told either.
    pub(crate) async fn forget(&self) -> Result<Option<TakenBack>, String> {
        let drawer = self.drawer();
        let record = drawer.record().await?;
        drawer.empty().await?;
        match record {
            None => Ok(None),
            Some(record) => Ok(Some(self.take_back(&record).await)),
        }
    }

    /// Finds out who signs people in, and begins.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub(crate) async fn begin(&self, challenge: &Challenge) -> Result<Begun, NotBegun> {
        // Where nothing can be kept, nobody is sent anywhere.
        let before = self.record().await.map_err(NotBegun::NoKeychain)?;
        let way = WayBack::open().await;
        let way = way.map_err(|error| format!("nobody can come back from a browser: {error}"))?;
        let mut manager = self.manager().await?;
        let header = challenge.header.as_deref();
        let found = manager.resolve_metadata_from_challenge(header).await;
        let metadata = found.map_err(|error| told(&error))?.metadata;
        manager.set_metadata(metadata.clone());
        let scopes = scopes(&manager, before.as_ref(), &metadata).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let secret = self.introduce(&mut manager, &metadata, way.address(), &scopes);
        let drawer = Drawer {
            redirect: way.address().to_owned(),
            secret: secret.await?,
            challenge: challenge.header.clone(),
            ..self.drawer()
        };
        manager.set_credential_store(drawer);
        let url = manager.get_authorization_url(&scopes).await;
        let (url, host, state) = opened(&url.map_err(|error| told(&error))?)?;
        Ok(Begun {
            url,
            host,
            state,
            way,
            manager,
        })
    }

    /// Says who Countersign is: what the person was given for it, else it introduces itself. Gives the secret, if there is one.
    async fn introduce(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        redirect: &str,
        scopes: &[&str],
    ) -> Result<Option<String>, String> {
        let reads_documents = metadata
            .additional_fields
            .get("client_id_metadata_document_supported")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        let given = self.client.as_ref();
        let given = given.filter(|(id, _)| reads_documents || !id.starts_with("https://"));
        let Some((id, secret)) = given else {
            let registered = manager.register_client(NAME, redirect, scopes).await;
            return match registered {
                Ok(config) => Ok(config.client_secret),
                Err(error) => Err(format!(
                    "it could not be introduced there, and no `client` is set up for it: {}",
                    told(&error)
                )),
            };
        };
        let mut config = OAuthClientConfig::new(id, redirect);
        if let Some(secret) = secret {
            config = config.with_client_secret(secret);
        }
        let configured = manager.configure_client(config);
        configured.map_err(|error| told(&error))?;
        Ok(secret.clone())
    }
}

/// What is asked for: what the server wants now, beside what was allowed before by the same.
async fn scopes(
    manager: &AuthorizationManager,
    before: Option<&Record>,
    metadata: &AuthorizationMetadata,
) -> Vec<String> {
    let same = before.filter(|record| record.credentials.issuer == metadata.issuer);
    let mut scopes = same.map_or_else(Vec::new, |record| record.credentials.granted_scopes.clone());
    for scope in manager.select_initial_scopes(&[]).await {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// An address that a person may be asked to open, with its host, and the word that is to come back.
fn opened(url: &str) -> Result<(String, String, String), String> {
    let short = url.chars().count() <= ASK_URL_CHARS_MAX;
    let read = Url::parse(url).ok().filter(|_| short);
    let read = read.ok_or("the address to sign in at is none, or too long")?;
    if read.scheme() != "https" && !(read.scheme() == "http" && is_loopback(&read)) {
        return Err("the address to sign in at is not encrypted".to_owned());
    }
    let host = read
        .host_str()
        .ok_or("the address to sign in at has no host")?;
    let states: Vec<String> = read
        .query_pairs()
        .filter(|(name, _)| name == "state")
        .map(|(_, value)| value.into_owned())
        .collect();
    match states.as_slice() {
        [state] if !state.is_empty() => Ok((read.to_string(), host.to_owned(), state.clone())),
        _ => Err("the address to sign in at is not the one that was made".to_owned()),
    }
}

impl Begun {
    /// Waits until the browser comes back, and takes what it brings. Whoever comes with another word is sent away.
    ///
    /// # Errors
    /// Why the person is not signed in, as a clause.
    pub(crate) async fn finish(mut self) -> Result<(), String> {
        while let Some(visit) = self.way.visit().await {
            let url = Url::parse(&visit.url).ok();
            let pairs = url.iter().flat_map(|url| url.query_pairs().into_owned());
            let brought: HashMap<String, String> = pairs.collect();
            let named = |name: &str| brought.get(name).map(String::as_str);
            if named("state") != Some(&self.state) {
                let sentence = "This is not the answer that Countersign waits for. Go back to the page where you sign in.";
                visit.answer(400, sentence).await;
                continue;
            }
            let result = match (named("error"), named("code")) {
                (Some("access_denied"), _) => Err("it was refused there".to_owned()),
                (Some(error), _) => {
                    let said = named("error_description").unwrap_or(error);
                    let said =
                        tools::text::shortened(&tools::text::visible(said), REASON_CHARS_MAX);
                    Err(format!("it did not work there: {said}"))
                }
                (None, Some(code)) => {
                    let state = &self.state;
                    let taken =
                        self.manager
                            .exchange_code_for_token_with_issuer(code, state, named("iss"));
                    taken.await.map(drop).map_err(|error| told(&error))
                }
                (None, None) => Err("the browser came back with nothing".to_owned()),
            };
            let (status, sentence) = match &result {
                Ok(()) => (
                    200,
                    "You are signed in. Close this page and go back to Countersign.",
                ),
                Err(_) => (
                    403,
                    "You are not signed in. Close this page and go back to Countersign, which says why.",
                ),
            };
            visit.answer(status, sentence).await;
            return result;
        }
        Err("nobody can come back from a browser any more".to_owned())
    }
}

/// What went wrong, as a clause.
fn told(error: &AuthError) -> String {
    let told = match error {
        AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        } => format!("`{received_issuer}` answered, and `{expected_issuer}` was asked"),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("the answer does not say that it comes from `{expected_issuer}`, and must")
        }
        AuthError::PkceUnsupported => {
            "who signs people in there does not protect what comes back (no PKCE with S256)"
                .to_owned()
        }
        AuthError::CredentialStoreError(why) => why.trim_end_matches('.').to_owned(),
        other => {
            let cause = crate::reasons::deepest(other);
            let said = other.to_string();
            match said.contains(&cause) {
                true => said,
                false => format!("{said}: {cause}"),
            }
        }
    };
    let (masked, _) = protocol::redact::text(&told);
    tools::text::shortened(&tools::text::visible(&masked), REASON_CHARS_MAX)
}
