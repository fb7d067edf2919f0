//! A failure of one of our commands for a person: one sentence, and the next step.

use std::fmt;

/// A sentence about the problem and one about the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The problem, one sentence.
    pub what: String,
    /// The next step, one sentence.
    pub next: String,
}

impl Failure {
    /// Creates a failure that is not an I/O error of ours.
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: next.into(),
        }
    }

    /// Creates the failure for a file or folder of ours that could not be read or written.
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
