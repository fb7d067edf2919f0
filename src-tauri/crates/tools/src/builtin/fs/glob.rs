//! `glob`: lists files by pattern (`S002-15`, `S002-73`, `S001-51`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use runtime::{GlobInclude, GlobQuery};
use serde_json::{Map, Value, json};

use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{
    builtin_interface, file_error, object_schema, optional_text_argument, path_schema,
    run_blocking, text_argument,
};
use crate::limits::{GLOB_ENTRIES_MAX, GLOB_TOTAL_MAX, OUTPUT_BYTES_MAX};
use crate::text::{escape_invisible, format_count};
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Lists files by pattern, sorted by path: `*` stays within a folder, `**` goes through \
    folders, `{a,b}` is either. What .gitignore names is left out, and so are folders, unless `include` is \
    `everything`. At most 1000 entries are given; narrow the pattern for more.";

pub(in crate::builtin) struct GlobTool {
    interface: ToolInterface,
}

impl GlobTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("glob")
        .user_facing_name("List")
        .description(DESCRIPTION)
        .add_alias("list_files", &[])
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_read("**"))
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .search_hint("list files by name pattern")
        .is_read_only(true)
        .is_concurrency_safe(true)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_read")
        .classifier_input("list {pattern} {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
        .persistence_policy_ref("sidecar")
        .ui_summary("List {pattern} {path}")
        .activity_description("Listing {pattern}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{pattern} {path}")
        .build()
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

#[async_trait]
impl Tool for GlobTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let pattern = escape_invisible(text_argument(arguments, "pattern"));
        match optional_text_argument(arguments, "path") {
            Some(path) => format!("{pattern} in {}", escape_invisible(path)),
            None => pattern,
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::FsRead,
            optional_text_argument(arguments, "path").unwrap_or("."),
        )]
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let pattern = text_argument(approved.arguments(), "pattern").to_owned();
        let under = optional_text_argument(approved.arguments(), "path").map(str::to_owned);
        let include = include_argument(approved.arguments());
        let (context, cancel, call) = (
            context.clone(),
            execution.cancel.clone(),
            execution.tool_call_id.clone(),
        );
        run_blocking(move || {
            let query = GlobQuery {
                pattern: &pattern,
                under: under.as_deref(),
                include,
                entries_max: GLOB_TOTAL_MAX,
            };
            let found =
                runtime::find_files(&context.workspace, &query, &cancel).map_err(file_error)?;
            let words = ItemNouns::from_include(include);
            if found.paths.is_empty() {
                let place = under.map_or_else(String::new, |path| format!(" in `{path}`"));
                return Ok(ToolOutput::new_empty(
                    format!(
                        "No {} fits `{pattern}`{place}. Use `**/` to look in all folders.",
                        words.one
                    ),
                    format!("no {}", words.many),
                ));
            }
            let listing = TruncatedList {
                count: format_count(found.paths.len() as u64, words.one, words.many),
                noun: words.many,
                shown_max: GLOB_ENTRIES_MAX,
                has_more: found.more,
                lines: found.paths,
            };
            listing.into_output(&context, &call)
        })
        .await
    }
}
