//! `edit`: replaces one exact text in a file (`S002-14`, `S002-27`, `S001-50`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use super::files::{as_text, carry_out, change, content, inside, missing};
use super::masked::keeps_secrets;
use super::replace::{Replacement, replace};
use super::{blocking, flag, house, object, path_member, text};
use crate::text::visible;
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Replaces an exact text in an existing file. old_string must be copied from the file with \
    its white space, without line numbers, and must occur exactly once: take in surrounding \
    lines until it does, or set replace_all to change every place. To create a file use write.";

pub(super) struct Edit {
    interface: ToolInterface,
}

impl Edit {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("edit")
        .user_facing_name("Edit")
        .description(DESCRIPTION)
        .alias(
            "edit_file",
            &[("old_text", "old_string"), ("new_text", "new_string")],
        )
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**").writes("**"))
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
        .checks("the two texts differ")
        .preflights("the text occurs in the file, and only once unless every place is meant")
        .preflights("the file is still as it was when the difference was shown")
        .build()
}

fn parameters() -> Value {
    object(
        json!({
            "path": path_member("The file, relative to the workspace."),
            "old_string": { "type": "string", "minLength": 1, "description": "The text to be replaced." },
            "new_string": { "type": "string", "description": "The text in its place; may be empty." },
            "replace_all": { "type": "boolean", "description": "Replace every place, not just one." },
        }),
        &["path", "old_string", "new_string"],
    )
}

#[async_trait]
impl Tool for Edit {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        visible(text(arguments, "path"))
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = text(arguments, "path");
        vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsWrite, path),
        ]
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        if text(arguments, "old_string") == text(arguments, "new_string") {
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
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let workspace = hands.workspace.clone();
        let given = text(arguments, "path").to_owned();
        let replacement = Replacement {
            old: text(arguments, "old_string").to_owned(),
            new: text(arguments, "new_string").to_owned(),
            all: flag(arguments, "replace_all"),
        };
        blocking(move || {
            let path = inside(&workspace, Capability::FsWrite, &given)?;
            let Some(before) = content(&workspace, &path)? else {
                return Err(missing(&workspace, &path));
            };
            let after = replace(
                &given,
                as_text(&given, &before, "can be edited")?,
                &replacement,
            )?;
            keeps_secrets(change(path, Some(before), after.into_bytes()))
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
