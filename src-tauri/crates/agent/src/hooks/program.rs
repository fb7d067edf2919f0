//! A program of the person's as a hook: what it is told at each of its points, and what it answers.

use protocol::Outcome;
use protocol::settings::{HookPoint, HookSettings};
use protocol::shown::in_a_sentence;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Before, HookedCall, Update};
use crate::limits::PROGRAM_REASON_CHARS_MAX;
use crate::programs::{self, Question};
use crate::session::Session;

/// How it answers where an answer is read.
const FORM: &str = "{\"verdict\":\"allow|deny\",\"reason\":…}";

/// A hook in the settings. Its errors are ends of sentences that begin with its name.
pub(super) struct ProgramHook<'a> {
    session: &'a Session,
    settings: HookSettings,
}

/// What it answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    verdict: Lets,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Lets {
    Allow,
    Deny,
}

impl<'a> ProgramHook<'a> {
    pub fn new(session: &'a Session, settings: HookSettings) -> Self {
        Self { session, settings }
    }

    /// What it is called in a sentence: hook `audit`.
    pub fn called(&self) -> String {
        let name = in_a_sentence(&self.settings.name, PROGRAM_REASON_CHARS_MAX);
        format!("hook `{name}`")
    }

    pub fn is_on(&self, point: HookPoint) -> bool {
        self.settings.on.contains(&point)
    }

    pub async fn before(&self, call: &HookedCall) -> Result<Before, String> {
        let said = self.ask(HookPoint::Before, call, json!({})).await?;
        Ok(match said.verdict {
            Lets::Allow => Before::Go,
            Lets::Deny => Before::Skip {
                reason: programs::reason(&said.reason),
            },
        })
    }

    pub async fn before_update(&self, call: &HookedCall, update: &Update) -> Result<bool, String> {
        let told = told(update);
        let said = self.ask(HookPoint::BeforeUpdate, call, told).await?;
        Ok(matches!(said.verdict, Lets::Allow))
    }

    pub async fn after_update(&self, call: &HookedCall, update: &Update) -> Result<(), String> {
        self.tell(HookPoint::AfterUpdate, call, told(update)).await
    }

    pub async fn after(&self, call: &HookedCall, outcome: &Outcome) -> Result<(), String> {
        let told = json!({
            "state": outcome.state,
            "is_error": !outcome.is_success(),
            "result": outcome.text,
        });
        self.tell(HookPoint::After, call, told).await
    }

    /// Asks it while the run goes on.
    async fn ask(&self, point: HookPoint, call: &HookedCall, more: Value) -> Result<Said, String> {
        let stop = self.session.stop_token();
        let printed = self.start(point, call, more, &stop).await?;
        programs::answer(&printed, FORM)
    }

    /// Tells it what was done, also once the run was stopped.
    async fn tell(&self, point: HookPoint, call: &HookedCall, more: Value) -> Result<(), String> {
        let never = CancellationToken::new();
        self.start(point, call, more, &never).await.map(drop)
    }

    async fn start(
        &self,
        point: HookPoint,
        call: &HookedCall,
        more: Value,
        stop: &CancellationToken,
    ) -> Result<Vec<u8>, String> {
        let mut told = json!({
            "version": 1,
            "on": point,
            "session": call.session,
            "workspace": self.session.hands.workspace.root(),
            "call": call.call,
            "tool": call.tool,
            "arguments": call.arguments,
            "classifier_input": call.classifier_input,
        });
        if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
            told.extend(more);
        }
        let question = Question {
            program: &self.settings.program,
            input: &programs::input(&told),
            timeout_ms: self.settings.timeout_ms,
        };
        programs::ask(self.session, question, stop).await
    }
}

fn told(update: &Update) -> Value {
    json!({ "update": match update {
        Update::Output(text) => json!({ "kind": "output", "text": text }),
        Update::Progress(text) => json!({ "kind": "progress", "text": text }),
        Update::Partial(part) => json!({ "kind": "partial", "text": part.in_words(), "result": part }),
    } })
}
