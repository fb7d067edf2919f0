//! Secrets in structured data.

use serde_json::{Map, Value};

use super::value::Written;
use super::{MASK, masker, name, value};

/// Nesting beyond which nothing is looked at, and nothing is let through.
pub(super) const DEPTH_MAX: usize = 256;

/// Names whose value is a secret whatever it looks like; compared as lower-case letters and digits, exactly.
const NAMES: [&str; 34] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "authorization",
    "authtoken",
    "awssecretaccesskey",
    "awssessiontoken",
    "bearertoken",
    "clientsecret",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "csrftoken",
    "encryptionkey",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "proxyauthorization",
    "pwd",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sessiontoken",
    "setcookie",
    "signingkey",
    "token",
    "xapikey",
    "xauthtoken",
];

/// Letters and digits of the longest of them.
const NAME_BYTES_MAX: usize = 18;

/// Whether a member's name says that its value is a secret.
fn is_secret(name: &str) -> bool {
    let mut plain = [0; NAME_BYTES_MAX];
    let mut length = 0;
    for byte in name.bytes().filter(u8::is_ascii_alphanumeric) {
        let Some(place) = plain.get_mut(length) else {
            return false;
        };
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = &plain[..length];
    NAMES
        .binary_search_by(|name| name.as_bytes().cmp(plain))
        .is_ok()
}

/// Whether data surely holds no secret: what most data is.
pub(super) fn is_plain(value: &Value, depth: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => masker::is_plain(text.as_bytes()),
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(items) => items.iter().all(|item| is_plain(item, depth - 1)),
        Value::Object(members) => are_plain(members, depth - 1),
    }
}

/// The same of the members of an object.
pub(super) fn are_plain(members: &Map<String, Value>, depth: usize) -> bool {
    members.iter().all(|(name, member)| {
        masker::is_plain(name.as_bytes()) && !is_hidden(name, member) && is_plain(member, depth)
    })
}

pub(super) fn masked(value: &Value, depth: usize, count: &mut u32) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::String(text_of(text, count)),
        Value::Array(_) | Value::Object(_) if depth == 0 => hidden(count),
        Value::Array(items) => items
            .iter()
            .map(|item| masked(item, depth - 1, count))
            .collect(),
        Value::Object(members) => Value::Object(masked_members(members, depth - 1, count)),
    }
}

pub(super) fn masked_members(
    members: &Map<String, Value>,
    depth: usize,
    count: &mut u32,
) -> Map<String, Value> {
    let mut out = Map::with_capacity(members.len());
    for (name, member) in members {
        let kept = match is_hidden(name, member) {
            true => hidden(count),
            false => masked(member, depth, count),
        };
        let mut name = text_of(name, count);
        while out.contains_key(&name) {
            name.push('*');
        }
        out.insert(name, kept);
    }
    out
}

fn text_of(text: &str, count: &mut u32) -> String {
    let (masked, found) = super::text(text);
    *count += found;
    masked.into_owned()
}

fn hidden(count: &mut u32) -> Value {
    *count += 1;
    Value::String(MASK.to_owned())
}

/// Whether a member is a secret because of its name: whatever it is under a name that leaves no doubt, else a text that looks
/// like one.
fn is_hidden(name: &str, member: &Value) -> bool {
    let looks_so = |text: &str| {
        let (says, name) = (name::says(name.as_bytes()), name.as_bytes());
        value::is_secret(says, name, text.as_bytes(), Written::Quoted)
    };
    match member {
        Value::String(text) if text != MASK => {
            !text.is_empty() && (is_secret(name) || looks_so(text))
        }
        member => is_secret(name) && !says_nothing(member),
    }
}

/// What gives nothing away under any name, and what is masked already.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => text.is_empty() || text == MASK,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_for_the_search() {
        assert!(NAMES.is_sorted());
        let longest = NAMES.iter().map(|name| name.len()).max();
        assert_eq!(longest, Some(NAME_BYTES_MAX));
    }
}
