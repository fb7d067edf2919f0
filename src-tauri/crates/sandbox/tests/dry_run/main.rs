//! Dry runs of commands, and their commits: what the runtime makes of a sandbox's layer, tested here because here the
//! sandbox program is built.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests end where they fail, and make what a command is tried on"
)]

mod availability;
mod egress;
mod equivalence;
mod fixture;
mod in_place;
mod kept_state;
mod masked;
mod single_commands;
mod standby;
mod tree_snapshot;
mod unreadable_files;
mod without_layer;
mod workspace_copy;
