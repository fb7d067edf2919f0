//! A tool without code: the model fills in the result itself, and it is checked (`S004-25` to `S004-27`, M17).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::Origin;
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value};

use super::bound::{self, from_output};
use super::definition::{Definition, Execution, OUTPUT};
use crate::tool::{Hands, Tool, ToolContext};

pub(super) struct Latent {
    interface: ToolInterface,
    first: Option<String>,
    output_path: Option<String>,
}

impl Latent {
    pub(super) fn new(definition: &Definition, origin: Origin) -> Self {
        Self {
            interface: bound::interface(definition, Execution::Latent, origin)
                .requires(RequirementSet::nothing())
                .mode(ToolMode::Read)
                .kind(ToolKind::Think)
                .read_only()
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
impl Tool for Latent {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn keeps(&self) -> &[&str] {
        &[OUTPUT]
    }

    fn output_path(&self) -> Option<&str> {
        self.output_path.as_deref()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        bound::target(self.first.as_deref(), arguments)
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        approved: &Approved,
        _hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(match approved.arguments().get(OUTPUT) {
            Some(output) => from_output(output.clone(), "The model gave the result"),
            None => ToolOutput::new("Noted. This tool has no result.", "Noted, without a result"),
        })
    }
}
