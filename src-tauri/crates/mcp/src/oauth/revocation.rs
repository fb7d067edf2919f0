//! Asks the authorization server to revoke a sign-in (RFC 7009), once it is removed here.

use base64::Engine;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::SignInClient;
use super::http::OAuthHttp;
use super::vault::SignInRecord;

/// Result of asking the authorization server for a revocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RevocationResult {
    /// The sign-in is no longer valid.
    Revoked,
    /// The authorization server supports no revocation: the sign-in stays valid until it expires.
    Unsupported,
    /// The authorization server could not be reached, or refused; a clause.
    Failed(String),
}

impl SignInClient {
    /// Revokes a sign-in that is already removed here.
    pub(super) async fn revoke_record(&self, record: &SignInRecord) -> RevocationResult {
        self.try_revoke(record)
            .await
            .unwrap_or_else(RevocationResult::Failed)
    }

    async fn try_revoke(&self, record: &SignInRecord) -> Result<RevocationResult, String> {
        let server = Url::parse(&self.url).map_err(|_| "its address is none".to_owned())?;
        let manager = self.authorization_manager().await?;
        let challenge = record.challenge.as_deref();
        let metadata = self.resolve_metadata(&manager, challenge).await?;
        if metadata.issuer != record.credentials.issuer {
            return Err("somebody else signs people in there now".to_owned());
        }
        let more = &metadata.additional_fields;
        let Some(at) = more.get("revocation_endpoint").and_then(Value::as_str) else {
            return Ok(RevocationResult::Unsupported);
        };
        let Some((kind, token)) = revocable_token(record) else {
            return Ok(RevocationResult::Unsupported);
        };
        let http = OAuthHttp::for_server(&server).await;
        let (header, body) = revocation_request(record, &metadata, kind, &token);
        match http.post_form(at, header, body).await? {
            200 => Ok(RevocationResult::Revoked),
            status => Err(format!("the answer was {status}")),
        }
    }
}

/// Returns the token to revoke: the refresh token, which invalidates everything issued with it; otherwise the access
/// token.
fn revocable_token(record: &SignInRecord) -> Option<(&'static str, String)> {
    let response = serde_json::to_value(&record.credentials.token_response).ok()?;
    ["refresh_token", "access_token"]
        .into_iter()
        .find_map(|kind| {
            let token = response.get(kind)?.as_str()?;
            Some((kind, token.to_owned()))
        })
}

/// Builds the authentication header, where one is wanted, and the form to send.
fn revocation_request(
    record: &SignInRecord,
    metadata: &AuthorizationMetadata,
    kind: &str,
    token: &str,
) -> (Option<(String, String)>, String) {
    let id = &record.credentials.client_id;
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token)
        .append_pair("token_type_hint", kind);
    let Some(secret) = &record.secret else {
        return (None, form.append_pair("client_id", id).finish());
    };
    if requires_secret_in_body(metadata) {
        form.append_pair("client_id", id)
            .append_pair("client_secret", secret);
        return (None, form.finish());
    }
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret));
    let basic = base64::engine::general_purpose::STANDARD.encode(pair);
    let header = ("authorization".to_owned(), format!("Basic {basic}"));
    (Some(header), form.finish())
}

/// Whether the client secret can only be sent in the form, beside the token.
fn requires_secret_in_body(metadata: &AuthorizationMetadata) -> bool {
    let more = &metadata.additional_fields;
    let methods = more
        .get("revocation_endpoint_auth_methods_supported")
        .and_then(Value::as_array);
    let has = |name: &str| methods.is_some_and(|all| all.iter().any(|one| one == name));
    has("client_secret_post") && !has("client_secret_basic")
}
