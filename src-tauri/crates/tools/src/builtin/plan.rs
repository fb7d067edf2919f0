//! `plan` and `plan_exit`: an agent that plans first changes nothing until the person accepts its plan (`S002-32`).
//!
//! What is out of reach meanwhile is held back by the engine, whatever the rules say.

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

use super::{house, object, text};
use crate::limits::PLAN_CHARS_MAX;
use crate::text::visible;
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// The id of the tool by which an agent begins to plan.
pub const PLAN: &str = "plan";
/// The id of the tool by which it shows its plan.
pub const PLAN_EXIT: &str = "plan_exit";

const BEGINS: &str = "Begins to plan: from then on you can look around and ask, but not change anything or run commands, \
    until the person has accepted your plan. Use it before larger work, when the way to do it is not clear yet.";
const ENDS: &str = "Shows your plan to the person, who accepts it or says what is to be other. Once it is accepted you \
    carry it out. Use it only when nothing about the plan is open any more; ask what is open with the question tool first.";
const BEGUN: &str = "You are planning now. Look around and ask, and give your plan with `plan_exit`. Nothing can be changed \
    and no command can run before the person has accepted it.";
const ACCEPTED: &str = "The person accepted the plan. Carry it out.";
/// What an agent is told where nobody is there to accept a plan. It never changes.
const NOBODY: &str = "Nobody is here to accept a plan: this session runs without a person. Give the plan as your answer and end.";

/// Begins to plan.
pub(super) struct Plan {
    interface: ToolInterface,
}

impl Plan {
    pub(super) fn new() -> Self {
        let interface = planning(PLAN, "Plan", BEGINS)
            .model_input_schema(object(json!({}), &[]))
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

/// Shows a plan and waits for its acceptance.
pub(super) struct PlanExit {
    interface: ToolInterface,
}

impl PlanExit {
    pub(super) fn new() -> Self {
        let plan = json!({
            "type": "string", "minLength": 1, "maxLength": PLAN_CHARS_MAX,
            "description": "The plan, in Markdown: what you will change, where, in which order, and how you will check it.",
        });
        let interface = planning(PLAN_EXIT, "Plan", ENDS)
            .model_input_schema(object(json!({ "plan": plan }), &["plan"]))
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
            .checks("the plan says something")
            .build();
        Self { interface }
    }
}

/// What holds of both.
fn planning(name: &str, title: &str, description: &str) -> InterfaceBuilder {
    house(name)
        .user_facing_name(title)
        .description(description)
        .requires(RequirementSet::nothing())
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
impl Tool for Plan {
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
        _hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(BEGUN, "planning"))
    }
}

#[async_trait]
impl Tool for PlanExit {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let mut lines = text(arguments, "plan").lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
        visible(first.trim_start_matches('#').trim_start())
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        match text(arguments, "plan").trim().is_empty() {
            true => Err(ToolError::InvalidArgs(
                "`plan` is blank; say what you will do".to_owned(),
            )),
            false => Ok(()),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        Ok(Prepared {
            preview: Preview::Plan {
                text: text(arguments, "plan").to_owned(),
            },
            plan: Changes::None,
        })
    }

    async fn execute(
        &self,
        _approved: &Approved,
        _hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(ACCEPTED, "accepted"))
    }

    fn headless_refusal(&self) -> Option<&'static str> {
        Some(NOBODY)
    }
}
