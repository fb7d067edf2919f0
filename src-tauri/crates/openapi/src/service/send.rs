//! Sends a request with its credentials: secrets are resolved at that moment, inserted, and masked in everything that
//! is reported.

use protocol::ToolError;
use runtime::{FetchLimits, HttpRequest, NetworkClient, ServiceResponse};
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
) -> Result<(ServiceResponse, SecretMasks), ToolError> {
    let timeout_ms = u64::from(api.settings().setup.timeout_ms());
    let ground = api.context();
    let asking = TokenRequest {
        net,
        clock: &ground.clock,
        lookup: &ground.lookup,
        timeout_ms,
        cancel,
    };
    let limits = FetchLimits {
        timeout_ms,
        body_bytes_max: RESPONSE_BYTES_MAX,
    };
    let client = find_oauth_client(credentials);
    let (mut known, mut masks) = resolve_secrets(api, credentials).await?;
    let mut was_known = false;
    if let Some(client) = client {
        let (token, known_before) = api.tokens.get(client, &asking, &mut masks).await?;
        was_known = known_before;
        known.push(bearer_credential(&token));
    }
    let mut reply = net
        .call_following_redirects(&build_outgoing(request, &known), limits, cancel)
        .await;
    // A token may end before it says: what is not known was not done.
    if let (Some(client), true, Ok(ServiceResponse { status: 401, .. })) =
        (client, was_known, &reply)
    {
        api.tokens.invalidate(client).await;
        let (token, _) = api.tokens.get(client, &asking, &mut masks).await?;
        known.pop();
        known.push(bearer_credential(&token));
        reply = net
            .call_following_redirects(&build_outgoing(request, &known), limits, cancel)
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
    let looked_up = tokio::task::spawn_blocking(move || {
        let mut masks = SecretMasks::default();
        let mut known = Vec::new();
        for one in all {
            let value = match &one.secret {
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
            known.push(ResolvedCredential {
                location: one.location,
                name: one.name,
                value,
            });
        }
        Ok::<_, ToolError>((known, masks))
    });
    let broken = |_| ToolError::Failed("The keychain broke off. Try again.".to_owned());
    looked_up.await.map_err(broken)?
}

/// Returns the OAuth client for which a token is needed, if any.
pub(crate) fn find_oauth_client(credentials: &[Credential]) -> Option<&OAuthClient> {
    credentials.iter().find_map(|one| match &one.secret {
        CredentialValue::Client(client) => Some(client),
        CredentialValue::Plain(_) | CredentialValue::Bearer(_) | CredentialValue::Basic { .. } => {
            None
        }
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
fn build_outgoing(request: &ApiRequest, known: &[ResolvedCredential]) -> HttpRequest {
    let of = |place: ParameterLocation| known.iter().filter(move |one| one.location == place);
    let mut query = request.query.clone();
    query.extend(
        of(ParameterLocation::Query)
            .map(|one| (encode_strict(&one.name), encode_strict(&one.value))),
    );
    let url = match query.is_empty() {
        true => request.address.clone(),
        false => format!("{}?{}", request.address, join_pairs(&query)),
    };
    let is_known =
        |name: &str| of(ParameterLocation::Header).any(|one| one.name.eq_ignore_ascii_case(name));
    let plain = request.headers.iter().filter(|(name, _)| !is_known(name));
    let mut headers: Vec<(String, String)> = plain.cloned().collect();
    headers.extend(of(ParameterLocation::Header).map(|one| (one.name.clone(), one.value.clone())));
    let cookies = request
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let kept = of(ParameterLocation::Cookie)
        .map(|one| format!("{}={}", one.name, encode_strict(&one.value)));
    let cookies: Vec<String> = cookies.chain(kept).collect();
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
