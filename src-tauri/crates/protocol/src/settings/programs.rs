//! The person's programs that are asked about calls: watchdogs and hooks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A watchdog: a program of yours that examines every call before it runs.
///
/// The program reads one JSON object on its standard input (`version`, `tool`, `arguments`, `manifest`, `requires`,
/// `session`, `workspace`, `accesses`) and writes one on its standard output:
/// `{"verdict":"allow|deny|ask","reason":"…"}`. `manifest` is the manifest of the calling agent, and null for the
/// built-in one. The program can only make the verdict stricter (`S002-93`). Any other behaviour counts as ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct WatchdogSettings {
    /// Name under which the watchdog's reasons are shown.
    pub name: String,
    /// The program's file, absolute.
    pub program: String,
    /// Time limit of the program, in milliseconds; at most 30,000.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
}

/// A hook: a program of yours that is told of every call around its run (`S001-60` to `S001-68`).
///
/// The program is started at each of its points, and reads one JSON object on its standard input: `version`, `on`,
/// `session`, `workspace`, `call`, `tool`, `arguments`, `classifier_input`; around an update `update` with its `kind`
/// (`output`, `progress`, or `partial` with the `result`) and `text`; after the call `state`, `is_error` and `result`,
/// the text that the agent reads. Before a call and before an update the program answers with one object on its
/// standard output, `{"verdict":"allow|deny","reason":"…"}`; any other behaviour there keeps the call from running, or
/// the update from being reported. At the other points nothing is read from the program, and a failure is reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct HookSettings {
    /// Name under which the hook is shown.
    pub name: String,
    /// The program's file, absolute.
    pub program: String,
    /// Points at which the program is started.
    pub on: Vec<HookPoint>,
    /// Time limit of the program at each start, in milliseconds; at most 30,000.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
}

/// A point at which a hook is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    /// Before a call runs, once the rules and you have allowed it: a deny keeps the call from running.
    Before,
    /// Before an update of a running call is reported: a deny keeps the update back.
    BeforeUpdate,
    /// After an update was reported.
    AfterUpdate,
    /// After the end of a call was reported.
    After,
}

fn default_timeout_ms() -> u32 {
    5_000
}
