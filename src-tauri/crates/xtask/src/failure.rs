//! What a person reads when a command of ours cannot go on: one sentence, and what to do next.

use std::fmt;

/// A sentence that says what went wrong and one that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, one sentence.
    pub what: String,
    /// The next step, one sentence.
    pub next: String,
}

impl Failure {
    /// A failure that is not an I/O error of ours.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: next.into(),
        }
    }

    /// A file or folder of ours that could not be read or written.
    pub fn file_error(verb: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(
            format!("Could not {verb} {}: {error}.", path.display()),
            "Check the permissions and the free space there, then run the same command again.",
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nNext: {}", self.what, self.next)
    }
}
