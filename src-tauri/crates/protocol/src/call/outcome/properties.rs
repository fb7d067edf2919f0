//! Properties of every outcome: each projection is total and keeps what it promises, and nothing that is
//! not for the model reaches it.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::call::outcome::*;
use crate::{CallId, ToolResult};

/// A word that occurs in one member of an outcome only, so that tests can look for it elsewhere.
const DETAILS: &str = "only-in-details";
const MESSAGE: &str = "only-in-message";
const DATA: &str = "only-in-data";
const IMAGE: &str = "b25seS1pbi1pbWFnZQ==";

fn item() -> impl Strategy<Value = Content> {
    prop_oneof![
        "[a-z€]{0,8}".prop_map(Content::text),
        Just(Content::Image {
            mime: "image/png".to_owned(),
            base64: IMAGE.to_owned()
        }),
        "[a-z]{1,8}".prop_map(|name| Content::Resource {
            uri: format!("file:///{name}"),
            title: name,
            mime: None
        }),
    ]
}

fn state() -> impl Strategy<Value = CallState> {
    prop_oneof![
        Just(CallState::Done),
        Just(CallState::Failed),
        Just(CallState::Denied),
        Just(CallState::Rejected),
        Just(CallState::Expired),
        Just(CallState::Interrupted),
        Just(CallState::Skipped),
    ]
}

fn data() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "value": DATA, "n": 1 })),
        Just(json!([DATA, null])),
        Just(json!(DATA)),
    ]
}

prop_compose! {
    fn outcome()(
        state in state(),
        text in "\\PC{0,40}",
        notes in vec("[a-z ]{1,12}", 0..3),
        content in vec(item(), 0..4),
        has_message in any::<bool>(),
        error in option::of("[a-z]{1,8}"),
        data in option::of(data()),
        has_details in any::<bool>(),
        child in option::of("ses_[0-9]{4}"),
        next_action in option::of("[a-z]{1,8}"),
        (duration_ms, ended_at, extra_bytes) in (any::<u32>(), any::<u32>(), 0_u64..1_000_000),
        (cut, is_kept) in any::<(bool, bool)>(),
        (needs_followup, terminal, has_extra) in any::<(bool, bool, bool)>(),
        secrets_masked in 0_u32..3,
    ) -> Outcome {
        let done = state == CallState::Done;
        let nothing = text.is_empty() && content.is_empty();
        Outcome {
            state,
            class: (!done).then_some(FailureClass::ExecutionFailed),
            empty: nothing.then(|| "Nothing came.".to_owned()),
            notes,
            content,
            message: if has_message { MESSAGE.to_owned() } else { String::new() },
            error: error.filter(|_| !done),
            data,
            details: has_details.then(|| json!({ "note": DETAILS })),
            child: child.map(SessionId),
            next_action,
            extra: if has_extra { Map::from_iter([("later".to_owned(), json!([1]))]) } else { Map::new() },
            duration_ms: u64::from(duration_ms),
            ended_at: i64::from(ended_at),
            truncated: (cut && done && !text.is_empty()).then(|| Truncation {
                output_path: is_kept.then(|| "/s/call_1.txt".to_owned()),
                bytes: text.len() as u64 + extra_bytes,
            }),
            needs_followup,
            terminal,
            secrets_masked,
            digest: Digest::from_bytes(text.as_bytes()),
            text,
        }
    }
}

/// Asserts that a value written as JSON reads back unchanged (`S002-67`).
fn survives<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value, "{text}");
}

fn call() -> CallId {
    "call_1".into()
}

