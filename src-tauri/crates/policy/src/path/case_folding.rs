//! Names as a system compares them: where case does not count, two spellings are one name.

use std::borrow::Cow;

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
                let text = decompose(text);
                let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
                fold_case(&decompose(&fold_case(&seen)))
            }
            Os::Windows => fold_case(text),
        })
    }

    /// The folded text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The canonical decomposition of a text: itself for most paths, which are ASCII.
fn decompose(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.nfd().collect()),
    }
}

/// Up and down again, so that letters with one capital are one letter: `ſ` is `s`, `ß` is `ss`. ASCII has no such letters.
fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}
