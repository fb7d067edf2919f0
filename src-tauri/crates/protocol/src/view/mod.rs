//! Views for a person: transcript entries, previews, effects, requests, briefings and search results.

pub mod attention;
pub mod briefing;
pub mod effects;
pub(crate) mod engine_view;
pub mod entry;
pub mod exact_name;
pub mod masked_call;
pub mod preview;
pub mod request_preview;
pub mod search;
