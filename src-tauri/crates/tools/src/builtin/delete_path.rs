//! `delete_path`: removes a file, a folder with all that is in it, or a link itself.

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::plan::Removal;
use protocol::preview::{LossItem, LossPreview};
use protocol::{
    Access, Capability, Plan, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput,
};
use runtime::{FileError, TreeLimits, Workspace};
use serde_json::{Map, Value, json};

use super::files::{inside, missing};
use super::{blocking, failed, house, object, path_member, text};
use crate::limits::DELETE_ENTRIES_MAX;
use crate::text::{amount, plural, visible};
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Removes a file, or a folder with all that is in it, in the workspace. Of a symbolic link \
    the link is removed, not what it points to.";

pub(super) struct DeletePath {
    interface: ToolInterface,
}

impl DeletePath {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("delete_path")
        .user_facing_name("Delete")
        .description(DESCRIPTION)
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().writes("**"))
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
        .preflights("the file or folder is there, and is not the workspace itself")
        .preflights("it is still as it was when the loss was shown")
        .build()
}

fn parameters() -> Value {
    object(
        json!({ "path": path_member("The file or folder, relative to the workspace.") }),
        &["path"],
    )
}

#[async_trait]
impl Tool for DeletePath {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        visible(text(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(Capability::FsDelete, text(arguments, "path"))]
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let workspace = hands.workspace.clone();
        let path = text(arguments, "path").to_owned();
        blocking(move || loss(&workspace, &path)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = hands.workspace.clone();
        let plan = approved.plan().clone();
        blocking(move || {
            let Plan::Remove(removal) = &plan else {
                return Err(ToolError::Failed(
                    "The plan is not one of removing; nothing was done.".to_owned(),
                ));
            };
            runtime::apply(&workspace, &plan).map_err(failed)?;
            let files = plural(removal.files, "file", "files");
            let bytes = amount(removal.bytes);
            Ok(ToolOutput::new(
                format!("Deleted `{}` ({files}, {bytes}).", removal.path),
                format!("{files}, {bytes}"),
            ))
        })
        .await
    }
}

fn loss(workspace: &Workspace, given: &str) -> Result<Prepared, ToolError> {
    let path = inside(workspace, Capability::FsDelete, given)?;
    if path.is_empty() || path == "." {
        return Err(ToolError::InvalidArgs(format!(
            "`{given}` is the workspace itself, which cannot be deleted; name a file or folder in it"
        )));
    }
    let limits = TreeLimits {
        items_max: DELETE_ENTRIES_MAX,
        ..TreeLimits::default()
    };
    let tree = workspace.tree(&path, limits).map_err(|error| match error {
        FileError::NotFound { .. } => missing(workspace, &path),
        other => failed(other),
    })?;
    let shown = tree
        .items
        .iter()
        .take(LossPreview::SHOWN_MAX)
        .map(|item| LossItem {
            path: visible(&item.path.to_string_lossy()),
            kind: item.kind.as_str().to_owned(),
            bytes: item.bytes,
        })
        .collect();
    Ok(Prepared {
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
