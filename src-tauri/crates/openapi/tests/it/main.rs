//! Documents as tools: real ones and broken ones, and what a server hears when they are called.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and set up real files and servers"
)]

mod authentication;
mod documents;
mod malformed_documents;
mod requests;
mod responses;
mod round_trip;
mod schemas;
mod sources;
mod swagger2;
mod test_service;
