//! `delete_path`: removes a file, a folder with everything in it, or a link itself.

use async_trait::async_trait;
use policy::Approved;
use protocol::call::plan::Removal;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::view::preview::{LossItem, LossPreview};
use protocol::{
    Access, Capability, Plan, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput,
};
use runtime::{FileError, TreeLimits, Workspace};
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{missing_file_error, resolve_inside};
use crate::builtin::{
    builtin_interface, file_error, object_schema, path_schema, run_blocking, text_argument,
};
use crate::limits::DELETE_ENTRIES_MAX;
use crate::text::{escape_invisible, format_byte_size, format_count};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Removes a file, or a folder with all that is in it, in the workspace. Of a symbolic link \
    the link is removed, not what it points to.";

pub(in crate::builtin) struct DeletePathTool {
    interface: ToolInterface,
}

impl DeletePathTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("delete_path")
        .user_facing_name("Delete")
        .description(DESCRIPTION)
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_write("**"))
        .mode(ToolMode::Destructive)
        .kind(ToolKind::Delete)
        .search_hint("delete a file or a folder")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .is_destructive(true)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_write")
        .classifier_input("delete {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Delete {path}")
        .activity_description("Deleting {path}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Loss)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{path}")
        .add_preflight("the file or folder is there, and is not the workspace itself")
        .add_preflight("it is still as it was when the loss was shown")
        .build()
}

fn parameters_schema() -> Value {
    object_schema(
        json!({ "path": path_schema("The file or folder, relative to the workspace.") }),
        &["path"],
    )
}

#[async_trait]
impl Tool for DeletePathTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::FsDelete,
            text_argument(arguments, "path"),
        )]
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let workspace = context.workspace.clone();
        let path = text_argument(arguments, "path").to_owned();
        run_blocking(move || prepare_deletion(&workspace, &path)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = context.workspace.clone();
        let plan = approved.plan().clone();
        run_blocking(move || {
            let Plan::Remove(removal) = &plan else {
                return Err(ToolError::Failed(
                    "The plan is not one of removing; nothing was done.".to_owned(),
                ));
            };
            runtime::apply_plan(&workspace, &plan).map_err(file_error)?;
            let files = format_count(removal.files, "file", "files");
            let bytes = format_byte_size(removal.bytes);
            Ok(ToolOutput::new(
                format!("Deleted `{}` ({files}, {bytes}).", removal.path),
                format!("{files}, {bytes}"),
            ))
        })
        .await
    }
}

fn prepare_deletion(workspace: &Workspace, given: &str) -> Result<PreviewedPlan, ToolError> {
    let path = resolve_inside(workspace, Capability::FsDelete, given)?;
    if path.is_empty() || path == "." {
        return Err(ToolError::InvalidArgs(format!(
            "`{given}` is the workspace itself, which cannot be deleted; name a file or folder in it"
        )));
    }
    let limits = TreeLimits {
        items_max: DELETE_ENTRIES_MAX,
        ..TreeLimits::default()
    };
    let tree = workspace
        .list_tree(&path, limits)
        .map_err(|error| match error {
            FileError::NotFound { .. } => missing_file_error(workspace, &path),
            other => file_error(other),
        })?;
    let shown = tree
        .items
        .iter()
        .take(LossPreview::ITEMS_MAX)
        .map(|item| LossItem {
            path: escape_invisible(&item.path.to_string_lossy()),
            kind: item.kind.as_str().to_owned(),
            bytes: item.bytes,
        })
        .collect();
    Ok(PreviewedPlan {
        preview: Preview::Loss(LossPreview {
            files: tree.files,
            folders: tree.folders,
            lines: tree.lines,
            bytes: tree.bytes,
            shown,
        }),
        plan: Plan::Remove(Removal {
            path,
            listing: tree.digest,
            files: tree.files,
            bytes: tree.bytes,
        }),
    })
}
