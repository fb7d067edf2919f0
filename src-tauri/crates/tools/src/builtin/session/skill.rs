//! `skill`: loads one of the session's skills by name (`S002-23`, `S002-40`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::{Access, ToolError, ToolInterface, ToolKind, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::presets::session_interface;
use crate::builtin::{object_schema, run_blocking, text_argument};
use crate::limits::SKILL_FILES_LISTED_MAX;
use crate::skills::{Skill, SkillIndex};
use crate::tool::{ExecutionContext, Tool, ToolContext};

/// Tool description for the model.
const DESCRIPTION: &str = "Loads a skill: instructions for one kind of work. The skills are listed, each with a line on when \
    to use it, in what you were told at first. Load one before you do what it is about.";

/// The `skill` tool over the skills of one session.
pub struct SkillTool {
    interface: ToolInterface,
    index: Arc<SkillIndex>,
}

impl SkillTool {
    /// Creates the tool over these skills; the index may be empty.
    pub fn new(index: Arc<SkillIndex>) -> Self {
        let interface = session_interface("skill")
            .user_facing_name("Skill")
            .description(DESCRIPTION)
            .model_input_schema(object_schema(
                json!({ "name": { "type": "string", "minLength": 1, "maxLength": 64, "description": "The skill's name, as it is listed." } }),
                &["name"],
            ))
            .kind(ToolKind::Think)
            .search_hint("load a skill instructions for one kind of work")
            .is_concurrency_safe(true)
            .ui_summary("Skill {name}")
            .activity_description("Loading the skill {name}")
            .transcript_search_text("{name}")
            .add_value_check("the session knows a skill of this name")
            .build();
        Self { interface, index }
    }
}

/// Formats the skill for the model: its text, and the files beside it.
fn format_skill(skill: &Skill) -> Result<String, ToolError> {
    let name = &skill.view().name;
    let body = skill.body()?.trim_end();
    let mut text = format!("<skill_content name=\"{name}\">\n{body}\n</skill_content>\n");
    let files = skill.files(SKILL_FILES_LISTED_MAX);
    if !files.is_empty() {
        let folder = protocol::text::display_text::name(&skill.folder());
        text += &format!("Beside it in {folder}, to be read or run when the text above says so:\n");
        text.extend(files.iter().map(|file| format!("- {file}\n")));
    }
    Ok(text)
}

#[async_trait]
impl Tool for SkillTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        text_argument(arguments, "name").to_owned()
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.index.find(text_argument(arguments, "name")).map(drop)
    }

    async fn execute(
        &self,
        approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let name = text_argument(approved.arguments(), "name").to_owned();
        let index = self.index.clone();
        run_blocking(move || {
            let text = format_skill(index.find(&name)?)?;
            Ok(ToolOutput {
                data: Some(json!({ "name": name })),
                ..ToolOutput::new(text, format!("loaded {name}"))
            })
        })
        .await
    }
}
