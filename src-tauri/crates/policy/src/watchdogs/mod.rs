//! Checks of a call's arguments before it runs, independent of its capabilities and of every rule (`S002-86`).
//!
//! They refuse what a capability cannot express: commands that destroy the system, that carry secrets out, that run
//! what they download. A check can only ask or deny; a call that it lets pass is not thereby allowed.

mod command;
mod destruction;
mod downloads;
mod exfiltration;
mod fork_bomb;
mod outgoing_secrets;
mod persistence;
mod pushes;
mod secret_forms;
mod secret_mask;
mod secret_places;

use protocol::{SessionId, Verdict};
use serde_json::{Map, Value};

use crate::AgentManifest;
use crate::facts::CallFacts;
use command::WatchedCommand;
pub(crate) use exfiltration::NETWORK_PROGRAMS;
pub use outgoing_secrets::{
    KnownSecret, OutgoingSecret, collect_letters, find_outgoing_secrets, find_second_halves,
};
pub use pushes::{Push, find_known_secrets, find_pushes};
pub use secret_mask::SecretMask;

/// An objection of a watchdog to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Ask or deny; an allow has no effect.
    pub verdict: Verdict,
    /// Reason in one sentence: the model reads it where the call is denied (`S002-89`).
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

    /// Creates an alarm for which a person has to look each time, however often they did before.
    pub fn ask_every_time(reason: impl Into<String>) -> Self {
        Self {
            each_time: true,
            ..Self::ask(reason)
        }
    }

    /// Creates an alarm that denies the call.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason: reason.into(),
            each_time: true,
        }
    }
}

/// Returns the reasons that a person may answer for good: those of alarms that ask, but not each time anew.
pub fn grantable_reasons(alarms: &[Alarm]) -> Vec<&str> {
    let lasting = alarms
        .iter()
        .filter(|alarm| alarm.verdict == Verdict::Ask && !alarm.each_time);
    lasting.map(|alarm| alarm.reason.as_str()).collect()
}

/// The view that a watchdog has of a call (`S002-87`).
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
    /// The facts of the call.
    pub facts: &'a CallFacts,
}

/// Runs the built-in checks and returns all their alarms; empty if they let the call pass.
pub fn run_builtin_watchdogs(sight: &WatchdogInput<'_>) -> Vec<Alarm> {
    let mut alarms: Vec<Alarm> = Vec::new();
    for script in WatchedCommand::from_facts(sight.facts) {
        let checks = [
            fork_bomb::check_fork_bomb(&script),
            destruction::check_destruction(&script),
            exfiltration::check_exfiltration(&script),
            downloads::check_downloads(&script),
            persistence::check_persistence(&script),
        ];
        alarms.extend(checks.into_iter().flatten());
    }
    alarms.dedup();
    alarms
}

#[cfg(test)]
mod tests;
