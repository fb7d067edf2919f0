//! Signs a person in to a server: discovers the authorization server, returns the URL to open, and receives the
//! browser's callback.

pub(crate) mod challenge;
mod http;
mod revocation;
mod vault;

use std::collections::HashMap;
use std::sync::Arc;

use protocol::server::mcp_servers::ServerId;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use runtime::net::CallbackListener;
use serde_json::Value;
use url::Url;

use crate::limits::{ELICITATION_URL_CHARS_MAX, REASON_CHARS_MAX};
pub(crate) use challenge::AuthChallenge;
use http::{OAuthHttp, is_loopback};
pub(crate) use revocation::RevocationResult;
pub use vault::CredentialVault;
pub(crate) use vault::SignInRecord;
use vault::SignInStore;

/// Name under which Countersign registers as a client.
const CLIENT_NAME: &str = "Countersign";

/// The dependencies of signing in to one server, with its references resolved.
pub(crate) struct SignInClient {
    pub server: ServerId,
    pub url: String,
    /// The id and the secret of a client that the person was given.
    pub client: Option<(String, Option<String>)>,
    pub vault: Arc<dyn CredentialVault>,
    pub renewal_lock: Arc<tokio::sync::Mutex<()>>,
}

/// Reason why a sign-in could not begin, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignInError {
    /// The keychain is not available, so the sign-in could not be stored.
    NoKeychain(String),
    /// Any other reason.
    Other(String),
}

impl From<String> for SignInError {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// A sign-in that waits for the person.
pub(crate) struct PendingSignIn {
    /// The URL that the person opens.
    pub url: String,
    /// Host of the URL.
    pub host: String,
    state: String,
    callback: CallbackListener,
    manager: AuthorizationManager,
}

impl SignInClient {
    /// Returns the storage of the server's sign-in, without a challenge.
    fn credential_store(&self) -> SignInStore {
        SignInStore {
            vault: self.vault.clone(),
            server: self.server.clone(),
            url: self.url.clone(),
            redirect: String::new(),
            secret: None,
            challenge: None,
            renewal_lock: self.renewal_lock.clone(),
        }
    }

    async fn authorization_manager(&self) -> Result<AuthorizationManager, String> {
        let server = Url::parse(&self.url).map_err(|_| "its address is none".to_owned())?;
        let http = Arc::new(OAuthHttp::for_server(&server).await);
        let manager = AuthorizationManager::new_with_oauth_http_client(server, http).await;
        manager.map_err(|error| describe_auth_error(&error))
    }

