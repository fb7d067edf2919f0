//! Calls an operation as a web search, within the accesses that were judged for that search.

use async_trait::async_trait;
use protocol::{Access, ToolError, ToolInterface, ToolOutput};
use runtime::{NetworkClient, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::web_search::OperationCaller;
use tools::{PreviewedPlan, Tool};

use crate::service::tool::ApiTool;

#[async_trait]
impl OperationCaller for ApiTool {
    fn interface(&self) -> &ToolInterface {
        Tool::interface(self)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        Tool::accesses(self, arguments)
    }

    fn prepare_call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<PreviewedPlan, ToolError> {
        Self::preview_request(self, arguments, workspace)
    }

    async fn call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
        net: &NetworkClient,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        Self::call_approved(self, arguments, workspace, net, cancel).await
    }
}
