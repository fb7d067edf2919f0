//! `tool_search`: finds tools that are not shown at first; tools that it found can be called from then on (`S002-24`,
//! `S002-41`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ContextModifierPolicy;
use protocol::{Access, ToolError, ToolInterface, ToolKind, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::presets::session_interface;
use crate::builtin::{number_argument, object_schema, text_argument};
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
    let namespaces: Vec<String> = index
        .count_by_namespace()
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    let summary = match namespaces.is_empty() {
        true => " All tools are listed at the moment.".to_owned(),
        false => format!(" There are more of {}.", namespaces.join(", ")),
    };
    session_interface(TOOL_SEARCH)
        .user_facing_name("Find tools")
        .description(format!("{DESCRIPTION}{summary}"))
        .model_input_schema(object_schema(
            json!({
                "query": { "type": "string", "minLength": 1, "maxLength": SEARCH_CHARS_MAX, "description": "Words, or `select:` and names." },
                "max_results": { "type": "integer", "minimum": 1, "maximum": MATCHES_MAX, "description": "How many at most; 10 if left out." },
            }),
            &["query"],
        ))
        .kind(ToolKind::Search)
        .search_hint("find tools by what they do")
        .context_modifier_policy(ContextModifierPolicy::AllowSerialOnly)
        .ui_summary("Find tools: {query}")
        .activity_description("Looking for tools: {query}")
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
        let result = self.index.search(text_argument(arguments, "query"), limit);
        let mut text: String = result
            .matches
            .iter()
            .map(|tool| format!("- {}: {}\n", tool.id, tool.description))
            .collect();
        if result.matches.is_empty() {
            let all = format_count(self.index.count() as u64, "tool is", "tools are");
            text =
                format!("Nothing was found; {all} not listed. Try other words, or do without.\n");
        }
        if !result.missing.is_empty() {
            text += &format!("Not there: {}.\n", result.missing.join(", "));
        }
        let matches = result.matches.iter();
        let matches = matches.map(|tool| json!({ "id": tool.id, "description": tool.description }));
        let message = format!("{} found", result.matches.len());
        Ok(ToolOutput {
            data: Some(json!({
                "matches": matches.collect::<Vec<_>>(),
                "total_deferred_tools": self.index.count(),
                "missing_names": result.missing,
            })),
            ..ToolOutput::new(text, message)
        })
    }
}
