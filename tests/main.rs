//! Every engine test: a table of contents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and set up real files"
)]

// Commands that run for real, over a picture of the workspace.
#[cfg(target_os = "linux")]
mod in_place;

// Tools that are schemas: latent, explicit, delegated; runs that must come to an output.
pub(crate) mod agents;
mod custom_tools;
pub(crate) mod dry_run;
pub(crate) mod hooks;
pub(crate) mod house;
pub(crate) mod pipeline;
pub(crate) mod policy;
// Calls judged and run again in a private copy of a workspace: their commands run in dry runs.
#[cfg(target_os = "linux")]
mod replay;
pub(crate) mod rules;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod tools;
pub(crate) mod undo;
pub(crate) mod watchdogs;
pub(crate) mod web;
