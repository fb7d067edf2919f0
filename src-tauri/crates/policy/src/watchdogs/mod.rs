//! Checks of a call's arguments before it runs, independent of what it may touch and of every rule (`S002-86`).
//!
//! They refuse what a capability cannot express: commands that destroy the system, that carry secrets out, that run what
//! they download. A check can only say ask or deny; whoever it lets pass is let pass by nobody else.

mod command;
mod destruction;
mod downloads;
mod exfiltration;
mod fork_bomb;
mod persistence;

use protocol::{SessionId, Verdict};
use serde_json::{Map, Value};

use crate::AgentManifest;
use crate::facts::CallFacts;
use command::WatchedCommand;
pub(crate) use exfiltration::NETWORK_PROGRAMS;

/// What a watchdog says against a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Ask or deny; an allow says nothing.
    pub verdict: Verdict,
    /// Why, in one sentence: the model reads it where the call is denied (`S002-89`).
    pub reason: String,
    /// Whether a person is asked each time anew, whatever they answered before (`S002-90`).
    pub each_time: bool,
}

impl Alarm {
    /// A person has to look.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Ask,
            reason: reason.into(),
            each_time: false,
        }
    }

    /// A person has to look, however often they did before.
    pub fn ask_every_time(reason: impl Into<String>) -> Self {
        Self {
            each_time: true,
            ..Self::ask(reason)
        }
    }

    /// It must not run.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason: reason.into(),
            each_time: true,
        }
    }
}

/// The reasons that a person may answer for good: those of whoever asks about this call and would ask so again.
pub fn grantable_reasons(alarms: &[Alarm]) -> Vec<&str> {
    let lasting = alarms
        .iter()
        .filter(|alarm| alarm.verdict == Verdict::Ask && !alarm.each_time);
    lasting.map(|alarm| alarm.reason.as_str()).collect()
}

/// What a watchdog sees of a call (`S002-87`).
#[derive(Debug, Clone, Copy)]
pub struct WatchdogInput<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// The arguments, validated.
    pub arguments: &'a Map<String, Value>,
    /// The manifest of the agent that calls; none for the built-in agent.
    pub manifest: Option<&'a AgentManifest>,
    /// The session.
    pub session: &'a SessionId,
    /// What it would touch.
    pub facts: &'a CallFacts,
}

/// Everything that the built-in checks say against a call; nothing if they let it pass.
pub fn run_builtin_watchdogs(sight: &WatchdogInput<'_>) -> Vec<Alarm> {
    let mut alarms: Vec<Alarm> = Vec::new();
    for script in WatchedCommand::from_facts(sight.facts) {
        let found = [
            fork_bomb::check_fork_bomb(&script),
            destruction::check_destruction(&script),
            exfiltration::check_exfiltration(&script),
            downloads::check_downloads(&script),
            persistence::check_persistence(&script),
        ];
        alarms.extend(found.into_iter().flatten());
    }
    alarms.dedup();
    alarms
}

#[cfg(test)]
mod tests;
