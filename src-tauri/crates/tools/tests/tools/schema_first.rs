//! Composition and definition files under arbitrary input.

use proptest::prelude::*;
use protocol::model::ToolDefinition;
use serde_json::{Map, Value, json};
use tools::custom::{
    ComposedSchema, CustomToolDefinition, ExecutionKind, compose_schema, parse_definitions,
};

/// A tool of some parameters, each a string or an integer, required or not.
#[derive(Debug, Clone)]
struct Sketch {
    name: String,
    parameters: Vec<(String, bool, bool)>,
    closed: bool,
}

impl Sketch {
    fn definition(&self) -> ToolDefinition {
        let kind = |text: bool| if text { "string" } else { "integer" };
        let members: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, text, _)| (name.clone(), json!({ "type": kind(*text) })))
            .collect();
        let required: Vec<&str> = self
            .parameters
            .iter()
            .filter(|(_, _, required)| *required)
            .map(|(name, _, _)| name.as_str())
            .collect();
        let mut schema = json!({ "type": "object", "properties": members, "required": required });
        if self.closed {
            schema["additionalProperties"] = json!(false);
        }
        let definition = CustomToolDefinition::parse(Some(&self.name), &schema).unwrap();
        ToolDefinition {
            name: definition.name.clone(),
            description: definition.description.clone(),
            parameters: definition.parameters(ExecutionKind::Latent),
            strict: true,
        }
    }

    /// The call without the optional members that are `null`.
    fn without_nulls(&self, call: &Map<String, Value>) -> Map<String, Value> {
        let is_optional = |name: &String| {
            let mut parameters = self.parameters.iter();
            parameters.any(|(known, _, required)| known == name && !required)
        };
        let members = call.clone().into_iter();
        members
            .filter(|(name, value)| !(value.is_null() && is_optional(name)))
            .collect()
    }

    /// Whether a call is an instance of this tool, judged without any schema.
    fn takes(&self, call: &Map<String, Value>) -> bool {
        let fits = |(name, text, required): &(String, bool, bool)| match call.get(name) {
            None => !required,
            Some(value) => value.is_string() == *text && value.is_i64() != *text,
        };
        let named = |name: &String| {
            name == "_tool" || self.parameters.iter().any(|(known, _, _)| known == name)
        };
        call.get("_tool").and_then(Value::as_str) == Some(&self.name)
            && self.parameters.iter().all(fits)
            && (!self.closed || call.keys().all(named))
    }
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let parameter = ("[a-d]", any::<bool>(), any::<bool>());
    let sketch = (prop::collection::vec(parameter, 0..4), any::<bool>());
    prop::collection::vec(sketch, 0..4).prop_map(|all| {
        let all = all.into_iter().enumerate();
        all.map(|(n, (mut parameters, closed))| {
            parameters.sort();
            parameters.dedup_by(|a, b| a.0 == b.0);
            Sketch {
                name: format!("tool_{n}"),
                parameters,
                closed,
            }
        })
        .collect()
    })
}

fn a_call() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from),
        Just(Value::Null),
    ];
    let members = prop::collection::btree_map("[a-e]", value, 0..4);
    (0_usize..5, members).prop_map(|(n, members)| {
        let mut call: Map<String, Value> = members.into_iter().collect();
        if n < 4 {
            call.insert("_tool".to_owned(), json!(format!("tool_{n}")));
        }
        Value::Object(call)
    })
}

fn an_output() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!({ "summary": "x" })),
        Just(json!({ "summary": 1 })),
        Just(json!({ "summary": "x", "more": 1 })),
        Just(json!({})),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "type",
        "properties",
        "required",
        "_tool",
        "_output",
        "_activity",
        "_outputPath",
        "const",
        "object",
        "$ref",
        "#/$defs/a",
        "$defs",
        "items",
        "anyOf",
        "additionalProperties",
        "a",
    ];
    let word = prop::sample::select(words.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Every composed schema is valid, and accepts exactly the answers that it should (`S004-30` to `S004-36`).
    #[test]
    fn a_composed_schema_takes_what_it_should(
        tools in sketches(),
        with_output in any::<bool>(),
        calls in prop::collection::vec(a_call(), 0..3),
        output in an_output(),
    ) {
        let schema = json!({ "type": "object", "properties": { "summary": { "type": "string" } }, "required": ["summary"] });
        let schema = with_output.then_some(&schema);
        let definitions: Vec<_> = tools.iter().map(Sketch::definition).collect();
        let composed = compose_schema(&definitions, schema).unwrap();
        prop_assert!(jsonschema::meta::is_valid(&composed), "{}", composed);
        let takes = calls.iter().all(|call| {
            call.as_object().is_some_and(|call| tools.iter().any(|tool| tool.takes(call)))
        });
        let gives = output.is_null() || (with_output && output == json!({ "summary": "x" }));
        let answer = json!({ "calls": calls, "output": output });
        prop_assert_eq!(jsonschema::is_valid(&composed, &answer), takes && gives, "{} {}", composed, answer);
        let read = ComposedSchema::new(definitions, schema).unwrap().parse_answer(&answer.to_string());
        let reads = calls.iter().all(|call| {
            call.as_object().is_some_and(|call| tools.iter().any(|tool| tool.takes(&tool.without_nulls(call))))
        });
        prop_assert_eq!(read.is_ok(), reads && gives);
        if let Err(problems) = read {
            prop_assert!(!problems.is_empty(), "a refusal says why");
        }
    }

    /// No file of definitions brings anything down; each tool that is read can be offered, and each fault says where.
    #[test]
    fn any_file_is_read(value in any_json(), text in "\\PC{0,200}", broken in any::<prop::sample::Index>()) {
        let whole = serde_json::to_string_pretty(&value).unwrap();
        let cut = whole.char_indices().map(|(at, _)| at).nth(broken.index(whole.len())).unwrap_or(0);
        for file in [&whole, &whole[..cut], text.as_str()] {
            let read = parse_definitions("tools/a.json", "a", file);
            for (line, tool) in read.tools {
                prop_assert!(line <= file.lines().count().max(1));
                for execution in [ExecutionKind::Latent, ExecutionKind::Explicit] {
                    let parameters = tool.parameters(execution);
                    prop_assert!(tools::Schema::from_parameters(&tool.name, &parameters).is_ok());
                }
            }
            for fault in read.faults {
                prop_assert!(fault.message.starts_with("tools/a.json, line "), "{}", fault);
            }
        }
    }
}
