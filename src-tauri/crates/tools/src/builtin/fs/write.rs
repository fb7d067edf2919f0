//! `write`: creates a file or replaces its content (`S002-13`, `S001-49`).

use async_trait::async_trait;
use protocol::{Access, Capability, RequirementSet, ToolError, ToolInterface};
use runtime::Workspace;
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{prepare_change, read_content, resolve_inside};
use crate::builtin::fs::plan_tool::FilePlanner;
use crate::builtin::presets::file_change_interface;
use crate::builtin::{object_schema, path_schema, reject_if, run_blocking, text_argument};
use crate::limits::FILE_BYTES_MAX;
use crate::text::format_byte_size;
use crate::tool::PreviewedPlan;

/// Tool description for the model.
const DESCRIPTION: &str = "Creates a file, or replaces the whole content of one. Folders that are missing are made. \
    The path is relative to the workspace. To change a part of a file use edit.";

/// Plans the new content of a file.
pub(in crate::builtin) struct WritePlanner;

#[async_trait]
impl FilePlanner for WritePlanner {
    fn interface(&self) -> ToolInterface {
        file_change_interface("write")
            .user_facing_name("Write")
            .description(DESCRIPTION)
            .add_alias("write_file", &[])
            .model_input_schema(parameters_schema())
            .requires(RequirementSet::empty().with_write("**"))
            .search_hint("create a file or replace its content")
            .classifier_input("write {path}")
            .ui_summary("Write {path}")
            .activity_description("Writing {path}")
            .transcript_search_text("{path} {content}")
            .add_value_check("the path names a file, not a folder")
            .add_value_check("the content is not larger than can be written at once")
            .add_preflight("the file is still as it was when the difference was shown")
            .build()
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let path = text_argument(arguments, "path");
        vec![Access::new(Capability::FsWrite, path)]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        reject_if(
            text_argument(arguments, "path").ends_with('/'),
            "`path` ends with `/`, so it names a folder; name the file to be written",
        )?;
        let bytes = text_argument(arguments, "content").len() as u64;
        reject_if(
            bytes > FILE_BYTES_MAX,
            &format!(
                "`content` is {} long, and at most {} can be written at once; write it in parts with bash",
                format_byte_size(bytes),
                format_byte_size(FILE_BYTES_MAX)
            ),
        )
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        run_blocking(move || {
            let path = text_argument(&arguments, "path");
            let path = resolve_inside(&workspace, Capability::FsWrite, path)?;
            let before = read_content(&workspace, &path)?;
            let after = text_argument(&arguments, "content").as_bytes().to_vec();
            Ok(prepare_change(path, before, after))
        })
        .await
    }
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
