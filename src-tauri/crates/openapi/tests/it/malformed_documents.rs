//! Documents that are wrong, hostile or too much: a clear sentence, and only what is wrong is left out.

use std::collections::HashSet;

use openapi::limits::OPERATIONS_MAX;
use openapi::{ApiDocument, BaseUrlOptions, DocumentSource, OperationFilter, OperationPins};
use protocol::UserError;
use serde_json::{Value, json};
use tools::limits::LEFT_OUT_MAX;

fn read(document: Value) -> Result<ApiDocument, UserError> {
    let bases = BaseUrlOptions {
        base_url: Some("https://example.com".to_owned()),
        ..BaseUrlOptions::default()
    };
    ApiDocument::parse(
        &DocumentSource::from_value(document)?,
        &bases,
        &OperationFilter::default(),
    )
}

#[test]
fn what_is_no_document_is_said() {
    for (text, why) in [
        ("", "is not an object"),
        ("[]", "is not an object"),
        ("{\"openapi\":", "not JSON"),
        ("a: b: c", "line 1"),
        ("{}", "does not say its version"),
        ("swagger: '1.2'\npaths: {}", "before 2.0"),
        ("swagger: '2.0'", "has no paths"),
        ("openapi: 4.0.0\npaths: {}", "version 4.0.0"),
        ("openapi: 3.0.1", "has no paths"),
        ("openapi: 3.0.1\npaths: []", "has no paths"),
        ("openapi: [3]\npaths: {}", "does not say its version"),
    ] {
        let read = DocumentSource::from_text(text).and_then(|source| {
            ApiDocument::parse(
                &source,
                &BaseUrlOptions::default(),
                &OperationFilter::default(),
            )
        });
        let fault = read.unwrap_err();
        assert!(fault.message.contains(why), "{text}: {fault}");
        assert!(!fault.hint.is_empty());
    }
    assert!(
        DocumentSource::from_text(&"x".repeat(100 * 1024 * 1024))
            .unwrap_err()
            .message
            .contains("longer than")
    );
}

/// Unquoted in YAML, a version is a number.
#[test]
fn versions_may_be_numbers() {
    for text in [
        "openapi: 3.0\npaths: {}",
        "openapi: 3.1\npaths: {}",
        "\u{feff}{\"openapi\": \"3.1.1\", \"paths\": {}}",
    ] {
        let source = DocumentSource::from_text(text).unwrap();
        ApiDocument::parse(
            &source,
            &BaseUrlOptions::default(),
            &OperationFilter::default(),
        )
        .unwrap();
    }
}

#[test]
fn bombs_are_not_set_off() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..12 {
        let all = vec![format!("*a{}", at - 1); 10].join(", ");
        bomb.push_str(&format!("a{at}: &a{at} [{all}]\n"));
    }
    let fault = DocumentSource::from_text(&bomb).unwrap_err();
    assert!(fault.message.contains("not YAML"), "{fault}");
    for levels in [130, 400, 5_000] {
        let deep =
            |open: &str, close: &str| format!("{}{}", open.repeat(levels), close.repeat(levels));
        let block: String = (0..levels.min(2_000))
            .map(|at| format!("{}a:\n", " ".repeat(at)))
            .collect();
        for text in [
            deep("[", "]"),
            deep("{\"a\":", "}"),
            deep("{a: ", "}"),
            deep("- ", ""),
            deep("? ", ""),
            block,
        ] {
            assert!(
                DocumentSource::from_text(&text).is_err(),
                "{levels} {}",
                &text[..8]
            );
        }
    }
    let mut nested = json!({});
    for _ in 0..1_000 {
        nested = json!({ "a": nested });
    }
    assert!(
        DocumentSource::from_value(nested)
            .unwrap_err()
            .message
            .contains("levels deep")
    );
}

