//! `task`: gives work to another agent, in a session of its own (`S002-19`, `S002-30`, `S002-39`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, RenderHint};
use protocol::{Access, ToolError, ToolInterface, ToolMode, ToolOutput};
use serde_json::{Map, Value, json};

use crate::agents::AgentIndex;
use crate::builtin::presets::session_interface;
use crate::builtin::{flag_argument, object_schema, optional_text_argument, text_argument};
use crate::limits::{DELEGATE_TIMEOUT_MS, TASK_CHARS_MAX, TASK_TITLE_CHARS_MAX};
use crate::request_config::RequestConfig;
use crate::tool::{ExecutionContext, SubAgentRequest, Tool, ToolContext};

/// Tool description for the model, placed before the list of agents.
const DESCRIPTION: &str = "Gives work to another agent, which does it in a conversation of its own and answers with its last \
    words. It knows nothing but your prompt, may do no more than you may, and its calls are checked as yours are. Several \
    tasks in one turn run beside each other. With `background` you go on at once, and get the answer as a message when it is \
    there. The agents:\n";

/// The `task` tool over the agents of one session.
pub struct TaskTool {
    interface: ToolInterface,
    agents: Arc<AgentIndex>,
}

impl TaskTool {
    /// Creates the tool over these agents.
    pub fn new(agents: Arc<AgentIndex>) -> Self {
        Self {
            interface: build_interface(&agents),
            agents,
        }
    }

    /// Builds the sub-agent task that a call asks for.
    fn build_request(
        &self,
        arguments: &Map<String, Value>,
        execution: &ExecutionContext,
    ) -> Result<SubAgentRequest, ToolError> {
        let agent = self
            .agents
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

fn build_interface(agents: &AgentIndex) -> ToolInterface {
    session_interface("task")
        .user_facing_name("Task")
        .description(format!("{DESCRIPTION}{}", agents.summary()))
        .model_input_schema(object_schema(
            json!({
                "subagent_type": { "type": "string", "minLength": 1, "maxLength": 256, "description": "The agent's name." },
                "prompt": { "type": "string", "minLength": 1, "maxLength": TASK_CHARS_MAX, "description": "What it is to do, with everything that it must know, and what it is to answer." },
                "description": { "type": "string", "minLength": 1, "maxLength": TASK_TITLE_CHARS_MAX, "description": "The work in three to five words, for the person." },
                "background": { "type": "boolean", "description": "Go on while it works." },
            }),
            &["subagent_type", "prompt"],
        ))
        .mode(ToolMode::External)
        .search_hint("give work to another agent subagent delegate")
        .is_read_only(false)
        .is_concurrency_safe(true)
        .is_open_world(true)
        .classifier_input("{subagent_type} {prompt}")
        .execution_profile_ref("delegate")
        .timeout_ms(DELEGATE_TIMEOUT_MS)
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .ui_summary("Task {subagent_type}")
        .activity_description("{subagent_type} is at work")
        .progress_render_hint(RenderHint::Line)
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
        self.agents
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
        let request = self.build_request(arguments, execution)?;
        let spawner = execution.sub_agent_spawner()?;
        if !flag_argument(arguments, "background") {
            return spawner.run(execution, request).await;
        }
        let session = spawner.start(execution, request).await?;
        Ok(ToolOutput {
            data: Some(json!({ "session_id": session })),
            ..ToolOutput::new(
                "It is at work. Its answer comes as a message; do not wait for it by asking.",
                "at work",
            )
        })
    }
}
