//! Resolves the references of a document: within the document, or into a file beside it that was read with it; nowhere
//! else.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use percent_encoding::percent_decode_str;
use protocol::text::display_text::to_single_line;
use serde_json::{Map, Value, json};

use crate::document::schema::SchemaDefinition;
use crate::document::source::{DocumentSource, resolve_file_reference};
use crate::limits::{QUOTED_CHARS_MAX, REFERENCES_MAX};

/// A value of the document, with the file that contains it; the file is empty for the document itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentNode<'a> {
    pub file: &'a str,
    pub value: &'a Value,
}

impl<'a> DocumentNode<'a> {
    /// Returns a member of the value, in the same file.
    pub fn member(self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.with_value(value))
    }

    /// Returns another value of the same file.
    pub fn with_value(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// Returns a member that is a string; none if it is no string.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.value.get(name).and_then(Value::as_str)
    }

    /// Whether a member is `true`.
    pub fn is_true(self, name: &str) -> bool {
        self.value.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// Returns the items of a member; none if it is no list.
    pub fn items_of(self, name: &str) -> impl Iterator<Item = Self> {
        let items = self.value.get(name).and_then(Value::as_array);
        let items = items.map_or(&[][..], Vec::as_slice);
        items.iter().map(move |value| self.with_value(value))
    }

    /// Returns the members of a member; none if it is no object.
    pub fn members_of(self, name: &str) -> impl Iterator<Item = (&'a String, Self)> {
        let members = self.value.get(name).and_then(Value::as_object);
        let members = members.into_iter().flat_map(Map::iter);
        members.map(move |(name, value)| (name, self.with_value(value)))
    }
}

/// Reads one document, with caches for its converted schemas.
pub(crate) struct DocumentReader<'a> {
    source: &'a DocumentSource,
    /// Whether schemas are those of OpenAPI 3.0, which differ from JSON Schema.
    pub is_3_0: bool,
    /// Converted schemas that are referred to, each converted once.
    pub definitions: RefCell<HashMap<String, Rc<SchemaDefinition>>>,
    /// Names of these schemas in the schemas of tools.
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

    /// Returns the document itself.
    pub fn root(&self) -> DocumentNode<'a> {
        DocumentNode {
            file: "",
            value: &self.source.root,
        }
    }

    /// Returns the target of a reference, and the target's key.
    ///
    /// # Errors
    /// The reason why it has no target, as a clause.
    pub fn resolve_reference(
        &self,
        reference: &str,
        from: &str,
    ) -> Result<(DocumentNode<'a>, String), String> {
        let named = || to_single_line(reference, QUOTED_CHARS_MAX);
        let nowhere = || format!("`{}` leads nowhere", named());
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let at = match file {
            "" => self.find_file(from).ok_or_else(nowhere)?,
            _ if file.contains(':') || file.starts_with("//") => {
                return Err(format!(
                    "`{}` leads out of the document, where nothing is fetched",
                    named()
                ));
            }
            _ => {
                let name = resolve_file_reference(reference, from);
                let node = name.and_then(|name| self.find_file(&name));
                node.ok_or_else(|| {
                    format!(
                        "`{}` leads to a file that was not read with the document",
                        named()
                    )
                })?
            }
        };
        let pointer = percent_decode_str(pointer)
            .decode_utf8()
            .map_err(|_| nowhere())?;
        let value = at.value.pointer(&pointer).ok_or_else(nowhere)?;
        Ok((at.with_value(value), format!("{}#{pointer}", at.file)))
    }

    /// Returns the content of a file; of the document itself if the name is empty.
    fn find_file(&self, name: &str) -> Option<DocumentNode<'a>> {
        if name.is_empty() {
            return Some(self.root());
        }
        let (file, value) = self.source.files.get_key_value(name)?;
        Some(DocumentNode { file, value })
    }

    /// Returns the value itself or, if it is a reference, its final target.
    ///
    /// # Errors
    /// The reference has no target, or is circular; a clause.
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

    /// Whether a pattern can be matched here: patterns of documents are written for another regular expression engine.
    pub fn is_supported_pattern(&self, pattern: &str) -> bool {
        if let Some(is_supported) = self.patterns.borrow().get(pattern) {
            return *is_supported;
        }
        let is_supported =
            tools::validator::compile_validator(&json!({ "pattern": pattern })).is_ok();
        self.patterns
            .borrow_mut()
            .insert(pattern.to_owned(), is_supported);
        is_supported
    }
}
