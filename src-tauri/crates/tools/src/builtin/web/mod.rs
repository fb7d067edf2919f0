//! Built-in tools that fetch web pages and search the web.

pub(crate) mod fetch;
pub(crate) mod search;
