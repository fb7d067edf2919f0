//! Errors of a provider, each with a sentence and a next step.

use protocol::text::display_text::to_sentence;
use protocol::{FaultCause, UserError};

use crate::limits::{MODELS_NAMED_MAX, NAMED_WAIT_S_MAX};

/// Why a model did not answer, or stopped answering. The text is a sentence for a person; keys never stand in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// There is no key, and the provider needs one.
    #[error("{provider} needs a key, and none was found.")]
    NoKey {
        /// The provider's title.
        provider: String,
        /// The environment variable that would hold it.
        key_env: Option<String>,
        /// Why the system keychain could not be asked, if it could not.
        keychain: Option<String>,
    },
    /// The key was refused (401, 403).
    #[error("{provider} refused the key {key_from} ({status}): {}", to_sentence(.message))]
    Unauthorized {
        /// The provider's title.
        provider: String,
        /// "from ANTHROPIC_API_KEY", "from the system keychain".
        key_from: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// The provider does not know the model, or nothing is at this address (404).
    #[error("{provider} does not know the model \u{201c}{model}\u{201d}: {}", to_sentence(.message))]
    UnknownModel {
        /// The provider's title.
        provider: String,
        /// The requested model.
        model: String,
        /// The models that the provider names, close ones first; empty when it names none.
        known: Vec<String>,
        /// The provider's words.
        message: String,
    },
    /// The provider did not accept the request (any other 4xx).
    #[error("{provider} did not accept the request ({status}): {}", to_sentence(.message))]
    Refused {
        /// The provider's title.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },
    /// Too many requests, or trouble on the provider's side (429, 5xx), after all tries.
    #[error("{provider} could not answer ({status}, tried {attempts} times): {}", to_sentence(.message))]
    Busy {
        /// The provider's title.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// Number of attempts.
        attempts: u32,
        /// How long the provider asks to wait, in milliseconds, where that was too long to do by ourselves.
        retry_after_ms: Option<u64>,
        /// The provider's words.
        message: String,
    },
    /// Nobody answers at this address, or the connection broke before the first chunk.
    #[error("{provider} cannot be reached at {base_url}: {}", to_sentence(.cause))]
    Unreachable {
        /// The provider's title.
        provider: String,
        /// The address, without credentials.
        base_url: String,
        /// The error of the connection.
        cause: String,
    },
    /// The provider sends us elsewhere (3xx). We do not go: the key would go along.
    #[error("{provider} at {base_url} redirects to {to}, and a key is not carried elsewhere.")]
    Redirected {
        /// The provider's title.
        provider: String,
        /// The address, without credentials.
        base_url: String,
        /// Where to.
        to: String,
    },
    /// The provider said in the middle of its answer that it failed.
    #[error("{provider} failed: {}", to_sentence(.message))]
    Failed {
        /// The provider's title.
        provider: String,
        /// The provider's words.
        message: String,
    },
    /// The answer broke off. What came before stands.
    #[error("The answer of {provider} broke off before its end.")]
    Cut {
        /// The provider's title.
        provider: String,
    },
    /// The provider sent something that its wire format does not have.
    #[error("{provider} sent something that could not be read: {}", to_sentence(.what))]
    Malformed {
        /// The provider's title.
        provider: String,
        /// Description of the error, and an excerpt.
        what: String,
    },
    /// Nothing came for too long.
    #[error("{provider} sent nothing for {} seconds.", .silent_ms.div_ceil(1000))]
    Silent {
        /// The provider's title.
        provider: String,
        /// For how long, in milliseconds.
        silent_ms: u64,
    },
    /// The answer went past our limits.
    #[error("The answer of {provider} is too large: {what}.")]
    TooLarge {
        /// The provider's title.
        provider: String,
        /// Which limit.
        what: String,
    },
    /// The provider's settings do not work.
    #[error("{provider} is not set up: {}", to_sentence(.what))]
    Setup {
        /// The provider's title.
        provider: String,
        /// Description of the error.
        what: String,
    },
    /// The turn was stopped from our side.
    #[error("The turn was stopped.")]
    Cancelled,
}

impl ProviderError {
    /// Returns what is wrong, where a person can mend it.
    fn cause(&self) -> Option<FaultCause> {
        match self {
            Self::NoKey { .. } => Some(FaultCause::KeyMissing),
            Self::Unauthorized { .. } => Some(FaultCause::KeyRefused),
            Self::UnknownModel { .. } => Some(FaultCause::ModelUnknown),
            Self::Setup { .. } => Some(FaultCause::ProviderNotSetUp),
            Self::Refused {
                status, message, ..
            }
            | Self::Busy {
                status, message, ..
            } if wants_payment(*status, message) => Some(FaultCause::PaymentRequired),
            _ => None,
        }
    }

    /// The next step, in one sentence; empty when there is nothing to do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoKey {
                key_env, keychain, ..
            } => missing_key_hint(key_env.as_deref(), keychain.as_deref()),
            Self::Unauthorized { key_from, .. } => {
                format!("Check the key {key_from}, or set another one.")
            }
            Self::UnknownModel { known, .. } if known.is_empty() => {
                "Check the model's name and the provider's base URL.".to_owned()
            }
            Self::UnknownModel { known, .. } => {
                let named = &known[..known.len().min(MODELS_NAMED_MAX)];
                let more = known.len() - named.len();
                let rest = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!("Choose one of its models: {}{rest}.", named.join(", "))
            }
            Self::Refused { message, .. } if message.to_lowercase().contains("temperature") => {
                "Begin the session without a temperature, or with one that the model takes."
                    .to_owned()
            }
            Self::Refused { .. } => {
                "Change what the provider names, or choose another model.".to_owned()
            }
            Self::Busy {
                retry_after_ms: Some(wait_ms),
                ..
            } => match wait_ms.div_ceil(1000) {
                ..=NAMED_WAIT_S_MAX => {
                    format!("It asks to wait {} seconds.", wait_ms.div_ceil(1000))
                }
                _ => "It asks to wait for more than a day. Choose another model.".to_owned(),
            },
            Self::Busy { .. } => "Try again in a while, or choose another model.".to_owned(),
            Self::Unreachable { base_url, .. } => {
                format!("Check the network, and that something listens at {base_url}.")
            }
            Self::Redirected { .. } => {
                "Set the provider's base URL to the address that it names, if you trust it."
                    .to_owned()
            }
            Self::Failed { .. } | Self::Cut { .. } => {
                "Send the message again to go on from what was received.".to_owned()
            }
            Self::Malformed { .. } => {
                "Check that the base URL and the wire format of the provider belong together."
                    .to_owned()
            }
            Self::Silent { .. } => "Try again, or choose a faster model.".to_owned(),
            Self::TooLarge { .. } => "Ask for less in one turn.".to_owned(),
            Self::Setup { .. } => "Correct the provider's entry in the settings.".to_owned(),
            Self::Cancelled => String::new(),
        }
    }
}

