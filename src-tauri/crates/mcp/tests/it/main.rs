//! Servers as programs that are really started, and calls of their tools.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and listen on this machine"
)]

mod asks;
mod authority;
mod badly;
mod kept;
mod signing;
mod support;
mod well;
