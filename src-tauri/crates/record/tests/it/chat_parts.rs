//! Results of calls, as rows of `chat_parts`.

use protocol::call::outcome::{Envelope, Truncation};
use protocol::event::CallChange;
use protocol::{EventBody, Outcome, ToolError, ToolOutput};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::sample_events;
use crate::support::Desk;

fn ended(call: &str, outcome: &Outcome) -> EventBody {
    EventBody::Call {
        call: call.into(),
        change: CallChange::Ended {
            outcome: Box::new(outcome.clone()),
            masked: None,
        },
    }
}

/// A row as the envelope that it stands for.
fn envelope(row: &rusqlite::Row<'_>) -> Envelope {
    let json = |column: &str| -> Option<Value> {
        let text: Option<String> = row.get(column).unwrap();
        text.map(|text| serde_json::from_str(&text).unwrap())
    };
    let text = |column: &str| row.get::<_, Option<String>>(column).unwrap();
    let mut whole = json!({ "type": text("type"), "metadata": json("metadata") });
    if let Some(data) = json("data") {
        whole["data"] = data;
    }
    if let Some(error) = text("error_text") {
        whole["error_text"] = error.into();
    }
    serde_json::from_value(whole).unwrap()
}

/// `S002-66`: the record writes the result of each call to a row of `chat_parts`, which is the call's envelope (`S002-61` to
/// `S002-65`), also where the record was opened again.
#[test]
fn the_result_of_each_call_is_a_row_of_chat_parts() {
    let output = |text: &str| ToolOutput::new(text, "");
    let data = |data: Value| ToolOutput {
        data: Some(data),
        ..output("as text")
    };
    let mut outcomes: Vec<Outcome> = [
        output("plain \"text\"\n"),
        output(""),
        data(json!({ "matches": [1, { "a": null }] })),
        data(json!("a word")),
        data(json!(false)),
        data(json!([])),
    ]
    .map(|output| Outcome::from_tool_output(output, "nothing"))
    .into();
    for output_path in [Some("/tmp/out/c.txt".to_owned()), None] {
        outcomes.push(Outcome {
            truncated: Some(Truncation {
                output_path,
                bytes: 9_000,
            }),
            ..Outcome::from_tool_output(data(json!({ "left": "out" })), "")
        });
    }
    let errors = [
        ToolError::Failed("It failed: \"so\".".to_owned()),
        ToolError::Cancelled,
    ];
    outcomes.extend(errors.map(|error| Outcome::from_tool_error(&error)));
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("One"));
    for (n, outcome) in outcomes.iter_mut().enumerate() {
        outcome.duration_ms = n as u64;
        let call = format!("c{n}");
        desk.tell("ses_1", sample_events::proposed(&call, "grep", json!({})));
        desk.tell("ses_1", ended(&call, outcome));
    }
    let desk = desk.reopen();

    let conn = Connection::open(desk.file()).unwrap();
    let mut parts = conn
        .prepare("SELECT * FROM chat_parts WHERE session = 'ses_1' ORDER BY seq")
        .unwrap();
    let rows = parts.query_map([], |row| Ok((row.get("id")?, envelope(row))));
    let rows: Vec<(String, Envelope)> = rows.unwrap().map(Result::unwrap).collect();
    let expected = outcomes.iter().enumerate();
    let expected: Vec<_> = expected
        .map(|(n, outcome)| (format!("c{n}"), outcome.to_envelope()))
        .collect();
    assert_eq!(rows, expected);
}
