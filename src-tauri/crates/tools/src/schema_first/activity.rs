//! A tool that a program carries out: parameters as JSON on its standard input, the result as JSON on its standard
//! output (`S004-10`, `S004-28`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use policy::Approved;
use protocol::depth::{DEPTH_MAX, exceeds};
use protocol::interface::Origin;
use protocol::preview::{CommandFact, CommandPreview};
use protocol::requires::ShellRunRequirement;
use protocol::shown::shown;
use protocol::{
    Access, Capability, Digest, Plan, Preview, RequirementSet, ToolError, ToolInterface, ToolKind,
    ToolMode, ToolOutput,
};
use runtime::{Exit, Program, Workspace};
use serde_json::{Map, Value};

use super::bound::{self, OutputCheck, from_output};
use super::definition::{Definition, Execution};
use super::strict_json;
use crate::limits::{
    ACTIVITY_BYTES_MAX, ACTIVITY_OUTPUT_BYTES_MAX, ACTIVITY_TIMEOUT_MS, ACTIVITY_TOLD_CHARS_MAX,
};
use crate::text::{amount, shortened, visible};
use crate::tool::{Hands, Prepared, Tool, ToolContext};

/// A program that calls can be bound to, found by its name apart from any schema (`S004-45`).
#[derive(Debug, Clone)]
pub(super) struct Activity {
    /// The folder that it is below: the workspace, or the person's own.
    pub home: Workspace,
    /// Its file, relative to that folder.
    pub file: String,
    /// The same as a word of a command.
    pub word: String,
}

pub(super) struct Explicit {
    interface: ToolInterface,
    activity: Result<Activity, String>,
    output: OutputCheck,
    first: Option<String>,
    output_path: Option<String>,
    /// Digest of the program as it was shown, by digest of the input.
    seen: Mutex<HashMap<Digest, Digest>>,
}

impl Explicit {
    /// Binds a definition to a program, or to the sentence that says why there is none.
    pub(super) fn new(
        definition: &Definition,
        activity: Result<Activity, String>,
        origin: Origin,
    ) -> Self {
        let requires = RequirementSet {
            shell: vec![ShellRunRequirement {
                cmd: match &activity {
                    Ok(activity) => activity.word.clone(),
                    Err(_) => definition.name.clone(),
                },
                args: Some(Vec::new()),
            }],
            ..RequirementSet::nothing()
        };
        Self {
            interface: bound::interface(definition, Execution::Explicit, origin)
                .requires(requires)
                .mode(ToolMode::Local)
                .kind(ToolKind::Execute)
                .is_open_world(true)
                .classifier_input(bound::classifier_input(definition))
                .execution_profile_ref("process")
                .timeout_ms(ACTIVITY_TIMEOUT_MS)
                .build(),
            activity,
            output: OutputCheck::new(definition),
            first: definition.parameter_names().next().map(str::to_owned),
            output_path: definition.output_path.as_ref().map(ToString::to_string),
            seen: Mutex::default(),
        }
    }

    fn activity(&self) -> Result<&Activity, ToolError> {
        self.activity
            .as_ref()
            .map_err(|why| ToolError::Failed(why.clone()))
    }

