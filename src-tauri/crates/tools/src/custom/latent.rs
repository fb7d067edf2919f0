//! Tools without code: the model fills in the result itself, and the result is checked (`S004-25` to `S004-27`, M17).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value};

use super::common::{self, output_from_value};
use super::definition::{CustomToolDefinition, ExecutionKind, OUTPUT};
use crate::tool::{ExecutionContext, Tool, ToolContext};

pub(super) struct LatentTool {
    interface: ToolInterface,
    first: Option<String>,
    output_path: Option<String>,
}

impl LatentTool {
    pub(super) fn new(definition: &CustomToolDefinition, origin: ToolOrigin) -> Self {
        Self {
            interface: common::build_interface(definition, ExecutionKind::Latent, origin)
                .requires(RequirementSet::empty())
                .mode(ToolMode::Read)
                .kind(ToolKind::Think)
                .mark_read_only()
                .is_destructive(false)
                .is_open_world(false)
                .execution_profile_ref("model")
                .build(),
            first: definition.parameter_names().next().map(str::to_owned),
            output_path: definition.output_path.as_ref().map(ToString::to_string),
        }
    }
}

#[async_trait]
impl Tool for LatentTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn retained_meta(&self) -> &[&str] {
        &[OUTPUT]
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

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(match approved.arguments().get(OUTPUT) {
            Some(output) => output_from_value(output.clone(), "The model gave the result"),
            None => ToolOutput::new("Noted. This tool has no result.", "Noted, without a result"),
        })
    }
}
