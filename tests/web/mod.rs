//! Pages of the web and searches of it.

// Pages of the web, and searches of it.
pub(crate) mod fetch;
pub(crate) mod search;
pub(crate) mod search_operations;
