//! `write`: creates a file or replaces its content (`S002-13`, `S001-49`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use super::files::{carry_out, change, content, inside};
use super::masked::keeps_secrets;
use super::{blocking, house, object, path_member, text};
use crate::limits::FILE_BYTES_MAX;
use crate::text::{amount, visible};
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Creates a file, or replaces the whole content of one. Folders that are missing are made. \
    The path is relative to the workspace. To change a part of a file use edit.";

pub(super) struct Write {
    interface: ToolInterface,
}

impl Write {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("write")
        .user_facing_name("Write")
        .description(DESCRIPTION)
        .alias("write_file", &[])
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().writes("**"))
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
        .checks("the path names a file, not a folder")
        .checks("the content is not larger than can be written at once")
        .preflights("the file is still as it was when the difference was shown")
        .build()
}

fn parameters() -> Value {
    object(
        json!({
            "path": path_member("The file, relative to the workspace."),
            "content": { "type": "string", "description": "The whole new content." },
        }),
        &["path", "content"],
    )
}

#[async_trait]
impl Tool for Write {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        visible(text(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(Capability::FsWrite, text(arguments, "path"))]
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        if text(arguments, "path").ends_with('/') {
            return Err(ToolError::InvalidArgs(
                "`path` ends with `/`, so it names a folder; name the file to be written"
                    .to_owned(),
            ));
        }
        let bytes = text(arguments, "content").len() as u64;
        if bytes > FILE_BYTES_MAX {
            return Err(ToolError::InvalidArgs(format!(
                "`content` is {} long, and at most {} can be written at once; write it in parts with bash",
                amount(bytes),
                amount(FILE_BYTES_MAX)
            )));
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let workspace = hands.workspace.clone();
        let path = text(arguments, "path").to_owned();
        let after = text(arguments, "content").as_bytes().to_vec();
        blocking(move || {
            let path = inside(&workspace, Capability::FsWrite, &path)?;
            let before = content(&workspace, &path)?;
            keeps_secrets(change(path, before, after))
        })
        .await
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = hands.workspace.clone();
        let plan = approved.plan().clone();
        let path = text(approved.arguments(), "path").to_owned();
        blocking(move || carry_out(&workspace, &plan, &path)).await
    }
}
