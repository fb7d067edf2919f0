//! Editors, the window, and transcripts of other agents, in real folders.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests set up real files, and end where they fail"
)]

mod acp_agent;
mod transcripts;
mod window;
