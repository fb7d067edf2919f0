//! Names as a system compares them: where case does not count, two spellings are one name.

use protocol::text::display_text::is_hidden;
use unicode_normalization::UnicodeNormalization;

use super::Os;

/// A name or path in the spelling that all spellings of it come to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CaseFolded(String);

impl CaseFolded {
    /// Folds a text. On Linux nothing is folded.
    pub fn new(os: Os, text: &str) -> Self {
        Self(match os {
            Os::Linux => text.to_owned(),
            Os::Macos => {
                // The file system leaves characters out that cannot be seen: `.g\u{200c}it` is `.git` there.
                let seen: String = text.nfd().filter(|c| !is_hidden(*c)).collect();
                fold_case(&fold_case(&seen).nfd().collect::<String>())
            }
            Os::Windows => fold_case(text),
        })
    }

    /// The folded text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Up and down again, so that letters with one capital are one letter: `ſ` is `s`, `ß` is `ss`.
fn fold_case(text: &str) -> String {
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}
