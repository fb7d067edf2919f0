//! Execution and result: how a tool runs, and how its result is treated (`S003-37` to `S003-46`).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Execution of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ToolExecution {
    /// Executor of the call: `engine`, `process`, `model`, `delegate`, `server`, `person` (`S003-37`).
    pub execution_profile_ref: String,
    /// How long a call may run, in milliseconds (`S003-38`).
    pub timeout_ms: u64,
    /// Effect of stopping a call (`S003-39`).
    pub abort_semantics: AbortSemantics,
    /// Treatment of a started call when the person steers (`S003-59`, M09).
    pub interrupt_behavior: InterruptBehavior,
    /// JSON Schema of one piece of progress; none if the tool reports no progress (`S003-40`).
    #[ts(type = "unknown")]
    pub progress_schema: Option<Value>,
    /// Whether the tool may change the context that later calls see (`S003-41`).
    pub context_modifier_policy: ContextModifierPolicy,
}

/// Effect of stopping a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AbortSemantics {
    /// The call is abandoned; whether it still has effects is unknown.
    #[default]
    Abandons,
    /// The call ends at its next step.
    EndsAtNextStep,
    /// The call's single step is done wholly or not at all.
    WholeOrNothing,
    /// The call's process and everything that it started are killed.
    KillsProcessGroup,
}

/// Treatment of a started call when the person steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum InterruptBehavior {
    /// The call runs to its end.
    #[default]
    Block,
    /// The call is stopped.
    Cancel,
}

/// Whether a tool may change the context that later calls see: the catalogue of tools, the session's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ContextModifierPolicy {
    /// The tool may not change the context.
    #[default]
    Forbid,
    /// The tool may change the context, and then runs alone.
    AllowSerialOnly,
    /// The tool may change the context, and begins once all other calls of its turn have ended.
    DeferUntilBatchComplete,
}

/// Treatment of a tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct ResultRules {
    /// Mapper that makes the one outcome from the tool's return value: `outcome` is the pipeline's (`S003-42`, M01).
    pub result_mapper: String,
    /// Limit of the text that the model gets inline; the rest goes to the sidecar. Counted in bytes of UTF-8, of which
    /// there are never fewer than characters (`S003-43`, `S002-68`).
    pub max_inline_chars: u64,
    /// Where the whole of a long result is stored: `sidecar`, or `never` for a result that can be requested again
    /// (`S003-44`).
    pub persistence_policy_ref: String,
    /// Text that the model gets for a result without text (`S003-45`).
    pub empty_result_policy: EmptyResultPolicy,
    /// Kinds of content that are redacted before anything is stored: `secrets` (`S003-46`).
    pub redaction_policy_refs: Vec<String>,
}

/// Text that the model gets for a result without text. An empty result is not a missing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EmptyResultPolicy {
    /// A marker that says that the result has no text.
    #[default]
    Marker,
    /// The tool always returns text.
    NeverEmpty,
}
