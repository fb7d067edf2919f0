//! Servers as programs that are really started, and calls of their tools.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests end where they fail"
)]

mod asks;
mod badly;
mod support;
mod well;
