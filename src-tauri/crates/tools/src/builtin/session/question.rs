//! `question`: asks the person, and waits for the answers (`S002-20`, `S002-34` to `S002-38`).

use async_trait::async_trait;
use policy::{Approved, QuestionAnswers};
use protocol::interface::PermissionChannel;
use protocol::view::preview::Question;
use protocol::{Access, Preview, ToolError, ToolInterface, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::presets::person_interface;
use crate::builtin::{object_schema, reject_if};
use crate::limits::{LABEL_CHARS_MAX, OPTIONS_MAX, QUESTION_CHARS_MAX, QUESTIONS_MAX};
use crate::text::{escape_invisible, format_count, quote_truncated};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Refusal text for the agent where no person can answer (`S002-37`). The text never changes.
pub const HEADLESS_REFUSAL: &str = "Nobody is here to answer: this session runs without a person. Do not ask again; go \
                                    on with your best assumption and say which one you made.";

/// Text for the agent when the person chose not to answer.
const DECLINED: &str = "The person chose not to answer. Do not ask the same again; go on with your best assumption and \
                        say which one you made, or stop if you cannot.";

/// Tool description for the model.
const DESCRIPTION: &str = "Asks the person one or more questions and waits for the answers. Use it when a decision is \
    theirs and cannot be found out otherwise; put all questions of one matter in one call.";

pub(in crate::builtin) struct QuestionTool {
    interface: ToolInterface,
}

impl QuestionTool {
    pub(in crate::builtin) fn new() -> Self {
        let interface = person_interface("question")
            .user_facing_name("Question")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("ask the person a question")
            .ui_summary("Ask")
            .activity_description("Waiting for your answer")
            .transcript_search_text("{questions}")
            .add_value_check("every question asks something")
            .add_value_check("choosing several needs options to choose from")
            .add_value_check("the labels of one question differ")
            .permission_channel(PermissionChannel::Form)
            .build();
        Self { interface }
    }
}

fn parameters_schema() -> Value {
    let option = object_schema(
        json!({
            "label": { "type": "string", "minLength": 1, "maxLength": LABEL_CHARS_MAX, "description": "The answer." },
            "description": { "type": "string", "maxLength": QUESTION_CHARS_MAX, "description": "What it means." },
        }),
        &["label"],
    );
    let question = object_schema(
        json!({
            "question": { "type": "string", "minLength": 1, "maxLength": QUESTION_CHARS_MAX },
            "header": { "type": "string", "maxLength": LABEL_CHARS_MAX, "description": "A short head for it." },
            "options": {
                "type": "array", "items": option, "maxItems": OPTIONS_MAX,
                "description": "Answers to choose from; the person can always give another.",
            },
            "multi_select": { "type": "boolean", "description": "Whether several may be chosen." },
        }),
        &["question"],
    );
    object_schema(
        json!({
            "questions": { "type": "array", "items": question, "minItems": 1, "maxItems": QUESTIONS_MAX },
        }),
        &["questions"],
    )
}

fn parse_questions(arguments: &Map<String, Value>) -> Result<Vec<Question>, ToolError> {
    let value = arguments.get("questions").cloned().unwrap_or_default();
    serde_json::from_value(value)
        .map_err(|error| ToolError::InvalidArgs(format!("`questions` is not a form: {error}")))
}

#[async_trait]
impl Tool for QuestionTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let questions = parse_questions(arguments).unwrap_or_default();
        match questions.as_slice() {
            [] => String::new(),
            [only] => escape_invisible(&only.question),
            [first, rest @ ..] => format!(
                "{} and {}",
                escape_invisible(&first.question),
                format_count(rest.len() as u64, "more", "more")
            ),
        }
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        for (index, question) in parse_questions(arguments)?.iter().enumerate() {
            let at = format!("`questions[{index}]`");
            reject_if(
                question.question.trim().is_empty(),
                &format!("{at} asks nothing; give a question"),
            )?;
            reject_if(
                question.multi_select && question.options.is_empty(),
                &format!(
                    "{at} sets multi_select but has no options to choose from; give options or leave it out"
                ),
            )?;
            let mut labels: Vec<&str> = Vec::new();
            for option in &question.options {
                let label = option.label.trim();
                reject_if(
                    label.is_empty(),
                    &format!("{at} has an option without a label; give it one"),
                )?;
                reject_if(
                    labels.contains(&label),
                    &format!(
                        "{at} has the label {} twice; the answers could not be told apart, so give each its own",
                        quote_truncated(label, LABEL_CHARS_MAX)
                    ),
                )?;
                labels.push(label);
            }
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let questions = parse_questions(arguments)?;
        Ok(Preview::Form { questions }.into())
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let questions = parse_questions(approved.arguments())?;
        let answers = match approved.answers() {
            Some(QuestionAnswers::Answered(answers)) => answers,
            Some(QuestionAnswers::Declined) => {
                return Ok(ToolOutput::new(DECLINED, "not answered"));
            }
            None => return Err(ToolError::Failed(HEADLESS_REFUSAL.to_owned())),
        };
        if answers.len() != questions.len() {
            return Err(ToolError::Failed(format!(
                "{} came for {}, so they cannot be matched. Ask again.",
                format_count(answers.len() as u64, "answer", "answers"),
                format_count(questions.len() as u64, "question", "questions")
            )));
        }
        let mut text = String::from("The person answered:");
        for (number, (question, choices)) in (1..).zip(questions.iter().zip(answers)) {
            let answer = match choices.as_slice() {
                [] => "nothing chosen".to_owned(),
                choices => choices.join("; "),
            };
            text += &format!("\n{number}. {}\n   {answer}", question.question.trim());
        }
        Ok(ToolOutput {
            data: Some(json!({ "answers": answers })),
            ..ToolOutput::new(
                text,
                format_count(answers.len() as u64, "answer", "answers"),
            )
        })
    }

    fn headless_refusal(&self) -> Option<&'static str> {
        Some(HEADLESS_REFUSAL)
    }
}
