//! `glob`: lists files by pattern (`S002-15`, `S002-73`, `S001-51`).

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use runtime::{GlobQuery, Include};
use serde_json::{Map, Value, json};

use super::listing::Listing;
use super::{blocking, failed, house, object, path_member, text, text_if};
use crate::limits::{GLOB_ENTRIES_MAX, GLOB_WHOLE_MAX, OUTPUT_BYTES_MAX};
use crate::text::{plural, visible};
use crate::tool::{Hands, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Lists files by pattern, sorted by path: `*` stays within a folder, `**` goes through \
    folders, `{a,b}` is either. What .gitignore names is left out, and so are folders, unless `include` is \
    `everything`. At most 1000 entries are given; narrow the pattern for more.";

pub(super) struct Glob {
    interface: ToolInterface,
}

impl Glob {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("glob")
        .user_facing_name("List")
        .description(DESCRIPTION)
        .alias("list_files", &[])
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().reads("**"))
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

fn parameters() -> Value {
    object(
        json!({
            "pattern": {
                "type": "string", "minLength": 1, "maxLength": 1000,
                "description": "Such as `**/*.rs` or `src/*.{ts,svelte}`.",
            },
            "path": path_member("The folder to look in; the whole workspace if left out."),
            "include": {
                "type": "string", "enum": ["files", "everything"],
                "description": "`files` if left out. `everything` adds folders, each with a `/` at its end, and what .gitignore names.",
            },
        }),
        &["pattern"],
    )
}

/// Which entries a call asks for. The schema lets no other words through.
fn include(arguments: &Map<String, Value>) -> Include {
    match text_if(arguments, "include") {
        Some("everything") => Include::Everything,
        _ => Include::Files,
    }
}

/// What the entries of a list are called.
struct Words {
    one: &'static str,
    many: &'static str,
}

impl Words {
    fn of(include: Include) -> Self {
        let (one, many) = match include {
            Include::Files => ("file", "files"),
            Include::Everything => ("entry", "entries"),
        };
        Self { one, many }
    }
}

#[async_trait]
impl Tool for Glob {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        let pattern = visible(text(arguments, "pattern"));
        match text_if(arguments, "path") {
            Some(path) => format!("{pattern} in {}", visible(path)),
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
        let pattern = text(approved.arguments(), "pattern").to_owned();
        let under = text_if(approved.arguments(), "path").map(str::to_owned);
        let include = include(approved.arguments());
        let (hands, cancel, call) = (hands.clone(), cx.cancel.clone(), cx.tool_call_id.clone());
        blocking(move || {
            let query = GlobQuery {
                pattern: &pattern,
                under: under.as_deref(),
                include,
                entries_max: GLOB_WHOLE_MAX,
            };
            let found = runtime::glob(&hands.workspace, &query, &cancel).map_err(failed)?;
            let words = Words::of(include);
            if found.paths.is_empty() {
                let place = under.map_or_else(String::new, |path| format!(" in `{path}`"));
                return Ok(ToolOutput::nothing(
                    format!(
                        "No {} fits `{pattern}`{place}. Use `**/` to look in all folders.",
                        words.one
                    ),
                    format!("no {}", words.many),
                ));
            }
            let listing = Listing {
                count: plural(found.paths.len() as u64, words.one, words.many),
                what: words.many,
                shown_max: GLOB_ENTRIES_MAX,
                more: found.more,
                lines: found.paths,
            };
            listing.output(&hands, &call)
        })
        .await
    }
}
