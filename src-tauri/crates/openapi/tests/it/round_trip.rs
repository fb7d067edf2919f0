//! For any operation and any arguments, what is sent decodes to what was given.

use openapi::{ApiDocument, ApiRequest, BaseUrlOptions, DocumentSource, OperationFilter};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// How a parameter is written, with how it is read again.
#[derive(Debug, Clone, Copy)]
struct Way {
    place: &'static str,
    style: &'static str,
    explode: bool,
}

const WAYS: [Way; 12] = [
    Way {
        place: "path",
        style: "simple",
        explode: false,
    },
    Way {
        place: "path",
        style: "label",
        explode: false,
    },
    Way {
        place: "path",
        style: "label",
        explode: true,
    },
    Way {
        place: "path",
        style: "matrix",
        explode: false,
    },
    Way {
        place: "path",
        style: "matrix",
        explode: true,
    },
    Way {
        place: "query",
        style: "form",
        explode: true,
    },
    Way {
        place: "query",
        style: "form",
        explode: false,
    },
    Way {
        place: "query",
        style: "spaceDelimited",
        explode: false,
    },
    Way {
        place: "query",
        style: "pipeDelimited",
        explode: false,
    },
    Way {
        place: "query",
        style: "deepObject",
        explode: true,
    },
    Way {
        place: "cookie",
        style: "form",
        explode: false,
    },
    Way {
        place: "form",
        style: "form",
        explode: true,
    },
];

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

/// Values that a server reads from a request.
fn received(way: Way, request: &ApiRequest, is_list: bool) -> Vec<String> {
    let list = |text: &str, between: &str| match is_list {
        true => text.split(between).map(decoded).collect(),
        false => vec![decoded(text)],
    };
    let pairs = |pairs: &[(String, String)]| -> Vec<String> {
        for (name, _) in pairs {
            assert!(
                decoded(name) == "v ü" || decoded(name).starts_with("v ü["),
                "{name}"
            );
        }
        pairs.iter().map(|(_, value)| value.clone()).collect()
    };
    match way.place {
        "path" => {
            let path = request
                .address
                .strip_prefix("https://example.com/a/")
                .unwrap();
            let path = path.strip_suffix("/b").unwrap();
            match (way.style, way.explode) {
                ("simple", _) => list(path, ","),
                ("label", explode) => list(
                    path.strip_prefix('.').unwrap(),
                    if explode { "." } else { "," },
                ),
                (_, explode) => {
                    let between = ";v%20%C3%BC=";
                    list(
                        path.strip_prefix(between).unwrap(),
                        if explode { between } else { "," },
                    )
                }
            }
        }
        "form" => {
            let body = String::from_utf8(request.body.as_ref().unwrap().bytes.clone()).unwrap();
            body.split('&')
                .map(|pair| decoded(pair.split_once('=').unwrap().1))
                .collect()
        }
        place => {
            let values = pairs(if place == "query" {
                &request.query
            } else {
                &request.cookies
            });
            match (way.style, way.explode) {
                (_, true) => values.iter().map(|value| decoded(value)).collect(),
                ("spaceDelimited", _) => list(&values[0], "%20"),
                ("pipeDelimited", _) => list(&values[0], "%7C"),
                _ => list(&values[0], ","),
            }
        }
    }
}

fn request(way: Way, value: &Value) -> Result<ApiRequest, String> {
    // A cookie has a name of its own kind.
    let name = if way.place == "cookie" { "v" } else { "v ü" };
    let path = if way.place == "path" {
        "/a/{v ü}/b"
    } else {
        "/a"
    };
    let operation = match way.place {
        "form" => {
            json!({ "requestBody": { "content": { "application/x-www-form-urlencoded": {} } } })
        }
        _ => {
            json!({ "parameters": [{ "name": name, "in": way.place, "style": way.style, "explode": way.explode, "required": way.place == "path" }] })
        }
    };
    let source = DocumentSource::from_value(json!({
        "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }], "paths": { path: { "post": operation } },
    }));
    let document = ApiDocument::parse(
        &source.unwrap(),
        &BaseUrlOptions::default(),
        &OperationFilter::default(),
    )
    .unwrap();
    let operation = &document.operations[0];
    let arguments = match way.place {
        "form" => json!({ "body": { "v ü": value } }),
        "cookie" => json!({ "v": value }),
        _ => json!({ "v": value }),
    };
    let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
    ApiRequest::new(operation, &arguments, &|_| Ok(Vec::new())).map_err(|error| error.to_string())
}

fn texts() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["\\PC{1,12}", "[ -~]{1,12}", "[/.;,&=%+|?# ]{1,6}"];
    let one = prop_oneof![
        text.prop_map(Value::String),
        any::<i64>().prop_map(|number| json!(number)),
        any::<bool>().prop_map(|yes| json!(yes)),
    ];
    prop_oneof![
        one.clone(),
        prop::collection::vec(one, 1..5).prop_map(Value::Array)
    ]
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sent_decodes_to_what_was_given(at in 0..WAYS.len(), value in texts()) {
        let way = WAYS[at];
        let given: Vec<String> = match &value {
            Value::Array(items) => items.iter().map(plain).collect(),
            one => vec![plain(one)],
        };
        let is_list = value.is_array();
        match request(way, &value) {
            Ok(request) if way.place == "cookie" => {
                let written = &request.cookies[0].1;
                let read: Vec<String> = match is_list {
                    true => written.split(',').map(decoded).collect(),
                    false => vec![decoded(written)],
                };
                prop_assert_eq!(read, given);
                prop_assert!(written.is_ascii() && !written.contains([';', ' ', '"', '\\']));
            }
            Ok(request) => prop_assert_eq!(received(way, &request, is_list), given),
            // An ambiguous value is refused.
            Err(why) => {
                let marked = match way.style {
                    "spaceDelimited" => is_list && given.iter().any(|one| one.contains(' ')),
                    "pipeDelimited" => is_list && given.iter().any(|one| one.contains('|')),
                    _ => way.place == "path" && given.iter().all(|one| one.trim_matches('.').is_empty()),
                };
                prop_assert!(marked, "{:?} {}: {}", way, value, why);
            }
        }
    }

    #[test]
    fn a_json_body_is_the_same_value(value in "\\PC{0,40}", number in any::<f64>(), key in "\\PC{1,10}") {
        let given = json!({ &key: [value, number, null, { "deep": [true] }] });
        let source = DocumentSource::from_value(json!({
            "openapi": "3.0.0", "servers": [{ "url": "https://example.com" }],
            "paths": { "/a": { "post": { "requestBody": { "content": { "application/json": {} } } } } },
        }));
        let document = ApiDocument::parse(&source.unwrap(), &BaseUrlOptions::default(), &OperationFilter::default()).unwrap();
        let arguments = json!({ "body": given }).as_object().unwrap().clone();
        let request = ApiRequest::new(&document.operations[0], &arguments, &|_| Ok(Vec::new())).unwrap();
        let read: Value = serde_json::from_slice(&request.body.unwrap().bytes).unwrap();
        prop_assert_eq!(read, given);
    }
}
