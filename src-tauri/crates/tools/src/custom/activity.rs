//! Tools that a program implements: parameters as JSON on its standard input, the result as JSON on its standard output
//! (`S004-10`, `S004-28`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::ToolOrigin;
use protocol::interface::requirements::ShellRunRequirement;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use protocol::text::display_text::to_spans;
use protocol::view::preview::CommandPreview;
use protocol::{
    Access, Capability, Digest, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput,
};
use runtime::{CommandExit, ProgramCommand, Workspace};
use serde_json::{Map, Value};

use super::common::{self, OutputValidator, output_from_value};
use super::definition::{CustomToolDefinition, ExecutionKind};
use super::strict_json;
use crate::builtin::shell::command_facts::new_fact;
use crate::limits::{
    ACTIVITY_BYTES_MAX, ACTIVITY_ERROR_CHARS_MAX, ACTIVITY_OUTPUT_BYTES_MAX, ACTIVITY_TIMEOUT_MS,
};
use crate::text::{escape_invisible, format_byte_size, truncate_chars};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// A program that calls can be bound to, found by its name apart from any schema (`S004-45`).
#[derive(Debug, Clone)]
pub(super) struct Activity {
    /// Folder that contains the program: the workspace, or the person's own.
    pub home: Workspace,
    /// Path of the program, relative to `home`.
    pub file: String,
    /// Path of the program, quoted as one word of a shell command.
    pub shell_word: String,
}

pub(super) struct ActivityTool {
    interface: ToolInterface,
    activity: Result<Activity, String>,
    output: OutputValidator,
    first: Option<String>,
    output_path: Option<String>,
    /// Digest of the program when a call was shown, by the digest of the call's input.
    shown_digests: Mutex<HashMap<Digest, Digest>>,
}

impl ActivityTool {
    /// Binds a definition to a program, or to a sentence that says why there is none.
    pub(super) fn new(
        definition: &CustomToolDefinition,
        activity: Result<Activity, String>,
        origin: ToolOrigin,
    ) -> Self {
        let requires = RequirementSet {
            shell: vec![ShellRunRequirement {
                cmd: match &activity {
                    Ok(activity) => activity.shell_word.clone(),
                    Err(_) => definition.name.clone(),
                },
                args: Some(Vec::new()),
            }],
            ..RequirementSet::empty()
        };
        Self {
            interface: common::build_interface(definition, ExecutionKind::Explicit, origin)
                .requires(requires)
                .mode(ToolMode::Local)
                .kind(ToolKind::Execute)
                .is_open_world(true)
                .classifier_input(common::classifier_input(definition))
                .execution_profile_ref("process")
                .timeout_ms(ACTIVITY_TIMEOUT_MS)
                .build(),
            activity,
            output: OutputValidator::new(definition),
            first: definition.parameter_names().next().map(str::to_owned),
            output_path: definition.output_path.as_ref().map(ToString::to_string),
            shown_digests: Mutex::default(),
        }
    }

    fn require_activity(&self) -> Result<&Activity, ToolError> {
        self.activity
            .as_ref()
            .map_err(|why| ToolError::Failed(why.clone()))
    }

    /// Returns the digest of the program that is on disk now.
    fn program_digest(&self, activity: &Activity) -> Result<Digest, ToolError> {
        match activity.home.read_whole(&activity.file, ACTIVITY_BYTES_MAX) {
            Ok(Some(bytes)) => Ok(Digest::from_bytes(&bytes)),
            Ok(None) => Err(ToolError::Failed(format!(
                "There is no program at `{}` any more. Say that it is missing; only a person can put it there.",
                activity.shell_word
            ))),
            Err(error) => Err(ToolError::Failed(error.to_string())),
        }
    }

