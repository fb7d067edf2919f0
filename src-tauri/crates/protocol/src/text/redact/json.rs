//! Secrets in structured data.

use serde_json::{Map, Value};

use crate::text::redact::value::ValueContext;
use crate::text::redact::{MASK, masker, name, value};
use crate::text::word_set::WordSet;

/// Maximum nesting that is examined. Anything deeper is masked.
pub(super) const DEPTH_MAX: usize = 256;

/// Names whose value is a secret whatever the value looks like; compared exactly, as lower-case letters and digits.
static SECRET_NAMES: WordSet = WordSet::new(
    "accesskey accesstoken apikey apisecret apitoken authorization authtoken \
     awssecretaccesskey awssessiontoken bearertoken clientsecret cookie cookies credential \
     credentials csrftoken encryptionkey idtoken passphrase passwd password privatekey \
     proxyauthorization pwd refreshtoken secret secretaccesskey secretkey sessiontoken \
     setcookie signingkey token xapikey xauthtoken",
);

/// Returns whether a member's name says that its value is a secret.
fn is_secret_name(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    SECRET_NAMES.contains(&plain)
}

/// Returns whether data certainly holds no secret, which is the common case.
pub(super) fn is_plain(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => masker::is_plain(text.as_bytes()),
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_plain(item, depth - 1)),
        Value::Object(members) => has_only_plain_members(members, depth - 1),
    }
}

/// Returns whether the members of an object certainly hold no secret.
pub(super) fn has_only_plain_members(members: &Map<String, Value>, depth: usize) -> bool {
    members.iter().all(|(name, member)| {
        masker::is_plain(name.as_bytes())
            && !is_secret_member(name, member)
            && is_plain(member, depth)
    })
}

pub(super) fn mask_json(value: &Value, depth: usize, count: &mut u32) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::String(mask_json_text(text, count)),
        Value::Array(_) | Value::Object(_) if depth == 0 => new_mask_value(count),
        Value::Array(items) => items
            .iter()
            .map(|item| mask_json(item, depth - 1, count))
            .collect(),
        Value::Object(members) => Value::Object(mask_json_members(members, depth - 1, count)),
    }
}

pub(super) fn mask_json_members(
    members: &Map<String, Value>,
    depth: usize,
    count: &mut u32,
) -> Map<String, Value> {
    let mut out = Map::with_capacity(members.len());
    for (name, member) in members {
        let kept = match is_secret_member(name, member) {
            true => new_mask_value(count),
            false => mask_json(member, depth, count),
        };
        let mut name = mask_json_text(name, count);
        while out.contains_key(&name) {
            name.push('*');
        }
        out.insert(name, kept);
    }
    out
}

fn mask_json_text(text: &str, count: &mut u32) -> String {
    let (masked, found) = crate::text::redact::text(text);
    *count += found;
    masked.into_owned()
}

fn new_mask_value(count: &mut u32) -> Value {
    *count += 1;
    Value::String(MASK.to_owned())
}

/// Returns whether a member is a secret because of its name: any value under an unambiguous name, else a text that
/// looks like a secret.
fn is_secret_member(name: &str, member: &Value) -> bool {
    let looks_so = |text: &str| {
        let (says, name) = (name::classify_name(name.as_bytes()), name.as_bytes());
        value::is_secret(says, name, text.as_bytes(), ValueContext::Quoted)
    };
    match member {
        Value::String(text) if text != MASK => {
            !text.is_empty() && (is_secret_name(name) || looks_so(text))
        }
        member => is_secret_name(name) && !is_harmless(member),
    }
}

/// Returns whether a value reveals nothing under any name, or is masked already.
fn is_harmless(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => text.is_empty() || text == MASK,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(_) => false,
    }
}
