//! `repo_overview`: the shape of a repository in one answer: folders, languages, manifests, branch (`S002-32`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::builtin::fs::repo_stats::RepoStats;
use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{
    builtin_interface, number_argument, object_schema, optional_text_argument, path_schema,
    run_blocking,
};
use crate::limits::{
    OUTPUT_BYTES_MAX, OVERVIEW_DEPTH_DEFAULT, OVERVIEW_DEPTH_MAX, OVERVIEW_LINES_MAX,
};
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Gives the shape of a repository or a folder of it: the git branch, the languages with files, bytes and lines, the \
    manifests (Cargo.toml, package.json, pyproject.toml and their like), and the folders to a depth, each with the number \
    of files below it. What .gitignore names is left out. Look at it first in a folder that you do not know.";

pub(in crate::builtin) struct RepoOverviewTool {
    interface: ToolInterface,
}

impl RepoOverviewTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("repo_overview")
        .user_facing_name("Overview")
        .description(DESCRIPTION)
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_read("**"))
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .search_hint("structure of a repository, its languages and manifests")
        .is_read_only(true)
        .is_concurrency_safe(true)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_read")
        .classifier_input("look over {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
        .persistence_policy_ref("sidecar")
        .ui_summary("Look over {path}")
        .activity_description("Looking over {path}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{path}")
        .build()
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "path": path_schema("The folder to look over; the whole workspace if left out."),
            "depth": {
                "type": "integer", "minimum": 1, "maximum": OVERVIEW_DEPTH_MAX,
                "description": "Levels of folders to show; 3 if left out.",
            },
        }),
        &[],
    )
}

#[async_trait]
impl Tool for RepoOverviewTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        optional_text_argument(arguments, "path")
            .map_or_else(|| "the workspace".to_owned(), escape_invisible)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        let folder = optional_text_argument(arguments, "path").unwrap_or(".");
        vec![Access::new(Capability::FsRead, folder)]
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let under = optional_text_argument(approved.arguments(), "path").map(str::to_owned);
        let depth =
            number_argument(approved.arguments(), "depth").unwrap_or(OVERVIEW_DEPTH_DEFAULT);
        let depth = usize::try_from(depth.min(OVERVIEW_DEPTH_MAX)).unwrap_or(1);
        let (context, cancel, call) = (
            context.clone(),
            execution.cancel.clone(),
            execution.tool_call_id.clone(),
        );
        run_blocking(move || {
            let overview = RepoStats::collect(&context.workspace, under.as_deref(), &cancel)?;
            if overview.is_empty() {
                return Ok(ToolOutput::new_empty(
                    "There is no file here that git would keep.",
                    "no files",
                ));
            }
            let (data, message) = (overview.to_json(), overview.summary());
            let lines = overview.to_lines(depth);
            let count = crate::text::format_count(lines.len() as u64, "line", "lines");
            let listing = TruncatedList {
                lines,
                shown_max: OVERVIEW_LINES_MAX,
                has_more: false,
                noun: "lines",
                count,
            };
            Ok(ToolOutput {
                data: Some(data),
                message,
                ..listing.into_output(&context, &call)?
            })
        })
        .await
    }
}