    fn lock_shown_digests(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Digest>> {
        self.shown_digests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Tool for ActivityTool {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn output_path(&self) -> Option<&str> {
        self.output_path.as_deref()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        common::call_target(self.first.as_deref(), arguments)
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        let word = self
            .activity
            .as_ref()
            .map(|activity| activity.shell_word.clone());
        vec![Access::new(
            Capability::ShellRun,
            word.unwrap_or_else(|_| self.interface.id().to_owned()),
        )]
    }

    fn validate(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.require_activity().map(drop)
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let activity = self.require_activity()?;
        let program = self.program_digest(activity)?;
        self.lock_shown_digests()
            .insert(Digest::from_json(arguments), program.clone());
        let input = Value::Object(arguments.clone()).to_string();
        let preview = CommandPreview {
            folder: escape_invisible(&context.workspace.root().to_string_lossy()),
            command: to_spans(&format!(
                "{} <<< {}",
                activity.shell_word,
                quote_shell_word(&input)
            )),
            facts: vec![
                new_fact("program", &activity.shell_word),
                new_fact("content", &program.0),
            ],
            timeout_ms: ACTIVITY_TIMEOUT_MS,
            assurance: None,
            in_place: false,
            delegated: false,
            assured: Vec::new(),
        };
        Ok(Preview::Command(preview).into())
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let activity = self.require_activity()?;
        let shown = self
            .lock_shown_digests()
            .remove(&Digest::from_json(approved.arguments()));
        if shown.is_none_or(|shown| self.program_digest(activity).ok() != Some(shown)) {
            return Err(ToolError::Stale(format!(
                "The program `{}` changed since it was shown.",
                activity.shell_word
            )));
        }
        let mut input = Value::Object(approved.arguments().clone()).to_string();
        input.push('\n');
        let program = ProgramCommand {
            file: activity.home.root().join(&activity.file),
            command_name: activity.shell_word.clone(),
            workspace: context.workspace.clone(),
            input: input.into_bytes(),
            timeout_ms: ACTIVITY_TIMEOUT_MS,
            output_bytes_max: ACTIVITY_OUTPUT_BYTES_MAX,
        };
        let forwarder = execution.output_forwarder();
        let result = runtime::run_program(&program, forwarder, &execution.cancel)
            .await
            .map_err(|error| {
                ToolError::Failed(format!(
                    "The activity `{}` could not be started: {error} It must be executable and begin with a line that \
                     names its interpreter, or be a program itself.",
                    activity.shell_word
                ))
            })?;
        self.parse_result(activity, result)
    }
}

impl ActivityTool {
    fn parse_result(
        &self,
        activity: &Activity,
        result: runtime::ProgramResult,
    ) -> Result<ToolOutput, ToolError> {
        let word = &activity.shell_word;
        let error_note = match truncate_chars(result.errors.trim(), ACTIVITY_ERROR_CHARS_MAX) {
            error_note if error_note.is_empty() => String::new(),
            error_note => format!(" It said: {error_note}"),
        };
        let failed = |what: String| {
            Err(ToolError::Failed(format!(
                "The activity `{word}` {what}{error_note}"
            )))
        };
        if result.is_truncated {
            return failed(format!(
                "wrote more than {} on its standard output and was ended.",
                format_byte_size(ACTIVITY_OUTPUT_BYTES_MAX)
            ));
        }
        match result.exit {
            CommandExit::Code(0) => {}
            CommandExit::Code(code) => return failed(format!("ended with exit code {code}.")),
            CommandExit::Signal(signal) => return failed(format!("was ended by signal {signal}.")),
            CommandExit::Cancelled => return Err(ToolError::Cancelled),
            CommandExit::TimedOut => {
                return Err(ToolError::TimedOut(format!(
                    "The activity `{word}` ran longer than {} s and was ended, with everything it had started.{error_note}",
                    ACTIVITY_TIMEOUT_MS / 1_000
                )));
            }
        }
        let Ok(text) = String::from_utf8(result.output) else {
            return failed("wrote something that is not UTF-8.".to_owned());
        };
        let output = match strict_json::parse_strict(&text) {
            Ok(output) if exceeds_depth(&output, DEPTH_MAX) => {
                return failed(format!("wrote JSON of more than {DEPTH_MAX} levels."));
            }
            Ok(output) => output,
            Err(_) if text.trim().is_empty() && self.interface.schemas.output_schema.is_none() => {
                Value::Null
            }
            Err(fault) => {
                let begins = truncate_chars(&escape_invisible(text.trim()), 200);
                return failed(format!(
                    "must write JSON on its standard output, but in line {} {}. It wrote: {begins}",
                    fault.line, fault.reason
                ));
            }
        };
        match self.output.validate(output) {
            Ok(output) => Ok(output_from_value(output, "exit 0")),
            Err(problems) => failed(format!(
                "gave an output that does not fit `_output`: {problems}."
            )),
        }
    }
}

/// Quotes a text as one word of a shell command.
pub(super) fn quote_shell_word(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | ':');
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use runtime::ProgramResult;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_that_hangs_is_named() {
        let definition =
            CustomToolDefinition::parse(Some("slow"), &json!({ "type": "object" })).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let activity = Activity {
            home: Workspace::open(folder.path()).unwrap(),
            file: "slow".to_owned(),
            shell_word: "slow".to_owned(),
        };
        let tool = ActivityTool::new(&definition, Ok(activity.clone()), ToolOrigin::Unknown);
        let run_ended_by = |exit| {
            let result = ProgramResult {
                exit,
                output: Vec::new(),
                is_truncated: false,
                errors: "still at it".to_owned(),
                duration_ms: 0,
            };
            tool.parse_result(&activity, result)
        };
        assert_eq!(
            run_ended_by(CommandExit::TimedOut),
            Err(ToolError::TimedOut(
                "The activity `slow` ran longer than 120 s and was ended, with everything it had started. It said: \
                 still at it"
                    .to_owned()
            ))
        );
        assert_eq!(
            run_ended_by(CommandExit::Cancelled),
            Err(ToolError::Cancelled)
        );
        assert_eq!(
            run_ended_by(CommandExit::Code(0)).unwrap().data,
            Some(Value::Null),
            "nothing is an answer where no output was asked for"
        );
    }

    #[test]
    fn a_text_as_one_word() {
        for (text, word) in [
            ("a/b-c.sh", "a/b-c.sh"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quote_shell_word(text), word);
        }
    }
}
