//! Servers as programs that are really started, and calls of their tools.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and listen on this machine"
)]

mod authorization_server;
mod elicitation;
mod legacy_tasks;
mod misbehaving_servers;
mod server_tools;
mod sign_in;
mod sign_in_storage;
mod support;
mod tasks;