proptest! {
    /// M01, `S002-67`: an outcome and every shape of it round-trip through JSON.
    #[test]
    fn every_shape_survives_json(outcome in outcome()) {
        survives(&outcome);
        survives(&outcome.to_result());
        survives(&outcome.to_tool_message(&call(), "read"));
        survives(&outcome.to_envelope());
        survives(&outcome.to_record(&call()));
        survives(&outcome.to_output());
    }

    /// A 000 result, read back into an outcome, gives the same result again (`S000-14`, `S000-17`, `S000-18`).
    #[test]
    fn a_result_comes_back(outcome in outcome()) {
        let result = outcome.to_result();
        prop_assert_eq!(Outcome::from_result(&result).to_result(), result);
    }

    /// All layers agree on whether the call succeeded and whether the run ends (`S000-11`, `S000-36` to `S000-39`).
    #[test]
    fn all_shapes_agree(outcome in outcome()) {
        let result = outcome.to_result();
        prop_assert_eq!(result.success, outcome.is_success());
        prop_assert_eq!(result.is_terminal(), outcome.is_terminal());
        prop_assert_eq!(outcome.to_tool_message(&call(), "read").is_error, !outcome.is_success());
        prop_assert_eq!(matches!(outcome.to_envelope(), Envelope::Output { .. }), outcome.is_success());
        prop_assert_eq!(outcome.to_record(&call()).is_error, !outcome.is_success());
        prop_assert_eq!(matches!(outcome.to_output(), CallOutput::Output(_)), outcome.is_success());
    }

    /// `S001-18`: `details` reach no text that a model reads, in no shape; only 001 and the outcome itself hold them.
    #[test]
    fn details_never_reach_the_model(outcome in outcome()) {
        prop_assert!(!outcome.model_text().contains(DETAILS));
        let message = outcome.to_tool_message(&call(), "read");
        for text in [
            serde_json::to_string(&message.content).unwrap(),
            serde_json::to_string(&outcome.to_result()).unwrap(),
            serde_json::to_string(&outcome.to_envelope()).unwrap(),
            serde_json::to_string(&outcome.to_record(&call())).unwrap(),
            serde_json::to_string(&outcome.to_output()).unwrap(),
        ] {
            prop_assert!(!text.contains(DETAILS), "{}", text);
        }
        prop_assert_eq!(outcome.details.is_some(), !message.details.is_null());
    }

    /// `S003-67` to `S003-72`: the five faces are never mixed.
    #[test]
    fn faces_are_apart(outcome in outcome()) {
        let model = outcome.model_text();
        prop_assert!(!model.contains(MESSAGE) && !model.contains(DATA) && !model.contains(IMAGE));
        let search = outcome.search_text();
        prop_assert!(!search.contains(DATA) && !search.contains(IMAGE) && !search.contains("Nothing came."));
        let ui = outcome.ui_summary();
        prop_assert!(ui.is_empty() || ui.contains(MESSAGE) || ui.contains("masked"));
        let preview = outcome.preview();
        prop_assert!(outcome.text.starts_with(&preview.head) && preview.head.len() <= 2_000);
        let record = outcome.to_record(&call());
        prop_assert!(!record.content.iter().any(|item| matches!(item, Content::Resource { .. })), "S003-71");
        for reference in &record.refs {
            prop_assert!(!reference.uri.contains(IMAGE));
        }
        // The stored output is that of the tool, to the byte, without a label, note or marker of ours (`S003-72`).
        match record.content.first() {
            Some(Content::Text { text }) if !outcome.text.is_empty() => prop_assert_eq!(text, &outcome.text),
            _ => prop_assert!(outcome.text.is_empty()),
        }
    }

    /// Empty is not missing: the model is always told something, and the record keeps that the output was empty.
    #[test]
    fn nothing_is_said_to_be_nothing(outcome in outcome()) {
        if outcome.empty.is_some() {
            prop_assert!(outcome.model_text().starts_with("Nothing came."));
            prop_assert!(outcome.to_record(&call()).content.is_empty());
            prop_assert_eq!(outcome.preview().bytes, 0);
        }
    }

    /// `S002-64`, `S002-65`: an envelope gives the duration, and the location of the rest if something is truncated.
    #[test]
    fn an_envelope_is_complete(outcome in outcome()) {
        let json = serde_json::to_value(outcome.to_envelope()).unwrap();
        prop_assert!(json["metadata"]["duration_ms"].is_u64(), "S002-64");
        let cut = outcome.truncated.is_some();
        prop_assert_eq!(json["metadata"].get("truncated").is_some(), cut, "S002-65");
        let path = outcome.truncated.as_ref().and_then(|cut| cut.output_path.as_deref());
        prop_assert_eq!(json["metadata"].get("output_path").and_then(Value::as_str), path);
        match outcome.is_success() {
            true => prop_assert!(json["type"] == "output" && json.get("data").is_some(), "S002-61, S002-62"),
            false => prop_assert!(json["type"] == "error" && json["error_text"].is_string(), "S002-61, S002-63"),
        }
        if cut {
            prop_assert_eq!(&json["data"]["head"], &json!(outcome.text));
        }
    }
}

/// `S001-20`, `S001-21` to `S001-25`: every tool error becomes a result whose text is the error's display text.
#[test]
fn errors_are_results() {
    for (error, text, class) in [
        (
            ToolError::Failed("no".into()),
            "no",
            FailureClass::ExecutionFailed,
        ),
        (
            ToolError::NotFound("reed".into()),
            "Tool not found: reed",
            FailureClass::UnknownTool,
        ),
        (
            ToolError::InvalidArgs("x".into()),
            "Invalid arguments: x",
            FailureClass::InvalidArguments,
        ),
        (ToolError::Cancelled, "Cancelled", FailureClass::Canceled),
        (
            ToolError::TimedOut("late".into()),
            "late",
            FailureClass::Timeout,
        ),
    ] {
        let mut outcome = Outcome::from_tool_error(&error);
        outcome.ended_at = 7;
        assert_eq!(outcome.class, Some(class));
        assert!(!outcome.is_terminal(), "the model may correct itself: M04");
        assert_eq!(
            outcome.to_tool_message(&call(), "read"),
            ToolMessage {
                tool_call_id: call(),
                tool_name: "read".to_owned(),
                content: vec![Content::text(text)],
                details: Value::Null,
                child_loop_id: None,
                is_error: true,
                timestamp: 7,
            }
        );
    }
}

/// `S000-44` to `S000-46`: the three example results, seen as outcomes.
#[test]
fn examples_of_000() {
    for (json, state, terminal, message, error) in [
        (
            r#"{"success":true,"message":"Event created.","data":{"eventId":"e_777"}}"#,
            CallState::Done,
            false,
            "Event created.",
            None,
        ),
        (
            r#"{"success":false,"needsFollowup":true,"error":"Invalid date format","message":"Please retry with ISO-8601."}"#,
            CallState::Failed,
            false,
            "Please retry with ISO-8601.",
            Some("Invalid date format"),
        ),
        (
            r#"{"success":false,"terminal":true,"error":"Calendar service unavailable"}"#,
            CallState::Failed,
            true,
            "",
            Some("Calendar service unavailable"),
        ),
    ] {
        let result: ToolResult = serde_json::from_str(json).unwrap();
        let outcome = Outcome::from_result(&result);
        assert_eq!(
            (outcome.state, outcome.is_terminal(), outcome.ui_summary()),
            (state, terminal, message.to_owned()),
            "{json}"
        );
        assert_eq!(outcome.error.as_deref(), error, "{json}");
        for shown in [Some(message), error].into_iter().flatten() {
            assert!(outcome.model_text().contains(shown), "{json}");
        }
    }
}
