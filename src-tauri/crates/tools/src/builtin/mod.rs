//! The tools of the house: the locked set (`S002-11`), and `delete_path`, `apply_patch`, `plan`, `plan_exit`,
//! `repo_overview`, `lsp` and `lsp_rename` beside it (`S002-32`).

mod apply_patch;
mod bash;
mod command_facts;
mod delete_path;
mod edit;
mod files;
mod glob;
mod grep;
mod listing;
mod look_alike;
mod lsp;
mod masked;
mod overview;
mod patch_plan;
mod plan;
mod question;
mod read;
mod read_image;
mod read_lines;
mod read_masked;
mod replace;
mod repo_overview;
mod skill;
mod task;
mod todo;
mod tool_search;
mod web_fetch;
mod web_search;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::interface::{
    ContextModifierPolicy, EmptyResultPolicy, InterfaceBuilder, Origin, PermissionChannel,
    SchemaVisibility,
};
use protocol::{ToolError, ToolInterface};
use runtime::FileError;
use serde_json::{Map, Value, json};

use crate::tool::Tool;

pub(crate) use self::look_alike::look_alike;
pub use self::lsp::{LSP, LSP_RENAME, Lsp, LspRename};
pub(crate) use self::masked::why_not_found;
pub use self::plan::{PLAN, PLAN_EXIT};
pub use self::question::HEADLESS_REFUSAL;
pub use self::skill::LoadSkill;
pub use self::task::Task;
pub use self::tool_search::{TOOL_SEARCH, ToolSearch};
pub(crate) use self::web_fetch::not_fetched;
pub use self::web_search::{WEB_SEARCH, WebSearch};

/// Every built-in tool, in the order that a model sees.
pub(crate) fn all() -> [Arc<dyn Tool>; 20] {
    [
        Arc::new(read::Read::new()),
        Arc::new(write::Write::new()),
        Arc::new(edit::Edit::new()),
        Arc::new(glob::Glob::new()),
        Arc::new(grep::Grep::new()),
        Arc::new(bash::Bash::new()),
        Arc::new(question::Question::new()),
        Arc::new(todo::Todo::new()),
        Arc::new(Task::new(Arc::default())),
        Arc::new(WebSearch::new(None)),
        Arc::new(web_fetch::WebFetch::new()),
        Arc::new(LoadSkill::new(Arc::default())),
        Arc::new(ToolSearch::new(Arc::default())),
        Arc::new(delete_path::DeletePath::new()),
        Arc::new(apply_patch::ApplyPatch::new()),
        Arc::new(plan::Plan::new()),
        Arc::new(plan::PlanExit::new()),
        Arc::new(repo_overview::RepoOverview::new()),
        Arc::new(Lsp::new(None)),
        Arc::new(LspRename::new(None)),
    ]
}

/// What holds of every tool of the house.
fn house(name: &str) -> InterfaceBuilder {
    ToolInterface::tool(name)
        .origin(Origin::BuiltIn)
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
/// The schema of an object with these members and no others.
fn object(members: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": false,
    })
}

/// The schema of a path argument.
fn path_member(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description })
}

/// A text argument; empty if it was left out.
fn text<'a>(arguments: &'a Map<String, Value>, member: &str) -> &'a str {
    arguments
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A text argument that may be left out.
fn text_if<'a>(arguments: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    arguments.get(member).and_then(Value::as_str)
}

fn number(arguments: &Map<String, Value>, member: &str) -> Option<u64> {
    arguments.get(member).and_then(Value::as_u64)
}

fn flag(arguments: &Map<String, Value>, member: &str) -> bool {
    arguments
        .get(member)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// Does work that blocks off the threads that everything else runs on.
async fn blocking<T: Send + 'static>(
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

/// Why the effects of a dry run could not be carried out: [`ToolError::Stale`] when something underneath changed since.
pub fn commit_error(error: FileError) -> ToolError {
    match error {
        FileError::Changed { .. } => ToolError::Stale(error.to_string()),
        error => failed(error),
    }
}

/// A failed file operation as the model reads it.
fn failed(error: FileError) -> ToolError {
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
        | FileError::NoRoom { .. }
        | FileError::Other { .. } => ToolError::Failed(error.to_string()),
    }
}
