//! The command line as scripts use it: the real program in folders of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "tests set up real files and start the program, and end where they fail"
)]

mod addresses;
mod agents;
mod apis;
mod calls;
mod explained;
mod gateway;
#[cfg(target_os = "linux")]
mod keychain;
mod lists;
mod looking;
mod policy;
mod rulebook;
mod runs;
mod said;
#[cfg(unix)]
mod server_files;
mod servers;
mod settings;
mod support;
#[cfg(unix)]
mod terminal;
mod wire;
