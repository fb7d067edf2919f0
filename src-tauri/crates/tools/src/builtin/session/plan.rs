//! `plan` and `plan_exit`: an agent that plans first changes nothing until the person accepts its plan (`S002-32`).
//!
//! While an agent plans, the engine holds back the tools that are out of reach, whatever the rules say.

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{
    AbortSemantics, ContextModifierPolicy, InterfaceBuilder, InterruptBehavior, PermissionMatcher,
    RenderHint,
};
use protocol::{
    Access, Plan as Changes, Preview, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode,
    ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::builtin::{builtin_interface, object_schema, text_argument};
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
        let interface = plan_interface(PLAN, "Plan", PLAN_DESCRIPTION)
            .model_input_schema(object_schema(json!({}), &[]))
            .search_hint("plan first before anything is changed")
            .requires_user_interaction(false)
            .execution_profile_ref("engine")
            .abort_semantics(AbortSemantics::WholeOrNothing)
            .interrupt_behavior(InterruptBehavior::Block)
            .ui_summary("Plan first")
            .activity_description("Beginning to plan")
            .progress_render_hint(RenderHint::Nothing)
            .rejected_render_hint(RenderHint::Line)
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
        let interface = plan_interface(PLAN_EXIT, "Plan", PLAN_EXIT_DESCRIPTION)
            .model_input_schema(object_schema(json!({ "plan": plan }), &["plan"]))
            .search_hint("show the plan and wait until it is accepted")
            .requires_user_interaction(true)
            .execution_profile_ref("person")
            .abort_semantics(AbortSemantics::EndsAtNextStep)
            .interrupt_behavior(InterruptBehavior::Cancel)
            .ui_summary("Plan")
            .activity_description("Waiting for your word on the plan")
            .progress_render_hint(RenderHint::Form)
            .rejected_render_hint(RenderHint::Form)
            .transcript_search_text("{plan}")
            .add_value_check("the plan says something")
            .build();
        Self { interface }
    }
}

/// Returns the part of the interface that both tools share.
fn plan_interface(name: &str, title: &str, description: &str) -> InterfaceBuilder {
    builtin_interface(name)
        .user_facing_name(title)
        .description(description)
        .requires(RequirementSet::empty())
        .mode(ToolMode::Read)
        .kind(ToolKind::Other)
        .is_read_only(true)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(false)
        .sandbox_profile("nothing")
        .classifier_input("")
        .permission_matcher(PermissionMatcher::Nothing)
        .context_modifier_policy(ContextModifierPolicy::AllowSerialOnly)
        .persistence_policy_ref("sidecar")
        .error_render_hint(RenderHint::Line)
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
        match text_argument(arguments, "plan").trim().is_empty() {
            true => Err(ToolError::InvalidArgs(
                "`plan` is blank; say what you will do".to_owned(),
            )),
            false => Ok(()),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        Ok(PreviewedPlan {
            preview: Preview::Plan {
                text: text_argument(arguments, "plan").to_owned(),
            },
            plan: Changes::None,
        })
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
