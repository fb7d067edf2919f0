//! A key that never shows itself: not in `Debug`, not in `Display`, not through serde, not in an error.

use std::fmt;

/// Placeholder for a key in any text.
const REDACTED: &str = "[hidden]";
/// Shorter texts are not replaced: they would tear ordinary words apart, and no provider hands out such keys.
const REDACT_BYTES_MIN: usize = 6;

/// A key. It implements neither `Display` nor serde's traits, and its `Debug` shows nothing, not even its length.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; white space around it (a newline from a file, say) is dropped. None if nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The key itself, for the header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with every occurrence of the key replaced: providers like to quote keys back in their errors.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < REDACT_BYTES_MIN {
            return text.to_owned();
        }
        text.replace(&self.0, REDACTED)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hides_and_trims() {
        let secret = Secret::new(" sk-very-secret\n").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.reveal(), "sk-very-secret");
        assert_eq!(
            secret.redact("bad key sk-very-secret (sk-very-secret)"),
            "bad key [hidden] ([hidden])"
        );
        assert_eq!(Secret::new(" \n"), None);
    }

    #[test]
    fn short_texts_are_left_alone() {
        assert_eq!(Secret::new("a").unwrap().redact("banana"), "banana");
    }
}
