//! Documents as tools: real ones and broken ones, and what a server hears when they are called.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and set up real files and servers"
)]

mod answers;
mod asking;
mod broken;
mod documents;
mod round;
mod schemas;
mod site;
mod sources;
mod swagger2;
mod wire;
