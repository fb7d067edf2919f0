//! Masks secrets before anything is kept or shown: values that look like a secret, and values under a name that says
//! so, in data and in text of every shape.
//!
//! Invariant: texts, data, messages and live output of a call, and its sidecar file, hold `***` where a secret stood;
//! so do the index by which calls are searched, every export, and every view of a call that is over, its arguments
//! among them (`view::masked_call`). While a call waits that sends nothing out, its arguments and the differences that a
//! person decides on are shown unmasked, because the person must see what they agree to, and the log keeps them, so
//! that a session resumes from it. The files themselves and the copies for undo are never changed by masking.
//!
//! One scan serves whole texts and streams, so that a secret is found however its pieces arrive. The scan reads every
//! byte a bounded number of times and holds back a bounded number of bytes.

mod address;
mod assignment;
#[cfg(test)]
mod examples;
mod headers;
mod json;
mod line_prefix;
mod lookahead;
mod masker;
mod name;
mod options;
mod pem;
mod quote;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
mod token;
mod triggers;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

pub use crate::text::redact::masker::Masker;

/// Text that replaces a secret.
pub const MASK: &str = "***";

/// Returns whether the policies of a tool's interface ask for masking. A tool opts out only by naming no policy; an
/// unknown name counts as asking.
pub fn is_masking_requested(policy_refs: &[String]) -> bool {
    !policy_refs.is_empty()
}

/// Returns a text without its secrets, and their number. A text that holds none is returned unchanged.
pub fn text(text: &str) -> (Cow<'_, str>, u32) {
    if masker::is_plain(text.as_bytes()) {
        return (Cow::Borrowed(text), 0);
    }
    match mask_bytes(text.as_bytes()) {
        (_, 0) => (Cow::Borrowed(text), 0),
        // Only whole stretches of ASCII are replaced, so what was UTF-8 still is.
        (masked, count) => (
            Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
            count,
        ),
    }
}

/// Returns bytes without their secrets, and the number of secrets.
pub fn mask_bytes(bytes: &[u8]) -> (Vec<u8>, u32) {
    let mut masker = Masker::default();
    let mut out = masker.push(bytes);
    out.extend(masker.finish());
    (out, masker.count())
}

/// Returns the ranges of the secrets in some bytes, in order.
pub fn find_secrets(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut masker = Masker::with_positions();
    masker.push(bytes);
    masker.finish();
    masker.into_positions()
}

/// Returns data without its secrets, and their number: in every text of the data, and everything under a secret's name.
/// Data that holds no secret is returned unchanged.
pub fn mask_value(value: &Value) -> (Cow<'_, Value>, u32) {
    if json::is_plain(value, json::DEPTH_MAX) {
        return (Cow::Borrowed(value), 0);
    }
    let mut count = 0;
    let masked = json::mask_json(value, json::DEPTH_MAX, &mut count);
    match count {
        0 => (Cow::Borrowed(value), 0),
        count => (Cow::Owned(masked), count),
    }
}

/// Returns the members of an object, such as the arguments of a call, without their secrets, and the number of secrets.
pub fn mask_object(members: &Map<String, Value>) -> (Cow<'_, Map<String, Value>>, u32) {
    if json::has_only_plain_members(members, json::DEPTH_MAX) {
        return (Cow::Borrowed(members), 0);
    }
    let mut count = 0;
    let masked = json::mask_json_members(members, json::DEPTH_MAX, &mut count);
    match count {
        0 => (Cow::Borrowed(members), 0),
        count => (Cow::Owned(masked), count),
    }
}

/// Formats the number of masked secrets for a model: "[1 secret was masked as ***.]".
pub fn summarize_count(count: u32) -> String {
    let (secrets, were) = match count {
        1 => ("1 secret".to_owned(), "was"),
        many => (format!("{many} secrets"), "were"),
    };
    format!("[{secrets} {were} masked as ***; what stands in the file itself is unchanged.]")
}
