//! Collects the paths and hosts that the arguments of a third-party tool name.
//!
//! Nobody vouches for what such a tool does with its arguments, so everything that may name a path or a host counts: by
//! the format in its schema, by the name of the argument, and by the value itself. A mention can make a verdict
//! stricter; it never makes one looser.

mod classify;

use protocol::{Access, Capability};
use serde_json::{Map, Value};

pub use classify::is_deleting_name;
use classify::{
    MentionKind, classify_format, classify_name, classify_value, extract_host, is_ambiguous_name,
    is_plain_word, path_from_file_url,
};

use crate::limits::{MENTION_BYTES_MAX, MENTION_TARGET_CHARS_MAX, MENTIONS_MAX};
use crate::text::{escape_invisible, truncate_chars};

/// Paths, hosts, commands and words that the arguments of a call name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Paths, hosts and commands.
    pub accesses: Vec<Access>,
    /// Single words, which are paths if the workspace has an entry of that name.
    pub words: Vec<String>,
    /// Whether the arguments name more than is collected.
    pub is_cut: bool,
}

impl Mentions {
    /// Returns what is named in one line for a card, each once; `otherwise` where nothing is.
    pub fn to_target(&self, otherwise: &str) -> String {
        let mut targets: Vec<&str> = Vec::new();
        for access in &self.accesses {
            if !targets.contains(&access.target.as_str()) {
                targets.push(&access.target);
            }
        }
        let text = match targets.is_empty() {
            false => targets.join(", "),
            true => otherwise.to_owned(),
        };
        let line = text.lines().next().unwrap_or_default();
        truncate_chars(&escape_invisible(line), MENTION_TARGET_CHARS_MAX)
    }
}

/// Greatest depth to which arguments are followed.
const DEPTH_MAX: usize = 32;

/// Greatest number of schemas that one is composed of.
const SCHEMAS_MAX: usize = 256;

/// Collects everything that the arguments name, by a schema that need not be correct. A path counts as read and
/// written; `deletes` adds that it is deleted.
pub fn collect_mentions(schema: &Value, arguments: &Map<String, Value>, deletes: bool) -> Mentions {
    let mut search = MentionCollector {
        root: schema,
        deletes,
        mentions: Mentions::default(),
    };
    let nodes = search.expand_schema(schema);
    for (name, value) in arguments {
        let below = search.member_schemas(&nodes, name);
        search.visit_value(name, value, &below, 0);
    }
    search.mentions
}

struct MentionCollector<'a> {
    root: &'a Value,
    deletes: bool,
    mentions: Mentions,
}

