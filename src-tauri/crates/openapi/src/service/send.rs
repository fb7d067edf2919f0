//! Sends a request with its credentials: secrets are resolved at that moment, inserted, and masked in everything that
//! is reported.

use protocol::ToolError;
use runtime::{FetchLimits, HttpRequest, HttpResponse, NetworkClient};
use tokio_util::sync::CancellationToken;

use crate::call::credentials::{
    Credential, CredentialValue, OAuthClient, ResolvedCredential, SecretMasks, basic_auth_value,
};
use crate::call::request::ApiRequest;
use crate::call::response;
use crate::call::style::{encode_strict, join_pairs};
use crate::call::token::TokenRequest;
use crate::document::operation::ParameterLocation;
use crate::limits::RESPONSE_BYTES_MAX;
use crate::service::ApiService;

/// Sends a request, with its credentials resolved at that moment.
pub(crate) async fn send_request(
    api: &ApiService,
    request: &ApiRequest,
    credentials: &[Credential],
    net: &NetworkClient,
    cancel: &CancellationToken,
) -> Result<(HttpResponse, SecretMasks), ToolError> {
    let timeout_ms = u64::from(api.settings().setup.timeout_ms());
    let context = api.context();
    let token_request = TokenRequest {
        net,
        clock: &context.clock,
        lookup: &context.lookup,
        timeout_ms,
        cancel,
    };
    let limits = FetchLimits {
        timeout_ms,
        body_bytes_max: RESPONSE_BYTES_MAX,
    };
    let client = find_oauth_client(credentials);
    let (mut resolved, mut masks) = resolve_secrets(api, credentials).await?;
    let mut was_cached = false;
    if let Some(client) = client {
        let (token, is_cached) = api.tokens.get(client, &token_request, &mut masks).await?;
        was_cached = is_cached;
        resolved.push(bearer_credential(&token));
    }
    let mut reply = net
        .send_following_redirects(&build_outgoing(request, &resolved), limits, cancel)
        .await;
    // A token may end before it says: what is not known was not done.
    if let (Some(client), true, Ok(HttpResponse { status: 401, .. })) = (client, was_cached, &reply)
    {
        api.tokens.invalidate(client).await;
        let (token, _) = api.tokens.get(client, &token_request, &mut masks).await?;
        resolved.pop();
        resolved.push(bearer_credential(&token));
        reply = net
            .send_following_redirects(&build_outgoing(request, &resolved), limits, cancel)
            .await;
    }
    let reply = reply.map_err(|error| response::network_error_to_tool_error(&error, &masks))?;
    Ok((reply, masks))
}

/// Resolves the secrets away from the async threads: a keychain may ask the person to unlock it.
async fn resolve_secrets(
    api: &ApiService,
    credentials: &[Credential],
) -> Result<(Vec<ResolvedCredential>, SecretMasks), ToolError> {
    let (all, lookup) = (credentials.to_vec(), api.context().lookup.clone());
    let resolving = tokio::task::spawn_blocking(move || {
        let mut masks = SecretMasks::default();
        let mut resolved = Vec::new();
        for credential in all {
            let value = match &credential.secret {
                CredentialValue::Plain(value) => masks.look_up(value, &*lookup)?,
                CredentialValue::Bearer(token) => {
                    format!("Bearer {}", masks.look_up(token, &*lookup)?)
                }
                CredentialValue::Basic { username, password } => {
                    let username = masks.look_up(username, &*lookup)?;
                    let password = masks.look_up(password, &*lookup)?;
                    let value = basic_auth_value(&username, &password);
                    masks.add_secret(value.trim_start_matches("Basic "), "who asks");
                    value
                }
                CredentialValue::Client(_) => continue,
            };
            resolved.push(ResolvedCredential {
                location: credential.location,
                name: credential.name,
                value,
            });
        }
        Ok::<_, ToolError>((resolved, masks))
    });
    let broken = |_| ToolError::Failed("The keychain broke off. Try again.".to_owned());
    resolving.await.map_err(broken)?
}

/// Returns the OAuth client for which a token is needed, if any.
pub(crate) fn find_oauth_client(credentials: &[Credential]) -> Option<&OAuthClient> {
    credentials
        .iter()
        .find_map(|credential| match &credential.secret {
            CredentialValue::Client(client) => Some(client),
            CredentialValue::Plain(_)
            | CredentialValue::Bearer(_)
            | CredentialValue::Basic { .. } => None,
        })
}

fn bearer_credential(token: &str) -> ResolvedCredential {
    ResolvedCredential {
        location: ParameterLocation::Header,
        name: "Authorization".to_owned(),
        value: format!("Bearer {token}"),
    }
}

/// Builds the HTTP request with its credentials.
fn build_outgoing(request: &ApiRequest, credentials: &[ResolvedCredential]) -> HttpRequest {
    let located = |place: ParameterLocation| {
        credentials
            .iter()
            .filter(move |credential| credential.location == place)
    };
    let mut query = request.query.clone();
    query.extend(located(ParameterLocation::Query).map(|credential| {
        (
            encode_strict(&credential.name),
            encode_strict(&credential.value),
        )
    }));
    let url = match query.is_empty() {
        true => request.address.clone(),
        false => format!("{}?{}", request.address, join_pairs(&query)),
    };
    let is_credential = |name: &str| {
        located(ParameterLocation::Header)
            .any(|credential| credential.name.eq_ignore_ascii_case(name))
    };
    let plain = request
        .headers
        .iter()
        .filter(|(name, _)| !is_credential(name));
    let mut headers: Vec<(String, String)> = plain.cloned().collect();
    headers.extend(
        located(ParameterLocation::Header)
            .map(|credential| (credential.name.clone(), credential.value.clone())),
    );
    let cookies = request
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let credential_cookies = located(ParameterLocation::Cookie)
        .map(|credential| format!("{}={}", credential.name, encode_strict(&credential.value)));
    let cookies: Vec<String> = cookies.chain(credential_cookies).collect();
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    HttpRequest {
        method: request.method.to_runtime_method(),
        url,
        headers,
        body: request.body.as_ref().map(|body| body.bytes.clone()),
    }
}
