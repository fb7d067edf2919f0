//! `bash`: runs one command and keeps no shell between calls (`S002-17`, `S002-28`, `S001-47`).

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::effects::{Assurance, Reached, Refused};
use protocol::interface::{AbortSemantics, InterruptBehavior, PermissionMatcher, RenderHint};
use protocol::outcome::Truncated;
use protocol::preview::{CommandPreview, EffectsPreview};
use protocol::shown::shown;
use protocol::{
    Access, Capability, Plan, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput, redact,
};
use runtime::{Command, Exit, Ran, Spill};
use serde_json::{Map, Value, json};

use super::command_facts::facts;
use super::{blocking, failed, house, number, object, text};
use crate::diff::fill;
use crate::limits::{
    COMMAND_CHARS_MAX, COMMAND_TIMEOUT_MS, COMMAND_TIMEOUT_MS_MAX, OUTPUT_BYTES_MAX,
};
use crate::text::{amount, grouped, visible};
use crate::tool::{Hands, Prepared, Rehearsal, Tool, ToolContext};

/// What a model reads of it.
const DESCRIPTION: &str = "Runs one shell command in the workspace folder and gives its exit code and its output, \
    standard error included. Every call is a new shell: `cd`, variables and background jobs \
    do not last, and everything it started ends with it. There is no input. To read, change, \
    list, search or delete files use the other tools.";

pub(super) struct Bash {
    interface: ToolInterface,
}

impl Bash {
    pub(super) fn new() -> Self {
        Self {
            interface: interface(),
        }
    }
}

fn interface() -> ToolInterface {
    house("bash")
        .user_facing_name("Run")
        .description(DESCRIPTION)
        .model_input_schema(parameters())
        .requires(RequirementSet::nothing().runs("*"))
        .mode(ToolMode::Local)
        .kind(ToolKind::Execute)
        // The longest that a call may ask for; each call has its own limit below it.
        .timeout_ms(COMMAND_TIMEOUT_MS_MAX)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .search_hint("run a shell command")
        .is_read_only(false)
        .is_concurrency_safe(false)
        .is_destructive(false)
        .is_open_world(true)
        .requires_user_interaction(false)
        .sandbox_profile("command")
        .classifier_input("{command}")
        .permission_matcher(PermissionMatcher::Command)
        .execution_profile_ref("process")
        .abort_semantics(AbortSemantics::KillsProcessGroup)
        .interrupt_behavior(InterruptBehavior::Block)
        .persistence_policy_ref("sidecar")
        .ui_summary("Run {command}")
        .activity_description("Running {command}")
        .progress_render_hint(RenderHint::Terminal)
        .rejected_render_hint(RenderHint::Command)
        .error_render_hint(RenderHint::Terminal)
        .transcript_search_text("{command} {description}")
        .checks("the command is not blank")
        .checks("the command has no zero byte")
        .progress_schema(json!({ "type": "string" }))
        .build()
}

