//! Execution and result: how a tool runs, and what becomes of its result (`S003-37` to `S003-46`).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// How a tool runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolExecution {
    /// Who carries it out: `engine`, `process`, `model`, `delegate`, `server`, `person` (`S003-37`).
    pub execution_profile_ref: String,
    /// How long a call may run, in milliseconds (`S003-38`).
    pub timeout_ms: u64,
    /// What stopping a call does (`S003-39`).
    pub abort_semantics: AbortSemantics,
    /// What happens to a started call when the person steers (`S003-59`, M09).
    pub interrupt_behavior: InterruptBehavior,
    /// JSON Schema of one piece of progress; none if it tells of none (`S003-40`).
    #[ts(type = "unknown")]
    pub progress_schema: Option<Value>,
    /// Whether it may change what later calls find (`S003-41`).
    pub context_modifier_policy: ContextModifierPolicy,
}

/// What stopping a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AbortSemantics {
    /// The call is let go of; whether it still does something cannot be said.
    #[default]
    Abandons,
    /// It ends at its next step.
    EndsAtNextStep,
    /// Its one step is done wholly or not at all.
    WholeOrNothing,
    /// It and everything that it started is ended.
    KillsProcessGroup,
}

/// What happens to a started call when the person steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum InterruptBehavior {
    /// It runs to its end.
    #[default]
    Block,
    /// It is stopped.
    Cancel,
}

/// Whether a tool may change what later calls find: the catalogue of tools, the session's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ContextModifierPolicy {
    /// It may not.
    #[default]
    Forbid,
    /// It may, and then runs alone.
    AllowSerialOnly,
    /// It may, and begins once all other calls of its turn ended.
    DeferUntilBatchComplete,
}

/// What becomes of a tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ResultRules {
    /// Who makes the one outcome of what the tool returned: `outcome` is the pipeline's (`S003-42`, M01).
    pub result_mapper: String,
    /// How much of the text the model gets inline; the rest goes to the sidecar. Counted in bytes of UTF-8, of which
    /// there are never fewer than characters (`S003-43`, `S002-68`).
    pub max_inline_chars: u64,
    /// Where the whole of a long result goes: `sidecar`, or `never` for one that can be asked for again (`S003-44`).
    pub persistence_policy_ref: String,
    /// What the model gets of a result without text (`S003-45`).
    pub empty_result_policy: EmptyResultPolicy,
    /// What is taken out before anything is stored: `secrets` (`S003-46`).
    pub redaction_policy_refs: Vec<String>,
}

/// What the model gets of a result without text. Empty is not missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EmptyResultPolicy {
    /// A marker that says that there was none.
    #[default]
    Marker,
    /// The tool always says something itself.
    NeverEmpty,
}
