//! Parses the security requirements of an operation: the alternatives that the document names, each with all its
//! schemes.

use protocol::text::display_text::to_single_line;
use serde_json::Value;

use crate::document::operation::{ParameterLocation, SecurityScheme, SecuritySchemeKind};
use crate::document::parameter::is_header_token;
use crate::document::reader::{DocumentNode, DocumentReader};
use crate::limits::QUOTED_CHARS_MAX;

/// Parses the security requirements of an operation; its own replace those of the document.
pub(crate) fn parse_security(
    reader: &DocumentReader<'_>,
    operation: DocumentNode<'_>,
    base: &str,
) -> Vec<Vec<SecurityScheme>> {
    let root = reader.root();
    let owner = match operation.value.get("security").is_some_and(Value::is_array) {
        true => operation,
        false => root,
    };
    let requirements = owner.items_of("security").filter_map(|requirement| {
        let schemes = requirement.value.as_object()?.iter();
        Some(
            schemes
                .map(|(name, scopes)| parse_scheme(reader, name, scopes, base))
                .collect(),
        )
    });
    requirements.collect()
}

fn parse_scheme(
    reader: &DocumentReader<'_>,
    name: &str,
    scopes: &Value,
    base: &str,
) -> SecurityScheme {
    let scheme = reader.root().member("components");
    let scheme = scheme.and_then(|all| all.member("securitySchemes"));
    let scheme = scheme.and_then(|all| all.member(name));
    let scheme = scheme.and_then(|scheme| reader.follow_references(scheme).ok());
    let scopes = scopes.as_array().map_or(&[][..], Vec::as_slice);
    let scopes = scopes.iter().filter_map(Value::as_str).map(str::to_owned);
    SecurityScheme {
        name: name.to_owned(),
        kind: scheme.map_or_else(
            || unsupported_scheme("nothing"),
            |scheme| parse_scheme_kind(scheme, scopes.collect(), base),
        ),
    }
}

fn unsupported_scheme(what: &str) -> SecuritySchemeKind {
    SecuritySchemeKind::Other {
        what: to_single_line(what, QUOTED_CHARS_MAX),
    }
}

fn parse_scheme_kind(
    scheme: DocumentNode<'_>,
    scopes: Vec<String>,
    base: &str,
) -> SecuritySchemeKind {
    match scheme.text("type") {
        Some("apiKey") => {
            let name = scheme.text("name").unwrap_or_default();
            let place = match scheme.text("in") {
                Some("header") if is_header_token(name) => ParameterLocation::Header,
                Some("cookie") if is_header_token(name) => ParameterLocation::Cookie,
                Some("query") if !name.is_empty() => ParameterLocation::Query,
                Some(_) | None => return unsupported_scheme("a key that goes nowhere"),
            };
            SecuritySchemeKind::ApiKey {
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
            "bearer" => SecuritySchemeKind::Bearer,
            "basic" => SecuritySchemeKind::Basic,
            what => unsupported_scheme(what),
        },
        Some("oauth2") => {
            let flow = scheme
                .member("flows")
                .and_then(|all| all.member("clientCredentials"));
            let url = flow.and_then(|flow| flow.text("tokenUrl"));
            SecuritySchemeKind::Oauth2 {
                token_url: url.and_then(|url| resolve_url(url, base)),
                scopes,
            }
        }
        Some("openIdConnect") => SecuritySchemeKind::Oauth2 {
            token_url: None,
            scopes,
        },
        what => unsupported_scheme(what.unwrap_or("nothing")),
    }
}

/// Resolves a URL that may be written relative to the server's.
fn resolve_url(url: &str, base: &str) -> Option<String> {
    let joined = url::Url::parse(&format!("{base}/"))
        .and_then(|base| base.join(url))
        .ok()?;
    runtime::net::parse_server_url(joined.as_str()).ok()?;
    Some(joined.into())
}
