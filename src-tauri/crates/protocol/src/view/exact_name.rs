//! The very name of a file, where what a person is told of it is another text.

use std::path::Path;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A name to the byte. It stands beside one that a person is told, in which hidden characters and bytes that are no text are
/// marked, and only where the two are different: two names may be told alike, their exact ones never are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExactName {
    /// `{"text":"two\nlines"}`: the name itself.
    Text(String),
    /// `{"base64":"b2T/"}`: its bytes, where those are no UTF-8; on Windows those of its WTF-8. With padding.
    Base64(String),
}

impl ExactName {
    /// The name with these bytes, unless it is the one that is told.
    pub fn from_bytes(told: &str, bytes: &[u8]) -> Option<Self> {
        if told.as_bytes() == bytes {
            return None;
        }
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(BASE64.encode(bytes)),
        })
    }

    /// The same for a path. The folder that paths begin at, which is told as `.`, is called so.
    pub fn from_path(told: &str, path: &Path) -> Option<Self> {
        match path.as_os_str().as_encoded_bytes() {
            [] => None,
            bytes => Self::from_bytes(told, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::display_text::{format_path_bytes, name};
    use proptest::prelude::*;

    #[test]
    fn a_name_is_exact_where_it_is_told_otherwise() {
        let text = |text: &str| Some(ExactName::Text(text.to_owned()));
        let base64 = |text: &str| Some(ExactName::Base64(text.to_owned()));
        for (bytes, exact) in [
            (&b"plain \xc3\xa4"[..], None),
            (b"aU+000Ab", None),
            (b"a\nb", text("a\nb")),
            (b"a\tb", text("a\tb")),
            ("gpj.\u{202e}exe".as_bytes(), text("gpj.\u{202e}exe")),
            (b"od\xff", base64("b2T/")),
            (b"\xff", base64("/w==")),
        ] {
            assert_eq!(
                ExactName::from_bytes(&format_path_bytes(bytes), bytes),
                exact
            );
        }
        let root = Path::new("");
        assert_eq!(ExactName::from_path(&name(root), root), None);
        let json = serde_json::to_string(&base64("b2T/")).unwrap();
        assert_eq!(json, r#"{"base64":"b2T/"}"#);
    }

    proptest! {
        /// Whatever a name is, it can be told from what is told and its exact form.
        #[test]
        fn no_byte_is_lost(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            let told = format_path_bytes(&bytes);
            let back = match ExactName::from_bytes(&told, &bytes) {
                None => told.into_bytes(),
                Some(ExactName::Text(text)) => text.into_bytes(),
                Some(ExactName::Base64(text)) => BASE64.decode(text.as_bytes()).unwrap(),
            };
            prop_assert_eq!(back, bytes);
        }
    }
}
