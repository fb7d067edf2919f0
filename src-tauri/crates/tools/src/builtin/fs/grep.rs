//! `grep`: finds lines by regular expression (`S002-16`, `S002-74`, `S001-52`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::text::redact;
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use runtime::GrepQuery;
use serde_json::{Map, Value, json};

use crate::builtin::truncated_list::TruncatedList;
use crate::builtin::{
    builtin_interface, file_error, flag_argument, object_schema, optional_text_argument,
    path_schema, run_blocking, text_argument,
};
use crate::limits::{GREP_LINE_CHARS_MAX, GREP_MATCHES_MAX, GREP_TOTAL_MAX, OUTPUT_BYTES_MAX};
use crate::text::{escape_invisible, format_count, truncate_chars};
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Finds lines by regular expression (Rust syntax) in all text files, as path:line:text, \
    sorted by path. What .gitignore names is left out. At most 200 matches are given; narrow \
    the pattern, the path or include for more.";

pub(in crate::builtin) struct GrepTool {
    interface: ToolInterface,
}

impl GrepTool {
    pub(in crate::builtin) fn new() -> Self {
        Self {
            interface: build_interface(),
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("grep")
        .user_facing_name("Search")
        .description(DESCRIPTION)
        .add_alias("search", &[("query", "pattern"), ("glob", "include")])
        .model_input_schema(parameters_schema())
        .requires(RequirementSet::empty().with_read("**"))
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .search_hint("search file contents by regular expression")
        .is_read_only(true)
        .is_concurrency_safe(true)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("workspace_read")
        .classifier_input("search {pattern} {path}")
        .permission_matcher(PermissionMatcher::Path)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
        .persistence_policy_ref("sidecar")
        .ui_summary("Search {pattern} {path}")
        .activity_description("Searching for {pattern}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{pattern} {path} {include}")
        .build()
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

#[async_trait]
impl Tool for GrepTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let pattern = escape_invisible(text_argument(arguments, "pattern"));
        match optional_text_argument(arguments, "path")
            .or(optional_text_argument(arguments, "include"))
        {
            Some(place) => format!("{pattern} in {}", escape_invisible(place)),
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
        let arguments = approved.arguments();
        let query = GrepQuery {
            pattern: text_argument(arguments, "pattern").to_owned(),
            under: optional_text_argument(arguments, "path").map(str::to_owned),
            include: optional_text_argument(arguments, "include").map(str::to_owned),
            case_insensitive: flag_argument(arguments, "case_insensitive"),
            context: 0,
        };
        let (context, cancel, call) = (
            context.clone(),
            execution.cancel.clone(),
            execution.tool_call_id.clone(),
        );
        run_blocking(move || {
            let found = runtime::search_lines(&context.workspace, &query, GREP_TOTAL_MAX, &cancel)
                .map_err(file_error)?;
            let closed = match found.closed {
                0 => String::new(),
                n => format!(
                    "\n[{} not looked into: a rule closes what stands there.]",
                    format_count(n as u64, "file was", "files were")
                ),
            };
            if found.matches.is_empty() {
                return Ok(ToolOutput::new_empty(
                    no_matches_message(&query) + &closed,
                    "no matches",
                ));
            }
            let count = format!(
                "{} in {}",
                format_count(found.matches.len() as u64, "match", "matches"),
                format_count(found.files as u64, "file", "files")
            );
            let mut secrets_masked = 0;
            let lines = found.matches.into_iter().map(|hit| {
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
                has_more: found.more,
                noun: "matches",
                count,
            };
            let mut output = listing.into_output(&context, &call)?;
            output.text += &closed;
            output.secrets_masked = secrets_masked;
            Ok(output)
        })
        .await
    }
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
