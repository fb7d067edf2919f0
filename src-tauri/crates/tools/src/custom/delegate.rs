//! Tools that a run of its own carries out: with its own context, and only the parameters as input (`S004-11`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value};

use super::common;
use super::definition::{CustomToolDefinition, ExecutionKind};
use super::request::StructuredRequest;
use crate::limits::DELEGATE_TIMEOUT_MS;
use crate::tool::{ExecutionContext, SubAgentRequest, Tool, ToolContext};

pub(super) struct DelegateTool {
    interface: ToolInterface,
    request: Result<StructuredRequest, String>,
    output: Option<Value>,
    first: Option<String>,
    output_path: Option<String>,
}

impl DelegateTool {
    /// Binds a definition to a saved request, or to a sentence that says why there is none.
    pub(super) fn new(
        definition: &CustomToolDefinition,
        request: Result<StructuredRequest, String>,
        origin: ToolOrigin,
    ) -> Self {
        Self {
            interface: common::build_interface(definition, ExecutionKind::Explicit, origin)
                .requires(RequirementSet::empty())
                .mode(ToolMode::External)
                .kind(ToolKind::Other)
                .is_open_world(true)
                .execution_profile_ref("delegate")
                .timeout_ms(DELEGATE_TIMEOUT_MS)
                .build(),
            output: definition.output().cloned().or_else(|| {
                let request = request.as_ref().ok();
                request.and_then(|request| request.output_schema.clone())
            }),
            request,
            first: definition.parameter_names().next().map(str::to_owned),
            output_path: definition.output_path.as_ref().map(ToString::to_string),
        }
    }

    fn require_request(&self) -> Result<&StructuredRequest, ToolError> {
        self.request
            .as_ref()
            .map_err(|why| ToolError::Failed(why.clone()))
    }
}

#[async_trait]
impl Tool for DelegateTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn output_path(&self) -> Option<&str> {
        self.output_path.as_deref()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        common::call_target(self.first.as_deref(), arguments)
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.require_request().map(drop)
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let saved = self.require_request()?;
        let request = SubAgentRequest {
            title: self.interface.title().to_owned(),
            instructions: [saved.prompt(), saved.instances_summary()]
                .join("\n\n")
                .trim_end()
                .to_owned(),
            own_tools: saved.own_tools(),
            config: saved.config.clone(),
            tools: Some(saved.config.tools.clone()),
            agent: None,
            input: Value::Object(approved.arguments().clone()).to_string(),
            output_schema: self.output.clone(),
            cancel: execution.cancel.clone(),
        };
        execution.sub_agent_spawner()?.run(execution, request).await
    }
}
