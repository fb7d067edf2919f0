//! `tool_search`: finds tools that are not shown at first; tools that it found can be called from then on (`S002-24`,
//! `S002-41`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{
    AbortSemantics, ContextModifierPolicy, InterruptBehavior, PermissionMatcher, RenderHint,
};
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::{builtin_interface, number_argument, object_schema, text_argument};
use crate::limits::{MATCHES_DEFAULT, MATCHES_MAX, SEARCH_CHARS_MAX};
use crate::text::format_count;
use crate::tool::{ExecutionContext, Tool, ToolContext};
use crate::tool_index::ToolIndex;

/// Name under which found tools are remembered.
pub const TOOL_SEARCH: &str = "tool_search";

/// Tool description for the model, placed before the summary of searchable tools.
const DESCRIPTION: &str = "Finds tools that are not listed, by words on what they do, or by name with `select:NAME,NAME`. \
    What is found can be called from your next turn on, and only then: its parameters come with it.";

/// The `tool_search` tool over the tools of one session.
pub struct ToolSearchTool {
    interface: ToolInterface,
    index: Arc<ToolIndex>,
}

impl ToolSearchTool {
    /// Creates the tool over these tools; the index may be empty.
    pub fn new(index: Arc<ToolIndex>) -> Self {
        Self {
            interface: build_interface(&index),
            index,
        }
    }
}

fn build_interface(index: &ToolIndex) -> ToolInterface {
    let counts = index.count_by_namespace();
    let told: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    let there = match told.is_empty() {
        true => " All tools are listed at the moment.".to_owned(),
        false => format!(" There are more of {}.", told.join(", ")),
    };
    builtin_interface(TOOL_SEARCH)
        .user_facing_name("Find tools")
        .description(format!("{DESCRIPTION}{there}"))
        .model_input_schema(object_schema(
            json!({
                "query": { "type": "string", "minLength": 1, "maxLength": SEARCH_CHARS_MAX, "description": "Words, or `select:` and names." },
                "max_results": { "type": "integer", "minimum": 1, "maximum": MATCHES_MAX, "description": "How many at most; 10 if left out." },
            }),
            &["query"],
        ))
        .requires(RequirementSet::empty())
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .search_hint("find tools by what they do")
        .is_read_only(true)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("nothing")
        .classifier_input("")
        .permission_matcher(PermissionMatcher::Nothing)
        .execution_profile_ref("engine")
        .context_modifier_policy(ContextModifierPolicy::AllowSerialOnly)
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Find tools: {query}")
        .activity_description("Looking for tools: {query}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{query}")
        .build()
}

#[async_trait]
impl Tool for ToolSearchTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        text_argument(arguments, "query").to_owned()
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = approved.arguments();
        let limit = number_argument(arguments, "max_results").unwrap_or(MATCHES_DEFAULT);
        let limit = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .min(MATCHES_MAX);
        let found = self.index.search(text_argument(arguments, "query"), limit);
        let line = |id: &str, description: &str| format!("- {id}: {description}\n");
        let mut told: String = found
            .matches
            .iter()
            .map(|it| line(&it.id, &it.description))
            .collect();
        if found.matches.is_empty() {
            let all = format_count(self.index.count() as u64, "tool is", "tools are");
            told =
                format!("Nothing was found; {all} not listed. Try other words, or do without.\n");
        }
        if !found.missing.is_empty() {
            told += &format!("Not there: {}.\n", found.missing.join(", "));
        }
        let matches = found.matches.iter();
        let matches = matches.map(|it| json!({ "id": it.id, "description": it.description }));
        let message = format!("{} found", found.matches.len());
        Ok(ToolOutput {
            data: Some(json!({
                "matches": matches.collect::<Vec<_>>(),
                "total_deferred_tools": self.index.count(),
                "missing_names": found.missing,
            })),
            ..ToolOutput::new(told, message)
        })
    }
}
