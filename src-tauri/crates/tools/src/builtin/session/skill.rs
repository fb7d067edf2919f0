//! `skill`: loads one of the session's skills by name (`S002-23`, `S002-40`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::{Access, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput};
use serde_json::{Map, Value, json};

use crate::builtin::{builtin_interface, object_schema, run_blocking, text_argument};
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
        Self {
            interface: build_interface(),
            index,
        }
    }
}

fn build_interface() -> ToolInterface {
    builtin_interface("skill")
        .user_facing_name("Skill")
        .description(DESCRIPTION)
        .model_input_schema(object_schema(
            json!({ "name": { "type": "string", "minLength": 1, "maxLength": 64, "description": "The skill's name, as it is listed." } }),
            &["name"],
        ))
        .requires(RequirementSet::empty())
        .mode(ToolMode::Read)
        .kind(ToolKind::Think)
        .search_hint("load a skill instructions for one kind of work")
        .is_read_only(true)
        .is_concurrency_safe(true)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .sandbox_profile("nothing")
        .classifier_input("")
        .permission_matcher(PermissionMatcher::Nothing)
        .execution_profile_ref("engine")
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Skill {name}")
        .activity_description("Loading the skill {name}")
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
        .transcript_search_text("{name}")
        .add_value_check("the session knows a skill of this name")
        .build()
}

/// Formats the skill for the model: its text, and the files beside it.
fn format_skill(skill: &Skill) -> Result<String, ToolError> {
    let name = &skill.view().name;
    let body = skill.body()?.trim_end();
    let mut told = format!("<skill_content name=\"{name}\">\n{body}\n</skill_content>\n");
    let files = skill.files(SKILL_FILES_LISTED_MAX);
    if !files.is_empty() {
        let folder = protocol::text::display_text::name(&skill.folder());
        told += &format!("Beside it in {folder}, to be read or run when the text above says so:\n");
        told.extend(files.iter().map(|file| format!("- {file}\n")));
    }
    Ok(told)
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
        let (name, told) = run_blocking(move || {
            let told = format_skill(index.find(&name)?)?;
            Ok((name, told))
        })
        .await?;
        Ok(ToolOutput {
            data: Some(json!({ "name": name })),
            ..ToolOutput::new(told, format!("loaded {name}"))
        })
    }
}
