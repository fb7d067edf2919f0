//! Converts the schemas of a document to the one schema of a tool: references become `$defs`, and circular ones stay
//! circular.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use protocol::text::depth::exceeds_depth;
use serde_json::{Map, Value, json};
use tools::sources::unique_name;

use crate::document::reader::{DocumentNode, DocumentReader};
use crate::limits::{SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};

mod keywords;

/// Prefix of references to definitions in the schema of a tool.
const DEFINITIONS_PREFIX: &str = "#/$defs/";
/// Description of a schema that replaces one that was cut.
const TRUNCATED_DESCRIPTION: &str =
    "Cut here, since the whole schema is too long. Any value is taken.";
/// Description of a schema that replaces one that was not found.
const UNRESOLVED_DESCRIPTION: &str =
    "The document refers to something that is not there. Any value is taken.";

/// A converted schema that others refer to.
pub(crate) struct SchemaDefinition {
    value: Value,
    bytes: usize,
    /// Keys of the schemas that this one refers to.
    references: Vec<String>,
}

/// Builds the schema of one operation.
pub(crate) struct SchemaBuilder<'a, 'r> {
    pub reader: &'r DocumentReader<'a>,
    /// Keys of the schemas referred to since this list was last taken.
    references: Vec<String>,
}

impl<'a, 'r> SchemaBuilder<'a, 'r> {
    pub fn new(reader: &'r DocumentReader<'a>) -> Self {
        Self {
            reader,
            references: Vec::new(),
        }
    }

    /// Converts a schema of the document to the dialect of tools; `level` is its depth in the whole schema.
    pub fn convert(&mut self, place: DocumentNode<'a>, level: usize) -> Value {
        if level >= SCHEMA_DEPTH_MAX {
            return json!({ "description": TRUNCATED_DESCRIPTION });
        }
        let members = match place.value {
            Value::Bool(any) => return Value::Bool(*any),
            Value::Object(members) => members,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return json!({}),
        };
        let Some(reference) = place.text("$ref") else {
            return keywords::convert_keywords(self, place, members, level);
        };
        let mut referring = match self.reader.resolve_reference(reference, place.file) {
            Err(_) => json!({ "description": UNRESOLVED_DESCRIPTION }),
            Ok((_, key)) => {
                let name = self.definition_name(&key);
                self.references.push(key);
                json!({ "$ref": format!("{DEFINITIONS_PREFIX}{name}") })
            }
        };
        // Beside a reference, 3.0 knows nothing; what it says of the matter is worth reading all the same.
        let more = match self.reader.is_3_0 {
            true => Value::Object(Map::from_iter(
                members
                    .get_key_value("description")
                    .map(|(name, text)| (name.clone(), text.clone())),
            )),
            false => keywords::convert_keywords(self, place, members, level),
        };
        if let (Value::Object(referring), Value::Object(more)) = (&mut referring, more) {
            referring.extend(more);
        }
        referring
    }

    /// Returns the name of the definition for this key: the same in every tool of the document.
    fn definition_name(&self, key: &str) -> String {
        let reader = self.reader;
        if let Some(name) = reader.definition_names.borrow().get(key) {
            return name.clone();
        }
        let last = key.rsplit('/').next().unwrap_or_default();
        let nearest = crate::names::to_callable_name(last, "schema");
        let mut taken_names = reader.taken_names.borrow_mut();
        let name = unique_name(&nearest, |name| taken_names.contains(name));
        taken_names.insert(name.clone());
        reader
            .definition_names
            .borrow_mut()
            .insert(key.to_owned(), name.clone());
        name
    }

