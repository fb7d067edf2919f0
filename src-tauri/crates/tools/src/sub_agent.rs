//! A tool that is an agent of its own: a fresh run with its own prompt, model and tools, whose last message is the
//! result (`S001-39` to `S001-45`). Hosts define these tools; the person of a session names agents in manifests
//! instead.

use async_trait::async_trait;
use policy::Approved;
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value, json};

use crate::limits::{DELEGATE_TIMEOUT_MS, TASK_CHARS_MAX};
use crate::request_config::{RequestConfig, Thinking};
use crate::tool::{ExecutionContext, SubAgentRequest, Tool, ToolContext};

/// Execution profile of these tools: a sub-agent is never given any of them (`S001-42`).
pub const SUB_AGENT_PROFILE: &str = "sub_agent";

/// An agent as a tool (`S001-41`).
pub struct SubAgentTool {
    interface: ToolInterface,
    system_prompt: String,
    config: RequestConfig,
}

impl SubAgentTool {
    /// Creates a sub-agent under a unique name, with the description that the calling model reads. It has no tools
    /// until some are named.
    pub fn new(tool_name: &str, description: &str) -> Self {
        let interface = ToolInterface::builder(tool_name)
            .description(description)
            .model_input_schema(json!({
                "type": "object",
                "properties": {
                    "task": { "type": "string", "minLength": 1, "maxLength": TASK_CHARS_MAX, "description": "What it is to do, with everything that it must know." },
                },
                "required": ["task"],
                "additionalProperties": false,
            }))
            .requires(RequirementSet::empty())
            .mode(ToolMode::External)
            .kind(ToolKind::Other)
            .is_open_world(true)
            .execution_profile_ref(SUB_AGENT_PROFILE)
            .timeout_ms(DELEGATE_TIMEOUT_MS);
        Self {
            interface: interface.build(),
            system_prompt: String::new(),
            config: RequestConfig::default(),
        }
    }

    /// Sets the system prompt of the sub-agent.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.system_prompt);
        self
    }

    /// Sets the model of the sub-agent; the caller's if none is named.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        self.config.model = Some(model.to_owned());
        self
    }

    /// Sets the provider of the sub-agent's model, by id; the caller's if none is named.
    #[must_use]
    pub fn with_provider(mut self, provider: &str) -> Self {
        self.config.provider = Some(provider.to_owned());
        self
    }

    /// Sets the caller's tools that the sub-agent may call. Sub-agents among them are left out.
    #[must_use]
    pub fn with_tools(mut self, tools: &[&str]) -> Self {
        self.config.tools = tools.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// Sets how long the sub-agent's model thinks before it answers.
    #[must_use]
    pub fn with_thinking_level(mut self, thinking: Thinking) -> Self {
        self.config.thinking = Some(thinking);
        self
    }
}

#[async_trait]
impl Tool for SubAgentTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let task = arguments.get("task").and_then(Value::as_str);
        protocol::text::display_text::to_single_line(task.unwrap_or_default(), 80)
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let task = approved.arguments().get("task").and_then(Value::as_str);
        let request = SubAgentRequest {
            title: self.interface.title().to_owned(),
            instructions: self.system_prompt.clone(),
            tools: Some(self.config.tools.clone()),
            config: self.config.clone(),
            own_tools: Map::new(),
            agent: None,
            input: task.unwrap_or_default().to_owned(),
            output_schema: None,
            cancel: execution.cancel.clone(),
        };
        execution.sub_agent_spawner()?.run(execution, request).await
    }
}
