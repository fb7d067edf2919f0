//! `edit`: replaces one exact text in a file (`S002-14`, `S002-27`, `S001-50`).

use async_trait::async_trait;
use protocol::{Access, Capability, ToolError, ToolInterface};
use runtime::Workspace;
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{
    as_text, missing_file_error, prepare_change, read_content, resolve_inside,
};
use crate::builtin::fs::plan_tool::FilePlanner;
use crate::builtin::fs::replace::{Replacement, replace_exact};
use crate::builtin::presets::file_change_interface;
use crate::builtin::{
    flag_argument, object_schema, path_schema, reject_if, run_blocking, text_argument,
};
use crate::tool::PreviewedPlan;

/// Tool description for the model.
const DESCRIPTION: &str = "Replaces an exact text in an existing file. old_string must be copied from the file with \
    its white space, without line numbers, and must occur exactly once: take in surrounding \
    lines until it does, or set replace_all to change every place. To create a file use write.";

/// Plans the replacement of a text in a file.
pub(in crate::builtin) struct EditPlanner;

#[async_trait]
impl FilePlanner for EditPlanner {
    fn interface(&self) -> ToolInterface {
        file_change_interface("edit")
            .user_facing_name("Edit")
            .description(DESCRIPTION)
            .add_alias(
                "edit_file",
                &[("old_text", "old_string"), ("new_text", "new_string")],
            )
            .model_input_schema(parameters_schema())
            .search_hint("replace an exact text in a file")
            .classifier_input("edit {path}")
            .ui_summary("Edit {path}")
            .activity_description("Editing {path}")
            .transcript_search_text("{path} {old_string} {new_string}")
            .add_value_check("the two texts differ")
            .add_preflight("the text occurs in the file, and only once unless every place is meant")
            .add_preflight("the file is still as it was when the difference was shown")
            .build()
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = text_argument(arguments, "path");
        vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsWrite, path),
        ]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        reject_if(
            text_argument(arguments, "old_string") == text_argument(arguments, "new_string"),
            "`old_string` and `new_string` are equal, so nothing would change; give the text that is to stand there \
             afterwards",
        )
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        run_blocking(move || {
            let named_path = text_argument(&arguments, "path");
            let replacement = Replacement {
                old: text_argument(&arguments, "old_string").to_owned(),
                new: text_argument(&arguments, "new_string").to_owned(),
                all: flag_argument(&arguments, "replace_all"),
            };
            let path = resolve_inside(&workspace, Capability::FsWrite, named_path)?;
            let Some(before) = read_content(&workspace, &path)? else {
                return Err(missing_file_error(&workspace, &path));
            };
            let text = as_text(named_path, &before, "can be edited")?;
            let after = replace_exact(named_path, text, &replacement)?;
            Ok(prepare_change(path, Some(before), after.into_bytes()))
        })
        .await
    }
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
