//! Converts the keywords of one schema: those of JSON Schema are kept where they are valid, those of 3.0 become them,
//! others are dropped.

use protocol::text::display_text::to_spans;
use serde_json::{Map, Number, Value, json};
use tools::text::truncate_chars;

use crate::document::reader::DocumentNode;
use crate::document::schema::SchemaBuilder;
use crate::limits::{ENUM_MAX, MEMBER_CHARS_MAX};

const JSON_TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// Converts the members of a schema that is not only a reference.
pub(super) fn convert_keywords<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    place: DocumentNode<'a>,
    members: &'a Map<String, Value>,
    level: usize,
) -> Value {
    let mut out = Map::new();
    for (name, value) in members {
        let converted = convert_keyword(schemas, place.with_value(value), name, level);
        if let Some(converted) = converted {
            out.insert(name.clone(), converted);
        }
    }
    convert_types(members, &mut out);
    drop_read_only(members, &mut out);
    convert_bounds(members, &mut out);
    convert_tuple(schemas, place, level, &mut out);
    match members.get("nullable") == Some(&Value::Bool(true)) {
        true => allow_null(out),
        false => Value::Object(out),
    }
}

/// Converts a keyword that does not depend on others; none if it has no meaning here, or an invalid value.
fn convert_keyword<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    at: DocumentNode<'a>,
    name: &str,
    level: usize,
) -> Option<Value> {
    let value = at.value;
    match name {
        "title" | "description" => {
            let text = protocol::text::display_text::join_spans(&to_spans(value.as_str()?.trim()));
            (!text.is_empty()).then(|| truncate_chars(&text, MEMBER_CHARS_MAX).into())
        }
        "format" | "contentEncoding" | "contentMediaType" => {
            let text = value.as_str()?;
            (text.len() <= MEMBER_CHARS_MAX).then(|| text.into())
        }
        "deprecated" | "uniqueItems" => Some(value.as_bool()?.into()),
        "pattern" => schemas
            .reader
            .is_supported_pattern(value.as_str()?)
            .then(|| value.clone()),
        "minimum" | "maximum" => Some(value.as_number()?.clone().into()),
        "multipleOf" => (value.as_f64()? > 0.0).then(|| value.clone()),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Some(parse_count(value)?.into()),
        "const" => Some(value.clone()),
        "default" => {
            let small = value.to_string().len() <= MEMBER_CHARS_MAX;
            small.then(|| value.clone())
        }
        "enum" => {
            let values = value.as_array()?;
            (1..=ENUM_MAX)
                .contains(&values.len())
                .then(|| value.clone())
        }
        "properties" | "patternProperties" | "dependentSchemas" => {
            let members = value.as_object()?.iter();
            let supported = members.filter(|(key, _)| {
                name != "patternProperties" || schemas.reader.is_supported_pattern(key)
            });
            let supported: Vec<(&String, &Value)> = supported.collect();
            let converted = supported.into_iter().map(|(key, value)| {
                (
                    key.clone(),
                    schemas.convert(at.with_value(value), level + 2),
                )
            });
            Some(Value::Object(converted.collect()))
        }
        "items" if value.is_array() => None,
        "items"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems" => {
            let is_one = value.is_object() || value.is_boolean();
            is_one.then(|| schemas.convert(at, level + 1))
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            let all = value.as_array()?;
            let converted = all
                .iter()
                .map(|value| schemas.convert(at.with_value(value), level + 2));
            let converted: Vec<Value> = converted.collect();
            (!converted.is_empty()).then_some(Value::Array(converted))
        }
        "dependentRequired" => {
            let members = value.as_object()?.iter();
            let lists =
                members.filter_map(|(name, list)| Some((name.clone(), unique_texts(list)?)));
            Some(Value::Object(lists.collect()))
        }
        // Whatever else there is says nothing of a value, names a place that references lead to another way, or is put right
        // together with others below.
        _ => None,
    }
}

/// Parses a count in any notation.
fn parse_count(value: &Value) -> Option<u64> {
    let whole = |number: f64| number >= 0.0 && number.fract() == 0.0 && number < 1e15;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and small"
    )]
    let float = || {
        value
            .as_f64()
            .filter(|number| whole(*number))
            .map(|number| number as u64)
    };
    value.as_u64().or_else(float)
}

/// Returns a list of strings without duplicates; none if the value is no list.
fn unique_texts(value: &Value) -> Option<Value> {
    let mut texts: Vec<&str> = Vec::new();
    for text in value.as_array()?.iter().filter_map(Value::as_str) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Some(json!(texts))
}

/// Converts the types of a schema. An unknown type allows any.
fn convert_types(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    let one = |name: &str| JSON_TYPES.contains(&name);
    let converted = match members.get("type") {
        Some(Value::String(name)) if one(name) => json!(name),
        Some(Value::String(name)) if name == "file" => json!("string"),
        Some(Value::Array(names)) => {
            let mut types: Vec<&str> = Vec::new();
            for name in names.iter().filter_map(Value::as_str) {
                if one(name) && !types.contains(&name) {
                    types.push(name);
                }
            }
            match types.as_slice() {
                [] => return,
                [one] => json!(one),
                all => json!(all),
            }
        }
        Some(_) | None => return,
    };
    out.insert("type".to_owned(), converted);
}

/// Drops read-only members, which occur only in responses.
fn drop_read_only(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    let only_read = |name: &str| {
        let member = members.get("properties").and_then(|all| all.get(name));
        member.and_then(|member| member.get("readOnly")) == Some(&Value::Bool(true))
    };
    if let Some(Value::Object(properties)) = out.get_mut("properties") {
        properties.retain(|name, _| !only_read(name));
    }
    // In 3.0 some write `required: true` on the member itself, which says nothing.
    if let Some(Value::Array(names)) = members.get("required").and_then(unique_texts) {
        let names = names
            .into_iter()
            .filter(|name| !name.as_str().is_some_and(only_read));
        let names: Vec<Value> = names.collect();
        if !names.is_empty() {
            out.insert("required".to_owned(), Value::Array(names));
        }
    }
}

/// Converts exclusive bounds: a boolean beside the bound in 3.0, a bound of their own since.
fn convert_bounds(members: &Map<String, Value>, out: &mut Map<String, Value>) {
    for (name, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        let end: Option<Number> = match members.get(name) {
            Some(Value::Number(end)) => Some(end.clone()),
            Some(Value::Bool(true)) => match out.shift_remove(bound) {
                Some(Value::Number(end)) => Some(end),
                Some(_) | None => None,
            },
            Some(_) | None => None,
        };
        if let Some(end) = end {
            out.insert(name.to_owned(), Value::Number(end));
        }
    }
}

/// Converts lists whose items differ by position, in the older notation.
fn convert_tuple<'a>(
    schemas: &mut SchemaBuilder<'a, '_>,
    place: DocumentNode<'a>,
    level: usize,
    out: &mut Map<String, Value>,
) {
    let items: Vec<DocumentNode<'a>> = place.items_of("items").collect();
    if !items.is_empty() {
        let items = items
            .into_iter()
            .map(|item| schemas.convert(item, level + 2));
        out.insert("prefixItems".to_owned(), Value::Array(items.collect()));
    }
}

/// Returns the same schema with null allowed too.
fn allow_null(mut out: Map<String, Value>) -> Value {
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "not", "const"];
    if composed.iter().any(|name| out.contains_key(*name)) {
        return json!({ "anyOf": [out, { "type": "null" }] });
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match out.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
        Some(one @ Value::String(_)) => *one = json!([one, "null"]),
        Some(_) | None => {}
    }
    Value::Object(out)
}