/// Whether an answer says that the account is out of credit. Few providers use the status that is meant for it.
fn wants_payment(status: u16, message: &str) -> bool {
    const PAYMENT_REQUIRED: u16 = 402;
    let message = message.to_lowercase();
    let words = ["credit", "quota", "billing", "payment"];
    status == PAYMENT_REQUIRED || words.iter().any(|word| message.contains(word))
}

/// Returns the next step when there is no key.
pub(crate) fn missing_key_hint(key_env: Option<&str>, keychain: Option<&str>) -> String {
    let variable = key_env.map(|name| format!("set the environment variable {name}"));
    let step = match (variable, keychain) {
        (Some(variable), None) => format!("{variable}, or store a key in the system keychain"),
        (None, None) => "store a key in the system keychain".to_owned(),
        (Some(variable), Some(why)) => format!("{variable} ({why})"),
        (None, Some(why)) => format!("name an environment variable in key_env ({why})"),
    };
    let mut letters = step.chars();
    letters
        .next()
        .map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
        .unwrap_or_default()
}

impl From<ProviderError> for UserError {
    fn from(error: ProviderError) -> Self {
        let fault = UserError::new(error.to_string(), error.hint());
        match error.cause() {
            Some(cause) => fault.with_cause(cause),
            None => fault,
        }
    }
}
