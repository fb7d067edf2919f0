//! `notebook_edit`: replaces, inserts, or deletes one cell of a notebook. No model of ours is offered it: it is what such a
//! call of another agent is judged as.

use async_trait::async_trait;
use protocol::interface::SchemaVisibility;
use protocol::{Access, Capability, ToolError, ToolInterface};
use runtime::Workspace;
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::{
    as_text, missing_file_error, prepare_change, read_content, resolve_inside,
};
use crate::builtin::fs::notebook::{CellEdit, edit_notebook};
use crate::builtin::fs::plan_tool::FilePlanner;
use crate::builtin::presets::file_change_interface;
use crate::builtin::{
    object_schema, optional_text_argument, path_schema, run_blocking, text_argument,
};
use crate::tool::PreviewedPlan;

/// Tool description for the host.
const DESCRIPTION: &str = "Replaces the source of one cell of a Jupyter notebook, inserts a cell, or deletes one. A cell \
    is named by its id, or by its number from 0 as cell-0.";

/// Plans the change of a cell.
pub(in crate::builtin) struct NotebookPlanner;

#[async_trait]
impl FilePlanner for NotebookPlanner {
    fn interface(&self) -> ToolInterface {
        file_change_interface("notebook_edit")
            .schema_visibility(SchemaVisibility::Host)
            .user_facing_name("Edit notebook")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("change one cell of a notebook")
            .classifier_input("notebook_edit {path}")
            .ui_summary("Edit {path}")
            .activity_description("Editing {path}")
            .transcript_search_text("{path} {new_source}")
            .add_value_check(
                "the cell, its source, and its type are given where the change needs them",
            )
            .add_preflight("the file is a notebook, and has the cell")
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
        parse_edit(arguments).map(|_| ())
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        run_blocking(move || {
            let named_path = text_argument(&arguments, "path");
            let path = resolve_inside(&workspace, Capability::FsWrite, named_path)?;
            let Some(before) = read_content(&workspace, &path)? else {
                return Err(missing_file_error(&workspace, &path));
            };
            let text = as_text(named_path, &before, "can be edited")?;
            let after = edit_notebook(named_path, text, parse_edit(&arguments)?)?;
            Ok(prepare_change(path, Some(before), after.into_bytes()))
        })
        .await
    }
}

/// Returns the change that the arguments name.
///
/// # Errors
/// They lack what the change needs.
fn parse_edit(arguments: &Map<String, Value>) -> Result<CellEdit, ToolError> {
    let text = |name: &str| optional_text_argument(arguments, name).map(str::to_owned);
    let needed = |name: &str| {
        let missing = || ToolError::InvalidArgs(format!("this change of a cell needs `{name}`"));
        text(name).ok_or_else(missing)
    };
    match optional_text_argument(arguments, "edit_mode") {
        Some("insert") => Ok(CellEdit::Insert {
            after: text("cell_id"),
            source: needed("new_source")?,
            cell_type: needed("cell_type")?,
        }),
        Some("delete") => Ok(CellEdit::Delete {
            cell: needed("cell_id")?,
        }),
        Some(_) | None => Ok(CellEdit::Replace {
            cell: needed("cell_id")?,
            source: needed("new_source")?,
            cell_type: text("cell_type"),
        }),
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "path": path_schema("The notebook, relative to the workspace."),
            "cell_id": { "type": "string", "description": "The cell; after it a new one is inserted, at the beginning if it is left out." },
            "new_source": { "type": "string", "description": "The source of the cell." },
            "cell_type": { "type": "string", "enum": ["code", "markdown"], "description": "The type of the cell; it stays as it is if it is left out." },
            "edit_mode": { "type": "string", "enum": ["replace", "insert", "delete"], "description": "What is done with the cell; it is replaced if this is left out." },
        }),
        &["path"],
    )
}
