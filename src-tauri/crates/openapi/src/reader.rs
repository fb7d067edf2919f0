//! Where the references of a document lead: inside of it, or into a file beside it that was read with it; nowhere else.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use protocol::shown::in_a_sentence;
use serde_json::{Map, Value, json};

use crate::limits::{NAMED_CHARS_MAX, REFERENCES_MAX};
use crate::schema::Part;
use crate::source::{Source, file_of};

/// A value of the document, and the file that it stands in; empty for the document itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub file: &'a str,
    pub value: &'a Value,
}

impl<'a> Place<'a> {
    /// A member of it, in the same file.
    pub fn member(self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.with(value))
    }

    /// Another value of the same file.
    pub fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// A member that is a text; none if it is no text.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.value.get(name).and_then(Value::as_str)
    }

    /// Whether a member says yes.
    pub fn is(self, name: &str) -> bool {
        self.value.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// The items of a member; nothing if it is no list.
    pub fn items(self, name: &str) -> impl Iterator<Item = Self> {
        let items = self.value.get(name).and_then(Value::as_array);
        let items = items.map_or(&[][..], Vec::as_slice);
        items.iter().map(move |value| self.with(value))
    }

    /// The members of a member; nothing if it is no object.
    pub fn members(self, name: &str) -> impl Iterator<Item = (&'a String, Self)> {
        let members = self.value.get(name).and_then(Value::as_object);
        let members = members.into_iter().flat_map(Map::iter);
        members.map(move |(name, value)| (name, self.with(value)))
    }
}

/// Reads one document, and remembers what it found out.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    /// Whether schemas are those of OpenAPI 3.0, which are not quite JSON Schema.
    pub is_3_0: bool,
    /// Schemas that are referred to, each converted once.
    pub parts: RefCell<HashMap<String, Rc<Part>>>,
    /// The names under which they stand in schemas of tools.
    pub names: RefCell<HashMap<String, String>>,
    pub taken: RefCell<HashSet<String>>,
    patterns: RefCell<HashMap<String, bool>>,
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a Source, is_3_0: bool) -> Self {
        Self {
            source,
            is_3_0,
            parts: RefCell::default(),
            names: RefCell::default(),
            taken: RefCell::default(),
            patterns: RefCell::default(),
        }
    }

    /// The document itself.
    pub fn root(&self) -> Place<'a> {
        Place {
            file: "",
            value: &self.source.root,
        }
    }

    /// Where a reference leads, and what that place is called.
    ///
    /// # Errors
    /// Why it leads nowhere, as a clause.
    pub fn target(&self, reference: &str, from: &str) -> Result<(Place<'a>, String), String> {
        let named = || in_a_sentence(reference, NAMED_CHARS_MAX);
        let nowhere = || format!("`{}` leads nowhere", named());
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let at = match file {
            "" => Place {
                file: self.file(from).ok_or_else(nowhere)?,
                value: self.value(from).ok_or_else(nowhere)?,
            },
            _ if file.contains(':') || file.starts_with("//") => {
                return Err(format!(
                    "`{}` leads out of the document, where nothing is fetched",
                    named()
                ));
            }
            _ => {
                let name = file_of(reference, from);
                let found = name.and_then(|name| self.source.files.get_key_value(&name));
                let (file, value) = found.ok_or_else(|| {
                    format!(
                        "`{}` leads to a file that was not read with the document",
                        named()
                    )
                })?;
                Place { file, value }
            }
        };
        let pointer = percent_decode_str(pointer)
            .decode_utf8()
            .map_err(|_| nowhere())?;
        let value = at.value.pointer(&pointer).ok_or_else(nowhere)?;
        Ok((at.with(value), format!("{}#{pointer}", at.file)))
    }

    fn file(&self, name: &str) -> Option<&'a str> {
        match name {
            "" => Some(""),
            name => self
                .source
                .files
                .get_key_value(name)
                .map(|(name, _)| name.as_str()),
        }
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        match name {
            "" => Some(&self.source.root),
            name => self.source.files.get(name),
        }
    }

    /// The place itself, or where it refers to, however often that refers on.
    ///
    /// # Errors
    /// It leads nowhere, or in a circle, as a clause.
    pub fn follow(&self, mut place: Place<'a>) -> Result<Place<'a>, String> {
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = place.text("$ref") else {
                return Ok(place);
            };
            place = self.target(reference, place.file)?.0;
        }
        Err("its references lead in a circle".to_owned())
    }

    /// Whether a pattern can be matched here: patterns of documents are those of another language.
    pub fn matches(&self, pattern: &str) -> bool {
        if let Some(known) = self.patterns.borrow().get(pattern) {
            return *known;
        }
        let can = tools::schema::validator(&json!({ "pattern": pattern })).is_ok();
        self.patterns.borrow_mut().insert(pattern.to_owned(), can);
        can
    }
}
