//! A model's answer in a composed schema: parsed, checked, and split into calls and output.

use std::collections::HashMap;

use jsonschema::Validator;
use protocol::UserError;
use protocol::model::ToolDefinition;
use serde_json::{Map, Value};

use super::compose::{call_item_schema, compose_schema};
use super::definition::{INSTANCE, OUTPUT_PATH, REASONING_MEMBER, TOOL};
use super::strict_json;
use crate::limits::{ANSWER_BYTES_MAX, PROBLEMS_MAX};
use crate::name_suggestions::{find_close_names, format_suggestion};
use crate::schema::Schema;
use crate::schema_problem::describe_problem;
use crate::validator;

/// Members by which a call says how it is carried out, even where its tool's schema forbids them (`S004-19`,
/// `S004-20`).
const CALL_META_MEMBERS: [&str; 3] = [REASONING_MEMBER, OUTPUT_PATH, INSTANCE];

/// A composed schema, ready to check answers.
#[derive(Debug)]
pub struct ComposedSchema {
    schema: Value,
    whole: Validator,
    tools: Vec<ToolDefinition>,
    places: HashMap<String, usize>,
}

/// A model's answer in the requested structure. With neither calls nor output it is empty (`S004-40`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComposedAnswer {
    /// Calls, in order (`S004-37`).
    pub calls: Vec<AnsweredCall>,
    /// The final output; `None` if the answer has null (`S004-38`).
    pub output: Option<Value>,
}

/// One call of an answer: an instance of a tool with its required parameters filled (`S004-16`).
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredCall {
    /// Name of the tool.
    pub tool: String,
    /// Parameters of the call, and the meta-properties beside them.
    pub arguments: Map<String, Value>,
}

impl ComposedAnswer {
    /// Whether the answer has neither calls nor output (`S004-40`).
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.output.is_none()
    }
}

impl ComposedSchema {
    /// Composes the schema of these tools and this output schema.
    ///
    /// # Errors
    /// If the output schema is not valid.
    pub fn new(tools: Vec<ToolDefinition>, output: Option<&Value>) -> Result<Self, UserError> {
        let schema = compose_schema(&tools, output)?;
        let whole = validator::compile_validator(&schema).map_err(|why| {
            UserError::new(
                format!("The output schema is not a valid JSON Schema: {why}."),
                "Correct it.",
            )
        })?;
        let names = tools.iter().enumerate();
        Ok(Self {
            places: names.map(|(n, tool)| (tool.name.clone(), n)).collect(),
            schema,
            whole,
            tools,
        })
    }

    /// Returns the schema that the model answers in.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Parses an answer. An answer that breaks the schema is refused as a whole: none of its calls is carried out
    /// (`S004-17`, `S004-18`, `S004-41`).
    ///
    /// # Errors
    /// The problems of the answer, in words that the model can act on.
    pub fn parse_answer(&self, text: &str) -> Result<ComposedAnswer, String> {
        if text.len() > ANSWER_BYTES_MAX {
            return Err(format!(
                "it is {} bytes long; at most {ANSWER_BYTES_MAX} are read",
                text.len()
            ));
        }
        let answer = strict_json::parse_strict(strip_code_fence(text))
            .map_err(|wrong| format!("it is not JSON (line {}): {}", wrong.line, wrong.reason))?;
        let (answer, beside) = lift_call_meta(answer);
        if self.whole.is_valid(&answer) {
            return Ok(split_answer(answer, beside));
        }
        let answer = self.strip_optional_nulls(answer);
        match self.whole.is_valid(&answer) {
            true => Ok(split_answer(answer, beside)),
            false => Err(self.describe_problems(&answer)),
        }
    }

