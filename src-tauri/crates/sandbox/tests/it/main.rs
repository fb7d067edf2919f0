//! Rooms, from outside: what a command does in one, and that nothing of it reaches out.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests end where they fail, and make what a room is tried on"
)]

mod ahead;
mod calls;
mod escape;
mod group;
mod hostile;
mod input;
mod outside;
mod refusals;
mod rooms;
mod run;
mod table;
mod way_out;
