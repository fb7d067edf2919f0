//! Why something was not fetched, as a sentence that names the address.

use std::error::Error;

use reqwest::Url;

/// What can go wrong between an address and its content. The display text is what the model and the person read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// An address on the way may not be asked; nothing was sent there.
    #[error("`{url}` was not asked for: {why} Choose another address, or let the person allow it.")]
    Refused {
        /// The address, which may be one that the first was redirected to.
        url: String,
        /// Why not, as a sentence.
        why: String,
    },
    /// It took too long.
    #[error(
        "`{url}` did not answer within {timeout_ms} ms. Try it later, or choose another address."
    )]
    TimedOut {
        /// The address that was asked first.
        url: String,
        /// The limit.
        timeout_ms: u64,
    },
    /// The person or the engine stopped it.
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

/// The cause at the bottom, which alone says something.
pub(super) fn root_cause(error: &dyn Error) -> String {
    let mut at = error;
    while let Some(inner) = at.source() {
        at = inner;
    }
    at.to_string()
}
