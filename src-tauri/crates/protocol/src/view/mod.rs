//! What a person is shown: transcript entries, previews, effects, requests, and the text in which they are drawn.

pub mod briefing;
pub mod effects;
pub(crate) mod engine_view;
pub mod entry;
pub mod exact_name;
pub mod masked_call;
pub mod preview;
pub mod request_preview;
pub mod search;
