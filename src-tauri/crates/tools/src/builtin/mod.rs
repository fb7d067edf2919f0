//! The built-in tools: the locked set (`S002-11`), and `delete_path`, `apply_patch`, `plan`, `plan_exit`,
//! `repo_overview`, `lsp` and `lsp_rename` beside it (`S002-32`); and `notebook_edit`, which no model is offered.

pub(crate) mod fs;
mod lsp;
mod presets;
pub(crate) mod session;
pub(crate) mod shell;
mod truncated_list;
pub(crate) mod web;

use std::sync::Arc;

use protocol::ToolError;
use runtime::FileError;
use serde_json::{Map, Value, json};

use self::fs::apply_patch::PatchPlanner;
use self::fs::delete_path::DeletionPlanner;
use self::fs::edit::EditPlanner;
use self::fs::glob::FileListing;
use self::fs::grep::LineSearch;
use self::fs::notebook_edit::NotebookPlanner;
use self::fs::plan_tool::FilePlanTool;
use self::fs::query_tool::FileQueryTool;
use self::fs::read::ReadFileTool;
use self::fs::repo_overview::RepoOverview;
use self::fs::write::WritePlanner;
use self::session::plan::{PlanExitTool, PlanTool};
use self::session::question::QuestionTool;
use self::session::todo::TodoTool;
use self::shell::bash::BashTool;
use self::web::fetch::WebFetchTool;
use crate::tool::Tool;

pub use self::lsp::{LSP, LSP_RENAME, LspRenameTool, LspTool};
pub use self::session::plan::{PLAN, PLAN_EXIT};
pub use self::session::question::HEADLESS_REFUSAL;
pub use self::session::skill::SkillTool;
pub use self::session::task::TaskTool;
pub use self::session::tool_search::{TOOL_SEARCH, ToolSearchTool};
pub use self::shell::enclosed_turn::{ENCLOSED_TURN, EnclosedTurn, EnclosedTurnTool};
pub use self::web::search::{WEB_SEARCH, WebSearchTool};

/// Returns every built-in tool, in the order in which a model sees them.
pub(crate) fn builtin_tools() -> [Arc<dyn Tool>; 21] {
    [
        Arc::new(ReadFileTool::new()),
        Arc::new(FilePlanTool::from_planner(WritePlanner)),
        Arc::new(FilePlanTool::from_planner(EditPlanner)),
        Arc::new(FileQueryTool::from_query(FileListing)),
        Arc::new(FileQueryTool::from_query(LineSearch)),
        Arc::new(BashTool::new()),
        Arc::new(QuestionTool::new()),
        Arc::new(TodoTool::new()),
        Arc::new(TaskTool::new(Arc::default())),
        Arc::new(WebSearchTool::new(None)),
        Arc::new(WebFetchTool::new()),
        Arc::new(SkillTool::new(Arc::default())),
        Arc::new(ToolSearchTool::new(Arc::default())),
        Arc::new(FilePlanTool::from_planner(DeletionPlanner)),
        Arc::new(FilePlanTool::from_planner(PatchPlanner)),
        Arc::new(PlanTool::new()),
        Arc::new(PlanExitTool::new()),
        Arc::new(FileQueryTool::from_query(RepoOverview)),
        Arc::new(LspTool::new(None)),
        Arc::new(LspRenameTool::new(None)),
        Arc::new(FilePlanTool::from_planner(NotebookPlanner)),
    ]
}

/// Returns the schema of an object with these members and no others.
fn object_schema(members: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": false,
    })
}

/// Returns the schema of a path argument.
fn path_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description })
}

/// Returns a text argument; empty if it was left out.
fn text_argument<'a>(arguments: &'a Map<String, Value>, member: &str) -> &'a str {
    arguments
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns a text argument that may be left out.
fn optional_text_argument<'a>(arguments: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    arguments.get(member).and_then(Value::as_str)
}

fn number_argument(arguments: &Map<String, Value>, member: &str) -> Option<u64> {
    arguments.get(member).and_then(Value::as_u64)
}

fn flag_argument(arguments: &Map<String, Value>, member: &str) -> bool {
    arguments
        .get(member)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// Rejects the arguments with this reason if the condition holds.
fn reject_if(condition: bool, reason: &str) -> Result<(), ToolError> {
    match condition {
        true => Err(ToolError::InvalidArgs(reason.to_owned())),
        false => Ok(()),
    }
}

/// Runs blocking work on a separate thread, away from the async worker threads.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_cancelled() => Err(ToolError::Cancelled),
        Err(error) => Err(ToolError::Failed(format!(
            "The tool broke off: {error}. This is a fault of Countersign; try another way."
        ))),
    }
}

/// Converts a failure to carry out the effects of a dry run: [`ToolError::Stale`] when something underneath changed
/// since.
pub fn commit_error(error: FileError) -> ToolError {
    match error {
        FileError::Changed { .. } => ToolError::Stale(error.to_string()),
        error => file_error(error),
    }
}

/// Converts a failed file operation into the error that the model reads.
fn file_error(error: FileError) -> ToolError {
    match error {
        FileError::Cancelled => ToolError::Cancelled,
        FileError::Pattern { .. } => ToolError::InvalidArgs(error.to_string()),
        FileError::NotFound { .. }
        | FileError::OutputRemoved { .. }
        | FileError::IsFolder { .. }
        | FileError::NotAFolder { .. }
        | FileError::NoPermission { .. }
        | FileError::Outside { .. }
        | FileError::TooLarge { .. }
        | FileError::TooMany { .. }
        | FileError::Special { .. }
        | FileError::Changed { .. }
        | FileError::DiskFull { .. }
        | FileError::NotJudged { .. }
        | FileError::SandboxUnavailable { .. }
        | FileError::Other { .. } => ToolError::Failed(error.to_string()),
    }
}
