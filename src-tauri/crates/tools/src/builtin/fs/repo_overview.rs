//! `repo_overview`: the shape of a repository in one answer: folders, languages, manifests, branch (`S002-32`).

use protocol::{ToolError, ToolInterface, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::fs::query_tool::FileQuery;
use crate::builtin::fs::repo_stats::RepoStats;
use crate::builtin::presets::file_query_interface;
use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{number_argument, object_schema, optional_text_argument, path_schema};
use crate::limits::{OVERVIEW_DEPTH_DEFAULT, OVERVIEW_DEPTH_MAX, OVERVIEW_LINES_MAX};
use crate::text::{escape_invisible, format_count};
use crate::tool::{ExecutionContext, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Gives the shape of a repository or a folder of it: the git branch, the languages with files, bytes and lines, the \
    manifests (Cargo.toml, package.json, pyproject.toml and their like), and the folders to a depth, each with the number \
    of files below it. What .gitignore names is left out. Look at it first in a folder that you do not know.";

/// Gives the shape of a repository.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct RepoOverview;

impl FileQuery for RepoOverview {
    fn interface(self) -> ToolInterface {
        file_query_interface("repo_overview")
            .user_facing_name("Overview")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("structure of a repository, its languages and manifests")
            .classifier_input("look over {path}")
            .ui_summary("Look over {path}")
            .activity_description("Looking over {path}")
            .transcript_search_text("{path}")
            .build()
    }

    fn target(self, arguments: &Map<String, Value>) -> String {
        optional_text_argument(arguments, "path")
            .map_or_else(|| "the workspace".to_owned(), escape_invisible)
    }

    fn answer_query(
        self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let under = optional_text_argument(arguments, "path");
        let depth = number_argument(arguments, "depth").unwrap_or(OVERVIEW_DEPTH_DEFAULT);
        let depth = usize::try_from(depth.min(OVERVIEW_DEPTH_MAX)).unwrap_or(1);
        let stats = RepoStats::collect(&context.workspace, under, &execution.cancel)?;
        if stats.is_empty() {
            return Ok(ToolOutput::new_empty(
                "There is no file here that git would keep.",
                "no files",
            ));
        }
        let lines = stats.to_lines(depth);
        let listing = TruncatedList {
            count: format_count(lines.len() as u64, "line", "lines"),
            lines,
            shown_max: OVERVIEW_LINES_MAX,
            has_more: false,
            noun: "lines",
        };
        Ok(ToolOutput {
            data: Some(stats.to_json()),
            message: stats.summary(),
            ..listing.into_output(context, &execution.tool_call_id)?
        })
    }
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