    /// Returns the converted schema for a key.
    fn definition(&self, key: &str) -> Rc<SchemaDefinition> {
        if let Some(part) = self.reader.definitions.borrow().get(key) {
            return part.clone();
        }
        let (file, pointer) = key.split_once('#').unwrap_or(("", key));
        let mut builder = SchemaBuilder::new(self.reader);
        let value = match self
            .reader
            .resolve_reference(&format!("#{}", escape_pointer(pointer)), file)
        {
            Ok((place, _)) => builder.convert(place, 2),
            Err(_) => json!({ "description": UNRESOLVED_DESCRIPTION }),
        };
        let part = Rc::new(SchemaDefinition {
            bytes: json_length(&value),
            value,
            references: builder.references,
        });
        self.reader
            .definitions
            .borrow_mut()
            .insert(key.to_owned(), part.clone());
        part
    }

    /// Builds the whole schema: these members, with every definition that they refer to, up to the size limit.
    pub fn into_schema(self, mut schema: Map<String, Value>) -> Value {
        let mut parts: HashMap<String, Value> = HashMap::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut pending: VecDeque<String> = self.references.iter().cloned().collect();
        let mut bytes = schema.values().map(json_length).sum::<usize>();
        while let Some(key) = pending.pop_front() {
            let name = self.definition_name(&key);
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                continue;
            }
            let part = self.definition(&key);
            let value = match bytes + part.bytes > SCHEMA_BYTES_MAX {
                true => json!({ "description": TRUNCATED_DESCRIPTION }),
                false => {
                    bytes += part.bytes;
                    pending.extend(part.references.iter().cloned());
                    part.value.clone()
                }
            };
            order.push(name.clone());
            parts.insert(name, value);
        }
        // A definition with one reference is inlined: that is easier to read, and some models do not know `$defs`.
        let is_single_use = |name: &str| counts.get(name) == Some(&1);
        let mut inliner = DefinitionInliner {
            definitions: &mut parts,
            is_single_use: &is_single_use,
        };
        for value in schema.values_mut() {
            inliner.inline_references(value, 1);
        }
        let shared_names: Vec<&String> = order.iter().filter(|name| !is_single_use(name)).collect();
        let mut defs = Map::new();
        for name in shared_names {
            if let Some(mut value) = inliner.definitions.remove(name) {
                inliner.inline_references(&mut value, 2);
                defs.insert(name.clone(), value);
            }
        }
        // A definition too deep to be inlined goes into `$defs` after all.
        for name in &order {
            if let Some(value) = inliner.definitions.remove(name) {
                defs.insert(name.clone(), value);
            }
        }
        if !defs.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        Value::Object(schema)
    }
}

/// Replaces references by their definitions where a definition is referred to only once.
struct DefinitionInliner<'p> {
    definitions: &'p mut HashMap<String, Value>,
    is_single_use: &'p dyn Fn(&str) -> bool,
}

impl DefinitionInliner<'_> {
    fn inline_references(&mut self, value: &mut Value, level: usize) {
        match value {
            Value::Object(members) => {
                let name = members.get("$ref").and_then(Value::as_str);
                let name = name
                    .and_then(|name| name.strip_prefix(DEFINITIONS_PREFIX))
                    .map(str::to_owned);
                if let Some(name) = name.filter(|name| (self.is_single_use)(name))
                    && level < SCHEMA_DEPTH_MAX
                    && let Some(Value::Object(part)) = self
                        .definitions
                        .get(&name)
                        .filter(|part| !exceeds_depth(part, SCHEMA_DEPTH_MAX - level))
                        .cloned()
                {
                    self.definitions.remove(&name);
                    members.shift_remove("$ref");
                    for (name, keyword) in part {
                        // Keywords beside the reference take precedence over those of the definition.
                        members.entry(name).or_insert(keyword);
                    }
                }
                members
                    .values_mut()
                    .for_each(|value| self.inline_references(value, level + 1));
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|value| self.inline_references(value, level + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// Escapes a pointer as a fragment.
fn escape_pointer(pointer: &str) -> String {
    pointer.replace('%', "%25")
}

fn json_length(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 4, |bytes| bytes.len())
}
