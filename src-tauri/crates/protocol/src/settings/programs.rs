//! Programs of the person's that are asked about calls: watchdogs and hooks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A program of the person's that looks at every call before it runs.
///
/// It reads one JSON object on its standard input (`version`, `tool`, `arguments`, `manifest`, `requires`, `session`,
/// `workspace`, `accesses`) and writes one on its standard output: `{"verdict":"allow|deny|ask","reason":"…"}`. `manifest` is that
/// of the agent that calls, and null for the built-in one. It can only make the verdict stricter (`S002-93`). Whatever else it
/// does counts as ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct WatchdogSettings {
    /// What its reasons are told under.
    pub name: String,
    /// Its file, absolute.
    pub program: String,
    /// How long it may take, in milliseconds; at most 30,000.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
}

/// A program of the person's that hears of every call around its run (`S001-60` to `S001-68`).
///
/// It is started at each of its points, and reads one JSON object on its standard input: `version`, `on`, `session`,
/// `workspace`, `call`, `tool`, `arguments`, `classifier_input`; around an update `update` with its `kind` (`output`, `progress`,
/// or `partial` with the `result`) and `text`; after the call `state`, `is_error` and `result`, the text that the agent reads.
/// Before a call and before an update it answers with one object on its standard output, `{"verdict":"allow|deny","reason":"…"}`;
/// whatever else it does there keeps the call from running, or the update from being told. Afterwards nothing is read from it,
/// and a failure is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct HookSettings {
    /// What it is told under.
    pub name: String,
    /// Its file, absolute.
    pub program: String,
    /// When it is started.
    pub on: Vec<HookPoint>,
    /// How long it may take each time, in milliseconds; at most 30,000.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
}

/// When a hook is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    /// Before a call runs, once rules and person have let it through: a deny keeps it from running.
    Before,
    /// Before an update of a running call is told: a deny keeps it back.
    BeforeUpdate,
    /// After an update was told.
    AfterUpdate,
    /// After the end of a call was told.
    After,
}

fn default_timeout_ms() -> u32 {
    5_000
}
