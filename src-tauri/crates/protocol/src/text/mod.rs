//! Cutting, nesting limits, times, and masking of secrets in text and JSON.

pub mod cut;
pub mod depth;
pub mod display_text;
pub mod redact;
pub mod timestamp;
pub mod word_set;
