//! Every mapper, held to what must be true of its words whatever a session did (M19).

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod told;

use std::collections::BTreeMap;

use proptest::prelude::*;
use protocol::mappers::{SessionMapper, Vocabulary};
use protocol::{Event, SessionId};
use serde_json::Value;
use told::{session, stream};

fn words(vocabulary: Vocabulary, events: &[Event]) -> Vec<Value> {
    let mut teller = SessionMapper::new(vocabulary, SessionId::from(session()));
    events.iter().flat_map(|event| teller.map(event)).collect()
}

fn kind(word: &Value) -> &str {
    word["type"]
        .as_str()
        .or_else(|| word["event_type"].as_str())
        .unwrap()
}

/// How often each id is told with one of these kinds.
fn count(words: &[Value], kinds: &[&str], id: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for word in words.iter().filter(|word| kinds.contains(&kind(word))) {
        let id = word.pointer(id).and_then(Value::as_str).unwrap();
        *counts.entry(id.to_owned()).or_default() += 1;
    }
    counts
}

/// Kinds of items that begin, go on, and end, and where their id is.
struct Life {
    vocabulary: Vocabulary,
    begins: &'static str,
    goes_on: &'static [&'static str],
    ends: &'static [&'static str],
    /// Where the id stands; in a chat's call it is the payload's own.
    id: [&'static str; 2],
}

const LIVES: [Life; 7] = [
    Life {
        vocabulary: Vocabulary::Chat,
        begins: "tool_call",
        goes_on: &["loader-hint"],
        ends: &["tool_result"],
        id: ["/payload/id", "/callId"],
    },
    // S001-09, S001-68: one id in start, updates and end, in this order.
    Life {
        vocabulary: Vocabulary::Agent,
        begins: "ToolExecutionStart",
        goes_on: &["ToolExecutionUpdate", "ProgressMessage"],
        ends: &["ToolExecutionEnd"],
        id: ["/tool_call_id"; 2],
    },
    Life {
        vocabulary: Vocabulary::Chunks,
        begins: "tool-input-start",
        goes_on: &["tool-input-available"],
        ends: &["tool-output-available", "tool-output-error"],
        id: ["/toolCallId"; 2],
    },
    Life {
        vocabulary: Vocabulary::Chunks,
        begins: "text-start",
        goes_on: &["text-delta"],
        ends: &["text-end"],
        id: ["/id"; 2],
    },
    Life {
        vocabulary: Vocabulary::Chunks,
        begins: "reasoning-start",
        goes_on: &["reasoning-delta"],
        ends: &["reasoning-end"],
        id: ["/id"; 2],
    },
    Life {
        vocabulary: Vocabulary::ToolEvents,
        begins: "tool.invocation.planned",
        goes_on: &[
            "tool.invocation.selected",
            "tool.invocation.arguments_ready",
            "tool.permission.requested",
            "tool.permission.decided",
            "tool.invocation.started",
            "tool.invocation.progress",
            "tool.invocation.partial_result",
            "tool.result.created",
        ],
        ends: ENDS,
        id: ["/invocation_id"; 2],
    },
    Life {
        vocabulary: Vocabulary::ToolEvents,
        begins: "tool.invocation.started",
        goes_on: &["tool.invocation.partial_result"],
        ends: &[],
        id: ["/invocation_id"; 2],
    },
];

const ENDS: &[&str] = &[
    "tool.invocation.succeeded",
    "tool.invocation.failed",
    "tool.invocation.canceled",
    "tool.invocation.timed_out",
];

/// Nothing goes on or ends that did not begin or is over, and nothing begins twice. Gives the ids that begun and did not end.
fn holds(life: &Life, words: &[Value]) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut over: Vec<String> = Vec::new();
    for word in words {
        let of = |pointer: &str| {
            word.pointer(pointer)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if kind(word) == life.begins {
            let id = of(life.id[0]).unwrap();
            assert!(!open.contains(&id) && !over.contains(&id), "twice: {word}");
            open.push(id);
        } else if life.goes_on.contains(&kind(word)) {
            let id = of(life.id[1]).unwrap();
            assert!(open.contains(&id), "goes on without a start: {word}");
        } else if life.ends.contains(&kind(word)) {
            let id = of(life.id[1]).unwrap();
            assert!(open.contains(&id), "ends without a start: {word}");
            open.retain(|other| *other != id);
            over.push(id);
        }
    }
    open
}

