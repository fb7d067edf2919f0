//! `delete_path`: removes a file, a folder with everything in it, or a link itself.

use async_trait::async_trait;
use protocol::call::plan::Removal;
use protocol::interface::RenderHint;
use protocol::view::preview::{LossItem, LossPreview};
use protocol::{
    Access, Capability, Plan, Preview, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode,
};
use runtime::{FileError, TreeLimits, Workspace};
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{missing_file_error, resolve_inside};
use crate::builtin::fs::plan_tool::FilePlanner;
use crate::builtin::presets::file_change_interface;
use crate::builtin::{file_error, object_schema, path_schema, run_blocking, text_argument};
use crate::limits::DELETE_ENTRIES_MAX;
use crate::text::escape_invisible;
use crate::tool::PreviewedPlan;

/// Tool description for the model.
const DESCRIPTION: &str = "Removes a file, or a folder with all that is in it, in the workspace. Of a symbolic link \
    the link is removed, not what it points to.";

/// Plans the removal of a path.
pub(in crate::builtin) struct DeletionPlanner;

#[async_trait]
impl FilePlanner for DeletionPlanner {
    fn interface(&self) -> ToolInterface {
        file_change_interface("delete_path")
            .user_facing_name("Delete")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .requires(RequirementSet::empty().with_write("**"))
            .mode(ToolMode::Destructive)
            .kind(ToolKind::Delete)
            .search_hint("delete a file or a folder")
            .is_destructive(true)
            .classifier_input("delete {path}")
            .ui_summary("Delete {path}")
            .activity_description("Deleting {path}")
            .rejected_render_hint(RenderHint::Loss)
            .transcript_search_text("{path}")
            .add_preflight("the file or folder is there, and is not the workspace itself")
            .add_preflight("it is still as it was when the loss was shown")
            .build()
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = text_argument(arguments, "path");
        vec![Access::new(Capability::FsDelete, path)]
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        run_blocking(move || plan_deletion(&workspace, text_argument(&arguments, "path"))).await
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({ "path": path_schema("The file or folder, relative to the workspace.") }),
        &["path"],
    )
}

fn plan_deletion(workspace: &Workspace, named_path: &str) -> Result<PreviewedPlan, ToolError> {
    let path = resolve_inside(workspace, Capability::FsDelete, named_path)?;
    if path.is_empty() || path == "." {
        return Err(ToolError::InvalidArgs(format!(
            "`{named_path}` is the workspace itself, which cannot be deleted; name a file or folder in it"
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
