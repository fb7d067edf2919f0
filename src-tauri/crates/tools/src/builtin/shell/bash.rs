//! `bash`: runs one command and keeps no shell between calls (`S002-17`, `S002-28`, `S001-47`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::{Approved, shell};
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::text::display_text::to_spans;
use protocol::text::redact;
use protocol::view::effects::{Assurance, NetworkContact, Refusal};
use protocol::view::preview::{CommandPreview, EffectsPreview};
use protocol::{
    Access, Capability, Preview, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode,
    ToolOutput,
};
use runtime::{OutputSpill, SandboxRequest, ShellCommand};
use serde_json::{Map, Value, json};

use crate::builtin::presets::builtin_interface;
use crate::builtin::shell::add_differences;
use crate::builtin::shell::command_facts::describe_command;
use crate::builtin::shell::command_output::CommandOutput;
use crate::builtin::{file_error, number_argument, object_schema, reject_if, text_argument};
use crate::limits::{
    COMMAND_CHARS_MAX, COMMAND_TIMEOUT_MS, COMMAND_TIMEOUT_MS_MAX, OUTPUT_BYTES_MAX,
};
use crate::text::{escape_invisible, join_head};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext, ToolDryRun};

/// Tool description for the model.
const DESCRIPTION: &str = "Runs one shell command in the workspace folder and gives its exit code and its output, \
    standard error included. Every call is a new shell: `cd`, variables and background jobs \
    do not last, and everything it started ends with it. There is no input. To read, change, \
    list, search or delete files use the other tools.";

pub(in crate::builtin) struct BashTool {
    interface: ToolInterface,
}

impl BashTool {
    pub(in crate::builtin) fn new() -> Self {
        let interface = builtin_interface("bash")
            .user_facing_name("Run")
            .description(DESCRIPTION)
            .model_input_schema(parameters_schema())
            .requires(RequirementSet::empty().with_command("*"))
            .mode(ToolMode::Local)
            .kind(ToolKind::Execute)
            // The longest that a call may ask for; each call has its own limit below it.
            .timeout_ms(COMMAND_TIMEOUT_MS_MAX)
            .max_inline_chars(OUTPUT_BYTES_MAX)
            .search_hint("run a shell command")
            .is_read_only(false)
            .is_concurrency_safe(false)
            .is_open_world(true)
            .sandbox_profile("command")
            .classifier_input("{command}")
            .permission_matcher(PermissionMatcher::Command)
            .execution_profile_ref("process")
            .abort_semantics(AbortSemantics::KillsProcessGroup)
            .interrupt_behavior(InterruptBehavior::Block)
            .ui_summary("Run {command}")
            .activity_description("Running {command}")
            .progress_render_hint(RenderHint::Terminal)
            .rejected_render_hint(RenderHint::Command)
            .error_render_hint(RenderHint::Terminal)
            .transcript_search_text("{command} {description}")
            .add_value_check("the command is not blank")
            .add_value_check("the command has no zero byte")
            .progress_schema(json!({ "type": "string" }))
            .build();
        Self { interface }
    }
}

fn parameters_schema() -> Value {
    object_schema(
        json!({
            "command": { "type": "string", "minLength": 1, "maxLength": COMMAND_CHARS_MAX },
            "timeout_ms": {
                "type": "integer", "minimum": 1, "maximum": COMMAND_TIMEOUT_MS_MAX,
                "description": "How long it may run; 120000 if left out.",
            },
            "description": {
                "type": "string", "maxLength": 500,
                "description": "What the command does, in a few words for the person.",
            },
        }),
        &["command"],
    )
}

fn timeout_argument(arguments: &Map<String, Value>) -> u64 {
    number_argument(arguments, "timeout_ms").unwrap_or(COMMAND_TIMEOUT_MS)
}

