//! The four wire formats against a fake endpoint on loopback: good turns, bad ones, and what is never given away.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the fake endpoint listens on loopback, and helpers of tests fail like tests"
)]

mod addresses;
mod conversation;
mod failures;
mod fake_endpoint;
mod keys;
mod listings;
mod retries;
mod stream_formats;
mod turns;
