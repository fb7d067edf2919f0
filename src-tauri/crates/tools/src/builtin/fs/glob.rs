//! `glob`: lists files by pattern (`S002-15`, `S002-73`, `S001-51`).

use protocol::{ToolError, ToolInterface, ToolOutput};
use runtime::{GlobInclude, GlobQuery};
use serde_json::{Map, Value, json};

use crate::builtin::fs::query_tool::{FileQuery, describe_search};
use crate::builtin::presets::file_query_interface;
use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{
    file_error, object_schema, optional_text_argument, path_schema, text_argument,
};
use crate::limits::{GLOB_ENTRIES_MAX, GLOB_TOTAL_MAX};
use crate::text::format_count;
use crate::tool::{ExecutionContext, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Lists files by pattern, sorted by path: `*` stays within a folder, `**` goes through \
    folders, `{a,b}` is either. What .gitignore names is left out, and so are folders, unless `include` is \
    `everything`. At most 1000 entries are given; narrow the pattern for more.";

/// Lists files by pattern.
#[derive(Clone, Copy)]
pub(in crate::builtin) struct FileListing;

impl FileQuery for FileListing {
    fn interface(self) -> ToolInterface {
        file_query_interface("glob")
            .user_facing_name("List")
            .description(DESCRIPTION)
            .add_alias("list_files", &[])
            .model_input_schema(parameters_schema())
            .search_hint("list files by name pattern")
            .classifier_input("list {pattern} {path}")
            .ui_summary("List {pattern} {path}")
            .activity_description("Listing {pattern}")
            .transcript_search_text("{pattern} {path}")
            .build()
    }

    fn target(self, arguments: &Map<String, Value>) -> String {
        describe_search(arguments, optional_text_argument(arguments, "path"))
    }

    fn answer_query(
        self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let pattern = text_argument(arguments, "pattern");
        let under = optional_text_argument(arguments, "path");
        let include = include_argument(arguments);
        let query = GlobQuery {
            pattern,
            under,
            include,
            entries_max: GLOB_TOTAL_MAX,
        };
        let files = runtime::find_files(&context.workspace, &query, &execution.cancel)
            .map_err(file_error)?;
        let nouns = ItemNouns::from_include(include);
        if files.paths.is_empty() {
            let place = under.map_or_else(String::new, |path| format!(" in `{path}`"));
            return Ok(ToolOutput::new_empty(
                format!(
                    "No {} fits `{pattern}`{place}. Use `**/` to look in all folders.",
                    nouns.one
                ),
                format!("no {}", nouns.many),
            ));
        }
        let listing = TruncatedList {
            count: format_count(files.paths.len() as u64, nouns.one, nouns.many),
            noun: nouns.many,
            shown_max: GLOB_ENTRIES_MAX,
            has_more: files.more,
            lines: files.paths,
        };
        listing.into_output(context, &execution.tool_call_id)
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Such as `**/*.rs` or `src/*.{ts,svelte}`.",
            },
            "path": path_schema("The folder to look in; the whole workspace if left out."),
            "include": {
                "type": "string", "enum": ["files", "everything"],
                "description": "`files` if left out. `everything` adds folders, each with a `/` at its end, and what .gitignore names.",
            },
        }),
        &["pattern"],
    )
}

/// Returns which kinds of entries a call asks for. The schema admits no other values.
fn include_argument(arguments: &Map<String, Value>) -> GlobInclude {
    match optional_text_argument(arguments, "include") {
        Some("everything") => GlobInclude::Everything,
        _ => GlobInclude::Files,
    }
}

/// Nouns for the entries of a list.
struct ItemNouns {
    one: &'static str,
    many: &'static str,
}

impl ItemNouns {
    fn from_include(include: GlobInclude) -> Self {
        let (one, many) = match include {
            GlobInclude::Files => ("file", "files"),
            GlobInclude::Everything => ("entry", "entries"),
        };
        Self { one, many }
    }
}
