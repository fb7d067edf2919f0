//! Hooks of a host around a call: they may keep a call from running and an update from being sent, and are notified of
//! both.

use async_trait::async_trait;
use protocol::{CallId, PartialResult, SessionId};
use serde_json::{Map, Value};

/// A host's hooks. Each is optional (`S001-67`). A hook that panics or takes longer than ten seconds counts as failed:
/// its call then does not run, or its update is not sent.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Returns the name of the hooks, as a person and the model read it: "the audit log".
    fn name(&self) -> &str;

    /// Before a call is judged: returns the arguments that this host adds to members that the tool's runtime schema
    /// marks as a `hook`'s (`S003-63`). They are shown and approved with the rest. Called only for such tools.
    async fn extra_arguments(&self, _call: &HookedCall) -> Map<String, Value> {
        Map::new()
    }

    /// Before a call begins (`S001-60`), including a call of a tool that does not exist.
    async fn before_execution(&self, _call: &HookedCall) -> HookDecision {
        HookDecision::Continue
    }

    /// Before an update is sent; `false` keeps it back (`S001-64`).
    async fn before_update(&self, _call: &HookedCall, _update: &CallUpdate) -> bool {
        true
    }

    /// After an update was sent (`S001-66`).
    async fn after_update(&self, _call: &HookedCall, _update: &CallUpdate) {}

    /// After the end of a call was sent (`S001-63`).
    async fn after_execution(&self, _call: &HookedCall, _is_error: bool) {}
}

/// Decision of a hook before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookDecision {
    /// This hook lets the call run.
    Continue,
    /// The call does not run; the model is told why (`S001-61`, `S001-62`).
    Skip {
        /// Reason, as the model reads it.
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
    /// Arguments that the call would run with.
    pub arguments: Map<String, Value>,
    /// Text for a risk classifier: the tool's own selection of the arguments (`S003-32`); empty for a tool that touches
    /// nothing, and if there is no such tool (`S003-60`).
    pub classifier_input: String,
}

/// Update of a running call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallUpdate {
    /// A piece of live output.
    Output(String),
    /// A piece of the result.
    Partial(PartialResult),
    /// A progress message.
    Progress(String),
}