    /// The program as it stands on disk now.
    fn digest(&self, activity: &Activity) -> Result<Digest, ToolError> {
        match activity.home.read_whole(&activity.file, ACTIVITY_BYTES_MAX) {
            Ok(Some(bytes)) => Ok(Digest::of(&bytes)),
            Ok(None) => Err(ToolError::Failed(format!(
                "There is no program at `{}` any more. Say that it is missing; only a person can put it there.",
                activity.word
            ))),
            Err(error) => Err(ToolError::Failed(error.to_string())),
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Digest>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Tool for Explicit {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn output_path(&self) -> Option<&str> {
        self.output_path.as_deref()
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        bound::target(self.first.as_deref(), arguments)
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        let word = self.activity.as_ref().map(|activity| activity.word.clone());
        vec![Access::new(
            Capability::ShellRun,
            word.unwrap_or_else(|_| self.interface.id().to_owned()),
        )]
    }

    fn check(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.activity().map(drop)
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        hands: &Hands,
    ) -> Result<Prepared, ToolError> {
        let activity = self.activity()?;
        let program = self.digest(activity)?;
        self.seen()
            .insert(Digest::of_json(arguments), program.clone());
        let input = Value::Object(arguments.clone()).to_string();
        let fact = |what: &str, text: &str| CommandFact {
            what: what.to_owned(),
            text: visible(text),
            verdict: None,
        };
        Ok(Prepared {
            preview: Preview::Command(CommandPreview {
                folder: visible(&hands.workspace.root().to_string_lossy()),
                command: shown(&format!("{} <<< {}", activity.word, quoted(&input))),
                facts: vec![fact("program", &activity.word), fact("content", &program.0)],
                timeout_ms: ACTIVITY_TIMEOUT_MS,
                assurance: None,
                in_place: false,
                assured: Vec::new(),
            }),
            plan: Plan::None,
        })
    }

    async fn execute(
        &self,
        approved: &Approved,
        hands: &Hands,
        cx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let activity = self.activity()?;
        let shown = self.seen().remove(&Digest::of_json(approved.arguments()));
        if shown.is_none_or(|shown| self.digest(activity).ok() != Some(shown)) {
            return Err(ToolError::Stale(format!(
                "The program `{}` changed since it was shown.",
                activity.word
            )));
        }
        let mut input = Value::Object(approved.arguments().clone()).to_string();
        input.push('\n');
        let program = Program {
            file: activity.home.root().join(&activity.file),
            named: activity.word.clone(),
            workspace: hands.workspace.clone(),
            input: input.into_bytes(),
            timeout_ms: ACTIVITY_TIMEOUT_MS,
            output_bytes_max: ACTIVITY_OUTPUT_BYTES_MAX,
        };
        let listener = cx.on_output.clone();
        let tell = move |piece: &str| {
            if let Some(listener) = &listener {
                listener(piece);
            }
        };
        let answered = runtime::run_program(&program, tell, &cx.cancel)
            .await
            .map_err(|error| {
                ToolError::Failed(format!(
                    "The activity `{}` could not be started: {error} It must be executable and begin with a line that \
                     names its interpreter, or be a program itself.",
                    activity.word
                ))
            })?;
        self.result(activity, answered)
    }
}

impl Explicit {
    fn result(
        &self,
        activity: &Activity,
        answered: runtime::Answered,
    ) -> Result<ToolOutput, ToolError> {
        let word = &activity.word;
        let told = match shortened(answered.told.trim(), ACTIVITY_TOLD_CHARS_MAX) {
            told if told.is_empty() => String::new(),
            told => format!(" It said: {told}"),
        };
        let failed = |what: String| {
            Err(ToolError::Failed(format!(
                "The activity `{word}` {what}{told}"
            )))
        };
        if answered.too_long {
            return failed(format!(
                "wrote more than {} on its standard output and was ended.",
                amount(ACTIVITY_OUTPUT_BYTES_MAX)
            ));
        }
        match answered.exit {
            Exit::Code(0) => {}
            Exit::Code(code) => return failed(format!("ended with exit code {code}.")),
            Exit::Signal(signal) => return failed(format!("was ended by signal {signal}.")),
            Exit::Cancelled => return Err(ToolError::Cancelled),
            Exit::TimedOut => {
                return Err(ToolError::TimedOut(format!(
                    "The activity `{word}` ran longer than {} s and was ended, with everything it had started.{told}",
                    ACTIVITY_TIMEOUT_MS / 1_000
                )));
            }
        }
        let Ok(text) = String::from_utf8(answered.output) else {
            return failed("wrote something that is not UTF-8.".to_owned());
        };
        let output = match strict_json::parse(&text) {
            Ok(output) if exceeds(&output, DEPTH_MAX) => {
                return failed(format!("wrote JSON of more than {DEPTH_MAX} levels."));
            }
            Ok(output) => output,
            Err(_) if text.trim().is_empty() && self.interface.schemas.output_schema.is_none() => {
                Value::Null
            }
            Err(wrong) => {
                let begins = shortened(&visible(text.trim()), 200);
                return failed(format!(
                    "must write JSON on its standard output, but in line {} {}. It wrote: {begins}",
                    wrong.line, wrong.reason
                ));
            }
        };
        match self.output.check(output) {
            Ok(output) => Ok(from_output(output, "exit 0")),
            Err(problems) => failed(format!(
                "gave an output that does not fit `_output`: {problems}."
            )),
        }
    }
}

/// A text as one word of a command.
pub(super) fn quoted(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | ':');
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use runtime::Answered;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_that_hangs_is_named() {
        let definition = Definition::parse(Some("slow"), &json!({ "type": "object" })).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let activity = Activity {
            home: Workspace::open(folder.path()).unwrap(),
            file: "slow".to_owned(),
            word: "slow".to_owned(),
        };
        let tool = Explicit::new(&definition, Ok(activity.clone()), Origin::Unknown);
        let ended = |exit| {
            let answered = Answered {
                exit,
                output: Vec::new(),
                too_long: false,
                told: "still at it".to_owned(),
                duration_ms: 0,
            };
            tool.result(&activity, answered)
        };
        assert_eq!(
            ended(Exit::TimedOut),
            Err(ToolError::TimedOut(
                "The activity `slow` ran longer than 120 s and was ended, with everything it had started. It said: \
                 still at it"
                    .to_owned()
            ))
        );
        assert_eq!(ended(Exit::Cancelled), Err(ToolError::Cancelled));
        assert_eq!(
            ended(Exit::Code(0)).unwrap().data,
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
            assert_eq!(quoted(text), word);
        }
    }
}
