//! From the schemas of a document to the one schema of a tool: references become `$defs`, circles stay circles.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::limits::{SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use crate::reader::{Place, Reader};

mod keywords;

/// Where the definitions stand in the schema of a tool.
const DEFS: &str = "#/$defs/";
/// What stands in the place of what is cut.
const CUT: &str = "Cut here, since the whole schema is too long. Any value is taken.";
/// What stands in the place of what cannot be found.
const UNKNOWN: &str = "The document refers to something that is not there. Any value is taken.";

/// A schema that others refer to, converted.
pub(crate) struct Part {
    value: Value,
    bytes: usize,
    /// The keys of what it refers to itself.
    refers: Vec<String>,
}

/// The schema of one operation in the making.
pub(crate) struct Schemas<'a, 'r> {
    pub reader: &'r Reader<'a>,
    /// The keys of what was referred to since it was looked at last.
    refers: Vec<String>,
}

impl<'a, 'r> Schemas<'a, 'r> {
    pub fn new(reader: &'r Reader<'a>) -> Self {
        Self {
            reader,
            refers: Vec::new(),
        }
    }

    /// A schema of the document in the dialect of tools, at this level of the whole.
    pub fn convert(&mut self, place: Place<'a>, level: usize) -> Value {
        if level >= SCHEMA_DEPTH_MAX {
            return json!({ "description": CUT });
        }
        let members = match place.value {
            Value::Bool(any) => return Value::Bool(*any),
            Value::Object(members) => members,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return json!({}),
        };
        let Some(reference) = place.text("$ref") else {
            return keywords::convert(self, place, members, level);
        };
        let mut referring = match self.reader.target(reference, place.file) {
            Err(_) => json!({ "description": UNKNOWN }),
            Ok((_, key)) => {
                let name = self.name(&key);
                self.refers.push(key);
                json!({ "$ref": format!("{DEFS}{name}") })
            }
        };
        // Beside a reference, 3.0 knows nothing; what it says of the matter is worth reading all the same.
        let more = match self.reader.is_3_0 {
            true => Value::Object(Map::from_iter(
                members
                    .get_key_value("description")
                    .map(|(name, text)| (name.clone(), text.clone())),
            )),
            false => keywords::convert(self, place, members, level),
        };
        if let (Value::Object(referring), Value::Object(more)) = (&mut referring, more) {
            referring.extend(more);
        }
        referring
    }

    /// The name under which the schema of this key is defined: the same in every tool of the document.
    fn name(&self, key: &str) -> String {
        let reader = self.reader;
        if let Some(name) = reader.names.borrow().get(key) {
            return name.clone();
        }
        let last = key.rsplit('/').next().unwrap_or_default();
        let near = crate::names::near(last, "schema");
        let mut taken = reader.taken.borrow_mut();
        let name = crate::names::free(&near, |name| taken.contains(name));
        taken.insert(name.clone());
        reader
            .names
            .borrow_mut()
            .insert(key.to_owned(), name.clone());
        name
    }

    /// The converted schema of a key.
    fn part(&self, key: &str) -> Rc<Part> {
        if let Some(part) = self.reader.parts.borrow().get(key) {
            return part.clone();
        }
        let (file, pointer) = key.split_once('#').unwrap_or(("", key));
        let mut own = Schemas::new(self.reader);
        let value = match self.reader.target(&format!("#{}", escaped(pointer)), file) {
            Ok((place, _)) => own.convert(place, 2),
            Err(_) => json!({ "description": UNKNOWN }),
        };
        let part = Rc::new(Part {
            bytes: length(&value),
            value,
            refers: own.refers,
        });
        self.reader
            .parts
            .borrow_mut()
            .insert(key.to_owned(), part.clone());
        part
    }

    /// The whole schema: these members, with everything that they refer to, as long as it is not too long.
    pub fn whole(self, mut schema: Map<String, Value>) -> Value {
        let mut parts: HashMap<String, Value> = HashMap::new();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut left: VecDeque<String> = self.refers.iter().cloned().collect();
        let mut bytes = schema.values().map(length).sum::<usize>();
        while let Some(key) = left.pop_front() {
            let name = self.name(&key);
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                continue;
            }
            let part = self.part(&key);
            let value = match bytes + part.bytes > SCHEMA_BYTES_MAX {
                true => json!({ "description": CUT }),
                false => {
                    bytes += part.bytes;
                    left.extend(part.refers.iter().cloned());
                    part.value.clone()
                }
            };
            order.push(name.clone());
            parts.insert(name, value);
        }
        // What is referred to once stands where it is referred to: that is easier to read, and some models know no `$defs`.
        let single = |name: &str| counts.get(name) == Some(&1);
        let mut inlined = Inline {
            parts: &mut parts,
            single: &single,
        };
        for value in schema.values_mut() {
            inlined.put(value, 1);
        }
        let shared: Vec<&String> = order.iter().filter(|name| !single(name)).collect();
        let mut defs = Map::new();
        for name in shared {
            if let Some(mut value) = inlined.parts.remove(name) {
                inlined.put(&mut value, 2);
                defs.insert(name.clone(), value);
            }
        }
        // What was too deep to be put in is defined after all.
        for name in &order {
            if let Some(value) = inlined.parts.remove(name) {
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
struct Inline<'p> {
    parts: &'p mut HashMap<String, Value>,
    single: &'p dyn Fn(&str) -> bool,
}

impl Inline<'_> {
    fn put(&mut self, value: &mut Value, level: usize) {
        match value {
            Value::Object(members) => {
                let name = members.get("$ref").and_then(Value::as_str);
                let name = name
                    .and_then(|name| name.strip_prefix(DEFS))
                    .map(str::to_owned);
                if let Some(name) = name.filter(|name| (self.single)(name))
                    && level < SCHEMA_DEPTH_MAX
                    && let Some(Value::Object(part)) = self
                        .parts
                        .get(&name)
                        .filter(|part| !tools::schema::deeper_than(part, SCHEMA_DEPTH_MAX - level))
                        .cloned()
                {
                    self.parts.remove(&name);
                    members.shift_remove("$ref");
                    for (name, said) in part {
                        // What is said where it is referred to is nearer to the matter.
                        members.entry(name).or_insert(said);
                    }
                }
                members
                    .values_mut()
                    .for_each(|value| self.put(value, level + 1));
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|value| self.put(value, level + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A pointer as a fragment.
fn escaped(pointer: &str) -> String {
    pointer.replace('%', "%25")
}

fn length(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 4, |bytes| bytes.len())
}