impl<'a> MentionCollector<'a> {
    /// Returns a schema together with all schemas that it is composed of.
    fn expand_schema(&mut self, node: &'a Value) -> Vec<&'a Value> {
        let mut all: Vec<&'a Value> = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if all.iter().any(|known| std::ptr::eq(*known, node)) {
                continue;
            }
            if all.len() >= SCHEMAS_MAX {
                self.mentions.is_cut = true;
                break;
            }
            all.push(node);
            for word in ["allOf", "anyOf", "oneOf"] {
                open.extend(
                    node.get(word)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten(),
                );
            }
            for word in ["if", "then", "else"] {
                open.extend(node.get(word));
            }
            let target = node.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|target| target.strip_prefix('#'));
            open.extend(target.and_then(|pointer| self.root.pointer(pointer)));
        }
        all
    }

    fn expand_schemas(&mut self, nodes: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
        nodes.flat_map(|node| self.expand_schema(node)).collect()
    }

    /// Returns the schemas of a member of an object.
    fn member_schemas(&mut self, nodes: &[&'a Value], name: &str) -> Vec<&'a Value> {
        let below = nodes.iter().filter_map(|node| {
            let named = node.get("properties").and_then(|all| all.get(name));
            named.or_else(|| node.get("additionalProperties"))
        });
        self.expand_schemas(below)
    }

    /// Returns the schemas of an item of a list.
    fn item_schemas(&mut self, nodes: &[&'a Value], at: usize) -> Vec<&'a Value> {
        let below = nodes.iter().filter_map(|node| {
            let first = node.get("prefixItems").and_then(|items| items.get(at));
            first.or_else(|| node.get("items"))
        });
        self.expand_schemas(below)
    }

    fn visit_value(&mut self, name: &str, value: &Value, nodes: &[&'a Value], depth: usize) {
        if depth > DEPTH_MAX {
            self.mentions.is_cut = true;
            return;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.visit_text(name, text, nodes),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let below = self.item_schemas(nodes, at);
                    self.visit_value(name, item, &below, depth + 1);
                }
            }
            Value::Object(members) => {
                for (member, value) in members {
                    let is_known = nodes.iter().any(|node| {
                        node.get("properties")
                            .and_then(|all| all.get(member))
                            .is_some()
                    });
                    // `{"files": {"a.txt": "…"}}`
                    if !is_known {
                        self.visit_text(name, member, &[]);
                    }
                    let below = self.member_schemas(nodes, member);
                    self.visit_value(member, value, &below, depth + 1);
                }
            }
        }
    }

    fn visit_text(&mut self, name: &str, text: &str, nodes: &[&'a Value]) {
        if text.trim().is_empty() {
            return;
        }
        let formats = nodes.iter().filter_map(|node| node.get("format"));
        let by_format = formats.filter_map(Value::as_str).find_map(classify_format);
        let is_line = text.len() <= MENTION_BYTES_MAX && !text.contains(['\n', '\r']);
        let by_value = is_line.then(|| classify_value(text)).flatten();
        // An address says by itself where it leads, whatever its argument is called.
        let kind = match (by_value, by_format, classify_name(name)) {
            (_, _, Some(MentionKind::Command)) => Some(MentionKind::Command),
            (Some(by_value), ..) => Some(by_value),
            (None, Some(by_format), _) => Some(by_format),
            (None, None, Some(MentionKind::Path))
                if is_ambiguous_name(name) && !is_plain_word(text) =>
            {
                None
            }
            (None, None, by_name) => by_name,
        };
        match kind {
            Some(kind) => self.add_mention(kind, text),
            None if is_line => self.collect_words(text),
            None => {}
        }
    }

    /// Collects a single word, and the value after a `=` in it.
    fn collect_words(&mut self, text: &str) {
        if !is_plain_word(text) {
            return;
        }
        let value = text.split_once('=').map(|(_, value)| value);
        if let Some(value) = value.filter(|value| !value.is_empty())
            && let Some(kind) = classify_value(value)
        {
            self.add_mention(kind, value);
        }
        for word in [Some(text), value].into_iter().flatten() {
            if self.has_capacity() && !self.mentions.words.iter().any(|listed| listed == word) {
                self.mentions.words.push(word.to_owned());
            }
        }
    }

    fn has_capacity(&mut self) -> bool {
        let count = self.mentions.accesses.len() + self.mentions.words.len();
        self.mentions.is_cut |= count >= MENTIONS_MAX;
        count < MENTIONS_MAX
    }

    fn add_mention(&mut self, kind: MentionKind, text: &str) {
        let (capabilities, target): (&[Capability], String) = match kind {
            MentionKind::Command => (&[Capability::ShellRun], text.to_owned()),
            MentionKind::Host => match path_from_file_url(text) {
                Some(path) => return self.add_mention(MentionKind::Path, &path),
                None => (&[Capability::NetFetch], extract_host(text)),
            },
            MentionKind::Path => {
                use Capability::{FsDelete, FsRead, FsWrite};
                let path = path_from_file_url(text).unwrap_or_else(|| text.to_owned());
                match self.deletes {
                    true => (&[FsRead, FsWrite, FsDelete], path),
                    false => (&[FsRead, FsWrite], path),
                }
            }
        };
        for capability in capabilities {
            let access = Access::new(*capability, target.clone());
            if !self.mentions.accesses.contains(&access) && self.has_capacity() {
                self.mentions.accesses.push(access);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the mentioned targets in order, and the words that may be paths.
    fn collect_targets(schema: Value, arguments: Value) -> (Vec<String>, Vec<String>) {
        let mentions = collect_mentions(&schema, arguments.as_object().unwrap(), false);
        assert!(!mentions.is_cut);
        let mut targets: Vec<String> = Vec::new();
        for access in mentions.accesses {
            let kind = match access.capability {
                Capability::NetFetch => "host",
                Capability::ShellRun => "command",
                Capability::FsRead | Capability::FsWrite | Capability::FsDelete => "path",
            };
            let one = format!("{kind} {}", access.target);
            if !targets.contains(&one) {
                targets.push(one);
            }
        }
        targets.sort();
        (targets, mentions.words)
    }

    #[test]
    fn places_are_found_by_name_by_value_and_in_lists_and_objects() {
        for (arguments, places) in [
            (
                json!({ "path": "new.txt", "content": "x y" }),
                &["path new.txt"][..],
            ),
            (json!({ "filePath": "a b.txt" }), &["path a b.txt"]),
            (json!({ "file_name": "a" }), &["path a"]),
            (json!({ "paths": ["a", "b"] }), &["path a", "path b"]),
            (json!({ "directories": ["a"] }), &["path a"]),
            (
                json!({ "source": "a", "destination": "b" }),
                &["path a", "path b"],
            ),
            (json!({ "source": "a free text" }), &[]),
            (json!({ "edits": [{ "target_file": "x" }] }), &["path x"]),
            (
                json!({ "files": { "a.txt": "words here" } }),
                &["path a.txt"],
            ),
            (json!({ "x": "/etc/passwd" }), &["path /etc/passwd"]),
            (json!({ "x": "~/.ssh/id_rsa" }), &["path ~/.ssh/id_rsa"]),
            (json!({ "x": "../up" }), &["path ../up"]),
            (json!({ "x": "C:\\Users" }), &["path C:\\Users"]),
            (json!({ "x": "file:///etc/a%20b" }), &["path /etc/a b"]),
            (json!({ "uri": "FILE:/etc/x" }), &["path /etc/x"]),
            (json!({ "args": ["--file=/etc/x"] }), &["path /etc/x"]),
            (
                json!({ "x": "https://docs.rs/x" }),
                &["host https://docs.rs/x"],
            ),
            (
                json!({ "x": "postgres://me@db.local:5432/x" }),
                &["host db.local:5432"],
            ),
            (json!({ "host": "docs.rs" }), &["host docs.rs"]),
            (
                json!({ "repoUrl": "git@github.com:a/b.git" }),
                &["host github.com"],
            ),
            (
                json!({ "apiEndpoint": "api.example.com" }),
                &["host api.example.com"],
            ),
            (
                json!({ "path": "https://docs.rs" }),
                &["host https://docs.rs"],
            ),
            (json!({ "command": "cat .env" }), &["command cat .env"]),
            (
                json!({ "text": "see /etc/passwd and\nhttps://docs.rs" }),
                &[],
            ),
            (json!({ "count": 3, "all": true, "none": null }), &[]),
        ] {
            let targets = collect_targets(json!({}), arguments.clone()).0;
            assert_eq!(targets, places, "{arguments}");
        }
    }

    #[test]
    fn places_are_found_by_the_format_of_a_schema() {
        let schema = json!({
            "$defs": { "where": { "type": "string", "format": "uri" } },
            "properties": {
                "a": { "format": "path" },
                "b": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/where" }] },
                "c": { "items": { "format": "hostname" } },
                "d": { "properties": { "e": { "format": "file-path" } } },
                "f": { "additionalProperties": { "format": "path" } },
            },
        });
        let (targets, _) = collect_targets(
            schema,
            json!({ "a": "x", "b": "docs.rs/y", "c": ["h.example"], "d": { "e": "z" }, "f": { "k": "v" } }),
        );
        assert_eq!(
            targets,
            [
                "host docs.rs/y",
                "host h.example",
                "path v",
                "path x",
                "path z"
            ]
        );
    }

    #[test]
    fn single_words_may_be_paths() {
        let (_, words) = collect_targets(
            json!({}),
            json!({ "name": "README.md", "flag": "--in=a.txt", "t": "two words" }),
        );
        let mut words = words;
        words.sort();
        assert_eq!(words, ["--in=a.txt", "README.md", "a.txt"]);
    }

    #[test]
    fn more_than_is_looked_at_is_told() {
        let many: Vec<String> = (0..2_000).map(|n| format!("/x/{n}")).collect();
        let arguments = json!({ "paths": many });
        let mentions = collect_mentions(&json!({}), arguments.as_object().unwrap(), false);
        assert!(mentions.is_cut);
        let looped = json!({ "$ref": "#" });
        assert!(!collect_mentions(&looped, json!({ "a": "b" }).as_object().unwrap(), true).is_cut);
        let parts: Vec<Value> = (0..300).map(|n| json!({ "title": n })).collect();
        let wide = json!({ "allOf": parts });
        assert!(collect_mentions(&wide, json!({ "a": "b" }).as_object().unwrap(), true).is_cut);
    }

    #[test]
    fn names_of_tools_that_take_something_away() {
        for (name, deletes) in [
            ("delete_file", true),
            ("moveFile", true),
            ("rm", true),
            ("write_file", false),
            ("perform", false),
        ] {
            assert_eq!(is_deleting_name(name), deletes, "{name}");
        }
    }
}
