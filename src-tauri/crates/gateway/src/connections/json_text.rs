//! Edits JSON with comments as text: a value is put in or taken out, and every other byte stays.
//!
//! The syntax tree says where things are. Editors of syntax trees lay a one-line object out anew, or drop blank lines.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, ObjectPropName, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde_json::{Value, json};

use super::edit_error::EditError;
use super::hook_entries::{HOOKS, PathStep};
use super::json_layout::{Container, append_item, cut_item};

/// JSON with comments and trailing commas, and nothing else beyond JSON.
fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn malformed(error: &ParseError) -> EditError {
    EditError::Malformed(format!("it is not JSON: {error}"))
}

/// Reads a text; `None` where no value stands in it.
pub(super) fn parse_json(text: &str) -> Result<Option<Value>, EditError> {
    parse_to_serde_value(text, &parse_options()).map_err(|error| malformed(&error))
}

/// Reads the places of what stands in a text.
fn parse_places(text: &str) -> Result<Node<'_>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &parse_options());
    let root = parsed.map_err(|error| malformed(&error))?.value;
    root.ok_or_else(|| EditError::Malformed("there is nothing in it".to_owned()))
}

/// Appends an entry to `hooks.EVENT`, which is created where it is not there.
pub(super) fn append_json_hook(
    text: &str,
    event: &str,
    entry: &Value,
) -> Result<String, EditError> {
    let Node::Object(root) = parse_places(text)? else {
        return Err(EditError::Malformed("it is no JSON object".to_owned()));
    };
    let Some(hooks) = find_member(&root, HOOKS) else {
        let events = json!({ event: [entry] });
        return Ok(append_item(text, &members_of(&root), Some(HOOKS), &events));
    };
    let Node::Object(events) = &hooks.value else {
        return Err(EditError::WrongKind(HOOKS.to_owned()));
    };
    let Some(entries) = find_member(events, event) else {
        let entries = json!([entry]);
        return Ok(append_item(
            text,
            &members_of(events),
            Some(event),
            &entries,
        ));
    };
    let Node::Array(entries) = &entries.value else {
        return Err(EditError::WrongKind(format!("{HOOKS}.{event}")));
    };
    Ok(append_item(text, &items_of(entries), None, entry))
}

/// Returns where the value stands to which these names of members lead.
pub(super) fn find_json_value(
    text: &str,
    path: &[String],
) -> Result<Option<Range<usize>>, EditError> {
    let root = parse_places(text)?;
    let mut node = &root;
    for name in path {
        let Node::Object(object) = node else {
            return Ok(None);
        };
        let Some(member) = find_member(object, name) else {
            return Ok(None);
        };
        node = &member.value;
    }
    Ok(Some(node.start()..node.end()))
}

/// Removes the part at a path, with the comma that it needs no more.
pub(super) fn remove_json_part(text: &str, path: &[PathStep]) -> Result<String, EditError> {
    let root = parse_places(text)?;
    let part = find_part(&root, path).ok_or(EditError::Inexact)?;
    Ok(cut_item(text, &part.container, part.index))
}

/// A part of a text, by what it stands in.
struct Part {
    container: Container,
    index: usize,
}

fn find_part(node: &Node<'_>, path: &[PathStep]) -> Option<Part> {
    let (step, rest) = path.split_first()?;
    let (container, index, value) = match (node, step) {
        (Node::Object(object), PathStep::Key(name)) => {
            let mut members = object.properties.iter().enumerate();
            let (index, member) = members.find(|(_, member)| is_named(member, name))?;
            (members_of(object), index, &member.value)
        }
        (Node::Array(array), PathStep::Index(index)) => {
            (items_of(array), *index, array.elements.get(*index)?)
        }
        _ => return None,
    };
    match rest.is_empty() {
        true => Some(Part { container, index }),
        false => find_part(value, rest),
    }
}

fn find_member<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<&'b ObjectProp<'a>> {
    let mut members = object.properties.iter();
    members.find(|member| is_named(member, name))
}

fn is_named(member: &ObjectProp<'_>, name: &str) -> bool {
    match &member.name {
        ObjectPropName::String(text) => text.value == name,
        ObjectPropName::Word(word) => word.value == name,
    }
}

fn members_of(object: &Object<'_>) -> Container {
    container(object, &object.properties)
}

fn items_of(array: &Array<'_>) -> Container {
    container(array, &array.elements)
}

fn container(node: &impl Ranged, items: &[impl Ranged]) -> Container {
    Container {
        range: node.start()..node.end(),
        items: items.iter().map(|item| item.start()..item.end()).collect(),
    }
}
