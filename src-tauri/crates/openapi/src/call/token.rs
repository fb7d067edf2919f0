//! Caches access tokens that are requested with client credentials: reused while they are valid, renewed shortly before
//! they expire.

use std::collections::HashMap;
use std::sync::Arc;

use protocol::text::display_text::to_single_line;
use protocol::{At, ToolError};
use runtime::{Clock, FetchLimits, HttpRequest, NetworkClient, RequestMethod};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tools::config_references::ReferenceResolver;

use crate::call::credentials::{OAuthClient, SecretMasks, basic_auth_value};
use crate::call::style::encode_strict;
use crate::limits::{
    REASON_CHARS_MAX, TOKEN_BYTES_MAX, TOKEN_DEFAULT_LIFETIME_MS, TOKEN_MARGIN_MS,
};

/// The tokens of one service. While one caller requests a token, the others wait for it.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<HashMap<OAuthClient, AccessToken>>);

struct AccessToken {
    value: String,
    expires_at: At,
}

/// Inputs for requesting a token.
pub(crate) struct TokenRequest<'a> {
    pub net: &'a NetworkClient,
    pub clock: &'a Arc<dyn Clock>,
    pub lookup: &'a Arc<dyn ReferenceResolver>,
    pub timeout_ms: u64,
    pub cancel: &'a CancellationToken,
}

impl TokenCache {
    /// Returns a token, and whether it was cached.
    ///
    /// # Errors
    /// The service grants no token, or a secret cannot be resolved.
    pub async fn get(
        &self,
        client: &OAuthClient,
        token_request: &TokenRequest<'_>,
        masks: &mut SecretMasks,
    ) -> Result<(String, bool), ToolError> {
        let mut tokens = self.0.lock().await;
        let now = token_request.clock.now();
        let cached = tokens.get(client).filter(|token| now < token.expires_at);
        if let Some(token) = cached {
            masks.add_secret(&token.value, "a token");
            return Ok((token.value.clone(), true));
        }
        let token = request_token(client, token_request, masks).await?;
        masks.add_secret(&token.value, "a token");
        let value = token.value.clone();
        tokens.insert(client.clone(), token);
        Ok((value, false))
    }

    /// Removes a token that a service rejects.
    pub async fn invalidate(&self, client: &OAuthClient) {
        self.0.lock().await.remove(client);
    }
}

async fn request_token(
    client: &OAuthClient,
    token_request: &TokenRequest<'_>,
    masks: &mut SecretMasks,
) -> Result<AccessToken, ToolError> {
    let (lookup, owned_client) = (token_request.lookup.clone(), client.clone());
    let mut new_masks = masks.clone();
    let resolving = tokio::task::spawn_blocking(move || {
        let id = new_masks.look_up(&owned_client.client_id, &*lookup)?;
        let secret = new_masks.look_up(&owned_client.client_secret, &*lookup)?;
        Ok::<_, ToolError>((id, secret, new_masks))
    });
    let broken = |_| ToolError::Failed("The keychain broke off. Try again.".to_owned());
    let (id, secret, new_masks) = resolving.await.map_err(broken)??;
    *masks = new_masks;
    let authorization = basic_auth_value(&encode_strict(&id), &encode_strict(&secret));
    masks.add_secret(authorization.trim_start_matches("Basic "), "who asks");
    let scopes = match client.scopes.as_slice() {
        [] => String::new(),
        scopes => format!("&scope={}", encode_strict(&scopes.join(" "))),
    };
    let request = HttpRequest {
        method: RequestMethod::Post,
        url: client.token_url.clone(),
        headers: vec![
            ("Accept".to_owned(), "application/json".to_owned()),
            ("Authorization".to_owned(), authorization),
            (
                "Content-Type".to_owned(),
                "application/x-www-form-urlencoded".to_owned(),
            ),
        ],
        body: Some(format!("grant_type=client_credentials{scopes}").into_bytes()),
    };
    let limits = FetchLimits {
        timeout_ms: token_request.timeout_ms,
        body_bytes_max: TOKEN_BYTES_MAX,
    };
    let reply = token_request
        .net
        .send_following_redirects(&request, limits, token_request.cancel)
        .await;
    let reply =
        reply.map_err(|error| crate::call::response::network_error_to_tool_error(&error, masks))?;
    let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let token = answer.get("access_token").and_then(Value::as_str);
    let Some(token) = token.filter(|_| (200..300).contains(&reply.status)) else {
        let why = String::from_utf8_lossy(&reply.body);
        return Err(ToolError::Failed(format!(
            "No token was given: {} answered {}. {}",
            crate::document::base_url::url_host(&client.token_url),
            reply.status,
            masks.mask_text(&to_single_line(&why, REASON_CHARS_MAX))
        )));
    };
    let lifetime_ms = answer.get("expires_in").and_then(Value::as_i64);
    let lifetime_ms = lifetime_ms.map_or(TOKEN_DEFAULT_LIFETIME_MS, |seconds| {
        seconds.clamp(0, 365 * 86_400) * 1_000
    });
    Ok(AccessToken {
        value: token.to_owned(),
        expires_at: token_request
            .clock
            .now()
            .saturating_add(lifetime_ms - TOKEN_MARGIN_MS),
    })
}