fn parameters() -> Value {
    object(
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

fn timeout_ms(arguments: &Map<String, Value>) -> u64 {
    number(arguments, "timeout_ms").unwrap_or(COMMAND_TIMEOUT_MS)
}

#[async_trait]
impl Tool for Bash {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        visible(text(arguments, "command").trim())
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        vec![Access::new(
            Capability::ShellRun,
            text(arguments, "command"),
        )]
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let command = text(arguments, "command");
        if command.trim().is_empty() {
            return Err(ToolError::InvalidArgs(
                "`command` is blank; give the command to run".to_owned(),
            ));
        }
        if command.contains('\0') {
            return Err(ToolError::InvalidArgs(
                "`command` contains a zero byte, which no command can have; leave it out"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let probe = hands.environment.probe(&hands.workspace).await;
        Ok(Prepared {
            preview: Preview::Command(CommandPreview {
                assurance: Some(probe.assurance),
                assured: probe.reasons,
                in_place: probe.in_place,
                ..shown_command(arguments, hands)
            }),
            plan: Plan::None,
        })
    }

    async fn rehearses(&self, hands: &Hands) -> bool {
        let probe = hands.environment.probe(&hands.workspace).await;
        probe.assurance == Assurance::Speculative
    }

    async fn runs_in_place(&self, hands: &Hands) -> bool {
        let probe = hands.environment.probe(&hands.workspace).await;
        probe.in_place
    }

    async fn rehearse(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<Rehearsal, ToolError> {
        let command = self.command(arguments, hands, cx);
        let tell = listener(cx);
        let environment = &hands.environment;
        let rehearsed = environment
            .rehearse(&command, &hands.net, tell, &cx.cancel)
            .await;
        let rehearsed = rehearsed.map_err(failed)?;
        let output = outcome(rehearsed.ran.clone(), command.timeout_ms)?;
        let workspace = hands.workspace.clone();
        let rehearsed = blocking(move || {
            let mut rehearsed = rehearsed;
            if let Plan::Effects(captured) = &rehearsed.plan {
                fill(&workspace, captured, &mut rehearsed.effects);
            }
            Ok(rehearsed)
        })
        .await?;
        let preview = EffectsPreview {
            command: CommandPreview {
                assurance: Some(rehearsed.effects.assurance),
                in_place: self.runs_in_place(hands).await,
                ..shown_command(arguments, hands)
            },
            effects: rehearsed.effects.clone(),
        };
        Ok(Rehearsal {
            prepared: Prepared {
                preview: Preview::Effects(Box::new(preview)),
                plan: rehearsed.plan.clone(),
            },
            refused: rehearsed.effects.refused.len() as u64,
            secrets: rehearsed.effects.secrets_refused(),
            reached: hosts(&rehearsed.effects.reached),
            output: as_sealed(
                output,
                &rehearsed.effects.refused,
                &rehearsed.effects.reached,
            ),
            kept: Arc::new(rehearsed),
        })
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let command = self.command(approved.arguments(), hands, cx);
        let Some(picture) = &hands.picture else {
            let ran = runtime::run(&command, listener(cx), &cx.cancel).await;
            return outcome(ran.map_err(failed)?, command.timeout_ms);
        };
        let environment = &hands.environment;
        let ran = environment
            .run_in_place(&command, &hands.net, picture, listener(cx), &cx.cancel)
            .await;
        let ran = ran.map_err(failed)?;
        let output = outcome(ran.ran, command.timeout_ms)?;
        Ok(as_sealed(output, &ran.refused, &ran.reached))
    }
}

impl Bash {
    fn command(&self, arguments: &Map<String, Value>, hands: &Hands, cx: &ToolContext) -> Command {
        Command {
            line: text(arguments, "command").to_owned(),
            workspace: hands.workspace.clone(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: timeout_ms(arguments),
            output_bytes_max: OUTPUT_BYTES_MAX,
            spill: Some(Spill {
                folder: hands.folder.clone(),
                call: cx.tool_call_id.clone(),
            }),
            errors: None,
            masks: redact::applies(&self.interface.result.redaction_policy_refs),
        }
    }
}

fn listener(cx: &ToolContext) -> impl FnMut(&str) + Send + use<> {
    let listener = cx.on_output.clone();
    move |piece: &str| {
        if let Some(listener) = &listener {
            listener(piece);
        }
    }
}

/// The command, without what is promised of it.
fn shown_command(arguments: &Map<String, Value>, hands: &Hands) -> CommandPreview {
    let command = text(arguments, "command");
    CommandPreview {
        folder: visible(&hands.workspace.root().to_string_lossy()),
        command: shown(command),
        facts: facts(command),
        timeout_ms: timeout_ms(arguments),
        assurance: None,
        assured: Vec::new(),
        in_place: false,
    }
}

/// Each host once, in order.
fn hosts(reached: &[Reached]) -> Vec<String> {
    let mut hosts: Vec<String> = reached.iter().map(|one| one.host.clone()).collect();
    hosts.dedup();
    hosts
}

/// The model is to know why something did not work, and what did.
fn as_sealed(mut output: ToolOutput, refused: &[Refused], reached: &[Reached]) -> ToolOutput {
    const NAMED_MAX: usize = 10;
    let named = |all: Vec<String>| {
        let more = match all.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let named: Vec<String> = all.into_iter().take(NAMED_MAX).collect();
        format!("{}{more}", named.join(", "))
    };
    if !reached.is_empty() {
        let reached = named(hosts(reached));
        output
            .text
            .push_str(&format!("\n[It was let reach: {reached}.]"));
    }
    if !refused.is_empty() {
        let refused = refused
            .iter()
            .map(|one| format!("{} {}", one.kind.word(), one.target));
        output.text.push_str(&format!(
            "\n[It ran in a sealed room, where it was refused: {}. Do without, or ask the person.]",
            named(refused.collect())
        ));
    }
    output
}

/// What the model reads of a command that ended. An exit code other than 0 is an answer, not a failure of the tool.
fn outcome(ran: Ran, timeout_ms: u64) -> Result<ToolOutput, ToolError> {
    let output = output(&ran);
    let (head, message) = match ran.exit {
        Exit::Code(0) => ("Exit code 0.".to_owned(), "exit 0".to_owned()),
        Exit::Code(127) => (
            "Exit code 127: the shell found no such program. Check its name, or whether it is installed.".to_owned(),
            "exit 127, no such program".to_owned(),
        ),
        Exit::Code(code) => (
            format!("Exit code {code}: the command reported a failure."),
            format!("exit {code}"),
        ),
        Exit::Signal(signal) => (
            format!("The command was ended by signal {signal}."),
            format!("signal {signal}"),
        ),
        Exit::TimedOut => {
            return Err(ToolError::TimedOut(format!(
                "The command ran longer than {} ms and was ended, with everything it had started. Give a longer \
                 timeout_ms (at most {}), or run less at once. Its output until then:\n{output}",
                grouped(timeout_ms),
                grouped(COMMAND_TIMEOUT_MS_MAX)
            )));
        }
        Exit::Cancelled => return Err(ToolError::Cancelled),
    };
    let truncated = ran.spilled.as_ref().map(|path| Truncated {
        output_path: Some(path.to_string_lossy().into_owned()),
        bytes: ran.bytes,
    });
    Ok(ToolOutput {
        data: Some(json!({
            "exit_code": match ran.exit { Exit::Code(code) => Some(code), _ => None },
            "bytes": ran.bytes,
        })),
        truncated,
        secrets_masked: ran.secrets_masked,
        ..match ran.bytes {
            0 => ToolOutput::nothing(format!("{head} The command printed nothing."), message),
            _ => ToolOutput::new(format!("{head}\n{output}"), message),
        }
    })
}

/// The output as text, and what is to be said of it.
fn output(ran: &Ran) -> String {
    if ran.bytes == 0 {
        return "[It printed nothing.]".to_owned();
    }
    // A head that ends within a character is cut before it.
    let end = match std::str::from_utf8(&ran.head) {
        Err(error) if error.error_len().is_none() && ran.bytes > ran.head.len() as u64 => {
            error.valid_up_to()
        }
        _ => ran.head.len(),
    };
    let head = &ran.head[..end];
    let mut text = String::from_utf8_lossy(head).into_owned();
    let mut notes = Vec::new();
    if std::str::from_utf8(head).is_err() {
        notes.push("Bytes that are not UTF-8 are shown as \u{fffd}.".to_owned());
    }
    if ran.bytes > end as u64 {
        notes.push(match &ran.spilled {
            Some(path) => format!(
                "The first {} of {}; read the rest at {}.",
                amount(end as u64),
                amount(ran.bytes),
                path.display()
            ),
            None => format!(
                "The first {} of {}; the rest was not kept.",
                amount(end as u64),
                amount(ran.bytes)
            ),
        });
    }
    notes.extend(ran.spill_note.clone());
    if !notes.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &format!("[{}]", notes.join(" "));
    }
    text
}
