//! A program of the person as a hook: its input at each point, and its answers.

use protocol::Outcome;
use protocol::settings::{HookPoint, HookSettings};
use protocol::text::display_text::to_single_line;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::hooks::{CallUpdate, HookDecision, HookedCall};
use crate::limits::PROGRAM_REASON_CHARS_MAX;
use crate::pipeline::external_program;
use crate::pipeline::external_program::ProgramRequest;
use crate::session::Session;

/// Form of the program's answer, at points where an answer is read.
const ANSWER_FORM: &str = "{\"verdict\":\"allow|deny\",\"reason\":…}";

/// A hook in the settings. Its error messages are the ends of sentences that begin with the hook's name.
pub(super) struct ProgramHook<'a> {
    session: &'a Session,
    settings: HookSettings,
}

/// Answer of the program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookAnswer {
    verdict: HookVerdict,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum HookVerdict {
    Allow,
    Deny,
}

impl<'a> ProgramHook<'a> {
    pub fn new(session: &'a Session, settings: HookSettings) -> Self {
        Self { session, settings }
    }

    /// Returns the name of the hook for use in a sentence: hook `audit`.
    pub fn display_name(&self) -> String {
        let name = to_single_line(&self.settings.name, PROGRAM_REASON_CHARS_MAX);
        format!("hook `{name}`")
    }

    pub fn handles(&self, point: HookPoint) -> bool {
        self.settings.on.contains(&point)
    }

    pub async fn before(&self, call: &HookedCall) -> Result<HookDecision, String> {
        let said = self
            .request_answer(HookPoint::Before, call, json!({}))
            .await?;
        Ok(match said.verdict {
            HookVerdict::Allow => HookDecision::Continue,
            HookVerdict::Deny => HookDecision::Skip {
                reason: external_program::clean_reason(&said.reason),
            },
        })
    }

    pub async fn before_update(
        &self,
        call: &HookedCall,
        update: &CallUpdate,
    ) -> Result<bool, String> {
        let told = update_json(update);
        let said = self
            .request_answer(HookPoint::BeforeUpdate, call, told)
            .await?;
        Ok(matches!(said.verdict, HookVerdict::Allow))
    }

    pub async fn after_update(&self, call: &HookedCall, update: &CallUpdate) -> Result<(), String> {
        self.notify(HookPoint::AfterUpdate, call, update_json(update))
            .await
    }

    pub async fn after_execution(
        &self,
        call: &HookedCall,
        outcome: &Outcome,
    ) -> Result<(), String> {
        let told = json!({
            "state": outcome.state,
            "is_error": !outcome.is_success(),
            "result": outcome.text,
        });
        self.notify(HookPoint::After, call, told).await
    }

    /// Asks the program, unless the run is stopped.
    async fn request_answer(
        &self,
        point: HookPoint,
        call: &HookedCall,
        more: Value,
    ) -> Result<HookAnswer, String> {
        let stop = self.session.cancellation_token();
        let printed = self.run_hook(point, call, more, &stop).await?;
        external_program::parse_answer(&printed, ANSWER_FORM)
    }

    /// Tells the program what was done, even after the run was stopped.
    async fn notify(&self, point: HookPoint, call: &HookedCall, more: Value) -> Result<(), String> {
        let never = CancellationToken::new();
        self.run_hook(point, call, more, &never).await.map(drop)
    }

    async fn run_hook(
        &self,
        point: HookPoint,
        call: &HookedCall,
        more: Value,
        stop: &CancellationToken,
    ) -> Result<Vec<u8>, String> {
        let mut input = json!({
            "version": 1,
            "on": point,
            "session": call.session,
            "workspace": self.session.tool_context.workspace.root(),
            "call": call.call,
            "tool": call.tool,
            "arguments": call.arguments,
            "classifier_input": call.classifier_input,
        });
        if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
            input.extend(more);
        }
        let question = ProgramRequest {
            program: &self.settings.program,
            input: &external_program::encode_input(&input),
            timeout_ms: self.settings.timeout_ms,
        };
        external_program::run_program(self.session, question, stop).await
    }
}

fn update_json(update: &CallUpdate) -> Value {
    json!({ "update": match update {
        CallUpdate::Output(text) => json!({ "kind": "output", "text": text }),
        CallUpdate::Progress(text) => json!({ "kind": "progress", "text": text }),
        CallUpdate::Partial(part) => json!({ "kind": "partial", "text": part.to_text(), "result": part }),
    } })
}
