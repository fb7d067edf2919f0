//! Names that tell places from their siblings: an item of a list by the member that identifies it.

use std::collections::HashMap;

use protocol::text::display_text::to_single_line;
use protocol::text::redact;

use super::tree::{Key, Node};
use crate::limits::STRUCTURE_LABEL_CHARS_MAX;

/// Members that identify an item, the most telling first; compared in lower case, without what joins their words.
const ID_KEYS: [&str; 9] = [
    "id", "uuid", "guid", "key", "slug", "code", "sku", "number", "ref",
];

/// Members that name an item to a person, the most telling first.
const NAME_KEYS: [&str; 17] = [
    "name",
    "title",
    "label",
    "username",
    "login",
    "email",
    "path",
    "file",
    "filename",
    "url",
    "uri",
    "host",
    "hostname",
    "artifactid",
    "include",
    "uses",
    "image",
];

/// Members whose own members name the item, as in manifests of Kubernetes.
const NESTED_NAME_KEYS: [&str; 1] = ["metadata"];

/// Labels siblings so that no two have the same label: by their names, where these are unique; else by what identifies
/// them, or by their position.
pub(super) fn label_children(children: &mut [Node<'_>]) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for child in children.iter() {
        if let Key::Name(name) = &child.key {
            *names.entry(name).or_default() += 1;
        }
    }
    let labels: Vec<String> = children
        .iter()
        .enumerate()
        .map(|(index, child)| match &child.key {
            Key::Item(word) => {
                describe_item(child).unwrap_or_else(|| format!("{word}{}", index + 1))
            }
            Key::Name(name) => {
                let name_shown = format_label("", name);
                let is_unique = names.get(name.as_ref()) == Some(&1);
                match describe_item(child).filter(|_| !is_unique) {
                    Some(item) => format!("{name_shown} {item}"),
                    None => name_shown,
                }
            }
        })
        .collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (child, label) in children.iter_mut().zip(labels) {
        let count = seen.entry(label.clone()).or_default();
        *count += 1;
        child.label = match *count {
            1 => label,
            more => format!("{label} #{more}"),
        };
    }
}

/// Describes an item by its telling members: `4711 “nightly-train”`; none if it has none.
fn describe_item(item: &Node<'_>) -> Option<String> {
    let id = find_member(item, &ID_KEYS);
    let name = find_member(item, &NAME_KEYS).or_else(|| {
        let mut nested = item.children.iter();
        nested
            .find(|child| NESTED_NAME_KEYS.contains(&normalize_key(child).as_str()))
            .and_then(|child| find_member(child, &NAME_KEYS))
    });
    match (id, name) {
        (Some(id), Some(name)) => Some(format!("{id} “{name}”")),
        (Some(id), None) => Some(id),
        (None, Some(name)) => Some(format!("“{name}”")),
        (None, None) => find_qualified_id(item),
    }
}

fn find_member(item: &Node<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| {
        let mut members = item.children.iter();
        let member = members.find(|member| normalize_key(member) == *key)?;
        format_value(member)
    })
}

/// Finds a member such as `order_id` or `orderId`, which may name another thing than the item; so it is given with its
/// key.
fn find_qualified_id(item: &Node<'_>) -> Option<String> {
    item.children.iter().find_map(|member| {
        let Key::Name(key) = &member.key else {
            return None;
        };
        let is_id = ["_id", "-id", "Id", "ID"]
            .iter()
            .any(|end| key.ends_with(end));
        let value = format_value(member).filter(|_| is_id)?;
        Some(format!("{key} {value}"))
    })
}

fn format_value(member: &Node<'_>) -> Option<String> {
    let value = member.value().filter(|value| !value.trim().is_empty())?;
    match &member.key {
        Key::Name(key) => Some(format_label(key, value)),
        Key::Item(_) => None,
    }
}

fn normalize_key(member: &Node<'_>) -> String {
    match &member.key {
        Key::Name(key) => key
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect(),
        Key::Item(_) => String::new(),
    }
}

/// Formats what a place is called, which may be the value of a member: short, on one line, without secrets.
fn format_label(key: &str, text: &str) -> String {
    to_single_line(&mask_member(key, text), STRUCTURE_LABEL_CHARS_MAX)
}

/// Masks the secrets in the value of a member; all of it if the key says that it is one.
pub(super) fn mask_member(key: &str, value: &str) -> String {
    let member = serde_json::Map::from_iter([(key.to_owned(), value.into())]);
    let (masked, _) = redact::mask_object(&member);
    match masked.get(key).and_then(|value| value.as_str()) {
        Some(value) => value.to_owned(),
        // The key itself is a secret.
        None => redact::MASK.to_owned(),
    }
}
