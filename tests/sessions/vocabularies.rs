//! The log in the words of the specifications: what each mapper makes of the sample stream (M19).

use protocol::Event;

/// Sessions of every kind, some still at work; the demo's words stand beside its stream.
#[test]
fn the_sample_is_told_in_every_vocabulary() {
    let stream = include_str!("../golden/sample.jsonl");
    let events: Vec<Event> = stream
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    support::golden::check_vocabularies("sample", &events);
}
