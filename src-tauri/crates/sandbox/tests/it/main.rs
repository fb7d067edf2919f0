//! Sandboxes, from outside: what a command does in one, and that nothing of it reaches out.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests end where they fail, and create what a sandbox is tried on"
)]

mod cgroup;
mod denials;
mod egress;
mod escape;
mod escape_attempts;
mod host_fixture;
mod hostile;
mod input;
mod lifecycle;
mod outside_reads;
mod preparation;
mod private_folders;
mod runner;
mod system_calls;
