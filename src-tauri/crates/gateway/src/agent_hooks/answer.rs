//! Answers to agents' hooks: what each agent obeys, byte by byte.

use serde_json::{Map, Value, json};

use super::dialect::{AnswerForm, HookDialect};
use crate::endpoint::HookOutput;

/// Exit code by which every agent with hooks takes a call as denied, with the reason on standard error.
const DENY_EXIT: u8 = 2;

/// Decision about a call that an agent is about to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookDecision {
    /// The agent runs the call as it is.
    Pass,
    /// The agent runs this command in place of the call's.
    Replace {
        /// The command line.
        command: String,
        /// The whole input, with the command in it.
        input: Map<String, Value>,
    },
    /// The agent does not run the call, and its model reads this reason.
    Deny(String),
}

impl HookDecision {
    /// Writes the decision in the form that the agent obeys.
    pub fn write(&self, dialect: &HookDialect) -> HookOutput {
        let answer = match dialect.form {
            AnswerForm::ClaudeCode => Some(self.claude_code_answer(dialect)),
            // *allow* alone counts as a failure of the hook, and the call would run.
            AnswerForm::Codex if *self == Self::Pass => None,
            AnswerForm::Codex => Some(self.claude_code_answer(dialect)),
            AnswerForm::GeminiCli => Some(self.gemini_answer(dialect)),
            AnswerForm::Plugin => Some(self.plugin_answer()),
            AnswerForm::Cursor => Some(self.cursor_answer()),
        };
        HookOutput {
            stdout: answer
                .map(|answer| format!("{answer}\n"))
                .unwrap_or_default(),
            ..HookOutput::default()
        }
    }

    fn claude_code_answer(&self, dialect: &HookDialect) -> Value {
        let mut specific = json!({ "hookEventName": dialect.before });
        let (decision, member, value) = match self {
            Self::Pass => (
                "allow",
                "permissionDecisionReason",
                json!("Countersign let it pass."),
            ),
            Self::Replace { input, .. } => ("allow", "updatedInput", json!(input)),
            Self::Deny(reason) => ("deny", "permissionDecisionReason", json!(reason)),
        };
        specific["permissionDecision"] = json!(decision);
        specific[member] = value;
        json!({ "hookSpecificOutput": specific })
    }

    fn gemini_answer(&self, dialect: &HookDialect) -> Value {
        match self {
            Self::Pass => json!({ "decision": "allow" }),
            Self::Replace { command, .. } => json!({
                "decision": "allow",
                "hookSpecificOutput": {
                    "hookEventName": dialect.before,
                    "tool_input": { "command": command },
                },
            }),
            Self::Deny(reason) => json!({ "decision": "deny", "reason": reason }),
        }
    }

    fn plugin_answer(&self) -> Value {
        match self {
            Self::Pass => json!({ "decision": "allow" }),
            Self::Replace { input, .. } => json!({ "decision": "allow", "tool_input": input }),
            Self::Deny(reason) => json!({ "decision": "deny", "reason": reason }),
        }
    }

    fn cursor_answer(&self) -> Value {
        match self {
            Self::Pass => json!({ "permission": "allow" }),
            Self::Replace { command, .. } => json!({
                "permission": "deny",
                "agent_message": format!(
                    "Its effects were approved and are kept. Run exactly this command, which carries them out and \
                     prints what the command printed: {command}"
                ),
            }),
            Self::Deny(reason) => json!({ "permission": "deny", "agent_message": reason }),
        }
    }
}

/// Returns the output of a hook that has nothing to decide.
pub(super) fn silent_output(dialect: &HookDialect) -> HookOutput {
    let stdout = match dialect.form {
        AnswerForm::Plugin => "{}\n".to_owned(),
        AnswerForm::ClaudeCode | AnswerForm::Codex | AnswerForm::GeminiCli | AnswerForm::Cursor => {
            String::new()
        }
    };
    HookOutput {
        stdout,
        ..HookOutput::default()
    }
}

/// Returns the output by which an agent takes a call as denied for this reason: in its own form if the event is known to
/// be about a call, else by the exit code, with the reason on standard error.
pub(super) fn deny_event(agent: &str, written: &Value, reason: &str) -> HookOutput {
    let event = written.get("hook_event_name").and_then(Value::as_str);
    match HookDialect::find(agent).filter(|dialect| event == Some(dialect.before)) {
        Some(dialect) => HookDecision::Deny(reason.to_owned()).write(dialect),
        None => HookOutput {
            stdout: String::new(),
            stderr: format!("{reason}\n"),
            exit_code: DENY_EXIT,
        },
    }
}
