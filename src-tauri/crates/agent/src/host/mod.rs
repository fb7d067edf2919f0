//! What the host of an engine gives it: where it keeps its things, who answers, and hooks around each call.

pub mod config;
pub mod hooks;
