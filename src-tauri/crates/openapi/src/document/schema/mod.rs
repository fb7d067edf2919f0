//! From the schemas of a document to the one schema of a tool: references become `$defs`, circles stay circles.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::document::reader::{DocumentNode, DocumentReader};
use crate::limits::{SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};

mod keywords;

/// Where the definitions stand in the schema of a tool.
const DEFINITIONS_PREFIX: &str = "#/$defs/";
/// What stands in the place of what is cut.
const TRUNCATED_DESCRIPTION: &str =
    "Cut here, since the whole schema is too long. Any value is taken.";
/// What stands in the place of what cannot be found.
const UNRESOLVED_DESCRIPTION: &str =
    "The document refers to something that is not there. Any value is taken.";

/// A schema that others refer to, converted.
pub(crate) struct SchemaDefinition {
    value: Value,
    bytes: usize,
    /// The keys of what it refers to itself.
    references: Vec<String>,
}

/// The schema of one operation in the making.
pub(crate) struct SchemaBuilder<'a, 'r> {
    pub reader: &'r DocumentReader<'a>,
    /// The keys of what was referred to since it was looked at last.
    references: Vec<String>,
}

impl<'a, 'r> SchemaBuilder<'a, 'r> {
    pub fn new(reader: &'r DocumentReader<'a>) -> Self {
        Self {
            reader,
            references: Vec::new(),
        }
    }

    /// A schema of the document in the dialect of tools, at this level of the whole.
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

    /// The name under which the schema of this key is defined: the same in every tool of the document.
    fn definition_name(&self, key: &str) -> String {
        let reader = self.reader;
        if let Some(name) = reader.definition_names.borrow().get(key) {
            return name.clone();
        }
        let last = key.rsplit('/').next().unwrap_or_default();
        let near = crate::names::to_callable_name(last, "schema");
        let mut taken = reader.taken_names.borrow_mut();
        let name = crate::names::unique_name(&near, |name| taken.contains(name));
        taken.insert(name.clone());
        reader
            .definition_names
            .borrow_mut()
            .insert(key.to_owned(), name.clone());
        name
    }

    /// The converted schema of a key.
    fn definition(&self, key: &str) -> Rc<SchemaDefinition> {
        if let Some(part) = self.reader.definitions.borrow().get(key) {
            return part.clone();
        }
        let (file, pointer) = key.split_once('#').unwrap_or(("", key));
        let mut own = SchemaBuilder::new(self.reader);
        let value = match self
            .reader
            .resolve_reference(&format!("#{}", escape_pointer(pointer)), file)
        {
            Ok((place, _)) => own.convert(place, 2),
            Err(_) => json!({ "description": UNRESOLVED_DESCRIPTION }),
        };
        let part = Rc::new(SchemaDefinition {
            bytes: json_length(&value),
            value,
            references: own.references,
        });
        self.reader
            .definitions
            .borrow_mut()
            .insert(key.to_owned(), part.clone());
        part
    }

    /// The whole schema: these members, with everything that they refer to, as long as it is not too long.
    pub fn into_schema(self, mut schema: Map<String, Value>) -> Value {
        let mut parts: HashMap<String, Value> = HashMap::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut left: VecDeque<String> = self.references.iter().cloned().collect();
        let mut bytes = schema.values().map(json_length).sum::<usize>();
        while let Some(key) = left.pop_front() {
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
                    left.extend(part.references.iter().cloned());
                    part.value.clone()
                }
            };
            order.push(name.clone());
            parts.insert(name, value);
        }
        // What is referred to once stands where it is referred to: that is easier to read, and some models know no `$defs`.
        let single = |name: &str| counts.get(name) == Some(&1);
        let mut inlined = DefinitionInliner {
            definitions: &mut parts,
            is_single_use: &single,
        };
        for value in schema.values_mut() {
            inlined.inline_references(value, 1);
        }
        let shared: Vec<&String> = order.iter().filter(|name| !single(name)).collect();
        let mut defs = Map::new();
        for name in shared {
            if let Some(mut value) = inlined.definitions.remove(name) {
                inlined.inline_references(&mut value, 2);
                defs.insert(name.clone(), value);
            }
        }
        // What was too deep to be put in is defined after all.
        for name in &order {
            if let Some(value) = inlined.definitions.remove(name) {
                defs.insert(name.clone(), value);
            }
        }
        if !defs.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(defs));
        }
        Value::Object(schema)
    }
}

/// Puts definitions that are referred to once into the place of their reference.
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
                        .filter(|part| {
                            !tools::validator::is_deeper_than(part, SCHEMA_DEPTH_MAX - level)
                        })
                        .cloned()
                {
                    self.definitions.remove(&name);
                    members.shift_remove("$ref");
                    for (name, said) in part {
                        // What is said where it is referred to is nearer to the matter.
                        members.entry(name).or_insert(said);
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

/// A pointer as a fragment.
fn escape_pointer(pointer: &str) -> String {
    pointer.replace('%', "%25")
}

fn json_length(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 4, |bytes| bytes.len())
}
