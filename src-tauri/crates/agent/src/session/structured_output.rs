//! Runs that must produce an output in a schema: the model answers in one composed schema, and each answer is checked
//! before any part of it is carried out (`S004-30`, `S004-37` to `S004-41`).
//!
//! The recorded conversation is the same as in every other run. Only the request to the provider differs: the tools are
//! part of the schema instead of a separate list, and results come back as JSON.

use std::sync::Arc;

use protocol::event::AnswerCheck;
use protocol::model::ToolChoice;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth, is_too_deep};
use protocol::{CallId, Message, ToolCall, UserError};
use provider::ModelRequest;
use serde_json::{Value, json};
use tools::custom::{ComposedAnswer, ComposedSchema};

use crate::limits::{CALLS_PER_TURN_MAX, REPAIRS_MAX};
use crate::session::Session;

/// Message to a model whose answer has neither calls nor output (`S004-40`, M18).
const NEITHER_MESSAGE: &str =
    "it holds neither calls nor an output; give the output, or a call that leads to it";

/// Builds the request to the provider for one turn.
pub(crate) fn build_request(
    session: &Session,
    system: String,
    messages: &[Message],
    composed: &ComposedSchema,
) -> ModelRequest {
    ModelRequest {
        model: session.model().model,
        system: format!("{system}\n\n{}", describe_schema(composed)),
        messages: Arc::new(convert_messages(messages)),
        tools: Arc::default(),
        tool_choice: ToolChoice::Auto,
        response_schema: Some(Arc::new(composed.schema().clone())),
        temperature: None,
        effort: None,
        tokens_max: None,
    }
}

/// Describes the schema in words, for models that the provider does not constrain to it.
fn describe_schema(composed: &ComposedSchema) -> String {
    format!(
        "Answer every message with one JSON object and nothing else, in this JSON Schema:\n{}\n`calls` are the tools that \
         you want to use now; their results come in the next message. While you need any, `output` is null. Once you \
         know enough, give `output` and leave `calls` empty: that ends the work.",
        composed.schema()
    )
}

/// Converts the conversation for a model that has no tools outside its schema: its calls are part of its own messages
/// already, and their results are JSON.
fn convert_messages(messages: &[Message]) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for message in messages {
        if let Message::Tool {
            name,
            text,
            images,
            is_error,
            ..
        } = message
        {
            let member = if *is_error { "error" } else { "_output" };
            let mut result = json!({ "_tool": name, member: text });
            if !images.is_empty() {
                // JSON has no place for them.
                result["images_left_out"] = images.len().into();
            }
            results.push(result);
            continue;
        }
        flush_results(&mut results, &mut all);
        all.push(match message {
            Message::Assistant { text, opaque, .. } => Message::Assistant {
                text: text.clone(),
                calls: Vec::new(),
                opaque: opaque.clone(),
            },
            other => other.clone(),
        });
    }
    flush_results(&mut results, &mut all);
    all
}

fn flush_results(results: &mut Vec<Value>, all: &mut Vec<Message>) {
    if !results.is_empty() {
        let text = json!({ "results": std::mem::take(results) }).to_string();
        all.push(Message::user(text));
    }
}

/// Checks a whole answer against the schema, and returns the result of the check and the requested calls. An answer
/// that breaks the schema, or is empty, requests none. `new_id` gives each call its id.
pub(crate) fn check_answer(
    composed: &ComposedSchema,
    text: &str,
    new_id: impl Fn() -> String,
) -> (AnswerCheck, Vec<ToolCall>) {
    let problem = |problem: String| AnswerCheck {
        output: None,
        problem: Some(problem),
    };
    match composed.parse_answer(text) {
        Err(why) => (problem(why), Vec::new()),
        Ok(answer) if answer.is_empty() => (problem(NEITHER_MESSAGE.to_owned()), Vec::new()),
        Ok(ComposedAnswer { calls, .. }) if calls.len() > CALLS_PER_TURN_MAX => (
            problem(format!(
                "it holds {} calls, and at most {CALLS_PER_TURN_MAX} are taken at once; work in smaller steps",
                calls.len()
            )),
            Vec::new(),
        ),
        Ok(answer) if is_answer_too_deep(&answer) => (
            problem("it is nested too deeply; give flatter arguments and output".to_owned()),
            Vec::new(),
        ),
        Ok(ComposedAnswer { calls, output }) => {
            let calls = calls.into_iter().map(|call| ToolCall {
                id: CallId(new_id()),
                name: call.tool,
                arguments: call.arguments,
            });
            let checked = AnswerCheck {
                output,
                problem: None,
            };
            (checked, calls.collect())
        }
    }
}

