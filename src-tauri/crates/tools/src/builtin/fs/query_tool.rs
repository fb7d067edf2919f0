//! The tool over a query of the workspace's files: arguments in, a list out, nothing changed.

use async_trait::async_trait;
use policy::Approved;
use protocol::{Access, Capability, ToolError, ToolInterface, ToolOutput};
use serde_json::{Map, Value};

use crate::builtin::{optional_text_argument, run_blocking, text_argument};
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Answers the queries of one tool, over the whole workspace or the `path` that a call names.
pub(in crate::builtin) trait FileQuery: Copy + Send + Sync + 'static {
    /// Builds the interface of the tool.
    fn interface(self) -> ToolInterface;

    /// Returns the target of the call in one line.
    fn target(self, arguments: &Map<String, Value>) -> String;

    /// Walks the files and returns the answer. Blocks.
    fn answer_query(
        self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError>;
}

/// A tool whose calls are queries of the workspace's files.
pub(in crate::builtin) struct FileQueryTool<Q> {
    interface: ToolInterface,
    query: Q,
}

impl<Q: FileQuery> FileQueryTool<Q> {
    pub(in crate::builtin) fn from_query(query: Q) -> Self {
        Self {
            interface: query.interface(),
            query,
        }
    }
}

#[async_trait]
impl<Q: FileQuery> Tool for FileQueryTool<Q> {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        self.query.target(arguments)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = optional_text_argument(arguments, "path").unwrap_or(".");
        vec![Access::new(Capability::FsRead, path)]
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let query = self.query;
        let arguments = approved.arguments().clone();
        let (context, execution) = (context.clone(), execution.clone());
        run_blocking(move || query.answer_query(&arguments, &context, &execution)).await
    }
}

/// Describes a search in one line: the pattern, and the place where it looks.
pub(super) fn describe_search(arguments: &Map<String, Value>, place: Option<&str>) -> String {
    let pattern = escape_invisible(text_argument(arguments, "pattern"));
    match place {
        Some(place) => format!("{pattern} in {}", escape_invisible(place)),
        None => pattern,
    }
}
