//! Sends a request with who asks: secrets are looked up now, put in, and kept out of whatever is told of it.

use protocol::ToolError;
use runtime::{FetchLimits, Net, Outgoing, Reply};
use tokio_util::sync::CancellationToken;

use crate::answer;
use crate::api::Api;
use crate::auth::{Client, Credential, Known, Masks, Secret, basic};
use crate::limits::ANSWER_BYTES_MAX;
use crate::operation::Where;
use crate::request::Request;
use crate::style::{encoded, joined};
use crate::token::Asking;

/// Sends it, with who asks looked up now.
pub(crate) async fn send(
    api: &Api,
    request: &Request,
    credentials: &[Credential],
    net: &Net,
    cancel: &CancellationToken,
) -> Result<(Reply, Masks), ToolError> {
    let timeout_ms = u64::from(api.settings().setup.timeout_ms());
    let ground = api.ground();
    let asking = Asking {
        net,
        clock: &ground.clock,
        lookup: &ground.lookup,
        timeout_ms,
        cancel,
    };
    let limits = FetchLimits {
        timeout_ms,
        body_bytes_max: ANSWER_BYTES_MAX,
    };
    let client = client(credentials);
    let (mut known, mut masks) = looked_up(api, credentials).await?;
    let mut was_known = false;
    if let Some(client) = client {
        let (token, known_before) = api.tokens.get(client, &asking, &mut masks).await?;
        was_known = known_before;
        known.push(authorization(&token));
    }
    let mut reply = net.call(&wire(request, &known), limits, cancel).await;
    // A token may end before it says: what is not known was not done.
    if let (Some(client), true, Ok(Reply { status: 401, .. })) = (client, was_known, &reply) {
        api.tokens.forget(client).await;
        let (token, _) = api.tokens.get(client, &asking, &mut masks).await?;
        known.pop();
        known.push(authorization(&token));
        reply = net.call(&wire(request, &known), limits, cancel).await;
    }
    let reply = reply.map_err(|error| answer::not_asked(&error, &masks))?;
    Ok((reply, masks))
}

/// The secrets, looked up away from the async threads: a keychain may ask the person to unlock it.
async fn looked_up(
    api: &Api,
    credentials: &[Credential],
) -> Result<(Vec<Known>, Masks), ToolError> {
    let (all, lookup) = (credentials.to_vec(), api.ground().lookup.clone());
    let looked_up = tokio::task::spawn_blocking(move || {
        let mut masks = Masks::default();
        let mut known = Vec::new();
        for one in all {
            let value = match &one.secret {
                Secret::Plain(value) => masks.look_up(value, &*lookup)?,
                Secret::Bearer(token) => format!("Bearer {}", masks.look_up(token, &*lookup)?),
                Secret::Basic { username, password } => {
                    let username = masks.look_up(username, &*lookup)?;
                    let password = masks.look_up(password, &*lookup)?;
                    let value = basic(&username, &password);
                    masks.add(value.trim_start_matches("Basic "), "who asks");
                    value
                }
                Secret::Client(_) => continue,
            };
            known.push(Known {
                place: one.place,
                name: one.name,
                value,
            });
        }
        Ok::<_, ToolError>((known, masks))
    });
    let broken = |_| ToolError::Failed("The keychain broke off. Try again.".to_owned());
    looked_up.await.map_err(broken)?
}

/// Whose token is asked for, if one is.
pub(crate) fn client(credentials: &[Credential]) -> Option<&Client> {
    credentials.iter().find_map(|one| match &one.secret {
        Secret::Client(client) => Some(client),
        Secret::Plain(_) | Secret::Bearer(_) | Secret::Basic { .. } => None,
    })
}

fn authorization(token: &str) -> Known {
    Known {
        place: Where::Header,
        name: "Authorization".to_owned(),
        value: format!("Bearer {token}"),
    }
}

/// The request as it goes out.
fn wire(request: &Request, known: &[Known]) -> Outgoing {
    let of = |place: Where| known.iter().filter(move |one| one.place == place);
    let mut query = request.query.clone();
    query.extend(of(Where::Query).map(|one| (encoded(&one.name), encoded(&one.value))));
    let url = match query.is_empty() {
        true => request.address.clone(),
        false => format!("{}?{}", request.address, joined(&query)),
    };
    let is_known = |name: &str| of(Where::Header).any(|one| one.name.eq_ignore_ascii_case(name));
    let plain = request.headers.iter().filter(|(name, _)| !is_known(name));
    let mut headers: Vec<(String, String)> = plain.cloned().collect();
    headers.extend(of(Where::Header).map(|one| (one.name.clone(), one.value.clone())));
    let cookies = request
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let kept = of(Where::Cookie).map(|one| format!("{}={}", one.name, encoded(&one.value)));
    let cookies: Vec<String> = cookies.chain(kept).collect();
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    Outgoing {
        method: request.method.sent(),
        url,
        headers,
        body: request.body.as_ref().map(|body| body.bytes.clone()),
    }
}
