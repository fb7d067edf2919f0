//! Programs of the person's that are asked about calls.

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
    #[serde(default = "timeout_ms")]
    pub timeout_ms: u32,
}

fn timeout_ms() -> u32 {
    5_000
}
