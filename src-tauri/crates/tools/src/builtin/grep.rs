//! `grep`: finds lines by regular expression (`S002-16`, `S002-74`, `S001-52`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
    redact,
};
use runtime::GrepQuery;
use serde_json::{Map, Value, json};

use super::listing::Listing;
use super::{blocking, failed, flag, house, object, path_member, text, text_if};
use crate::limits::{GREP_LINE_CHARS_MAX, GREP_MATCHES_MAX, GREP_WHOLE_MAX, OUTPUT_BYTES_MAX};
use crate::text::{plural, shortened, visible};
use crate::tool::{Hands, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Finds lines by regular expression (Rust syntax) in all text files, as path:line:text, \
    sorted by path. What .gitignore names is left out. At most 200 matches are given; narrow \
    the pattern, the path or include for more.";

pub(super) struct Grep {
    interface: ToolInterface,
}

impl Grep {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("grep")
        .user_facing_name("Search")
        .description(DESCRIPTION)
        .alias("search", &[("query", "pattern"), ("glob", "include")])
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**"))
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

fn parameters() -> Value {
    object(
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 4096,
                "description": "The regular expression. Escape what is meant literally: `foo\\(`.",
            },
            "path": path_member("The file or folder to look in; the whole workspace if left out."),
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
impl Tool for Grep {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let pattern = visible(text(arguments, "pattern"));
        match text_if(arguments, "path").or(text_if(arguments, "include")) {
            Some(place) => format!("{pattern} in {}", visible(place)),
            None => pattern,
        }
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::FsRead,
            text_if(arguments, "path").unwrap_or("."),
        )]
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments();
        let query = GrepQuery {
            pattern: text(arguments, "pattern").to_owned(),
            under: text_if(arguments, "path").map(str::to_owned),
            include: text_if(arguments, "include").map(str::to_owned),
            case_insensitive: flag(arguments, "case_insensitive"),
            context: 0,
        };
        let (hands, cancel, call) = (hands.clone(), cx.cancel.clone(), cx.tool_call_id.clone());
        blocking(move || {
            let found =
                runtime::grep(&hands.workspace, &query, GREP_WHOLE_MAX, &cancel).map_err(failed)?;
            let closed = match found.closed {
                0 => String::new(),
                n => format!(
                    "\n[{} not looked into: a rule closes what stands there.]",
                    plural(n as u64, "file was", "files were")
                ),
            };
            if found.matches.is_empty() {
                return Ok(ToolOutput::nothing(nothing(&query) + &closed, "no matches"));
            }
            let count = format!(
                "{} in {}",
                plural(found.matches.len() as u64, "match", "matches"),
                plural(found.files as u64, "file", "files")
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
                    shortened(&masked, GREP_LINE_CHARS_MAX)
                )
            });
            let listing = Listing {
                lines: lines.collect(),
                shown_max: GREP_MATCHES_MAX,
                more: found.more,
                what: "matches",
                count,
            };
            let mut output = listing.output(&hands, &call)?;
            output.text += &closed;
            output.secrets_masked = secrets_masked;
            Ok(output)
        })
        .await
    }
}

fn nothing(query: &GrepQuery) -> String {
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
