//! Transcripts of other agents in real folders.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests set up real files, and end where they fail"
)]

mod transcripts;
