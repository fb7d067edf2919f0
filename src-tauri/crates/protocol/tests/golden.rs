//! The fold, held to a golden stream that the interface's fold in TypeScript is held to as well.

use std::collections::BTreeMap;

use protocol::event::fold;
use protocol::view::entry::SessionView;
use protocol::{CallState, Entry, EntryBody, Event};
use serde_json::Value;

const STREAM: &str = include_str!("../../../../tests/golden/sample.jsonl");
const FOLDED: &str = include_str!("../../../../tests/golden/sample.folded.json");

/// Everything that a stream folds to.
#[derive(Default)]
struct Folded {
    entries: BTreeMap<(String, u64), Entry>,
    begun: BTreeMap<(String, String), u64>,
    sessions: BTreeMap<String, SessionView>,
}

impl Folded {
    fn take(&mut self, event: &Event) {
        let session = event.session.0.clone();
        if let Some(id) = fold::entry_id(event) {
            let key = (session.clone(), id.into_owned());
            let before = self.begun.get(&key).and_then(|seq| {
                let place = (session.clone(), *seq);
                self.entries.get(&place).cloned()
            });
            if let Some(entry) = fold::fold_entry(before, event) {
                self.begun.insert(key, entry.seq);
                self.entries.insert((session.clone(), entry.seq), entry);
            }
        }
        let waiting = self.waiting(&session);
        let before = self.sessions.remove(&session);
        if let Some(view) = fold::fold_session(before, event, waiting) {
            self.sessions.insert(session, view);
        }
    }

    fn waiting(&self, session: &str) -> u32 {
        let waits = |entry: &&Entry| matches!(&entry.body, EntryBody::Call(view) if view.state == CallState::Waiting);
        let own = self.entries.values().filter(|e| e.session.0 == session);
        own.filter(waits).count() as u32
    }

    fn json(&self) -> Value {
        serde_json::json!({
            "sessions": self.sessions.values().collect::<Vec<_>>(),
            "entries": self.entries.values().collect::<Vec<_>>(),
        })
    }
}

#[test]
fn the_golden_stream_folds_to_the_golden_entries() {
    let mut folded = Folded::default();
    for line in STREAM.lines() {
        folded.take(&serde_json::from_str(line).unwrap());
    }
    // To write the golden entries anew after a change of the fold: put what is printed here in their place.
    let text = folded.json().to_string();
    let [is, expected] = [&text, FOLDED].map(|json| serde_json::from_str::<Value>(json).unwrap());
    assert_eq!(is, expected, "{text}");
}

/// Entries and sessions with schema-first tools; the interface's fold has the same story in its tests.
#[test]
fn schema_first_events_stand_where_they_belong() {
    let told = [
        r#"{"type":"session_opened","title":"A","workspace":"/w","model":{"provider":"demo","model":""},"parent":{"session":"ses_p","call":"call_p"},"options":{"output_schema":{"type":"object"}}}"#,
        r#"{"type":"turn_started","turn":1,"message":"msg_1"}"#,
        r#"{"type":"answer_checked","problem":"`output` is missing","message":"msg_1"}"#,
        r#"{"type":"turn_started","turn":2,"message":"msg_2"}"#,
        r#"{"type":"answer_checked","output":{"summary":"Done."},"message":"msg_2"}"#,
        r#"{"type":"call_proposed","call":{"id":"call_1","name":"greet","arguments":{}},"message":"msg_2","reasoning":null}"#,
        r#"{"type":"state_written","path":"report.title","instance":"2","value":"Hi","call":"call_1"}"#,
    ];
    let mut folded = Folded::default();
    for (seq, body) in told.iter().enumerate() {
        let event = format!(
            r#"{{"seq":{},"session":"ses_a","at":0,"body":{body}}}"#,
            seq + 1
        );
        let event: Event = serde_json::from_str(&event).unwrap();
        assert_eq!(serde_json::to_string(&event.body).unwrap(), *body);
        folded.take(&event);
    }
    let json = folded.json();
    assert_eq!(
        json["sessions"][0]["parent"],
        serde_json::json!({ "session": "ses_p", "call": "call_p" })
    );
    let entries = json["entries"].as_array().unwrap();
    let stands = |entry: &Value| match entry["body"]["type"].as_str() {
        Some("agent") => entry["body"]["checked"].clone(),
        _ => entry["body"]["stored_at"].clone(),
    };
    assert_eq!(
        entries.iter().map(stands).collect::<Vec<_>>(),
        [
            serde_json::json!({ "problem": "`output` is missing" }),
            serde_json::json!({ "output": { "summary": "Done." } }),
            serde_json::json!({ "path": "report.title", "instance": "2" }),
        ]
    );
}

