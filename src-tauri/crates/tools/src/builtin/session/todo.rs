//! `todo`: the agent's list of things to do, replaced as a whole (`S002-18`).

use async_trait::async_trait;
use policy::Approved;
use protocol::view::preview::{TodoItem, TodoStatus};
use protocol::{Access, Preview, ToolError, ToolInterface, ToolOutput};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::builtin::object_schema;
use crate::builtin::presets::session_interface;
use crate::limits::{TODO_CHARS_MAX, TODO_ITEMS_MAX};
use crate::text::format_count;
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Keeps the list of things to do that the person sees. Every call gives the whole list anew; \
    what is not in it is gone. Have at most one item in progress.";

pub(in crate::builtin) struct TodoTool {
    interface: ToolInterface,
}

impl TodoTool {
    pub(in crate::builtin) fn new() -> Self {
        let interface = session_interface("todo")
            .user_facing_name("To do")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .search_hint("keep the list of things to do")
            .ui_summary("To do")
            .activity_description("Updating the list of things to do")
            .transcript_search_text("{items}")
            .add_value_check("no item is blank")
            .build();
        Self { interface }
    }
}

fn parameters_schema() -> Value {
    let item = object_schema(
        json!({
            "content": { "type": "string", "minLength": 1, "maxLength": TODO_CHARS_MAX, "description": "What is to be done." },
            "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
        }),
        &["content", "status"],
    );
    object_schema(
        json!({ "items": { "type": "array", "items": item, "maxItems": TODO_ITEMS_MAX } }),
        &["items"],
    )
}

fn parse_items(arguments: &Map<String, Value>) -> Result<Vec<TodoItem>, ToolError> {
    let value = arguments.get("items").unwrap_or(&Value::Null);
    Vec::deserialize(value)
        .map_err(|error| ToolError::InvalidArgs(format!("`items` is not a list: {error}")))
}

fn count_status(items: &[TodoItem], status: TodoStatus) -> usize {
    items.iter().filter(|item| item.status == status).count()
}

#[async_trait]
impl Tool for TodoTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        format_count(
            parse_items(arguments).unwrap_or_default().len() as u64,
            "item",
            "items",
        )
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let items = parse_items(arguments)?;
        match items.iter().position(|item| item.content.trim().is_empty()) {
            Some(index) => Err(ToolError::InvalidArgs(format!(
                "`items[{index}].content` is blank; say what is to be done"
            ))),
            None => Ok(()),
        }
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        _context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let items = parse_items(arguments)?;
        Ok(Preview::Todo { items }.into())
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let items = parse_items(approved.arguments())?;
        let [pending, in_progress, completed] = [
            TodoStatus::Pending,
            TodoStatus::InProgress,
            TodoStatus::Completed,
        ]
        .map(|status| count_status(&items, status));
        let mut text = format!(
            "The list has {} now: {completed} completed, {in_progress} in progress, {pending} pending.",
            format_count(items.len() as u64, "item", "items")
        );
        if in_progress > 1 {
            text += &format!(
                " {in_progress} items are in progress; have at most one, so that the person sees what you do."
            );
        }
        let message = format!("{completed} of {} done", items.len());
        let data = json!({ "items": items });
        context.todo_list.replace(items);
        Ok(ToolOutput {
            data: Some(data),
            ..ToolOutput::new(text, message)
        })
    }
}
