//! What a host does around a call: its hooks may keep a call from running and an update from being told, and hear of both.

use async_trait::async_trait;
use protocol::{CallId, PartialResult, SessionId};
use serde_json::{Map, Value};

/// A host's hooks. Each is optional (`S001-67`). One that panics or takes longer than ten seconds counts as broken: a
/// call then does not run, an update is not told.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Whose hooks these are, as a person and the model read it: "the audit log".
    fn name(&self) -> &str;

    /// Before a call is judged: what this host puts in where the tool's runtime schema marks members as a `hook`'s
    /// (`S003-63`). It is shown and approved with the rest. Asked for such tools alone.
    async fn extra_arguments(&self, _call: &HookedCall) -> Map<String, Value> {
        Map::new()
    }

    /// Before a call begins (`S001-60`), also one of a tool that does not exist.
    async fn before_execution(&self, _call: &HookedCall) -> HookDecision {
        HookDecision::Continue
    }

    /// Before an update is told; false keeps it back (`S001-64`).
    async fn before_update(&self, _call: &HookedCall, _update: &CallUpdate) -> bool {
        true
    }

    /// After an update was told (`S001-66`).
    async fn after_update(&self, _call: &HookedCall, _update: &CallUpdate) {}

    /// After the end of a call was told (`S001-63`).
    async fn after_execution(&self, _call: &HookedCall, _is_error: bool) {}
}

/// What a hook says before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// As far as this hook is concerned, it may run.
    Continue,
    /// It does not run; the model is told why (`S001-61`, `S001-62`).
    Skip {
        /// Why, as the model reads it.
        reason: String,
    },
}

/// The call that a hook is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct HookedCall {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The tool's id; the called name if there is no such tool.
    pub tool: String,
    /// The arguments that it would run with.
    pub arguments: Map<String, Value>,
    /// What a classifier of risk is to judge by: the tool's own choice of these arguments (`S003-32`); empty for a tool
    /// that touches nothing, and for none (`S003-60`).
    pub classifier_input: String,
}

/// What a call says while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallUpdate {
    /// A piece of live output.
    Output(String),
    /// A piece of the result.
    Partial(PartialResult),
    /// A word on how far it is.
    Progress(String),
}