    /// Removes optional members that are `null` from the calls of an answer, as for every other call.
    fn strip_optional_nulls(&self, mut answer: Value) -> Value {
        let calls = answer.get_mut("calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            if let Ok(checked) = self.check_call(call) {
                *call = Value::Object(checked);
            }
        }
        answer
    }

    fn describe_problems(&self, answer: &Value) -> String {
        let mut problems = Vec::new();
        for error in self.whole.iter_errors(answer).take(PROBLEMS_MAX) {
            // A union says only that nothing fits; each call is looked at with its own tool's schema below.
            if !error.instance_path().as_str().starts_with("/calls/") {
                let clause = describe_problem(&error, &[], &|member| member);
                problems.push(clause.replace("the arguments", "the answer"));
            }
        }
        let calls = answer.get("calls").and_then(Value::as_array);
        for (n, call) in calls.into_iter().flatten().enumerate() {
            if problems.len() < PROBLEMS_MAX
                && let Err(clause) = self.check_call(call)
            {
                problems.push(format!("`calls[{n}]`: {clause}"));
            }
        }
        problems.join("; ")
    }

    /// Checks a call against its tool's schema and returns the members of the call.
    fn check_call(&self, call: &Value) -> Result<Map<String, Value>, String> {
        let Some(members) = call.as_object() else {
            return Err("a call is an object".to_owned());
        };
        let Some(name) = members.get(TOOL).and_then(Value::as_str) else {
            return Err(format!("`{TOOL}` is missing; it names the tool"));
        };
        let Some(place) = self.places.get(name) else {
            let names = self.tools.iter().map(|tool| tool.name.as_str());
            let close = format_suggestion(&find_close_names(name, names));
            return Err(format!("there is no tool `{name}`.{close}"));
        };
        let schema = Schema::from_parameters(name, &call_item_schema(&self.tools[*place], ""))
            .map_err(|fault| fault.message)?;
        schema
            .find_problems(members.clone(), &|member| member)
            .map_err(|problems| problems.join("; "))
    }
}

/// Returns the text inside a single Markdown fence, which some models put around any JSON; otherwise the whole text.
fn strip_code_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, str::trim)
}

/// Removes from each call the members that say how it is carried out, and returns them separately.
fn lift_call_meta(mut answer: Value) -> (Value, Vec<Map<String, Value>>) {
    let calls = answer.get_mut("calls").and_then(Value::as_array_mut);
    let beside = calls.into_iter().flatten().map(|call| {
        let mut beside = Map::new();
        if let Some(call) = call.as_object_mut() {
            for member in CALL_META_MEMBERS {
                beside.extend(call.shift_remove_entry(member));
            }
        }
        beside
    });
    let beside = beside.collect();
    (answer, beside)
}