/// An entry with the names that its members had in an earlier version is read as its present form.
#[test]
fn an_entry_that_an_earlier_version_stored_is_read() {
    let mut folded = Folded::default();
    for (seq, body) in [
        r#"{"type":"call_proposed","call":{"id":"call_1","name":"greet","arguments":{}},"message":"msg_1","reasoning":null}"#,
        r#"{"type":"call_judged","tool":"greet","title":"Greet","target":"","mode":"local","kind":"other","trail":{"verdict":"ask","lead":"","otherwise":"","steps":[]},"preview":{"type":"nothing"},"undo":{"type":"snapshot"},"call":"call_1"}"#,
        r#"{"type":"state_written","path":"report.title","value":"Hi","call":"call_1"}"#,
    ]
    .iter()
    .enumerate()
    {
        let event = format!(r#"{{"seq":{seq},"session":"ses_a","at":0,"body":{body}}}"#);
        folded.take(&serde_json::from_str(&event).unwrap());
    }
    let [entry] = &folded.entries.into_values().collect::<Vec<_>>()[..] else {
        panic!("the events are about one call");
    };
    let mut stored = serde_json::to_string(entry).unwrap();
    for (earlier, present) in [("outlook", "undo_availability"), ("kept", "stored_at")] {
        let renamed = stored.replace(&format!("\"{present}\":"), &format!("\"{earlier}\":"));
        assert_ne!(renamed, stored, "{present}");
        stored = renamed;
    }
    assert_eq!(&serde_json::from_str::<Entry>(&stored).unwrap(), entry);
}

/// A question of a server is on the desk with its call, and counts once; the interface's fold has the same story.
#[test]
fn what_a_server_asks_stands_with_its_call() {
    let request = r#"{"server":"one","message":[{"text":"Who?","control":false}],"wants":{"type":"form","fields":[]}}"#;
    let told = [
        r#"{"type":"session_opened","title":"A","workspace":"/w","model":{"provider":"demo","model":""}}"#.to_owned(),
        r#"{"type":"call_proposed","call":{"id":"call_1","name":"one__form","arguments":{}},"message":"msg_1","reasoning":null}"#.to_owned(),
        r#"{"type":"call_started","call":"call_1"}"#.to_owned(),
        format!(r#"{{"type":"server_request_received","call":"call_1","request_id":"ask_1","request":{request},"expires_at":null}}"#),
        r#"{"type":"server_request_answered","call":"call_1","request_id":"ask_1","answer":{"type":"declined"},"why":null}"#.to_owned(),
        r#"{"type":"server_request_answered","call":"call_1","request_id":"ask_1","answer":{"type":"opened"},"why":"late"}"#.to_owned(),
        r#"{"type":"sampling_finished","call":"call_1","request_id":"ask_1","result":{"model":"m","text":"Hi","usage":{"input_tokens":2,"cached_tokens":0,"output_tokens":1,"cost_usd":null}}}"#.to_owned(),
        format!(r#"{{"type":"server_request_received","call":"call_1","request_id":"ask_2","request":{request},"expires_at":9}}"#),
    ];
    let mut folded = Folded::default();
    let mut states = Vec::new();
    for (seq, body) in told.iter().enumerate() {
        let event = format!(
            r#"{{"seq":{},"session":"ses_a","at":{},"body":{body}}}"#,
            seq + 1,
            seq + 1
        );
        folded.take(&serde_json::from_str(&event).unwrap());
        let call = folded.entries.values().find_map(|entry| match &entry.body {
            EntryBody::Call(view) => Some(view.state.as_str()),
            _ => None,
        });
        states.extend(call);
    }
    assert_eq!(
        states,
        [
            "proposed", "running", "waiting", "running", "running", "running", "waiting"
        ]
    );
    let all = folded.json();
    let requests = all.pointer("/entries/0/body/server_requests").unwrap();
    assert_eq!(
        requests[0]["answered"],
        serde_json::json!({ "answer": { "type": "declined" }, "at": 5, "sampled": { "model": "m", "text": "Hi",
            "usage": { "input_tokens": 2, "cached_tokens": 0, "output_tokens": 1, "cost_usd": null } } })
    );
    assert_eq!(requests[1]["answered"], Value::Null);
    assert_eq!(
        all["sessions"][0]["usage"]["input_tokens"], 2,
        "it counts as the session's"
    );
    assert_eq!(all["sessions"][0]["waiting"], 1);
}
