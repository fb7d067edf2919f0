//! `task`: gives work to another agent, in a session of its own (`S002-19`, `S002-30`, `S002-39`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value, json};

use crate::agents::AgentIndex;
use crate::builtin::{
    builtin_interface, flag_argument, object_schema, optional_text_argument, text_argument,
};
use crate::limits::{DELEGATE_TIMEOUT_MS, TASK_CHARS_MAX, TASK_TITLE_CHARS_MAX};
use crate::request_config::RequestConfig;
use crate::tool::{ExecutionContext, SubAgentRequest, Tool, ToolContext};

/// Tool description for the model, placed before the list of agents.
const DESCRIPTION: &str = "Gives work to another agent, which does it in a conversation of its own and answers with its last \
    words. It knows nothing but your prompt, may do no more than you may, and its calls pass the same desk. Several tasks in one \
    turn run beside each other. With `background` you go on at once, and get the answer as a message when it is there. The \
    agents:\n";

/// The `task` tool over the agents of one session.
pub struct TaskTool {
    interface: ToolInterface,
    roster: Arc<AgentIndex>,
}

impl TaskTool {
    /// Creates the tool over these agents.
    pub fn new(roster: Arc<AgentIndex>) -> Self {
        Self {
            interface: build_interface(&roster),
            roster,
        }
    }

    /// Builds the sub-agent task that a call asks for.
    fn build_request(
        &self,
        arguments: &Map<String, Value>,
        execution: &ExecutionContext,
    ) -> Result<SubAgentRequest, ToolError> {
        let agent = self
            .roster
            .find(text_argument(arguments, "subagent_type"))?;
        let title = optional_text_argument(arguments, "description").unwrap_or(&agent.view.name);
        Ok(SubAgentRequest {
            title: title.to_owned(),
            instructions: agent.prompt.clone(),
            config: RequestConfig {
                provider: agent.provider.clone(),
                model: agent.model.clone(),
                ..RequestConfig::default()
            },
            tools: agent.view.tools.clone(),
            own_tools: Map::new(),
            agent: Some(agent.manifest.clone()),
            input: text_argument(arguments, "prompt").to_owned(),
            output_schema: None,
            cancel: execution.cancel.clone(),
        })
    }
}

fn build_interface(roster: &AgentIndex) -> ToolInterface {
    builtin_interface("task")
        .user_facing_name("Task")
        .description(format!("{DESCRIPTION}{}", roster.summary()))
        .model_input_schema(object_schema(
            json!({
                "subagent_type": { "type": "string", "minLength": 1, "maxLength": 256, "description": "The agent's name." },
                "prompt": { "type": "string", "minLength": 1, "maxLength": TASK_CHARS_MAX, "description": "What it is to do, with everything that it must know, and what it is to answer." },
                "description": { "type": "string", "minLength": 1, "maxLength": TASK_TITLE_CHARS_MAX, "description": "The work in three to five words, for the person." },
                "background": { "type": "boolean", "description": "Go on while it works." },
            }),
            &["subagent_type", "prompt"],
        ))
        .requires(RequirementSet::empty())
        .mode(ToolMode::External)
        .kind(ToolKind::Other)
        .search_hint("give work to another agent subagent delegate")
        .is_read_only(false)
        .is_concurrency_safe(true)
        .is_destructive(false)
        .is_open_world(true)
        .requires_user_interaction(false)
        .sandbox_profile("nothing")
        .classifier_input("{subagent_type} {prompt}")
        .permission_matcher(PermissionMatcher::Nothing)
        .execution_profile_ref("delegate")
        .timeout_ms(DELEGATE_TIMEOUT_MS)
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Task {subagent_type}")
        .activity_description("{subagent_type} is at work")
        .progress_render_hint(RenderHint::Line)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{subagent_type} {prompt}")
        .add_value_check("the session knows an agent of this name")
        .build()
}

#[async_trait]
impl Tool for TaskTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let agent = text_argument(arguments, "subagent_type");
        match optional_text_argument(arguments, "description") {
            Some(title) => format!("{agent}: {title}"),
            None => agent.to_owned(),
        }
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.roster
            .find(text_argument(arguments, "subagent_type"))
            .map(drop)
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments();
        let errand = self.build_request(arguments, execution)?;
        let delegates = execution.sub_agent_spawner()?;
        if !flag_argument(arguments, "background") {
            return delegates.run(execution, errand).await;
        }
        let session = delegates.start(execution, errand).await?;
        let told = "It is at work. Its answer comes as a message; do not wait for it by asking.";
        Ok(ToolOutput {
            data: Some(json!({ "session_id": session })),
            ..ToolOutput::new(told.to_owned(), "at work".to_owned())
        })
    }
}
