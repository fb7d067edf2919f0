//! The changes of an agent that worked in a sandbox: a call whose dry run was the agent's turn. It is judged by what the turn
//! changed, and carries out exactly that.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::text::display_text::to_spans;
use protocol::view::effects::{Effects, RefusalKind};
use protocol::view::preview::{CommandPreview, EffectsPreview};
use protocol::{
    Access, Preview, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use runtime::{EndedProgram, LayeredChanges};
use serde_json::{Map, Value, json};

use crate::builtin::shell::add_differences;
use crate::builtin::{file_error, object_schema, text_argument};
use crate::limits::AGENT_TOOL_TIMEOUT_MS;
use crate::text::escape_invisible;
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext, ToolDryRun};

/// Id of the tool, by which rules name it.
pub const ENCLOSED_TURN: &str = "enclosed_turn";

/// Description of the tool, which no model calls.
const DESCRIPTION: &str = "Takes over what an agent changed in a sandbox, as it was shown. It is called when the agent's turn ends.";

/// Result of a turn whose changes were carried out.
const APPLIED_TEXT: &str = "What it changed is in the folder now.";

/// A turn of an agent that has ended, with what it changed.
#[derive(Debug)]
pub struct EnclosedTurn {
    /// The layer with its changes.
    pub changes: LayeredChanges,
    /// How the agent ended.
    pub ended: EndedProgram,
}

/// The tool that takes over an agent's changes; in each session its own.
pub struct EnclosedTurnTool {
    interface: ToolInterface,
    turn: Mutex<Option<Arc<EnclosedTurn>>>,
}

impl EnclosedTurnTool {
    /// Creates the tool for the sessions of one agent, which has this name for people.
    pub fn new(title: &str) -> Self {
        let interface = ToolInterface::builder(ENCLOSED_TURN)
            .user_facing_name(escape_invisible(title))
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .requires(RequirementSet::empty().with_command("*"))
            .mode(ToolMode::Local)
            .kind(ToolKind::Execute)
            .is_read_only(false)
            .is_concurrency_safe(false)
            .is_open_world(false)
            .sandbox_profile("command")
            .execution_profile_ref("agent")
            .timeout_ms(AGENT_TOOL_TIMEOUT_MS)
            .classifier_input("{agent}")
            .origin(ToolOrigin::BuiltIn)
            .build();
        Self {
            interface,
            turn: Mutex::new(None),
        }
    }

    /// Sets the turn whose changes the next call takes over; `None` once that call is over.
    pub fn set_turn(&self, turn: Option<Arc<EnclosedTurn>>) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
    }

    fn turn(&self) -> Result<Arc<EnclosedTurn>, ToolError> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || {
            ToolError::Failed(
                "What the agent changed is not kept any more. Let it work again.".to_owned(),
            )
        };
        turn.clone().ok_or_else(gone)
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "agent": { "type": "string", "description": "The command of the agent." },
            "turn": { "type": "integer", "minimum": 1, "description": "The turn of its session." },
        }),
        &["agent", "turn"],
    )
}

#[async_trait]
impl Tool for EnclosedTurnTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "agent"))
    }

    /// Declares no accesses: what it changes are effects, which are judged one by one.
    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        Ok(Preview::Command(self.command_preview(arguments, context)).into())
    }

    async fn can_dry_run(&self, _context: &ToolContext) -> bool {
        true
    }

    fn ran_before(&self) -> bool {
        true
    }

    async fn dry_run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolDryRun, ToolError> {
        let turn = self.turn()?;
        let run = turn.changes.read(&turn.ended).await.map_err(file_error)?;
        let run = add_differences(run, &context.workspace).await?;
        let preview = EffectsPreview {
            command: CommandPreview {
                assurance: Some(run.effects.assurance),
                ..self.command_preview(arguments, context)
            },
            effects: run.effects.clone(),
        };
        Ok(ToolDryRun {
            prepared: PreviewedPlan {
                preview: Preview::Effects(Box::new(preview)),
                plan: run.plan.clone(),
            },
            refusal_count: count_refusals(&run.effects),
            secrets: run.effects.refused_secrets(),
            outside_reads: run.effects.outside_reads.clone(),
            // It reaches the hosts that the person named for it, and no other.
            hosts_reached: Vec::new(),
            kept_caches: Vec::new(),
            output: ToolOutput::new(APPLIED_TEXT, "Applied"),
            capture: Arc::new((run, turn)),
        })
    }

    async fn execute(
        &self,
        _approved: &Approved,
        _context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Failed(
            "An agent's changes are carried out as they were captured, and in no other way."
                .to_owned(),
        ))
    }
}

impl EnclosedTurnTool {
    fn command_preview(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> CommandPreview {
        CommandPreview {
            folder: escape_invisible(&context.workspace.root().to_string_lossy()),
            command: to_spans(text_argument(arguments, "agent")),
            facts: Vec::new(),
            timeout_ms: self.interface.timeout_ms(),
            assurance: None,
            assured: Vec::new(),
            in_place: false,
            delegated: false,
        }
    }
}

/// Counts the refusals that could make the changes other than they seem. An agent that may not write elsewhere, or reach
/// another host, knew it and went on.
fn count_refusals(effects: &Effects) -> u64 {
    let counts = |kind: RefusalKind| matches!(kind, RefusalKind::Secret | RefusalKind::Limit);
    let counted = effects.refused.iter().filter(|one| counts(one.kind));
    counted.count() as u64
}
