//! `write`: creates a file or replaces its content (`S002-13`, `S001-49`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{
    apply_approved, prepare_change, read_content, resolve_inside,
};
use crate::builtin::fs::mask_guard::reject_mask_writes;
use crate::builtin::{builtin_interface, object_schema, path_schema, run_blocking, text_argument};
use crate::limits::FILE_BYTES_MAX;
use crate::text::{escape_invisible, format_byte_size};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Creates a file, or replaces the whole content of one. Folders that are missing are made. \
    The path is relative to the workspace. To change a part of a file use edit.";

pub(in crate::builtin) struct WriteTool {
    interface: ToolInterface,
}

impl WriteTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("write")
        .user_facing_name("Write")
        .description(DESCRIPTION)
        .add_alias("write_file", &[])
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_write("**"))
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .search_hint("create a file or replace its content")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_write")
        .classifier_input("write {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Write {path}")
        .activity_description("Writing {path}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Difference)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{path} {content}")
        .add_value_check("the path names a file, not a folder")
        .add_value_check("the content is not larger than can be written at once")
        .add_preflight("the file is still as it was when the difference was shown")
        .build()
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "path": path_schema("The file, relative to the workspace."),
            "content": { "type": "string", "description": "The whole new content." },
        }),
        &["path", "content"],
    )
}

#[async_trait]
impl Tool for WriteTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::FsWrite,
            text_argument(arguments, "path"),
        )]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        if text_argument(arguments, "path").ends_with('/') {
            return Err(ToolError::InvalidArgs(
                "`path` ends with `/`, so it names a folder; name the file to be written"
                    .to_owned(),
            ));
        }
        let bytes = text_argument(arguments, "content").len() as u64;
        if bytes > FILE_BYTES_MAX {
            return Err(ToolError::InvalidArgs(format!(
                "`content` is {} long, and at most {} can be written at once; write it in parts with bash",
                format_byte_size(bytes),
                format_byte_size(FILE_BYTES_MAX)
            )));
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let workspace = context.workspace.clone();
        let path = text_argument(arguments, "path").to_owned();
        let after = text_argument(arguments, "content").as_bytes().to_vec();
        run_blocking(move || {
            let path = resolve_inside(&workspace, Capability::FsWrite, &path)?;
            let before = read_content(&workspace, &path)?;
            reject_mask_writes(prepare_change(path, before, after))
        })
        .await
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = context.workspace.clone();
        let plan = approved.plan().clone();
        let path = text_argument(approved.arguments(), "path").to_owned();
        run_blocking(move || apply_approved(&workspace, &plan, &path)).await
    }
}
