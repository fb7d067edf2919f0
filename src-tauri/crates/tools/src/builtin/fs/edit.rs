//! `edit`: replaces one exact text in a file (`S002-14`, `S002-27`, `S001-50`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{
    apply_approved, as_text, missing_file_error, prepare_change, read_content, resolve_inside,
};
use crate::builtin::fs::mask_guard::reject_mask_writes;
use crate::builtin::fs::replace::{Replacement, replace_exact};
use crate::builtin::{
    builtin_interface, flag_argument, object_schema, path_schema, run_blocking, text_argument,
};
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Replaces an exact text in an existing file. old_string must be copied from the file with \
    its white space, without line numbers, and must occur exactly once: take in surrounding \
    lines until it does, or set replace_all to change every place. To create a file use write.";

pub(in crate::builtin) struct EditTool {
    interface: ToolInterface,
}

impl EditTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("edit")
        .user_facing_name("Edit")
        .description(DESCRIPTION)
        .add_alias(
            "edit_file",
            &[("old_text", "old_string"), ("new_text", "new_string")],
        )
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_read("**").with_write("**"))
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .search_hint("replace an exact text in a file")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_write")
        .classifier_input("edit {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Edit {path}")
        .activity_description("Editing {path}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Difference)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{path} {old_string} {new_string}")
        .add_value_check("the two texts differ")
        .add_preflight("the text occurs in the file, and only once unless every place is meant")
        .add_preflight("the file is still as it was when the difference was shown")
        .build()
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "path": path_schema("The file, relative to the workspace."),
            "old_string": { "type": "string", "minLength": 1, "description": "The text to be replaced." },
            "new_string": { "type": "string", "description": "The text in its place; may be empty." },
            "replace_all": { "type": "boolean", "description": "Replace every place, not just one." },
        }),
        &["path", "old_string", "new_string"],
    )
}

#[async_trait]
impl Tool for EditTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = text_argument(arguments, "path");
        vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsWrite, path),
        ]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        if text_argument(arguments, "old_string") == text_argument(arguments, "new_string") {
            return Err(ToolError::InvalidArgs(
                "`old_string` and `new_string` are equal, so nothing would change; give the text that is to stand there \
                 afterwards"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let workspace = context.workspace.clone();
        let given = text_argument(arguments, "path").to_owned();
        let replacement = Replacement {
            old: text_argument(arguments, "old_string").to_owned(),
            new: text_argument(arguments, "new_string").to_owned(),
            all: flag_argument(arguments, "replace_all"),
        };
        run_blocking(move || {
            let path = resolve_inside(&workspace, Capability::FsWrite, &given)?;
            let Some(before) = read_content(&workspace, &path)? else {
                return Err(missing_file_error(&workspace, &path));
            };
            let after = replace_exact(
                &given,
                as_text(&given, &before, "can be edited")?,
                &replacement,
            )?;
            reject_mask_writes(prepare_change(path, Some(before), after.into_bytes()))
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
