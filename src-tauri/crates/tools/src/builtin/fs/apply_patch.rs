//! `apply_patch`: changes, adds, moves and deletes several files at once, all or none (`S002-32`, `S002-33`).

use std::collections::BTreeSet;

use async_trait::async_trait;
use protocol::{Access, Capability, ToolError, ToolInterface};
use runtime::Workspace;
use serde_json::{Map, Value, json};

use crate::builtin::fs::patch_plan::plan_patch;
use crate::builtin::fs::plan_tool::FilePlanner;
use crate::builtin::presets::file_change_interface;
use crate::builtin::{object_schema, run_blocking, text_argument};
use crate::limits::PATCH_CHARS_MAX;
use crate::patch::{FilePatch, PatchAction, parse_patch};
use crate::text::{escape_invisible, format_count};
use crate::tool::PreviewedPlan;

/// Tool description for the model.
const DESCRIPTION: &str = "Changes several files at once, all of them or none. The patch begins with `*** Begin Patch` and ends \
    with `*** End Patch`. In between stands, for each file, `*** Add File: PATH` and its lines, each after `+`; \
    `*** Delete File: PATH`; or `*** Update File: PATH`, if it moves `*** Move to: PATH`, and its hunks. A hunk begins \
    with `@@`, or with `@@ ` and a whole line that stands above it, and has lines after a blank (they stay), `-` (they go) and `+` \
    (they come). Lines that stay and go must be in the file to the letter, and at one place only: take in three lines \
    around a change. A unified diff of one or many files is taken too. Paths are relative to the workspace.";

/// Plans the changes of a patch.
pub(in crate::builtin) struct PatchPlanner;

#[async_trait]
impl FilePlanner for PatchPlanner {
    /// Builds an interface of the mode *safe write*: a call that takes a file away is judged as destructive.
    fn interface(&self) -> ToolInterface {
        file_change_interface("apply_patch")
            .user_facing_name("Patch")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("patch, add, move and delete files at once")
            .classifier_input("{patch}")
            .ui_summary("Apply a patch")
            .activity_description("Applying a patch")
            .transcript_search_text("{patch}")
            .add_value_check("the patch can be read whole, to its last line")
            .add_preflight(
                "every hunk fits its file at exactly one place, and no file is named twice",
            )
            .add_preflight(
                "what is changed, moved or deleted is there, and nothing is where a file is added",
            )
            .add_preflight("every file is still as it was when the difference was shown")
            .build()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let Ok(files) = parse_argument(arguments) else {
            return "a patch that cannot be read".to_owned();
        };
        let paths: Vec<String> = files
            .iter()
            .map(|file| escape_invisible(&file.path))
            .collect();
        match paths.as_slice() {
            [one] => one.clone(),
            several => {
                let files = format_count(several.len() as u64, "file", "files");
                format!("{files}: {}", several.join(", "))
            }
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let Ok(files) = parse_argument(arguments) else {
            // It is refused before it is judged; whoever only asks what may be is told the worst.
            return vec![Access::new(Capability::FsDelete, ".")];
        };
        let mut seen = BTreeSet::new();
        let accesses = files.iter().flat_map(patch_accesses);
        accesses
            .filter(|one| seen.insert((one.capability, one.target.clone())))
            .collect()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        parse_argument(arguments).map(drop)
    }

    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError> {
        run_blocking(move || plan_patch(&workspace, &parse_argument(&arguments)?)).await
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "patch": { "type": "string", "minLength": 1, "maxLength": PATCH_CHARS_MAX, "description": "The patch." },
        }),
        &["patch"],
    )
}

/// Parses the patch among the arguments.
fn parse_argument(arguments: &Map<String, Value>) -> Result<Vec<FilePatch>, ToolError> {
    parse_patch(text_argument(arguments, "patch"))
        .map_err(|why| ToolError::InvalidArgs(format!("`patch` {why}")))
}

/// Returns the accesses of one file's part of the patch: a move deletes the file at one path and writes it at the
/// other.
fn patch_accesses(file: &FilePatch) -> Vec<Access> {
    let path = file.path.as_str();
    match &file.act {
        PatchAction::Add(_) => vec![Access::new(Capability::FsWrite, path)],
        PatchAction::Delete(_) => vec![Access::new(Capability::FsDelete, path)],
        PatchAction::Update { to: None, .. } => vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsWrite, path),
        ],
        PatchAction::Update { to: Some(to), .. } => vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsDelete, path),
            Access::new(Capability::FsWrite, to.as_str()),
        ],
    }
}
