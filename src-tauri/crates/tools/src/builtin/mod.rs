//! The built-in tools: the locked set (`S002-11`), and `delete_path`, `apply_patch`, `plan`, `plan_exit`,
//! `repo_overview`, `lsp` and `lsp_rename` beside it (`S002-32`).

pub(crate) mod fs;
mod lsp;
pub(crate) mod session;
pub(crate) mod shell;
mod truncated_list;
pub(crate) mod web;

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::interface::{
    ContextModifierPolicy, EmptyResultPolicy, InterfaceBuilder, PermissionChannel,
    SchemaVisibility, ToolOrigin,
};
use protocol::{ToolError, ToolInterface};
use runtime::FileError;
use serde_json::{Map, Value, json};

use crate::tool::Tool;

pub use self::lsp::{LSP, LSP_RENAME, LspRenameTool, LspTool};
pub use crate::builtin::session::plan::{PLAN, PLAN_EXIT};
pub use crate::builtin::session::question::HEADLESS_REFUSAL;
pub use crate::builtin::session::skill::SkillTool;
pub use crate::builtin::session::task::TaskTool;
pub use crate::builtin::session::tool_search::{TOOL_SEARCH, ToolSearchTool};
pub use crate::builtin::web::search::{WEB_SEARCH, WebSearchTool};

/// Returns every built-in tool, in the order in which a model sees them.
pub(crate) fn builtin_tools() -> [Arc<dyn Tool>; 20] {
    [
        Arc::new(crate::builtin::fs::read::ReadFileTool::new()),
        Arc::new(crate::builtin::fs::write::WriteTool::new()),
        Arc::new(crate::builtin::fs::edit::EditTool::new()),
        Arc::new(crate::builtin::fs::glob::GlobTool::new()),
        Arc::new(crate::builtin::fs::grep::GrepTool::new()),
        Arc::new(crate::builtin::shell::bash::BashTool::new()),
        Arc::new(crate::builtin::session::question::QuestionTool::new()),
        Arc::new(crate::builtin::session::todo::TodoTool::new()),
        Arc::new(TaskTool::new(Arc::default())),
        Arc::new(WebSearchTool::new(None)),
        Arc::new(crate::builtin::web::fetch::WebFetchTool::new()),
        Arc::new(SkillTool::new(Arc::default())),
        Arc::new(ToolSearchTool::new(Arc::default())),
        Arc::new(crate::builtin::fs::delete_path::DeletePathTool::new()),
        Arc::new(crate::builtin::fs::apply_patch::ApplyPatchTool::new()),
        Arc::new(crate::builtin::session::plan::PlanTool::new()),
        Arc::new(crate::builtin::session::plan::PlanExitTool::new()),
        Arc::new(crate::builtin::fs::repo_overview::RepoOverviewTool::new()),
        Arc::new(LspTool::new(None)),
        Arc::new(LspRenameTool::new(None)),
    ]
}

/// Returns the part of the interface that all built-in tools share.
fn builtin_interface(name: &str) -> InterfaceBuilder {
    ToolInterface::builder(name)
        .origin(ToolOrigin::BuiltIn)
        .native_ids(BTreeMap::new())
        .namespace("")
        .schema_visibility(SchemaVisibility::Model)
        .should_defer(false)
        .always_load(true)
        .strict(false)
        .is_enabled(true)
        .requires_setup(false)
        .required_credentials(Vec::new())
        .model_requirements(Vec::new())
        .feature_gate_refs(Vec::new())
        .schema_validation(true)
        .deny_before_io(true)
        .permission_channel(PermissionChannel::Card)
        .decision_ref("call_judged:{call}")
        .context_modifier_policy(ContextModifierPolicy::Forbid)
        .result_mapper("outcome")
        .empty_result_policy(EmptyResultPolicy::NeverEmpty)
        .redaction_policy_refs(vec!["secrets".to_owned()])
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
