//! Cutting, nesting limits, times, and masking of secrets in text and JSON.

/// Defines the ways into and out of a text that a check lets through: from a `String`, and back to one.
macro_rules! define_checked_text {
    ($name:ident, $check:expr) => {
        impl $name {
            /// Returns the text as it was written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text).map(|()| Self(text))
            }
        }
    };
}

pub(crate) use define_checked_text;

pub mod cut;
pub mod depth;
pub mod display_text;
pub mod fence;
pub mod redact;
pub mod timestamp;
pub mod word_set;
