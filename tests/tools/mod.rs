//! What every tool can count on, and what single tools do.

// What every tool can count on, and what is asked of every tool.
pub(crate) mod contract;
// What each of the layers keeps from happening, alone and whatever the others are.
pub(crate) mod language_servers;
// What the names of tools stand for.
pub(crate) mod names;
// What a tool can reach at all.
pub(crate) mod reachable_surface;
// A tool's own word on its result, and what each reader gets of it.
pub(crate) mod result_audiences;
// Tools as the person set them, and tried by hand.
pub(crate) mod settings;
// Tools that are too many to be shown at once.
pub(crate) mod tool_search;
