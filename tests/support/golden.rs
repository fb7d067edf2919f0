//! Golden files: what an engine test told is written down, and every later run must tell the same.

use std::path::PathBuf;

use protocol::Event;
use serde_json::{Map, Value};

/// Compares events with `tests/golden/{name}.jsonl`, or writes the file where `UPDATE_GOLDEN` is set. What depends on
/// the machine (folders, digests, times) is replaced by something that does not.
#[track_caller]
pub fn check(name: &str, events: &[Event], replace: &[(String, &str)]) {
    let told: String = normal(events, replace)
        .iter()
        .map(|event| format!("{event}\n"))
        .collect();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(format!("{name}.jsonl"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &told).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    for (number, (now, then)) in told.lines().zip(golden.lines()).enumerate() {
        assert_eq!(
            now,
            then,
            "{name}.jsonl, line {}: run with UPDATE_GOLDEN=1 if this is wanted",
            number + 1
        );
    }
    assert_eq!(
        told.lines().count(),
        golden.lines().count(),
        "{name}.jsonl has another length"
    );
}

fn normal(events: &[Event], replace: &[(String, &str)]) -> Vec<Value> {
    let mut digests: Vec<String> = Vec::new();
    events
        .iter()
        .map(|event| {
            let mut value = serde_json::to_value(event).expect("an event is JSON");
            visit(&mut value, &mut digests, replace);
            value["at"] =
                (1_767_225_600_000_i64 + 1_000 * i64::try_from(event.seq).unwrap()).into();
            value
        })
        .collect()
}

fn visit(value: &mut Value, digests: &mut Vec<String>, replace: &[(String, &str)]) {
    match value {
        Value::String(text) => {
            for (from, to) in replace {
                *text = text.replace(from, to);
            }
            if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let known = digests
                    .iter()
                    .position(|digest| digest == text)
                    .unwrap_or_else(|| {
                        digests.push(text.clone());
                        digests.len() - 1
                    });
                *text = format!("{known:064x}");
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| visit(item, digests, replace)),
        Value::Object(members) => visit_object(members, digests, replace),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn visit_object(
    members: &mut Map<String, Value>,
    digests: &mut Vec<String>,
    replace: &[(String, &str)],
) {
    for (name, value) in members {
        match name.as_str() {
            "duration_ms" => *value = 7.into(),
            "at" => *value = 1_767_225_600_000_i64.into(),
            _ => visit(value, digests, replace),
        }
    }
}
