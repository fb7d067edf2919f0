//! Tests of forms as servers write them, and of the values that persons fill in.

use serde_json::json;

use super::*;

fn one(schema: Value) -> Result<FormField, String> {
    let form = json!({ "type": "object", "properties": { "x": schema } });
    parse_form(&form).map(|mut fields| fields.remove(0))
}

#[test]
fn every_kind_of_field_is_read() {
    let options = |pairs: &[(&str, &str)]| -> Vec<FormOption> {
        let pairs = pairs.iter();
        pairs
            .map(|(value, title)| FormOption {
                value: (*value).to_owned(),
                title: to_spans(title),
            })
            .collect()
    };
    for (schema, kind) in [
        (
            json!({ "type": "string", "format": "email", "minLength": 3, "maxLength": 50.0, "default": "a@b" }),
            FieldKind::Text {
                format: Some(TextFormat::Email),
                chars_min: Some(3),
                chars_max: Some(50),
                default: Some("a@b".to_owned()),
            },
        ),
        (
            json!({ "type": "integer", "minimum": 0, "maximum": 150, "default": 7 }),
            FieldKind::Number {
                integer: true,
                min: Some(0.0),
                max: Some(150.0),
                default: Some(7.0),
            },
        ),
        (
            json!({ "type": "number" }),
            FieldKind::Number {
                integer: false,
                min: None,
                max: None,
                default: None,
            },
        ),
        (
            json!({ "type": "boolean", "default": true }),
            FieldKind::Boolean {
                default: Some(true),
            },
        ),
        (
            json!({ "type": "string", "enum": ["a", "b"], "default": "b" }),
            FieldKind::Choice {
                options: options(&[("a", "a"), ("b", "b")]),
                default: Some("b".to_owned()),
            },
        ),
        (
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] }),
            FieldKind::Choice {
                options: options(&[("a", "A"), ("b", "B")]),
                default: None,
            },
        ),
        (
            json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }),
            FieldKind::Choice {
                options: options(&[("a", "A")]),
                default: None,
            },
        ),
        (
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "minItems": 1, "default": ["a"] }),
            FieldKind::Choices {
                options: options(&[("a", "a"), ("b", "b")]),
                items_min: Some(1),
                items_max: None,
                default: vec!["a".to_owned()],
            },
        ),
        (
            json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] }, "maxItems": 1 }),
            FieldKind::Choices {
                options: options(&[("a", "A")]),
                items_min: None,
                items_max: Some(1),
                default: Vec::new(),
            },
        ),
    ] {
        assert_eq!(
            one(schema.clone()).map(|field| field.kind),
            Ok(kind),
            "{schema}"
        );
    }
}

/// Bad input: a schema that is no form of this kind is refused with a sentence.
#[test]
fn what_is_no_form_is_refused() {
    for (schema, told) in [
        (json!({ "type": "object" }), "type `object`"),
        (
            json!({ "type": "string", "format": "ipv4" }),
            "its format is not known",
        ),
        (
            json!({ "type": "string", "minLength": 5, "maxLength": 2 }),
            "nothing fits",
        ),
        (json!({ "type": "string", "minLength": -1 }), "not a count"),
        (json!({ "type": "string", "enum": [] }), "0 things"),
        (json!({ "type": "string", "enum": [1] }), "cannot be read"),
        (json!({ "type": "string", "enum": ["a", "a"] }), "twice"),
        (
            json!({ "type": "string", "enum": ["a"], "enumNames": [] }),
            "cannot be read",
        ),
        (
            json!({ "type": "string", "enum": ["a"], "default": "b" }),
            "default",
        ),
        (json!({ "type": "integer", "default": 1.5 }), "default"),
        (
            json!({ "type": "number", "minimum": 2, "maximum": 1 }),
            "nothing fits",
        ),
        (json!({ "type": "boolean", "default": "yes" }), "default"),
        (
            json!({ "type": "array", "items": { "type": "object" } }),
            "cannot be read",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a"] }, "minItems": 2 }),
            "nothing fits",
        ),
        (
            json!({ "title": 7, "type": "string" }),
            "its title is not text",
        ),
        (json!({}), "does not say of which type"),
        (json!("string"), "not an object"),
    ] {
        let why = one(schema.clone()).unwrap_err();
        assert!(why.contains(told) && why.ends_with('.'), "{schema}: {why}");
    }
    let many: Map<String, Value> = (0..=FORM_FIELDS_MAX)
        .map(|n| (format!("f{n}"), json!({ "type": "boolean" })))
        .collect();
    for (form, told) in [
        (json!([]), "not an object"),
        (json!({ "type": "array" }), "not that of an object"),
        (json!({ "properties": [] }), "not an object"),
        (
            json!({ "properties": {}, "required": ["x"] }),
            "not a field of it",
        ),
        (json!({ "properties": {}, "required": 7 }), "not a list"),
        (json!({ "properties": many }), "at most"),
    ] {
        let why = parse_form(&form).unwrap_err();
        assert!(why.contains(told), "{form}: {why}");
    }
    assert_eq!(
        parse_form(&json!({ "type": "object", "properties": {} })),
        Ok(Vec::new())
    );
}

