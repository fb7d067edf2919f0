//! `plan` and `plan_exit`: an agent that plans first changes nothing until the person accepts its plan (`S002-32`).
//!
//! While an agent plans, the engine holds back the tools that are out of reach, whatever the rules say.

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ContextModifierPolicy;
use protocol::{Access, Preview, ToolError, ToolInterface, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::presets::{person_interface, session_interface};
use crate::builtin::{object_schema, reject_if, text_argument};
use crate::limits::PLAN_CHARS_MAX;
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Id of the tool by which an agent begins to plan.
pub const PLAN: &str = "plan";
/// Id of the tool by which an agent shows its plan.
pub const PLAN_EXIT: &str = "plan_exit";

const PLAN_DESCRIPTION: &str = "Begins to plan: from then on you can look around and ask, but not change anything or run commands, \
    until the person has accepted your plan. Use it before larger work, when the way to do it is not clear yet.";
const PLAN_EXIT_DESCRIPTION: &str = "Shows your plan to the person, who accepts it or says what is to be other. Once it is accepted you \
    carry it out. Use it only when nothing about the plan is open any more; ask what is open with the question tool first.";
const PLAN_STARTED: &str = "You are planning now. Look around and ask, and give your plan with `plan_exit`. Nothing can be changed \
    and no command can run before the person has accepted it.";
const PLAN_ACCEPTED: &str = "The person accepted the plan. Carry it out.";
/// Refusal text for the agent where no person can accept a plan. The text never changes.
const NO_REVIEWER: &str = "Nobody is here to accept a plan: this session runs without a person. Give the plan as your answer and end.";

/// The tool by which an agent begins to plan.
pub(in crate::builtin) struct PlanTool {
    interface: ToolInterface,
}

impl PlanTool {
    pub(in crate::builtin) fn new() -> Self {
        let interface = session_interface(PLAN)
            .user_facing_name("Plan")
            .description(PLAN_DESCRIPTION)
            .model_input_schema(object_schema(json!({}), &[]))
            .search_hint("plan first before anything is changed")
            .context_modifier_policy(ContextModifierPolicy::AllowSerialOnly)
            .ui_summary("Plan first")
            .activity_description("Beginning to plan")
            .transcript_search_text("")
            .build();
        Self { interface }
    }
}

/// The tool that shows a plan and waits for its acceptance.
pub(in crate::builtin) struct PlanExitTool {
    interface: ToolInterface,
}

impl PlanExitTool {
    pub(in crate::builtin) fn new() -> Self {
        let plan = json!({
            "type": "string", "minLength": 1, "maxLength": PLAN_CHARS_MAX,
            "description": "The plan, in Markdown: what you will change, where, in which order, and how you will check it.",
        });
        let interface = person_interface(PLAN_EXIT)
            .user_facing_name("Plan")
            .description(PLAN_EXIT_DESCRIPTION)
            .model_input_schema(object_schema(json!({ "plan": plan }), &["plan"]))
            .search_hint("show the plan and wait until it is accepted")
            .context_modifier_policy(ContextModifierPolicy::AllowSerialOnly)
            .ui_summary("Plan")
            .activity_description("Waiting for your answer to the plan")
            .transcript_search_text("{plan}")
            .add_value_check("the plan says something")
            .build();
        Self { interface }
    }
}

#[async_trait]
impl Tool for PlanTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, _arguments: &Map<String, Value>) -> String {
        String::new()
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        _approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(PLAN_STARTED, "planning"))
    }
}

#[async_trait]
impl Tool for PlanExitTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let mut lines = text_argument(arguments, "plan").lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
        escape_invisible(first.trim_start_matches('#').trim_start())
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        reject_if(
            text_argument(arguments, "plan").trim().is_empty(),
            "`plan` is blank; say what you will do",
        )
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let text = text_argument(arguments, "plan").to_owned();
        Ok(Preview::Plan { text }.into())
    }

    async fn execute(
        &self,
        _approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(PLAN_ACCEPTED, "accepted"))
    }

    fn headless_refusal(&self) -> Option<&'static str> {
        Some(NO_REVIEWER)
    }
}
