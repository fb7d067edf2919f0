//! Tokens that are asked for in our own name: kept as long as they hold, asked for anew before they end.

use std::collections::HashMap;
use std::sync::Arc;

use protocol::shown::in_a_sentence;
use protocol::{At, ToolError};
use runtime::{Clock, FetchLimits, Method, Net, Outgoing};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tools::refs::Lookup;

use crate::auth::{Client, Masks, basic};
use crate::limits::{REASON_CHARS_MAX, TOKEN_BYTES_MAX, TOKEN_LIFE_MS, TOKEN_MARGIN_MS};
use crate::style::encoded;

/// The tokens of one service. Whoever needs one waits for whoever asks for it.
#[derive(Default)]
pub(crate) struct Tokens(Mutex<HashMap<Client, Token>>);

struct Token {
    value: String,
    until: At,
}

/// What a token is asked with.
pub(crate) struct Asking<'a> {
    pub net: &'a Net,
    pub clock: &'a Arc<dyn Clock>,
    pub lookup: &'a Arc<dyn Lookup>,
    pub timeout_ms: u64,
    pub cancel: &'a CancellationToken,
}

impl Tokens {
    /// A token, and whether it was there already.
    ///
    /// # Errors
    /// None is given, or a secret cannot be looked up.
    pub async fn get(
        &self,
        client: &Client,
        asking: &Asking<'_>,
        masks: &mut Masks,
    ) -> Result<(String, bool), ToolError> {
        let mut known = self.0.lock().await;
        let now = asking.clock.now();
        let still = known.get(client).filter(|token| now < token.until);
        if let Some(token) = still {
            masks.add(&token.value, "a token");
            return Ok((token.value.clone(), true));
        }
        let token = ask(client, asking, masks).await?;
        masks.add(&token.value, "a token");
        let value = token.value.clone();
        known.insert(client.clone(), token);
        Ok((value, false))
    }

    /// Forgets a token that a service does not take.
    pub async fn forget(&self, client: &Client) {
        self.0.lock().await.remove(client);
    }
}

async fn ask(client: &Client, asking: &Asking<'_>, masks: &mut Masks) -> Result<Token, ToolError> {
    let (lookup, wanted) = (asking.lookup.clone(), client.clone());
    let mut found = masks.clone();
    let looked_up = tokio::task::spawn_blocking(move || {
        let id = found.look_up(&wanted.client_id, &*lookup)?;
        let secret = found.look_up(&wanted.client_secret, &*lookup)?;
        Ok::<_, ToolError>((id, secret, found))
    });
    let broken = |_| ToolError::Failed("The keychain broke off. Try again.".to_owned());
    let (id, secret, found) = looked_up.await.map_err(broken)??;
    *masks = found;
    let authorization = basic(&encoded(&id), &encoded(&secret));
    masks.add(authorization.trim_start_matches("Basic "), "who asks");
    let scopes = match client.scopes.as_slice() {
        [] => String::new(),
        scopes => format!("&scope={}", encoded(&scopes.join(" "))),
    };
    let request = Outgoing {
        method: Method::Post,
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
        timeout_ms: asking.timeout_ms,
        body_bytes_max: TOKEN_BYTES_MAX,
    };
    let reply = asking.net.call(&request, limits, asking.cancel).await;
    let reply = reply.map_err(|error| crate::answer::not_asked(&error, masks))?;
    let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let token = said.get("access_token").and_then(Value::as_str);
    let Some(token) = token.filter(|_| (200..300).contains(&reply.status)) else {
        let why = String::from_utf8_lossy(&reply.body);
        return Err(ToolError::Failed(format!(
            "No token was given: {} answered {}. {}",
            crate::base::host(&client.token_url),
            reply.status,
            masks.put_over(&in_a_sentence(&why, REASON_CHARS_MAX))
        )));
    };
    let life = said.get("expires_in").and_then(Value::as_i64);
    let life = life.map_or(TOKEN_LIFE_MS, |seconds| {
        seconds.clamp(0, 365 * 86_400) * 1_000
    });
    Ok(Token {
        value: token.to_owned(),
        until: asking.clock.now().saturating_add(life - TOKEN_MARGIN_MS),
    })
}
