//! Language servers as they should be and as they should not: what is known then, and what is said.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and set up real folders"
)]

mod misbehaving_servers;
mod queries;
mod support;
