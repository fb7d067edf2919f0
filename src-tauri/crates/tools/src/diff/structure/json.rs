//! JSON: objects and arrays, also with comments and as one value a line.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::tree::{Key, LineIndex, Node, TreeBuilder};

/// Reads a JSON document.
pub(super) fn read_json(text: &str) -> Option<Node<'_>> {
    let mut builder = TreeBuilder::new();
    let value = parse_value(text)?;
    add_value(&mut builder, &value, &LineIndex::new(text, 0))?;
    builder.finish()
}

/// Reads a text with one JSON value in each line.
pub(super) fn read_json_lines(text: &str) -> Option<Node<'_>> {
    let mut builder = TreeBuilder::new();
    for (line, text) in text.lines().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let value = parse_value(text)?;
        builder.open(Key::Item("#"), line)?;
        add_value(&mut builder, &value, &LineIndex::new("", line))?;
        builder.close(line)?;
    }
    builder.finish()
}

pub(super) fn parse_value(text: &str) -> Option<Value<'_>> {
    parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .ok()?
        .value
}

/// Adds the members of an object, the items of an array, or a value to the current place.
pub(super) fn add_value<'a>(
    builder: &mut TreeBuilder<'a>,
    value: &Value<'a>,
    lines: &LineIndex,
) -> Option<()> {
    let last_line = lines.line_at(value.end());
    match value {
        Value::Object(object) => {
            for member in &object.properties {
                builder.open_name(member_name(&member.name), lines.line_at(member.start()))?;
                add_value(builder, &member.value, lines)?;
                builder.close(lines.line_at(member.end()))?;
            }
            Some(())
        }
        Value::Array(array) => {
            for item in &array.elements {
                builder.open(Key::Item("#"), lines.line_at(item.start()))?;
                add_value(builder, item, lines)?;
                builder.close(lines.line_at(item.end()))?;
            }
            Some(())
        }
        Value::StringLit(text) => builder.set_text(text.value.clone(), last_line),
        Value::NumberLit(number) => builder.set_value(number.value, last_line),
        Value::BooleanLit(boolean) => builder.set_value(boolean.value.to_string(), last_line),
        Value::NullKeyword(_) => builder.set_value("null", last_line),
    }
}

pub(super) fn member_name<'a>(name: &ObjectPropName<'a>) -> std::borrow::Cow<'a, str> {
    match name {
        ObjectPropName::String(name) => name.value.clone(),
        ObjectPropName::Word(name) => name.value.into(),
    }
}
