//! Golden files: what an engine test told is written down, and every later run must tell the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use protocol::event::{CallChange, MessageChange};
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::{Event, EventBody, SessionId};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Compares events with `tests/golden/{name}.jsonl`, or writes the file where `UPDATE_GOLDEN` is set; the same for the
/// events in each of the specifications' words. What depends on the machine (folders, digests, times) is replaced by
/// something that does not.
#[track_caller]
pub fn check_events(name: &str, events: &[Event], replace: &[(String, &str)]) {
    let events = normalize_events(events, replace);
    compare_with_file(name, &to_json_lines(&events));
    let read = |event: &Value| Event::deserialize(event).expect("a normal event is an event");
    check_vocabularies(name, &events.iter().map(read).collect::<Vec<_>>());
}

/// Compares what each vocabulary makes of events with `tests/golden/words/{name}.{vocabulary}.jsonl` (M19).
#[track_caller]
pub fn check_vocabularies(name: &str, events: &[Event]) {
    for vocabulary in Vocabulary::ALL {
        let mut tellers: BTreeMap<&SessionId, SessionMapper> = BTreeMap::new();
        let mut words = Vec::new();
        for event in events {
            let teller = tellers
                .entry(&event.session)
                .or_insert_with(|| SessionMapper::new(vocabulary, event.session.clone()));
            words.extend(teller.map(event));
        }
        compare_with_file(
            &format!("words/{name}.{}", vocabulary.as_str()),
            &to_json_lines(&words),
        );
    }
}

fn to_json_lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[track_caller]
fn compare_with_file(name: &str, told: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(format!("{name}.jsonl"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("there can be a folder");
        std::fs::write(&file, told).expect("the golden file can be written");
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

fn normalize_events(events: &[Event], replace: &[(String, &str)]) -> Vec<Value> {
    let mut digests: Vec<String> = Vec::new();
    join_chunks(events)
        .iter()
        .zip(1_i64..)
        .map(|(event, seq)| {
            let mut value = serde_json::to_value(event).expect("an event is JSON");
            normalize_value(&mut value, &mut digests, replace);
            value["seq"] = seq.into();
            value["at"] = (1_767_225_600_000 + 1_000 * seq).into();
            if let Some(ended_at) = value.pointer_mut("/body/outcome/ended_at") {
                *ended_at = (1_767_225_600_000 + 1_000 * seq).into();
            }
            value
        })
        .collect()
}

/// Pieces of one text that follow each other, as one: where they were cut depends on the machine's speed.
fn join_chunks(events: &[Event]) -> Vec<Event> {
    let mut whole: Vec<Event> = Vec::new();
    for event in events {
        match (whole.last_mut().map(|last| &mut last.body), &event.body) {
            (
                Some(EventBody::Call {
                    call,
                    change: CallChange::Output { text },
                }),
                EventBody::Call {
                    call: same,
                    change: CallChange::Output { text: more },
                },
            ) if call == same => text.push_str(more),
            (
                Some(EventBody::Message {
                    message,
                    change: MessageChange::AgentSaid { text, reasoning },
                }),
                EventBody::Message {
                    message: same,
                    change:
                        MessageChange::AgentSaid {
                            text: more,
                            reasoning: also,
                        },
                },
            ) if message == same && reasoning == also => text.push_str(more),
            _ => whole.push(event.clone()),
        }
    }
    whole
}

fn normalize_value(value: &mut Value, digests: &mut Vec<String>, replace: &[(String, &str)]) {
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
            .for_each(|item| normalize_value(item, digests, replace)),
        Value::Object(members) => normalize_object(members, digests, replace),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn normalize_object(
    members: &mut Map<String, Value>,
    digests: &mut Vec<String>,
    replace: &[(String, &str)],
) {
    for (name, value) in members {
        match name.as_str() {
            "duration_ms" => *value = 7.into(),
            "at" => *value = 1_767_225_600_000_i64.into(),
            _ => normalize_value(value, digests, replace),
        }
    }
}