#[async_trait]
impl Tool for BashTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "command").trim())
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::ShellRun,
            text_argument(arguments, "command"),
        )]
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let command = text_argument(arguments, "command");
        reject_if(
            command.trim().is_empty(),
            "`command` is blank; give the command to run",
        )?;
        reject_if(
            command.contains('\0'),
            "`command` contains a zero byte, which no command can have; leave it out",
        )
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let probe = context.dry_run_environment.probe(&context.workspace).await;
        let preview = CommandPreview {
            assurance: Some(probe.assurance),
            assured: probe.reasons,
            in_place: probe.in_place,
            ..command_preview(arguments, context)
        };
        Ok(Preview::Command(preview).into())
    }

    async fn can_dry_run(&self, context: &ToolContext) -> bool {
        let probe = context.dry_run_environment.probe(&context.workspace).await;
        probe.assurance == Assurance::Speculative
    }

    async fn can_run_in_place(&self, context: &ToolContext) -> bool {
        let probe = context.dry_run_environment.probe(&context.workspace).await;
        probe.in_place
    }

    async fn dry_run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolDryRun, ToolError> {
        let (command, streams) = self.build_command(arguments, context, execution)?;
        let expects_no_change = shell::parse_command(&command.line).expects_no_change();
        let environment = &context.dry_run_environment;
        let run = environment
            .expecting_no_change(expects_no_change)
            .dry_run(
                &command,
                &context.net,
                execution.output_forwarder(),
                &execution.cancel,
            )
            .await;
        let run = run.map_err(file_error)?;
        let output = streams.finish(command, run.command.clone()).await?;
        let run = add_differences(run, &context.workspace).await?;
        let preview = EffectsPreview {
            command: CommandPreview {
                assurance: Some(run.effects.assurance),
                in_place: self.can_run_in_place(context).await,
                ..command_preview(arguments, context)
            },
            effects: run.effects.clone(),
        };
        Ok(ToolDryRun {
            prepared: PreviewedPlan {
                preview: Preview::Effects(Box::new(preview)),
                plan: run.plan.clone(),
            },
            refusal_count: run.effects.refused.len() as u64,
            secrets: run.effects.refused_secrets(),
            hosts_reached: unique_hosts(&run.effects.reached),
            outside_reads: run.effects.outside_reads.clone(),
            kept_caches: run.kept_caches.clone(),
            output: add_dry_run_notes(output, &run.effects.refused, &run.effects.reached),
            capture: Arc::new(run),
        })
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let (command, streams) = self.build_command(approved.arguments(), context, execution)?;
        let Some(snapshot) = &context.snapshot else {
            let run = runtime::run(&command, execution.output_forwarder(), &execution.cancel).await;
            return streams.finish(command, run.map_err(file_error)?).await;
        };
        let request = SandboxRequest {
            command: &command,
            net: &context.net,
            cancel: &execution.cancel,
        };
        let environment = &context.dry_run_environment;
        let run = environment
            .run_in_place(request, snapshot, execution.output_forwarder())
            .await;
        let run = run.map_err(file_error)?;
        let output = streams.finish(command, run.command).await?;
        Ok(add_dry_run_notes(output, &run.refused, &run.reached))
    }
}

impl BashTool {
    fn build_command(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<(ShellCommand, CommandOutput), ToolError> {
        let (errors, output) = CommandOutput::open(execution)?;
        let command = ShellCommand {
            line: text_argument(arguments, "command").to_owned(),
            workspace: context.workspace.clone(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: timeout_argument(arguments),
            output_bytes_max: output.bytes_max(),
            spill: output.is_merged().then(|| OutputSpill {
                folder: context.folder.clone(),
                call: execution.tool_call_id.clone(),
            }),
            errors,
            mask_secrets: output.is_merged()
                && redact::is_masking_requested(&self.interface.result.redaction_policy_refs),
        };
        Ok((command, output))
    }
}

/// Builds the preview of the command, without assurances.
fn command_preview(arguments: &Map<String, Value>, context: &ToolContext) -> CommandPreview {
    let command = text_argument(arguments, "command");
    CommandPreview {
        folder: escape_invisible(&context.workspace.root().to_string_lossy()),
        command: to_spans(command),
        facts: describe_command(command),
        timeout_ms: timeout_argument(arguments),
        assurance: None,
        assured: Vec::new(),
        in_place: false,
        delegated: false,
    }
}

/// Returns each host once, in order.
fn unique_hosts(reached: &[NetworkContact]) -> Vec<String> {
    let mut hosts: Vec<String> = reached.iter().map(|one| one.host.clone()).collect();
    hosts.dedup();
    hosts
}

/// Appends to the output which hosts a dry run reached and which operations were refused, so that the model knows why
/// something did not work.
fn add_dry_run_notes(
    mut output: ToolOutput,
    refused: &[Refusal],
    reached: &[NetworkContact],
) -> ToolOutput {
    const NAMED_MAX: usize = 10;
    if !reached.is_empty() {
        let reached = join_head(&unique_hosts(reached), NAMED_MAX);
        output
            .text
            .push_str(&format!("\n[It was let reach: {reached}.]"));
    }
    if !refused.is_empty() {
        let refused: Vec<String> = refused
            .iter()
            .map(|one| format!("{} {}", one.kind.as_str(), one.target))
            .collect();
        output.text.push_str(&format!(
            "\n[It ran in a sandbox, where it was refused: {}. Do without, or ask the person.]",
            join_head(&refused, NAMED_MAX)
        ));
    }
    output
}
