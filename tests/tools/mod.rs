//! The contract of every tool, and the behaviour of single tools.

// The contract of every tool: what it can count on, and what is asked of it.
pub(crate) mod contract;
// Language servers through the whole pipeline.
pub(crate) mod language_servers;
// Names of tools and their meaning.
pub(crate) mod names;
// Everything that a tool can reach.
pub(crate) mod reachable_surface;
// A tool's own word on its result, and what each reader gets of it.
pub(crate) mod result_audiences;
// Tools as the person set them, and tried by hand.
pub(crate) mod settings;
// Tools that are too many to be shown at once.
pub(crate) mod tool_search;
