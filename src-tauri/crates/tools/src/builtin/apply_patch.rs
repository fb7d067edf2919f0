//! `apply_patch`: changes, adds, moves and deletes several files at once, all or none (`S002-32`, `S002-33`).

use std::collections::BTreeSet;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use super::files::carry_out;
use super::masked::keeps_secrets;
use super::patch_plan::plan;
use super::{blocking, house, object, text};
use crate::limits::PATCH_CHARS_MAX;
use crate::patch::{Act, FilePatch, parse};
use crate::text::{plural, visible};
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Changes several files at once, all of them or none. The patch begins with `*** Begin Patch` and ends \
    with `*** End Patch`. In between stands, for each file, `*** Add File: PATH` and its lines, each after `+`; \
    `*** Delete File: PATH`; or `*** Update File: PATH`, if it moves `*** Move to: PATH`, and its hunks. A hunk begins \
    with `@@`, or with `@@ ` and a whole line that stands above it, and has lines after a blank (they stay), `-` (they go) and `+` \
    (they come). Lines that stay and go must be in the file to the letter, and at one place only: take in three lines \
    around a change. A unified diff of one or many files is taken too. Paths are relative to the workspace.";

pub(super) struct ApplyPatch {
    interface: ToolInterface,
}

impl ApplyPatch {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("apply_patch")
        .user_facing_name("Patch")
        .description(DESCRIPTION)
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**").writes("**"))
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
        .checks("the patch can be read whole, to its last line")
        .preflights("every hunk fits its file at exactly one place, and no file is named twice")
        .preflights(
            "what is changed, moved or deleted is there, and nothing is where a file is added",
        )
        .preflights("every file is still as it was when the difference was shown")
        .build()
}

fn parameters() -> Value {
    object(
        json!({
            "patch": { "type": "string", "minLength": 1, "maxLength": PATCH_CHARS_MAX, "description": "The patch." },
        }),
        &["patch"],
    )
}

#[async_trait]
impl Tool for ApplyPatch {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let Ok(files) = parse(text(arguments, "patch")) else {
            return "a patch that cannot be read".to_owned();
        };
        let paths: Vec<String> = files.iter().map(|file| visible(&file.path)).collect();
        match paths.as_slice() {
            [one] => one.clone(),
            several => {
                let files = plural(several.len() as u64, "file", "files");
                format!("{files}: {}", several.join(", "))
            }
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let Ok(files) = parse(text(arguments, "patch")) else {
            // It is refused before it is judged; whoever only asks what may be is told the worst.
            return vec![Access::new(Capability::FsDelete, ".")];
        };
        let mut seen = BTreeSet::new();
        let accesses = files.iter().flat_map(accesses);
        accesses
            .filter(|one| seen.insert((one.capability, one.target.clone())))
            .collect()
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        match parse(text(arguments, "patch")) {
            Ok(_) => Ok(()),
            Err(why) => Err(ToolError::InvalidArgs(format!("`patch` {why}"))),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let workspace = hands.workspace.clone();
        let files = parse(text(arguments, "patch"))
            .map_err(|why| ToolError::InvalidArgs(format!("`patch` {why}")))?;
        blocking(move || keeps_secrets(plan(&workspace, &files)?)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        _cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = hands.workspace.clone();
        let plan = approved.plan().clone();
        blocking(move || carry_out(&workspace, &plan, "the patch")).await
    }
}

/// What one file's part touches: a move takes a file away at one path and writes it at the other.
fn accesses(file: &FilePatch) -> Vec<Access> {
    let path = file.path.as_str();
    match &file.act {
        Act::Add(_) => vec![Access::new(Capability::FsWrite, path)],
        Act::Delete(_) => vec![Access::new(Capability::FsDelete, path)],
        Act::Update { to: None, .. } => vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsWrite, path),
        ],
        Act::Update { to: Some(to), .. } => vec![
            Access::new(Capability::FsRead, path),
            Access::new(Capability::FsDelete, path),
            Access::new(Capability::FsWrite, to.as_str()),
        ],
    }
}