fn split_answer(answer: Value, beside: Vec<Map<String, Value>>) -> ComposedAnswer {
    let Value::Object(mut answer) = answer else {
        return ComposedAnswer::default();
    };
    let output = answer.remove("output").filter(|output| !output.is_null());
    let calls = match answer.remove("calls") {
        Some(Value::Array(calls)) => calls,
        _ => Vec::new(),
    };
    let calls = calls.into_iter().zip(beside).filter_map(|(call, beside)| {
        let Value::Object(mut arguments) = call else {
            return None;
        };
        let tool = arguments.shift_remove(TOOL)?.as_str()?.to_owned();
        arguments.extend(beside);
        Some(AnsweredCall { tool, arguments })
    });
    ComposedAnswer {
        calls: calls.collect(),
        output,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn composed() -> ComposedSchema {
        let tool = |name: &str, parameters| ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            parameters,
            strict: true,
        };
        let tools = vec![
            tool(
                "greetUser",
                json!({ "type": "object", "properties": { "userName": { "type": "string" } }, "required": ["userName"],
                        "additionalProperties": false }),
            ),
            tool(
                "sentimentAnalysis",
                json!({ "type": "object", "properties": {
                    "text": { "type": "string" },
                    "_output": { "type": "object", "properties": { "confidence": { "type": "number" } } },
                } }),
            ),
        ];
        let output = json!({ "type": "object", "properties": { "summary": { "type": "string" } }, "required": ["summary"] });
        ComposedSchema::new(tools, Some(&output)).unwrap()
    }

    fn call(tool: &str, arguments: Value) -> AnsweredCall {
        AnsweredCall {
            tool: tool.to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        }
    }

    /// Answers with calls only, output only, both, or neither (`S004-37` to `S004-40`), and the specification's latent
    /// call (`S004-29`).
    #[test]
    fn every_answer_that_fits_is_taken_apart() {
        let composed = composed();
        let greet = call("greetUser", json!({ "userName": "Ada" }));
        let done = Some(json!({ "summary": "Done." }));
        let answer = |calls: Vec<AnsweredCall>, output| ComposedAnswer { calls, output };
        for (id, text, expected) in [
            (
                "S004-37",
                r#"{"calls":[{"_tool":"greetUser","userName":"Ada"}],"output":null}"#,
                answer(vec![greet.clone()], None),
            ),
            (
                "S004-38",
                r#"{"calls":[],"output":{"summary":"Done."}}"#,
                answer(vec![], done.clone()),
            ),
            (
                "S004-39",
                "```json\n{\"calls\":[{\"_tool\":\"greetUser\",\"userName\":\"Ada\"}],\"output\":{\"summary\":\"Done.\"}}\n```",
                answer(vec![greet], done),
            ),
            (
                "S004-40",
                r#"{"calls":[],"output":null}"#,
                ComposedAnswer::default(),
            ),
            (
                "S004-29",
                r#"{"calls":[{"_tool":"sentimentAnalysis","text":"This is the best!","_output":{"sentiment":"positive","confidence":0.99}}],"output":null}"#,
                answer(
                    vec![call(
                        "sentimentAnalysis",
                        json!({ "text": "This is the best!", "_output": { "sentiment": "positive", "confidence": 0.99 } }),
                    )],
                    None,
                ),
            ),
            (
                "S004-19",
                r#"{"calls":[{"_tool":"greetUser","userName":"Ada","_instance":"2","_outputPath":"a","_reasoningForCall":"So."}],"output":null}"#,
                answer(
                    vec![call(
                        "greetUser",
                        json!({ "userName": "Ada", "_reasoningForCall": "So.", "_outputPath": "a", "_instance": "2" }),
                    )],
                    None,
                ),
            ),
        ] {
            assert_eq!(composed.parse_answer(text).unwrap(), expected, "{id}");
        }
        assert!(
            composed
                .parse_answer(r#"{"calls":[],"output":null}"#)
                .unwrap()
                .is_empty()
        );
    }

    /// An answer that breaks the schema is refused as a whole with the reason (`S004-17`, `S004-18`, `S004-41`).
    #[test]
    fn what_does_not_fit_is_named() {
        let composed = composed();
        for (text, problem) in [
            ("Hello.", "it is not JSON (line 1)"),
            (
                r#"{"calls":[],"calls":[],"output":null}"#,
                "`calls` is there twice",
            ),
            (r#"{"calls":[]}"#, "`output` is missing"),
            (r#"[]"#, "the answer must be an object"),
            (r#"{"calls":[],"output":{}}"#, "`output.summary` is missing"),
            (
                r#"{"calls":[],"output":{"summary":"x","more":1}}"#,
                "`more` is not a member of `output`",
            ),
            (
                r#"{"calls":[{"_tool":"greetUser"}],"output":null}"#,
                "`calls[0]`: `userName` is missing",
            ),
            (
                r#"{"calls":[{"_tool":"greetUser","userName":"a","extra":1}],"output":null}"#,
                "`extra` is not a member",
            ),
            (
                r#"{"calls":[{"_tool":"greetuser","userName":"a"}],"output":null}"#,
                "there is no tool `greetuser`. Did you mean `greetUser`?",
            ),
            (r#"{"calls":[{}],"output":null}"#, "`_tool` is missing"),
            (r#"{"calls":[7],"output":null}"#, "a call is an object"),
            (
                r#"{"calls":[{"_tool":"sentimentAnalysis","_output":{"confidence":"high"}}],"output":null}"#,
                "`_output.confidence` must be a number",
            ),
        ] {
            let problems = composed.parse_answer(text).unwrap_err();
            assert!(problems.contains(problem), "{text} gave: {problems}");
        }
        let long = " ".repeat(ANSWER_BYTES_MAX + 1);
        assert!(
            composed
                .parse_answer(&long)
                .unwrap_err()
                .contains("at most")
        );
    }
}
