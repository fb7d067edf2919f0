//! What an operation wants to know who asks by: the ways that the document names, each with all that it takes.

use protocol::shown::in_a_sentence;
use serde_json::Value;

use crate::limits::NAMED_CHARS_MAX;
use crate::operation::{Scheme, SchemeKind, Where};
use crate::parameter::is_token;
use crate::reader::{Place, Reader};

/// The ways for an operation; its own hold in the place of those of the document.
pub(crate) fn read(reader: &Reader<'_>, operation: Place<'_>, base: &str) -> Vec<Vec<Scheme>> {
    let root = reader.root();
    let whose = match operation.value.get("security").is_some_and(Value::is_array) {
        true => operation,
        false => root,
    };
    let ways = whose.items("security").filter_map(|way| {
        let schemes = way.value.as_object()?.iter();
        Some(
            schemes
                .map(|(name, scopes)| scheme(reader, name, scopes, base))
                .collect(),
        )
    });
    ways.collect()
}

fn scheme(reader: &Reader<'_>, name: &str, scopes: &Value, base: &str) -> Scheme {
    let known = reader.root().member("components");
    let known = known.and_then(|all| all.member("securitySchemes"));
    let known = known.and_then(|all| all.member(name));
    let known = known.and_then(|scheme| reader.follow(scheme).ok());
    let scopes = scopes.as_array().map_or(&[][..], Vec::as_slice);
    let scopes = scopes.iter().filter_map(Value::as_str).map(str::to_owned);
    Scheme {
        name: name.to_owned(),
        kind: known.map_or_else(
            || other("nothing"),
            |known| kind(known, scopes.collect(), base),
        ),
    }
}

fn other(what: &str) -> SchemeKind {
    SchemeKind::Other {
        what: in_a_sentence(what, NAMED_CHARS_MAX),
    }
}

fn kind(scheme: Place<'_>, scopes: Vec<String>, base: &str) -> SchemeKind {
    match scheme.text("type") {
        Some("apiKey") => {
            let name = scheme.text("name").unwrap_or_default();
            let place = match scheme.text("in") {
                Some("header") if is_token(name) => Where::Header,
                Some("cookie") if is_token(name) => Where::Cookie,
                Some("query") if !name.is_empty() => Where::Query,
                Some(_) | None => return other("a key that goes nowhere"),
            };
            SchemeKind::ApiKey {
                place,
                name: name.to_owned(),
            }
        }
        Some("http") => match scheme
            .text("scheme")
            .unwrap_or_default()
            .to_lowercase()
            .as_str()
        {
            "bearer" => SchemeKind::Bearer,
            "basic" => SchemeKind::Basic,
            what => other(what),
        },
        Some("oauth2") => {
            let flow = scheme
                .member("flows")
                .and_then(|all| all.member("clientCredentials"));
            let url = flow.and_then(|flow| flow.text("tokenUrl"));
            SchemeKind::Oauth2 {
                token_url: url.and_then(|url| absolute(url, base)),
                scopes,
            }
        }
        Some("openIdConnect") => SchemeKind::Oauth2 {
            token_url: None,
            scopes,
        },
        what => other(what.unwrap_or("nothing")),
    }
}

/// An address that may be written relative to the server's.
fn absolute(url: &str, base: &str) -> Option<String> {
    let joined = url::Url::parse(&format!("{base}/"))
        .and_then(|base| base.join(url))
        .ok()?;
    runtime::net::server_address(joined.as_str()).ok()?;
    Some(joined.into())
}
