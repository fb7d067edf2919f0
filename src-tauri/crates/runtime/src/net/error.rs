//! Reasons why a fetch failed, each as a sentence that names the address.

use std::error::Error;

use reqwest::Url;

/// An error of a fetch. The display text is for the model and the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The policy refused an address on the way; nothing was sent there.
    #[error("`{url}` was not asked for: {why} Choose another address, or let the person allow it.")]
    Refused {
        /// The address, which may be one that the first was redirected to.
        url: String,
        /// Why not, as a sentence.
        why: String,
    },
    /// The fetch took too long.
    #[error(
        "`{url}` did not answer within {timeout_ms} ms. Try it later, or choose another address."
    )]
    TimedOut {
        /// The address that was requested first.
        url: String,
        /// The limit, in milliseconds.
        timeout_ms: u64,
    },
    /// The person or the engine cancelled the fetch.
    #[error("Stopped before it was finished.")]
    Cancelled,
    /// Anything else, with the system's own words.
    #[error("`{url}` could not be fetched: {source_text}. Check the address and repeat.")]
    Failed {
        /// The address.
        url: String,
        /// The cause.
        source_text: String,
    },
}

impl NetError {
    pub(super) fn refused(url: &Url, why: impl Into<String>) -> Self {
        Self::Refused {
            url: url.to_string(),
            why: why.into(),
        }
    }

    pub(super) fn failed(url: &Url, source: impl std::fmt::Display) -> Self {
        Self::Failed {
            url: url.to_string(),
            source_text: source.to_string(),
        }
    }
}

/// Returns the innermost cause, which alone is informative.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(inner) = at.source() {
        at = inner;
    }
    at.to_string()
}
