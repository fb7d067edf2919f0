//! Credentials of a request: the security schemes that an operation requires and its person set up, with their secrets
//! resolved when they are sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::ToolError;
use protocol::server::apis::{ApiAuth, ApiSetup};
use protocol::text::display_text::to_single_line;
use tools::config_references::{ReferenceResolver, expand_references, has_reference};

use crate::call::style::encode_strict;
use crate::document::operation::{
    Operation, ParameterLocation, SecurityScheme, SecuritySchemeKind,
};
use crate::limits::{QUOTED_CHARS_MAX, SECRET_BYTES_MIN};

/// Placeholder shown for a configured value that is no reference: it may be a secret.
const CONFIGURED_VALUE: &str = "(as you set it up)";

/// A credential by which a service authenticates the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Credential {
    pub location: ParameterLocation,
    pub name: String,
    pub secret: CredentialValue,
}

/// Value of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CredentialValue {
    Plain(String),
    Bearer(String),
    Basic {
        username: String,
        password: String,
    },
    /// A token that is requested first.
    Client(OAuthClient),
}

/// The client in whose name a token is requested, and the address to request it from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OAuthClient {
    pub token_url: String,
    pub scopes: Vec<String>,
    pub client_id: String,
    pub client_secret: String,
}

/// Returns the credentials for every request of an operation, the headers of the settings first.
///
/// # Errors
/// The credential that has to be set up first, as a sentence with the next step.
pub(crate) fn resolve_credentials(
    operation: &Operation,
    setup: &ApiSetup,
) -> Result<Vec<Credential>, String> {
    let headers = setup.headers.iter().map(|(name, value)| Credential {
        location: ParameterLocation::Header,
        name: name.clone(),
        secret: CredentialValue::Plain(value.clone()),
    });
    let mut all: Vec<Credential> = headers.collect();
    let alternatives = &operation.security;
    let configured = alternatives
        .iter()
        .filter(|alternative| !alternative.is_empty())
        .find_map(|alternative| {
            let schemes = alternative.iter();
            schemes
                .map(|scheme| credential_for_scheme(scheme, setup))
                .collect::<Option<Vec<_>>>()
        });
    match configured {
        Some(configured) => all.extend(configured),
        // Headers of the settings may say who asks as well.
        None if alternatives.is_empty()
            || alternatives.iter().any(Vec::is_empty)
            || !all.is_empty() => {}
        None => return Err(describe_missing_credentials(alternatives)),
    }
    Ok(all)
}

fn describe_missing_credentials(alternatives: &[Vec<SecurityScheme>]) -> String {
    let all: Vec<String> = alternatives
        .iter()
        .map(|alternative| {
            let schemes = alternative.iter().map(|scheme| {
                let name = to_single_line(&scheme.name, QUOTED_CHARS_MAX);
                match &scheme.kind {
                    SecuritySchemeKind::Other { what } => {
                        format!("`{name}` ({what}, which is not known here)")
                    }
                    SecuritySchemeKind::Basic => format!("`{name}` (a name and a password)"),
                    SecuritySchemeKind::ApiKey { .. } => format!("`{name}` (a key)"),
                    SecuritySchemeKind::Bearer | SecuritySchemeKind::Oauth2 { .. } => {
                        format!("`{name}` (a token)")
                    }
                }
            });
            schemes.collect::<Vec<_>>().join(" and ")
        })
        .take(5)
        .collect();
    format!(
        "The service wants to know who asks, by {}. Set that up in `auth`, with a secret of the keychain.",
        all.join(", or by ")
    )
}