/// Whether an answer is nested too deeply to be recorded.
fn is_answer_too_deep(answer: &ComposedAnswer) -> bool {
    let output = answer.output.as_ref();
    output.is_some_and(|output| exceeds_depth(output, DEPTH_MAX))
        || answer.calls.iter().any(|call| is_too_deep(&call.arguments))
}

/// Returns the message to the model about an answer that was not accepted (`S004-41`).
pub(crate) fn report_problem(problem: &str) -> Message {
    Message::user(format!(
        "Your answer was not taken, and nothing of it was done: {problem}. Answer again, with one JSON object in the \
         schema."
    ))
}

/// Counter of consecutive answers that were not accepted.
#[derive(Debug, Default)]
pub(crate) struct RepairCounter(u32);

impl RepairCounter {
    /// Counts an answer. An empty one is reported once, one that breaks the schema a few times; then the run ends
    /// (M18).
    ///
    /// # Errors
    /// The model has used up its attempts.
    pub(crate) fn count_attempt(&mut self, checked: Option<&AnswerCheck>) -> Result<(), UserError> {
        let Some(problem) = checked.and_then(|checked| checked.problem.as_deref()) else {
            self.0 = 0;
            return Ok(());
        };
        self.0 += 1;
        let chances = if problem == NEITHER_MESSAGE {
            1
        } else {
            REPAIRS_MAX
        };
        match self.0 <= chances {
            true => Ok(()),
            false => Err(UserError::new(
                format!("The model's answers do not come to an output in the schema: {problem}."),
                "Say something to let it try again, or choose another model or schema.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_as_json() {
        let call = ToolCall {
            id: "c_1".into(),
            name: "read".to_owned(),
            arguments: serde_json::Map::new(),
        };
        let result = |text: &str, is_error| Message::Tool {
            call: "c_1".into(),
            name: "read".to_owned(),
            text: text.to_owned(),
            images: Vec::new(),
            is_error,
            at: 0,
        };
        let user = |text: &str| Message::user(text);
        let said = |calls| Message::Assistant {
            text: "{}".to_owned(),
            calls,
            opaque: Value::Null,
        };
        let messages = [
            user("Go."),
            said(vec![call]),
            result("alpha", false),
            result("gone", true),
        ];
        assert_eq!(
            convert_messages(&messages),
            [
                user("Go."),
                said(Vec::new()),
                user(
                    r#"{"results":[{"_tool":"read","_output":"alpha"},{"_tool":"read","error":"gone"}]}"#
                ),
            ]
        );
    }

    /// `S004-40`, M18: neither calls nor output gets one repair turn, a broken answer a few; then it is an error.
    #[test]
    fn repairs_are_counted() {
        let checked = |problem: &str| AnswerCheck {
            output: None,
            problem: Some(problem.to_owned()),
        };
        let mut repairs = RepairCounter::default();
        assert!(
            repairs
                .count_attempt(Some(&checked(NEITHER_MESSAGE)))
                .is_ok()
        );
        assert!(
            repairs
                .count_attempt(Some(&checked(NEITHER_MESSAGE)))
                .is_err()
        );
        let mut repairs = RepairCounter::default();
        for _ in 0..REPAIRS_MAX {
            assert!(
                repairs
                    .count_attempt(Some(&checked("it is not JSON")))
                    .is_ok()
            );
        }
        let fault = repairs
            .count_attempt(Some(&checked("it is not JSON")))
            .unwrap_err();
        assert!(fault.message.contains("it is not JSON"), "{fault}");
        repairs
            .count_attempt(Some(&AnswerCheck::default()))
            .unwrap();
        assert!(
            repairs
                .count_attempt(Some(&checked("it is not JSON")))
                .is_ok(),
            "counted in a row"
        );
    }
}
