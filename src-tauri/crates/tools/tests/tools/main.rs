//! Every tool on real files: what it does, and what it says when it cannot.
#![allow(
    clippy::disallowed_methods,
    reason = "tests set up real files and look at what became of them"
)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod agents;
mod ask;
mod bad_input;
mod bash;
mod change;
mod effects;
mod find;
mod joining;
mod overview;
mod patch;
mod patch_refused;
mod published;
mod read;
mod records;
mod registry;
mod schema;
mod schema_first;
mod schema_first_digest;
mod schema_first_tools;
mod skills;
mod support;
