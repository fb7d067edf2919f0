//! The host of an engine: the engine's configuration, who answers calls, and hooks around each call.

pub mod config;
pub mod hooks;
