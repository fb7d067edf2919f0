//! `apply_patch`: changes, adds, moves and deletes several files at once, all or none (`S002-32`, `S002-33`).

use std::collections::BTreeSet;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::builtin::fs::file_access::apply_approved;
use crate::builtin::fs::mask_guard::reject_mask_writes;
use crate::builtin::fs::patch_plan::plan_patch;
use crate::builtin::{builtin_interface, object_schema, run_blocking, text_argument};
use crate::limits::PATCH_CHARS_MAX;
use crate::patch::{FilePatch, PatchAction, parse_patch};
use crate::text::{escape_invisible, format_count};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Changes several files at once, all of them or none. The patch begins with `*** Begin Patch` and ends \
    with `*** End Patch`. In between stands, for each file, `*** Add File: PATH` and its lines, each after `+`; \
    `*** Delete File: PATH`; or `*** Update File: PATH`, if it moves `*** Move to: PATH`, and its hunks. A hunk begins \
    with `@@`, or with `@@ ` and a whole line that stands above it, and has lines after a blank (they stay), `-` (they go) and `+` \
    (they come). Lines that stay and go must be in the file to the letter, and at one place only: take in three lines \
    around a change. A unified diff of one or many files is taken too. Paths are relative to the workspace.";

pub(in crate::builtin) struct ApplyPatchTool {
    interface: ToolInterface,
}

impl ApplyPatchTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("apply_patch")
        .user_facing_name("Patch")
        .description(DESCRIPTION)
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_read("**").with_write("**"))
        // A call that takes a file away is judged as destructive.
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .search_hint("patch, add, move and delete files at once")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_write")
        .classifier_input("{patch}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Apply a patch")
        .activity_description("Applying a patch")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Difference)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{patch}")
        .add_value_check("the patch can be read whole, to its last line")
        .add_preflight("every hunk fits its file at exactly one place, and no file is named twice")
        .add_preflight(
            "what is changed, moved or deleted is there, and nothing is where a file is added",
        )
        .add_preflight("every file is still as it was when the difference was shown")
        .build()
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "patch": { "type": "string", "minLength": 1, "maxLength": PATCH_CHARS_MAX, "description": "The patch." },
        }),
        &["patch"],
    )
}

#[async_trait]
impl Tool for ApplyPatchTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let Ok(files) = parse_patch(text_argument(arguments, "patch")) else {
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
        let Ok(files) = parse_patch(text_argument(arguments, "patch")) else {
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
        match parse_patch(text_argument(arguments, "patch")) {
            Ok(_) => Ok(()),
            Err(why) => Err(ToolError::InvalidArgs(format!("`patch` {why}"))),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let workspace = context.workspace.clone();
        let files = parse_patch(text_argument(arguments, "patch"))
            .map_err(|why| ToolError::InvalidArgs(format!("`patch` {why}")))?;
        run_blocking(move || reject_mask_writes(plan_patch(&workspace, &files)?)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = context.workspace.clone();
        let plan = approved.plan().clone();
        run_blocking(move || apply_approved(&workspace, &plan, "the patch")).await
    }
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
