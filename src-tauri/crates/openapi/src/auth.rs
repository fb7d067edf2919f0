//! Who asks: the way that an operation wants and its person set up, and its secrets, looked up when they are sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use protocol::ToolError;
use protocol::apis::{ApiAuth, ApiSetup};
use protocol::shown::in_a_sentence;
use tools::refs::{Lookup, expand, refers};

use crate::limits::{NAMED_CHARS_MAX, SECRET_BYTES_MIN};
use crate::operation::{Operation, Scheme, SchemeKind, Where};
use crate::style::encoded;

/// What is shown where a value stands in the settings that refers to nothing: it may be a secret.
const KEPT: &str = "(as you set it up)";

/// Something by which a service knows who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Credential {
    pub place: Where,
    pub name: String,
    pub secret: Secret,
}

/// What stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Secret {
    Plain(String),
    Bearer(String),
    Basic {
        username: String,
        password: String,
    },
    /// A token that is asked for first.
    Client(Client),
}

/// Whose token is asked for, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub token_url: String,
    pub scopes: Vec<String>,
    pub client_id: String,
    pub client_secret: String,
}

/// What is sent with every request of an operation, the headers of the settings first.
///
/// # Errors
/// What has to be set up first, as a sentence with the next step.
pub(crate) fn credentials(
    operation: &Operation,
    setup: &ApiSetup,
) -> Result<Vec<Credential>, String> {
    let own = setup.headers.iter().map(|(name, value)| Credential {
        place: Where::Header,
        name: name.clone(),
        secret: Secret::Plain(value.clone()),
    });
    let mut all: Vec<Credential> = own.collect();
    let ways = &operation.security;
    let fitting = ways.iter().filter(|way| !way.is_empty()).find_map(|way| {
        let schemes = way.iter();
        schemes
            .map(|scheme| credential(scheme, setup))
            .collect::<Option<Vec<_>>>()
    });
    match fitting {
        Some(fitting) => all.extend(fitting),
        // Headers of the settings may say who asks as well.
        None if ways.is_empty() || ways.iter().any(Vec::is_empty) || !all.is_empty() => {}
        None => return Err(missing(ways)),
    }
    Ok(all)
}

fn missing(ways: &[Vec<Scheme>]) -> String {
    let all: Vec<String> = ways
        .iter()
        .map(|way| {
            let schemes = way.iter().map(|scheme| {
                let name = in_a_sentence(&scheme.name, NAMED_CHARS_MAX);
                match &scheme.kind {
                    SchemeKind::Other { what } => {
                        format!("`{name}` ({what}, which is not known here)")
                    }
                    SchemeKind::Basic => format!("`{name}` (a name and a password)"),
                    SchemeKind::ApiKey { .. } => format!("`{name}` (a key)"),
                    SchemeKind::Bearer | SchemeKind::Oauth2 { .. } => format!("`{name}` (a token)"),
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

/// What a scheme takes, if it was set up.
fn credential(scheme: &Scheme, setup: &ApiSetup) -> Option<Credential> {
    let auth = setup.auth.get(&scheme.name)?;
    let authorization = |secret| {
        Some(Credential {
            place: Where::Header,
            name: "Authorization".to_owned(),
            secret,
        })
    };
    match (&scheme.kind, auth) {
        (SchemeKind::ApiKey { place, name }, ApiAuth::Token { token }) => Some(Credential {
            place: *place,
            name: name.clone(),
            secret: Secret::Plain(token.clone()),
        }),
        (SchemeKind::Bearer | SchemeKind::Oauth2 { .. }, ApiAuth::Token { token }) => {
            authorization(Secret::Bearer(token.clone()))
        }
        (SchemeKind::Basic, ApiAuth::Basic { username, password }) => {
            authorization(Secret::Basic {
                username: username.clone(),
                password: password.clone(),
            })
        }
        (
            SchemeKind::Oauth2 {
                token_url: Some(token_url),
                scopes,
            },
            ApiAuth::Client {
                client_id,
                client_secret,
            },
        ) => authorization(Secret::Client(Client {
            token_url: token_url.clone(),
            scopes: scopes.clone(),
            client_id: client_id.clone(),
            client_secret: client_secret.clone(),
        })),
        (SchemeKind::ApiKey { .. }, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SchemeKind::Bearer, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SchemeKind::Basic, ApiAuth::Token { .. } | ApiAuth::Client { .. })
        | (SchemeKind::Oauth2 { .. }, ApiAuth::Basic { .. } | ApiAuth::Client { .. })
        | (SchemeKind::Other { .. }, _) => None,
    }
}

/// A value as a person sees it: how it refers to a secret, never one.
fn told(value: &str) -> String {
    match refers(value) {
        true => in_a_sentence(value, NAMED_CHARS_MAX),
        false => KEPT.to_owned(),
    }
}

impl Secret {
    /// As a person sees it.
    pub fn told(&self) -> String {
        match self {
            Self::Plain(value) => told(value),
            Self::Bearer(token) => format!("Bearer {}", told(token)),
            Self::Basic { username, password } => {
                format!("Basic {}:{}", told(username), told(password))
            }
            Self::Client(client) => format!(
                "Bearer (a token from {} for {}:{})",
                crate::base::host(&client.token_url),
                told(&client.client_id),
                told(&client.client_secret)
            ),
        }
    }
}

/// A secret that was looked up.
pub(crate) struct Known {
    pub place: Where,
    pub name: String,
    pub value: String,
}

/// Secrets that must not be told, with what is told instead.
#[derive(Default, Clone)]
pub(crate) struct Masks(Vec<(String, String)>);

impl Masks {
    /// Looks up what a value refers to, and remembers it.
    pub fn look_up(&mut self, value: &str, lookup: &dyn Lookup) -> Result<String, ToolError> {
        let found = expand(value, lookup).map_err(|why| {
            ToolError::Failed(format!(
                "It was not asked, since who asks is not known: {why}"
            ))
        })?;
        self.add(&found, &told(value));
        Ok(found)
    }

    /// Remembers a secret in each of the forms in which it goes out.
    pub fn add(&mut self, secret: &str, told: &str) {
        if secret.len() >= SECRET_BYTES_MIN {
            let mark = format!("[{told}]");
            let forms = [secret.to_owned(), encoded(secret), STANDARD.encode(secret)];
            for form in forms {
                if !self.0.iter().any(|(known, _)| *known == form) {
                    self.0.push((form, mark.clone()));
                }
            }
        }
    }

    /// A text without any of them: what a service answers may repeat what it was sent.
    pub fn put_over(&self, text: &str) -> String {
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

/// A name and a password as one header holds them.
pub(crate) fn basic(username: &str, password: &str) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{username}:{password}"))
    )
}
