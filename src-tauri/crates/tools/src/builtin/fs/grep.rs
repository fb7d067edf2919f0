//! `grep`: finds lines by regular expression (`S002-16`, `S002-74`, `S001-52`).

use protocol::text::redact;
use protocol::{ToolError, ToolInterface, ToolOutput};
use runtime::GrepQuery;
use serde_json::{Map, Value, json};

use crate::builtin::fs::query_tool::{FileQuery, describe_search};
use crate::builtin::presets::file_query_interface;
use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{
    file_error, flag_argument, object_schema, optional_text_argument, path_schema, text_argument,
};
use crate::limits::{GREP_LINE_CHARS_MAX, GREP_MATCHES_MAX, GREP_TOTAL_MAX};
use crate::text::{format_count, truncate_chars};
use crate::tool::{ExecutionContext, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Finds lines by regular expression (Rust syntax) in all text files, as path:line:text, \
    sorted by path. What .gitignore names is left out. At most 200 matches are given; narrow \
    the pattern, the path or include for more.";

/// Finds lines by regular expression.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct LineSearch;

impl FileQuery for LineSearch {
    fn interface(self) -> ToolInterface {
        file_query_interface("grep")
            .user_facing_name("Search")
            .description(DESCRIPTION)
            .add_alias("search", &[("query", "pattern"), ("glob", "include")])
            .model_input_schema(parameters_schema())
            .search_hint("search file contents by regular expression")
            .classifier_input("search {pattern} {path}")
            .ui_summary("Search {pattern} {path}")
            .activity_description("Searching for {pattern}")
            .transcript_search_text("{pattern} {path} {include}")
            .build()
    }

    fn target(self, arguments: &Map<String, Value>) -> String {
        let place = optional_text_argument(arguments, "path")
            .or(optional_text_argument(arguments, "include"));
        describe_search(arguments, place)
    }

    fn answer_query(
        self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let query = GrepQuery {
            pattern: text_argument(arguments, "pattern").to_owned(),
            under: optional_text_argument(arguments, "path").map(str::to_owned),
            include: optional_text_argument(arguments, "include").map(str::to_owned),
            case_insensitive: flag_argument(arguments, "case_insensitive"),
        };
        let hits = runtime::search_lines(
            &context.workspace,
            &query,
            GREP_TOTAL_MAX,
            &execution.cancel,
        )
        .map_err(file_error)?;
        let closed_note = match hits.closed {
            0 => String::new(),
            n => format!(
                "\n[{} not looked into: a rule closes what stands there.]",
                format_count(n as u64, "file was", "files were")
            ),
        };
        if hits.matches.is_empty() {
            return Ok(ToolOutput::new_empty(
                no_matches_message(&query) + &closed_note,
                "no matches",
            ));
        }
        let count = format!(
            "{} in {}",
            format_count(hits.matches.len() as u64, "match", "matches"),
            format_count(hits.files as u64, "file", "files")
        );
        let mut secrets_masked = 0;
        let lines = hits.matches.into_iter().map(|hit| {
            // Masked before it is cut: half a secret does not look like one.
            let (masked, count) = redact::text(&hit.text);
            secrets_masked += count;
            format!(
                "{}:{}:{}",
                hit.path,
                hit.line,
                truncate_chars(&masked, GREP_LINE_CHARS_MAX)
            )
        });
        let listing = TruncatedList {
            lines: lines.collect(),
            shown_max: GREP_MATCHES_MAX,
            has_more: hits.more,
            noun: "matches",
            count,
        };
        let mut output = listing.into_output(context, &execution.tool_call_id)?;
        output.text += &closed_note;
        output.secrets_masked = secrets_masked;
        Ok(output)
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 4096,
                "description": "The regular expression. Escape what is meant literally: `foo\\(`.",
            },
            "path": path_schema("The file or folder to look in; the whole workspace if left out."),
            "include": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Only files whose name fits, such as `*.rs` or `src/**/*.ts`.",
            },
            "case_insensitive": { "type": "boolean", "description": "Whether case does not matter." },
        }),
        &["pattern"],
    )
}

fn no_matches_message(query: &GrepQuery) -> String {
    let mut text = format!("No line matches `{}`", query.pattern);
    if let Some(under) = &query.under {
        text += &format!(" in `{under}`");
    }
    if let Some(include) = &query.include {
        text += &format!(" in files that fit `{include}`");
    }
    match query.case_insensitive {
        true => text + ".",
        false => text + ". Case matters unless case_insensitive is set.",
    }
}
