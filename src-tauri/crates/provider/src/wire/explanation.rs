//! A failure of the wire put into words for a person, with the key struck out of whatever the provider said.

use crate::ProviderError;
use crate::failure::WireFailure;
use crate::keys::ApiKey;
use crate::wire::WireProvider;

/// An HTTP status that is not a success, with what the provider said beside it.
struct StatusFailure {
    status: u16,
    message: String,
    retry_after_ms: Option<u64>,
}

impl WireProvider {
    /// Explains a failure to the person, after so many attempts with this key.
    pub(crate) fn explain_failure(
        &self,
        failure: WireFailure,
        attempts: u32,
        key: Option<&ApiKey>,
    ) -> ProviderError {
        let clean = |text: String| match key {
            Some(key) => key.secret.redact(&text),
            None => text,
        };
        let provider = self.title.clone();
        match failure {
            WireFailure::Status {
                status: 300..=399,
                location,
                ..
            } => ProviderError::Redirected {
                provider,
                base_url: self.endpoint.as_str().to_owned(),
                to: clean(location.unwrap_or_else(|| "nowhere".to_owned())),
            },
            WireFailure::Status {
                status,
                message,
                retry_after_ms,
                ..
            } => {
                let failure = StatusFailure {
                    status,
                    message: clean(message),
                    retry_after_ms,
                };
                self.explain_status(failure, attempts, key)
            }
            WireFailure::Connection(cause) => ProviderError::Unreachable {
                provider,
                base_url: self.endpoint.as_str().to_owned(),
                cause: clean(cause),
            },
            WireFailure::Truncated => ProviderError::Cut { provider },
            WireFailure::NotAStream => ProviderError::Malformed {
                provider,
                what: "its answer has nothing of a stream of events in it".to_owned(),
            },
            WireFailure::Unreadable { why: what, .. } | WireFailure::Malformed(what) => {
                ProviderError::Malformed {
                    provider,
                    what: clean(what),
                }
            }
            WireFailure::TimedOut(silent_ms) => ProviderError::Silent {
                provider,
                silent_ms,
            },
            WireFailure::Event { message, .. } => ProviderError::Failed {
                provider,
                message: clean(message),
            },
            WireFailure::TooLarge(what) => ProviderError::TooLarge { provider, what },
            WireFailure::Setup(what) => ProviderError::Setup {
                provider,
                what: clean(what),
            },
        }
    }

    fn explain_status(
        &self,
        failure: StatusFailure,
        attempts: u32,
        key: Option<&ApiKey>,
    ) -> ProviderError {
        let StatusFailure {
            status,
            message,
            retry_after_ms,
        } = failure;
        let provider = self.title.clone();
        match (status, key) {
            (401 | 403, Some(key)) => ProviderError::Unauthorized {
                provider,
                key_from: key.from.to_string(),
                status,
                message,
            },
            (401 | 403, None) => ProviderError::NoKey {
                provider,
                key_env: self.key_env.clone(),
                keychain: None,
            },
            (408 | 429 | 500..=599, _) => ProviderError::Busy {
                provider,
                status,
                attempts,
                retry_after_ms: retry_after_ms
                    .filter(|wait_ms| *wait_ms > self.timing.retry_after_ms_max),
                message,
            },
            _ => ProviderError::Refused {
                provider,
                status,
                message,
            },
        }
    }
}