/// Characters that a server hides in its form are named.
#[test]
fn hidden_characters_of_a_form_are_named() {
    let field = one(json!({ "type": "string", "title": "a\u{202e}b" })).unwrap();
    assert_eq!(
        protocol::text::display_text::join_spans(&field.title),
        "aU+202Eb"
    );
}

#[test]
fn what_is_filled_in_has_to_fit() {
    let form = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "minLength": 2, "maxLength": 4 },
        "mail": { "type": "string", "format": "email" },
        "page": { "type": "string", "format": "uri" },
        "day": { "type": "string", "format": "date" },
        "at": { "type": "string", "format": "date-time" },
        "age": { "type": "integer", "minimum": 1, "maximum": 9 },
        "part": { "type": "number" },
        "yes": { "type": "boolean" },
        "one": { "type": "string", "enum": ["a", "b"] },
        "some": { "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] }, "minItems": 1, "maxItems": 2 },
    }});
    let fields = parse_form(&form).unwrap();
    for (values, wrong) in [
        (json!({ "name": "Ada" }), None),
        (json!({ "name": "Ada", "mail": null }), None),
        (
            json!({ "name": "Ada", "mail": "a@example.org", "page": "https://example.org", "day": "2026-02-28",
            "at": "2026-11-22T14:45:00Z", "age": 9, "part": 0.5, "yes": false, "one": "b", "some": ["a", "c"] }),
            None,
        ),
        (
            json!({}),
            Some("“name” does not fit: it has to be filled in."),
        ),
        (json!({ "name": "A" }), Some("at least 2 characters")),
        (
            json!({ "name": "Ada Lovelace" }),
            Some("at most 4 characters"),
        ),
        (json!({ "name": 7 }), Some("has to be a text")),
        (json!({ "name": "Ada", "other": 1 }), Some("not a field")),
        (
            json!({ "name": "Ada", "mail": "ada" }),
            Some("an email address"),
        ),
        (
            json!({ "name": "Ada", "mail": "a b@c" }),
            Some("an email address"),
        ),
        (
            json!({ "name": "Ada", "page": "example" }),
            Some("an address"),
        ),
        (
            json!({ "name": "Ada", "day": "2026-02-30" }),
            Some("a date"),
        ),
        (
            json!({ "name": "Ada", "day": "2026-02-28T00:00:00" }),
            Some("a date"),
        ),
        (
            json!({ "name": "Ada", "at": "2026-11-22" }),
            Some("with a time"),
        ),
        (json!({ "name": "Ada", "age": 10 }), Some("at most 9")),
        (json!({ "name": "Ada", "age": 0 }), Some("at least 1")),
        (json!({ "name": "Ada", "age": 1.5 }), Some("whole number")),
        (
            json!({ "name": "Ada", "age": "1" }),
            Some("has to be a number"),
        ),
        (json!({ "name": "Ada", "yes": "no" }), Some("yes or no")),
        (
            json!({ "name": "Ada", "one": "c" }),
            Some("not one of those"),
        ),
        (json!({ "name": "Ada", "some": [] }), Some("at least 1")),
        (
            json!({ "name": "Ada", "some": ["a", "b", "c"] }),
            Some("at most 2"),
        ),
        (json!({ "name": "Ada", "some": ["a", "a"] }), Some("twice")),
        (json!({ "name": "Ada", "some": ["d"] }), Some("not there")),
    ] {
        let given = values.as_object().unwrap();
        match (validate_answers(&fields, given), wrong) {
            (Ok(answer), None) => assert!(answer.values().all(|value| !value.is_null())),
            (Err(fault), Some(told)) => assert!(fault.message.contains(told), "{values}: {fault}"),
            (is, wrong) => panic!("{values} gave {is:?}, not {wrong:?}"),
        }
    }
}