/// Calls that begun to run, and calls that were asked for, as the log has them.
fn logged(events: &[Event], wanted: &str) -> usize {
    let mut ids: Vec<String> = Vec::new();
    for event in events {
        let body = serde_json::to_value(&event.body).unwrap();
        if body["type"] == wanted {
            let id = body["call"].as_str().or(body["call"]["id"].as_str());
            ids.push(id.unwrap().to_owned());
        }
    }
    ids.sort();
    ids.dedup();
    ids.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every call that starts ends exactly once, under one id, and nothing goes on without a start.
    #[test]
    fn what_starts_ends_once(events in stream()) {
        for life in &LIVES {
            let open = holds(life, &words(life.vocabulary, &events));
            prop_assert!(life.ends.is_empty() || open.is_empty(), "{}: {open:?}", life.begins);
        }
        let told = |vocabulary, kind, id| count(&words(vocabulary, &events), &[kind], id).len();
        let (proposed, started) = (logged(&events, "call_proposed"), logged(&events, "call_started"));
        prop_assert_eq!(told(Vocabulary::Chat, "tool_result", "/callId"), proposed);
        prop_assert_eq!(words(Vocabulary::Spans, &events).len(), proposed);
        prop_assert_eq!(told(Vocabulary::Agent, "ToolExecutionStart", "/tool_call_id"), started);
        prop_assert_eq!(told(Vocabulary::Chunks, "tool-input-available", "/toolCallId"), proposed);
        prop_assert_eq!(told(Vocabulary::ToolEvents, "tool.invocation.planned", "/invocation_id"), proposed);
        prop_assert_eq!(told(Vocabulary::ToolEvents, "tool.invocation.started", "/invocation_id"), started);
    }

    /// Runs, turns and messages are nested and complete; a run's last word says that it is over.
    #[test]
    fn runs_turns_and_messages_are_nested(events in stream()) {
        let mut open: Vec<String> = Vec::new();
        for word in words(Vocabulary::Agent, &events) {
            let name = kind(&word);
            if let Some(begun) = name.strip_suffix("Start").filter(|of| *of != "ToolExecution") {
                let inside = match begun {
                    "Agent" => open.is_empty(),
                    "Turn" => open == ["Agent"],
                    _ => !open.iter().any(|other| other == "Message") && !open.is_empty(),
                };
                prop_assert!(inside, "{word} in {open:?}");
                open.push(begun.to_owned());
            } else if let Some(ended) = name.strip_suffix("End").filter(|of| *of != "ToolExecution") {
                prop_assert_eq!(open.pop(), Some(ended.to_owned()), "{}", word);
            } else if name == "MessageUpdate" {
                prop_assert_eq!(open.last().map(String::as_str), Some("Message"));
            }
        }
        prop_assert!(open.is_empty(), "{open:?}");
        let last = |vocabulary, wanted: &str| {
            let words = words(vocabulary, &events);
            words.iter().filter(|word| kind(word) == wanted).count()
        };
        let runs = last(Vocabulary::Agent, "AgentEnd");
        prop_assert_eq!(last(Vocabulary::Chat, "done"), runs);
        let limits = events.iter().filter(|event| event.body.name() == "limit_reached").count();
        prop_assert_eq!(last(Vocabulary::Chat, "budget_exhausted"), limits);
        prop_assert_eq!(last(Vocabulary::Chunks, "finish"), runs);
        prop_assert_eq!(last(Vocabulary::Chunks, "finish-step"), last(Vocabulary::Agent, "TurnEnd"));
    }

    /// The same events give the same words; who hears a part first and resumes from the first event hears the same again.
    #[test]
    fn mapping_is_a_pure_function_of_the_past(events in stream(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(events.len());
        for vocabulary in Vocabulary::ALL {
            let whole = words(vocabulary, &events);
            prop_assert_eq!(&words(vocabulary, &events), &whole);
            let part = words(vocabulary, &events[..cut]);
            prop_assert_eq!(&whole[..part.len()], &part[..]);
        }
    }

    /// Also in a stream that lacks events, or has them in disorder, nothing goes on or ends that did not begin.
    #[test]
    fn disorder_never_tells_an_end_without_a_start(
        events in stream().prop_shuffle(),
        keep in any::<u64>(),
    ) {
        let some: Vec<Event> = events
            .into_iter()
            .enumerate()
            .filter(|(place, _)| keep >> (place % 64) & 1 == 1)
            .map(|(_, event)| event)
            .collect();
        for life in LIVES.iter().filter(|life| life.begins != "tool.invocation.planned" && life.begins != "tool_call") {
            holds(life, &words(life.vocabulary, &some));
        }
    }

    /// Every `tool.*` event has an id of its own, and says when and of what it tells.
    #[test]
    fn tool_events_are_told_apart(events in stream()) {
        let words = words(Vocabulary::ToolEvents, &events);
        let ids = count(&words, &words.iter().map(kind).collect::<Vec<_>>(), "/event_id");
        prop_assert_eq!(ids.len(), words.len());
        for word in &words {
            let given = ["event_type", "source", "time", "invocation_id", "tool_id", "schema_version"];
            prop_assert!(given.iter().all(|name| word[name].is_string()), "{word}");
        }
    }
}

/// Another session's events say nothing, and a vocabulary is found by its name alone.
#[test]
fn a_teller_tells_its_own_session() {
    let event: Event = serde_json::from_str(
        r#"{"seq":1,"session":"ses_other","at":0,"body":{"type":"session_changed","state":"done"}}"#,
    )
    .unwrap();
    for vocabulary in Vocabulary::ALL {
        assert_eq!(
            words(vocabulary, std::slice::from_ref(&event)),
            Vec::<Value>::new()
        );
        assert_eq!(Vocabulary::parse(vocabulary.as_str()), Ok(vocabulary));
    }
    let fault = Vocabulary::parse("sse").unwrap_err();
    assert!(
        fault.message.contains("sse") && fault.hint.contains("tool-events"),
        "{fault}"
    );
}
