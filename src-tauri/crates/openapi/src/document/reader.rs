//! Where the references of a document lead: inside of it, or into a file beside it that was read with it; nowhere else.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use protocol::text::display_text::to_single_line;
use serde_json::{Map, Value, json};

use crate::document::schema::SchemaDefinition;
use crate::document::source::{DocumentSource, resolve_file_reference};
use crate::limits::{QUOTED_CHARS_MAX, REFERENCES_MAX};

/// A value of the document, and the file that it stands in; empty for the document itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentNode<'a> {
    pub file: &'a str,
    pub value: &'a Value,
}

impl<'a> DocumentNode<'a> {
    /// A member of it, in the same file.
    pub fn member(self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.with_value(value))
    }

    /// Another value of the same file.
    pub fn with_value(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// A member that is a text; none if it is no text.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.value.get(name).and_then(Value::as_str)
    }

    /// Whether a member says yes.
    pub fn is_true(self, name: &str) -> bool {
        self.value.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// The items of a member; nothing if it is no list.
    pub fn items_of(self, name: &str) -> impl Iterator<Item = Self> {
        let items = self.value.get(name).and_then(Value::as_array);
        let items = items.map_or(&[][..], Vec::as_slice);
        items.iter().map(move |value| self.with_value(value))
    }

    /// The members of a member; nothing if it is no object.
    pub fn members_of(self, name: &str) -> impl Iterator<Item = (&'a String, Self)> {
        let members = self.value.get(name).and_then(Value::as_object);
        let members = members.into_iter().flat_map(Map::iter);
        members.map(move |(name, value)| (name, self.with_value(value)))
    }
}

/// Reads one document, and remembers what it found out.
pub(crate) struct DocumentReader<'a> {
    source: &'a DocumentSource,
    /// Whether schemas are those of OpenAPI 3.0, which are not quite JSON Schema.
    pub is_3_0: bool,
    /// Schemas that are referred to, each converted once.
    pub definitions: RefCell<HashMap<String, Rc<SchemaDefinition>>>,
    /// The names under which they stand in schemas of tools.
    pub definition_names: RefCell<HashMap<String, String>>,
    pub taken_names: RefCell<HashSet<String>>,
    patterns: RefCell<HashMap<String, bool>>,
}

impl<'a> DocumentReader<'a> {
    pub fn new(source: &'a DocumentSource, is_3_0: bool) -> Self {
        Self {
            source,
            is_3_0,
            definitions: RefCell::default(),
            definition_names: RefCell::default(),
            taken_names: RefCell::default(),
            patterns: RefCell::default(),
        }
    }

    /// The document itself.
    pub fn root(&self) -> DocumentNode<'a> {
        DocumentNode {
            file: "",
            value: &self.source.root,
        }
    }

    /// Where a reference leads, and what that place is called.
    ///
    /// # Errors
    /// Why it leads nowhere, as a clause.
    pub fn resolve_reference(
        &self,
        reference: &str,
        from: &str,
    ) -> Result<(DocumentNode<'a>, String), String> {
        let named = || to_single_line(reference, QUOTED_CHARS_MAX);
        let nowhere = || format!("`{}` leads nowhere", named());
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let at = match file {
            "" => DocumentNode {
                file: self.find_file(from).ok_or_else(nowhere)?,
                value: self.file_value(from).ok_or_else(nowhere)?,
            },
            _ if file.contains(':') || file.starts_with("//") => {
                return Err(format!(
                    "`{}` leads out of the document, where nothing is fetched",
                    named()
                ));
            }
            _ => {
                let name = resolve_file_reference(reference, from);
                let found = name.and_then(|name| self.source.files.get_key_value(&name));
                let (file, value) = found.ok_or_else(|| {
                    format!(
                        "`{}` leads to a file that was not read with the document",
                        named()
                    )
                })?;
                DocumentNode { file, value }
            }
        };
        let pointer = percent_decode_str(pointer)
            .decode_utf8()
            .map_err(|_| nowhere())?;
        let value = at.value.pointer(&pointer).ok_or_else(nowhere)?;
        Ok((at.with_value(value), format!("{}#{pointer}", at.file)))
    }

    fn find_file(&self, name: &str) -> Option<&'a str> {
        match name {
            "" => Some(""),
            name => self
                .source
                .files
                .get_key_value(name)
                .map(|(name, _)| name.as_str()),
        }
    }

    fn file_value(&self, name: &str) -> Option<&'a Value> {
        match name {
            "" => Some(&self.source.root),
            name => self.source.files.get(name),
        }
    }

    /// The place itself, or where it refers to, however often that refers on.
    ///
    /// # Errors
    /// It leads nowhere, or in a circle, as a clause.
    pub fn follow_references(
        &self,
        mut place: DocumentNode<'a>,
    ) -> Result<DocumentNode<'a>, String> {
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = place.text("$ref") else {
                return Ok(place);
            };
            place = self.resolve_reference(reference, place.file)?.0;
        }
        Err("its references lead in a circle".to_owned())
    }

    /// Whether a pattern can be matched here: patterns of documents are those of another language.
    pub fn is_supported_pattern(&self, pattern: &str) -> bool {
        if let Some(known) = self.patterns.borrow().get(pattern) {
            return *known;
        }
        let can = tools::validator::compile_validator(&json!({ "pattern": pattern })).is_ok();
        self.patterns.borrow_mut().insert(pattern.to_owned(), can);
        can
    }
}
