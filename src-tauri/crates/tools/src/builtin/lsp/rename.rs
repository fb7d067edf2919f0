//! `lsp_rename`: renames a symbol everywhere with the edits that its language server proposes, shown before any is made
//! (`S002-32`).
//!
//! Separate from `lsp` because it writes: rules, modes and planning tell the two tools apart by their names. The server
//! changes nothing; the files that change are known once the server has answered, and the call is then judged on each
//! of them.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{Access, Capability, ToolError, ToolInterface};
use runtime::Workspace;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    LSP_RENAME, NO_SERVER, declared_reads, edits, missing_server, position, position_parameters,
    state_server_facts,
};
use crate::builtin::fs::plan_tool::{FilePlanTool, FilePlanner};
use crate::builtin::presets::file_change_interface;
use crate::builtin::{object_schema, reject_if, run_blocking, text_argument};
use crate::language_service::{LanguageQuery, LanguageService};
use crate::limits::SYMBOL_CHARS_MAX;
use crate::text::escape_invisible;
use crate::tool::PreviewedPlan;

/// Tool description for the model.
const DESCRIPTION: &str = "Renames what stands at a line of a file, everywhere in the workspace, as its language server knows it: give `line` as \
    read shows it, `symbol` as it stands there, and `new_name`. All files change together or none does.";

/// The `lsp_rename` tool over the language service of a session.
pub type LspRenameTool = FilePlanTool<RenamePlanner>;

/// Plans the edits that a language server proposes for a new name.
pub struct RenamePlanner {
    languages: Option<Arc<dyn LanguageService>>,
}

impl LspRenameTool {
    /// Creates the tool over this service; without one every call is an error that says how to set one up.
    pub fn new(languages: Option<Arc<dyn LanguageService>>) -> Self {
        Self::from_planner(RenamePlanner { languages })
    }
}

#[async_trait]
impl FilePlanner for RenamePlanner {
    fn interface(&self) -> ToolInterface {
        state_server_facts(file_change_interface(LSP_RENAME))
            .user_facing_name("Rename")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("rename a symbol everywhere by a language server")
            .classifier_input("rename {symbol} to {new_name} in {path}")
            .ui_summary("Rename {symbol} to {new_name}")
            .activity_description("Renaming {symbol} to {new_name}")
            .transcript_search_text("{path} {symbol} {new_name}")
            .add_value_check("the place has a line and a symbol or a column, and the new name is not blank")
            .add_preflight("every change lies in the workspace, at a place that is there, and no file is made, moved or deleted")
            .add_preflight("every file is still as it was when the difference was shown")
            .build()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let [symbol, new, path] = ["symbol", "new_name", "path"]
            .map(|name| escape_invisible(text_argument(arguments, name)));
        match symbol.is_empty() {
            true => format!("a symbol to {new} in {path}"),
            false => format!("{symbol} to {new} in {path}"),
        }
    }

    /// Declares that the named file is written in any case; the plan lists the other files.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let mut accesses = declared_reads(arguments);
        accesses.push(Access::new(
            Capability::FsWrite,
            text_argument(arguments, "path"),
        ));
        accesses
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        position::check_position(arguments)?;
        reject_if(
            text_argument(arguments, "new_name").trim().is_empty(),
            "`new_name` is blank; give the name that it is to have",
        )
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        let Some(languages) = &self.languages else {
            return Err(ToolError::Failed(NO_SERVER.to_owned()));
        };
        let files = workspace.clone();
        let (document, query) = run_blocking(move || {
            let document = position::read_document(&files, text_argument(&arguments, "path"))?;
            let place = position::resolve_position(&document.text, &arguments)?;
            let new_name = text_argument(&arguments, "new_name").trim().to_owned();
            Ok((document, LanguageQuery::Rename(place, new_name)))
        })
        .await?;
        let never = CancellationToken::new();
        let response = languages.ask(&workspace, &document, &query, &never).await?;
        run_blocking(move || edits::plan_edits(&workspace, &response)).await
    }

    fn missing_setup(&self) -> Option<String> {
        missing_server(self.languages.as_ref())
    }
}

fn parameters_schema() -> Value {
    let mut members = position_parameters();
    members.insert(
        "new_name".to_owned(),
        json!({ "type": "string", "minLength": 1, "maxLength": SYMBOL_CHARS_MAX }),
    );
    object_schema(members.into(), &["path", "line", "new_name"])
}
