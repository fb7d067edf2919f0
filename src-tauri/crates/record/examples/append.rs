//! Measures what the record costs a call: `cargo run --release -p record --example append [CALLS] [ENTRIES_BEFORE]`; with
//! a third word, whatever it is, it appends and closes, and does nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a measurement ends where it fails, and prints"
)]

#[path = "../tests/it/sample_events.rs"]
mod story;

use std::time::Instant;

use protocol::SessionId;
use record::{Durability, Record};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| words.get(place).map(|word| word.parse::<u32>().unwrap());
    let (calls, before) = (number(0).unwrap_or(20_000), number(1).unwrap_or(0));
    let folder = tempfile::tempdir().unwrap();
    let record = Record::open(&folder.path().join("record.db"), Box::new(|_| ())).unwrap();
    let session = SessionId::from("ses_measured");
    let send = |body| {
        drop(record.append(session.clone(), 1, body, Durability::Batched));
    };
    let call = |n: u32| {
        let id = format!("call_{n}");
        story::read_call(
            &id,
            &format!("src/part_{}/file_{n}.rs", n % 97),
            "fn main() {}",
        )
        .into_iter()
        .for_each(send);
        if n % 4_000 == 3_999 {
            settle(&record, &session);
        }
    };
    send(story::opened("Measured"));
    (0..before).for_each(call);
    settle(&record, &session);

    let began = Instant::now();
    (before..before + calls).for_each(call);
    settle(&record, &session);
    let took = began.elapsed();
    println!(
        "{calls} calls of 4 events: {:.1} µs a call, with {before} entries before",
        took.as_secs_f64() * 1e6 / f64::from(calls)
    );
    if words.len() < 3 {
        ask(&record, &session);
    }
    let began = Instant::now();
    drop(record);
    println!(
        "until it is closed, with what came late: {:.1} µs a call",
        began.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
    );
}

/// Measures single events, searches and a page.
fn ask(record: &Record, session: &SessionId) {
    for durability in [Durability::Batched, Durability::OnDisk] {
        let began = Instant::now();
        for n in 0..200 {
            let body = story::noted(&format!("single {n}"));
            record
                .append(session.clone(), 1, body, durability)
                .wait()
                .unwrap();
        }
        let took = began.elapsed().as_secs_f64() * 1e6 / 200.0;
        println!("one event at a time, each awaited, {durability:?}: {took:.0} µs");
    }
    for text in [
        "",
        "main",
        "f*",
        "file_77",
        "tool:read state:done path:part_5/",
    ] {
        let page = record.search(text, 1, 0, 50).unwrap();
        let again = record.search(text, 1, 0, 50).unwrap();
        println!(
            "search {text:?}: {} of {} in {} µs, again {} µs",
            page.total, page.searched, page.took_us, again.took_us
        );
    }
    let began = Instant::now();
    let (page, more) = record.transcript_before(session, None, 200).unwrap();
    println!(
        "the last {} entries (more: {more}) in {} µs",
        page.len(),
        began.elapsed().as_micros()
    );
}

/// Waits until everything that was sent is recorded, so that the queue never overflows.
fn settle(record: &Record, session: &SessionId) {
    let body = story::noted("settled");
    record
        .append(session.clone(), 1, body, Durability::Batched)
        .wait()
        .unwrap();
}
