//! The exact name of a file, where the name displayed to a person differs from it.

use std::path::Path;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A file name, exact to the byte. It accompanies a displayed name, in which hidden characters and bytes that are not
/// text are marked, and only where the two differ: two displayed names may be equal, their exact names never are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExactName {
    /// The name itself: `{"text":"two\nlines"}`.
    Text(String),
    /// The bytes of a name that is not UTF-8, in base64 with padding: `{"base64":"b2T/"}`; on Windows the bytes of its
    /// WTF-8.
    Base64(String),
}

impl ExactName {
    /// Returns the name with these bytes, unless it equals the displayed name `told`.
    pub fn from_bytes(displayed: &str, bytes: &[u8]) -> Option<Self> {
        if displayed.as_bytes() == bytes {
            return None;
        }
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(BASE64.encode(bytes)),
        })
    }

    /// Returns the exact name of a path, unless it equals `told`. The base folder of relative paths, displayed as `.`,
    /// has no exact name.
    pub fn from_path(displayed: &str, path: &Path) -> Option<Self> {
        match path.as_os_str().as_encoded_bytes() {
            [] => None,
            bytes => Self::from_bytes(displayed, bytes),
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
        /// Every name can be recovered from its displayed form and its exact form.
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