#[test]
fn only_the_operation_that_is_wrong_is_left_out() {
    let parameter = |parameter: Value| json!({ "get": { "parameters": [parameter] } });
    let document = json!({
        "openapi": "3.0.0",
        "paths": {
            "/good": { "get": { "operationId": "good" }, "summary": "All of them.", "parameters": [] },
            "/number": 7,
            "/method": { "get": "x", "post": {} },
            "/circle": { "$ref": "#/paths/~1circle" },
            "/nowhere": { "$ref": "#/none" },
            "/no-name": parameter(json!({ "in": "query" })),
            "/no-place": parameter(json!({ "name": "a" })),
            "/odd-place": parameter(json!({ "name": "a", "in": "sky" })),
            "/odd-style": parameter(json!({ "name": "a", "in": "query", "style": "matrix" })),
            "/odd-header": parameter(json!({ "name": "a b", "in": "header" })),
            "/{open": { "get": {} },
            "no-slash": { "get": {} },
            "/what?x=1": { "get": {} },
            "/body": { "post": { "requestBody": { "$ref": "#/none" } } },
            "/media": { "post": { "requestBody": { "content": { "text/ä": {} } } } },
            "x-extension": { "get": {} },
            "/last": { "delete": {} },
        },
    });
    let document = read(document).unwrap();
    let keys: Vec<String> = document
        .operations
        .iter()
        .map(|operation| operation.key())
        .collect();
    assert_eq!(keys, ["GET /good", "POST /method", "DELETE /last"]);
    assert_eq!(document.operations[0].title, "All of them.");
    let told = document.left_out.join("\n");
    for why in [
        "`/number` is left out: it is not an object.",
        "`GET /method` is left out: it is not an object.",
        "`/circle` is left out: its references lead in a circle.",
        "`/nowhere` is left out: `#/none` leads nowhere.",
        "has no name",
        "(nowhere)",
        "(sky)",
        "(matrix)",
        "cannot be the name of a header",
        "a brace that is not closed",
        "`GET no-slash` is left out: its path is none that could be sent.",
        "`GET /what?x=1` is left out",
        "`POST /body` is left out: `#/none` leads nowhere.",
        "no media type",
    ] {
        assert!(told.contains(why), "{why}:\n{told}");
    }
    assert_eq!(document.left_out.len(), 14);
}

#[test]
fn ten_thousand_operations_are_cut_and_told() {
    let paths: serde_json::Map<String, Value> = (0..10_000)
        .map(|at| (format!("/p{at}"), json!({ "get": {} })))
        .collect();
    let document = read(json!({ "openapi": "3.1.0", "paths": paths })).unwrap();
    assert_eq!(document.operations.len(), OPERATIONS_MAX);
    assert_eq!(document.left_out.len(), LEFT_OUT_MAX + 1);
    let last = document.left_out.last().unwrap();
    assert_eq!(
        last,
        &format!(
            "And {} more are left out.",
            10_000 - OPERATIONS_MAX - LEFT_OUT_MAX
        )
    );
}

/// Each has a name of its own, whatever the document calls it, and keeps it.
#[test]
fn names_are_their_own_and_stay() {
    let get = |id: Value| json!({ "get": { "operationId": id } });
    let document = read(json!({ "openapi": "3.1.0", "paths": {
        "/a": get(json!("list.all")), "/b": get(json!("list.all")), "/c": get(json!("list all")),
        "/d/{id}": { "get": {}, "put": {} }, "/e": get(json!("日本")), "/f": get(json!(7)),
        "/g": get(json!("x".repeat(200))),
    } }))
    .unwrap();
    let pins = OperationPins::approve_initial(&document);
    let called: Vec<&str> = pins
        .tools
        .iter()
        .map(|pinned| pinned.called.as_str())
        .collect();
    let long = "x".repeat(60);
    assert_eq!(
        called,
        [
            "list_all",
            "get_b",
            "list_all_2",
            "get_d_id",
            "put_d_id",
            "operation",
            "get_f",
            &long
        ]
    );
    assert_eq!(called.iter().collect::<HashSet<_>>().len(), called.len());
    let changed = read(json!({ "openapi": "3.1.0", "paths": { "/c": get(json!("list.all")), "/z": get(json!("list.all")) } })).unwrap();
    let pins = pins.approve_all(&changed);
    let called: Vec<_> = pins
        .tools
        .iter()
        .map(|pinned| (pinned.definition.path.as_str(), pinned.called.as_str()))
        .collect();
    assert_eq!(called, [("/c", "list_all_2"), ("/z", "get_z")]);
}

/// Control characters, which JSON escapes, hide something as well as the characters that it does not escape; where they
/// stand does not matter.
#[test]
fn what_hides_something_waits_for_a_second_look() {
    for hidden in ["\u{202e}", "\u{1b}", "\u{8}", "\u{7f}", "\u{9b}", "\u{0}"] {
        let text = format!("b{hidden}[8m");
        let in_query = |schema: Value| json!([{ "name": "q", "in": "query", "schema": schema }]);
        let operations = [
            json!({ "operationId": text }),
            json!({ "operationId": "b", "parameters": [{ "name": text, "in": "query" }] }),
            json!({ "operationId": "b", "parameters": in_query(json!({ "enum": [text] })) }),
            json!({ "operationId": "b", "parameters": in_query(json!({ "default": { (text.clone()): 1 } })) }),
        ];
        for operation in operations {
            let document = read(json!({ "openapi": "3.1.0", "paths": {
                "/a": { "get": { "operationId": "a" } },
                "/b": { "get": operation },
            } }))
            .unwrap();
            assert_eq!(document.operations.len(), 2, "{operation}");
            let pins = OperationPins::approve_initial(&document);
            let approved: Vec<&str> = pins
                .tools
                .iter()
                .map(|pinned| pinned.definition.path.as_str())
                .collect();
            assert_eq!(approved, ["/a"], "{operation}");
            assert!(pins.has_pending_changes(&document), "{operation}");
            assert!(!pins.approve_all(&document).has_pending_changes(&document));
        }
    }
}