/// Returns the credential for a scheme, if it was set up.
fn credential_for_scheme(scheme: &SecurityScheme, setup: &ApiSetup) -> Option<Credential> {
    let auth = setup.auth.get(&scheme.name)?;
    let authorization = |secret| {
        Some(Credential {
            location: ParameterLocation::Header,
            name: "Authorization".to_owned(),
            secret,
        })
    };
    match (&scheme.kind, auth) {
        (SecuritySchemeKind::ApiKey { place, name }, ApiAuth::Token { token }) => {
            Some(Credential {
                location: *place,
                name: name.clone(),
                secret: CredentialValue::Plain(token.clone()),
            })
        }
        (
            SecuritySchemeKind::Bearer | SecuritySchemeKind::Oauth2 { .. },
            ApiAuth::Token { token },
        ) => authorization(CredentialValue::Bearer(token.clone())),
        (SecuritySchemeKind::Basic, ApiAuth::Basic { username, password }) => {
            authorization(CredentialValue::Basic {
                username: username.clone(),
                password: password.clone(),
            })
        }
        (
            SecuritySchemeKind::Oauth2 {
                token_url: Some(token_url),
                scopes,
            },
            ApiAuth::Client {
                client_id,
                client_secret,
            },
        ) => authorization(CredentialValue::Client(OAuthClient {
            token_url: token_url.clone(),
            scopes: scopes.clone(),
            client_id: client_id.clone(),
            client_secret: client_secret.clone(),
        })),
        (SecuritySchemeKind::ApiKey { .. }, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SecuritySchemeKind::Bearer, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SecuritySchemeKind::Basic, ApiAuth::Token { .. } | ApiAuth::Client { .. })
        | (SecuritySchemeKind::Oauth2 { .. }, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SecuritySchemeKind::Other { .. }, _) => None,
    }
}

/// Returns a value as a person may see it: a reference to a secret, never the secret itself.
fn display_value(value: &str) -> String {
    match has_reference(value) {
        true => to_single_line(value, QUOTED_CHARS_MAX),
        false => CONFIGURED_VALUE.to_owned(),
    }
}

impl CredentialValue {
    /// Returns the credential as a person may see it.
    pub fn display_text(&self) -> String {
        match self {
            Self::Plain(value) => display_value(value),
            Self::Bearer(token) => format!("Bearer {}", display_value(token)),
            Self::Basic { username, password } => {
                format!(
                    "Basic {}:{}",
                    display_value(username),
                    display_value(password)
                )
            }
            Self::Client(client) => format!(
                "Bearer (a token from {} for {}:{})",
                crate::document::base_url::url_host(&client.token_url),
                display_value(&client.client_id),
                display_value(&client.client_secret)
            ),
        }
    }
}

/// A credential with its secret resolved.
pub(crate) struct ResolvedCredential {
    pub location: ParameterLocation,
    pub name: String,
    pub value: String,
}

/// Secrets that must not be shown, each with the text to show instead.
#[derive(Default, Clone)]
pub(crate) struct SecretMasks(Vec<(String, String)>);

impl SecretMasks {
    /// Resolves the references in a value, and remembers the result as a secret.
    pub fn look_up(
        &mut self,
        value: &str,
        lookup: &dyn ReferenceResolver,
    ) -> Result<String, ToolError> {
        let secret = expand_references(value, lookup).map_err(|why| {
            ToolError::Failed(format!(
                "It was not asked, since who asks is not known: {why}"
            ))
        })?;
        self.add_secret(&secret, &display_value(value));
        Ok(secret)
    }

    /// Adds a secret in each of the forms in which it is sent.
    pub fn add_secret(&mut self, secret: &str, display: &str) {
        if secret.len() >= SECRET_BYTES_MIN {
            let mark = format!("[{display}]");
            let forms = [
                secret.to_owned(),
                encode_strict(secret),
                STANDARD.encode(secret),
            ];
            for form in forms {
                if !self.0.iter().any(|(existing, _)| *existing == form) {
                    self.0.push((form, mark.clone()));
                }
            }
        }
    }

    /// Returns a text with every secret replaced: a service's answer may repeat the request.
    pub fn mask_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // Whatever holds another one goes first.
        let mut all: Vec<&(String, String)> = self.0.iter().collect();
        all.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        for (secret, mark) in all {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), mark);
            }
        }
        text
    }
}

/// Encodes a name and a password as the value of one header.
pub(crate) fn basic_auth_value(username: &str, password: &str) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{username}:{password}"))
    )
}
