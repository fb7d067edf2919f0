//! Secrets are masked before anything is kept or shown: values that look like one, and values under a name that says so,
//! in data and in text of every shape.
//!
//! What holds: texts, data, messages and live output of a call, and its sidecar file, hold `***` where a secret stood; so do
//! the index by which calls are searched, what is exported, and every view of a call that is over, its arguments among them
//! (`view::masked_call`). While a call waits, its arguments and the differences that a person decides on are shown as they
//! are, because the person must see what they agree to. The log keeps the model's own arguments, from which a session resumes.
//! The files themselves and the copies for undo are never changed because somebody looked at them.
//!
//! One scan serves whole texts and streams, so that a secret is found however its pieces arrive. It reads every byte a
//! bounded number of times and holds back a bounded number of them.

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

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// The name of the policy under which secrets are masked (`S003-46`).
pub const SECRETS_POLICY: &str = "secrets";

/// Whether the policies of a tool's interface ask for masking. None does so only by naming none; a name that is not
/// known counts as asking.
pub fn is_masking_requested(policy_refs: &[String]) -> bool {
    !policy_refs.is_empty()
}

/// A text without its secrets, and how many there were. One that holds none is given back as it is.
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

/// Bytes without their secrets, and how many there were.
pub fn mask_bytes(bytes: &[u8]) -> (Vec<u8>, u32) {
    let mut masker = Masker::default();
    let mut out = masker.push(bytes);
    out.extend(masker.finish());
    (out, masker.count())
}

/// Where the secrets of some bytes stand, in order.
pub fn find_secrets(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut masker = Masker::with_positions();
    masker.push(bytes);
    masker.finish();
    masker.into_positions()
}

/// Data without its secrets, and how many there were: every text in it, and everything under a secret's name. Data that
/// holds none is given back as it is.
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

/// The same for the members of an object, such as the arguments of a call.
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

/// "[1 secret was masked as ***.]": how a model is told.
pub fn summarize_count(count: u32) -> String {
    let (secrets, were) = match count {
        1 => ("1 secret".to_owned(), "was"),
        many => (format!("{many} secrets"), "were"),
    };
    format!("[{secrets} {were} masked as ***; what stands in the file itself is unchanged.]")
}
