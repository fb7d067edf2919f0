//! An operation that is called as a search of the web, with what was judged for that search.

use async_trait::async_trait;
use protocol::{Access, ToolError, ToolInterface, ToolOutput};
use runtime::{Net, Workspace};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::searching::Searches;
use tools::{Prepared, Tool};

use crate::tool::ApiTool;

#[async_trait]
impl Searches for ApiTool {
    fn interface(&self) -> &ToolInterface {
        Tool::interface(self)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        Tool::accesses(self, arguments)
    }

    fn shows(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
    ) -> Result<Prepared, ToolError> {
        Self::shows(self, arguments, workspace)
    }

    async fn call(
        &self,
        arguments: &Map<String, Value>,
        workspace: &Workspace,
        net: &Net,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        Self::call(self, arguments, workspace, net, cancel).await
    }
}