    /// Discovers the metadata of the authorization server that a challenge names.
    async fn resolve_metadata(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<AuthorizationMetadata, String> {
        let resolved = manager.resolve_metadata_from_challenge(challenge).await;
        Ok(resolved
            .map_err(|error| describe_auth_error(&error))?
            .metadata)
    }

    /// Returns the stored sign-in of the person; none if they are not signed in.
    ///
    /// # Errors
    /// The keychain is not available; a sentence.
    pub(crate) async fn load_record(&self) -> Result<Option<SignInRecord>, String> {
        self.credential_store().load_record().await
    }

    /// Returns this client with the stored sign-in, which is sent and renewed; none if another authorization server is
    /// responsible now.
    ///
    /// # Errors
    /// No authorization server for renewals is found, or the keychain is not available; a clause.
    pub(crate) async fn authorized_client<C>(
        &self,
        record: SignInRecord,
        client: C,
    ) -> Result<Option<AuthClient<C>>, String> {
        let store = SignInStore {
            redirect: record.redirect.clone(),
            secret: record.secret.clone(),
            challenge: record.challenge.clone(),
            ..self.credential_store()
        };
        let mut manager = self.authorization_manager().await?;
        let challenge = record.challenge.as_deref();
        let metadata = self.resolve_metadata(&manager, challenge).await?;
        if metadata.issuer != record.credentials.issuer {
            // Somebody else signs people in now: what the one before gave out is for nobody there.
            store.remove_record().await?;
            return Ok(None);
        }
        manager.set_metadata(metadata);
        let config = OAuthClientConfig::new(record.credentials.client_id, record.redirect);
        configure_client(&mut manager, config, record.secret)?;
        manager.set_credential_store(store);
        Ok(Some(AuthClient::new(client, manager)))
    }

    /// Removes the stored sign-in, then asks the authorization server to revoke it. Returns the result of the
    /// revocation; none if nothing was stored.
    ///
    /// # Errors
    /// The keychain is not available; a sentence. Then nothing was revoked either.
    pub(crate) async fn revoke_sign_in(&self) -> Result<Option<RevocationResult>, String> {
        let store = self.credential_store();
        let record = store.load_record().await?;
        store.remove_record().await?;
        match record {
            None => Ok(None),
            Some(record) => Ok(Some(self.revoke_record(&record).await)),
        }
    }

    /// Discovers the authorization server and begins the sign-in.
    ///
    /// # Errors
    /// The reason why it cannot begin.
    pub(crate) async fn begin_sign_in(
        &self,
        challenge: &AuthChallenge,
    ) -> Result<PendingSignIn, SignInError> {
        // Where nothing can be kept, nobody is sent anywhere.
        let previous = self.load_record().await.map_err(SignInError::NoKeychain)?;
        let callback = CallbackListener::open().await;
        let callback =
            callback.map_err(|error| format!("nobody can come back from a browser: {error}"))?;
        let mut manager = self.authorization_manager().await?;
        let header = challenge.header.as_deref();
        let metadata = self.resolve_metadata(&manager, header).await?;
        manager.set_metadata(metadata.clone());
        let scopes = requested_scopes(&manager, previous.as_ref(), &metadata).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let secret = self.register_client(&mut manager, &metadata, callback.address(), &scopes);
        let store = SignInStore {
            redirect: callback.address().to_owned(),
            secret: secret.await?,
            challenge: challenge.header.clone(),
            ..self.credential_store()
        };
        manager.set_credential_store(store);
        let url = manager.get_authorization_url(&scopes).await;
        let (url, host, state) =
            parse_authorization_url(&url.map_err(|error| describe_auth_error(&error))?)?;
        Ok(PendingSignIn {
            url,
            host,
            state,
            callback,
            manager,
        })
    }

    /// Identifies Countersign as a client: by the id that the person was given, otherwise by registration. Returns the
    /// secret, if there is one.
    async fn register_client(
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
        let client = self.client.as_ref();
        let client = client.filter(|(id, _)| reads_documents || !id.starts_with("https://"));
        let Some((id, secret)) = client else {
            let registered = manager.register_client(CLIENT_NAME, redirect, scopes).await;
            return match registered {
                Ok(config) => Ok(config.client_secret),
                Err(error) => Err(format!(
                    "it could not be introduced there, and no `client` is set up for it: {}",
                    describe_auth_error(&error)
                )),
            };
        };
        let config = OAuthClientConfig::new(id, redirect);
        configure_client(manager, config, secret.clone())?;
        Ok(secret.clone())
    }
}

fn configure_client(
    manager: &mut AuthorizationManager,
    mut config: OAuthClientConfig,
    secret: Option<String>,
) -> Result<(), String> {
    if let Some(secret) = secret {
        config = config.with_client_secret(secret);
    }
    let configured = manager.configure_client(config);
    configured.map_err(|error| describe_auth_error(&error))
}

/// Returns the scopes to request: those that the server requires now, and those that the same authorization server
/// granted before.
async fn requested_scopes(
    manager: &AuthorizationManager,
    previous: Option<&SignInRecord>,
    metadata: &AuthorizationMetadata,
) -> Vec<String> {
    let same = previous.filter(|record| record.credentials.issuer == metadata.issuer);
    let mut scopes = same.map_or_else(Vec::new, |record| record.credentials.granted_scopes.clone());
    for scope in manager.select_initial_scopes(&[]).await {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// Parses a URL that a person may be asked to open. Returns the URL, its host, and the `state` that must come back.
fn parse_authorization_url(url: &str) -> Result<(String, String, String), String> {
    let fits = url.chars().count() <= ELICITATION_URL_CHARS_MAX;
    let parsed = Url::parse(url).ok().filter(|_| fits);
    let parsed = parsed.ok_or("the address to sign in at is none, or too long")?;
    if parsed.scheme() != "https" && !(parsed.scheme() == "http" && is_loopback(&parsed)) {
        return Err("the address to sign in at is not encrypted".to_owned());
    }
    let host = parsed
        .host_str()
        .ok_or("the address to sign in at has no host")?;
    let states: Vec<String> = parsed
        .query_pairs()
        .filter(|(name, _)| name == "state")
        .map(|(_, value)| value.into_owned())
        .collect();
    match states.as_slice() {
        [state] if !state.is_empty() => Ok((parsed.to_string(), host.to_owned(), state.clone())),
        _ => Err("the address to sign in at is not the one that was made".to_owned()),
    }
}

impl PendingSignIn {
    /// Waits for the browser's callback and completes the sign-in. A callback with another `state` is refused.
    ///
    /// # Errors
    /// The reason why the person is not signed in, as a clause.
    pub(crate) async fn complete(mut self) -> Result<(), String> {
        while let Some(visit) = self.callback.next_request().await {
            let url = Url::parse(&visit.url).ok();
            let pairs = url.iter().flat_map(|url| url.query_pairs().into_owned());
            let parameters: HashMap<String, String> = pairs.collect();
            let parameter = |name: &str| parameters.get(name).map(String::as_str);
            if parameter("state") != Some(&self.state) {
                let sentence = "This is not the answer that Countersign waits for. Go back to the page where you sign in.";
                visit.answer(400, sentence).await;
                continue;
            }
            let result = match (parameter("error"), parameter("code")) {
                (Some("access_denied"), _) => Err("it was refused there".to_owned()),
                (Some(error), _) => {
                    let description = parameter("error_description").unwrap_or(error);
                    let description = tools::text::truncate_chars(
                        &tools::text::escape_invisible(description),
                        REASON_CHARS_MAX,
                    );
                    Err(format!("it did not work there: {description}"))
                }
                (None, Some(code)) => {
                    let state = &self.state;
                    let exchange = self.manager.exchange_code_for_token_with_issuer(
                        code,
                        state,
                        parameter("iss"),
                    );
                    exchange
                        .await
                        .map(drop)
                        .map_err(|error| describe_auth_error(&error))
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

/// Describes an authorization error, as a clause.
fn describe_auth_error(error: &AuthError) -> String {
    let description = match error {
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
            let cause = crate::root_cause::root_cause(other);
            let message = other.to_string();
            match message.contains(&cause) {
                true => message,
                false => format!("{message}: {cause}"),
            }
        }
    };
    let (masked, _) = protocol::text::redact::text(&description);
    tools::text::truncate_chars(&tools::text::escape_invisible(&masked), REASON_CHARS_MAX)
}
