//! Stage 7: what the watchdogs say of a call before it runs: the built-in checks, then the person's own programs (`S002-86`).
//!
//! A program is asked when nothing else denies the call: it sees what would really happen, and costs nothing where that is
//! settled already.

use std::path::PathBuf;

use futures::future::join_all;
use policy::Facts;
use policy::watchdog::{self, Alarm, Sight};
use protocol::settings::WatchdogSettings;
use protocol::shown::in_a_sentence;
use protocol::{Fact, Verdict};
use runtime::{Answered, Exit, Program};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::found::Called;
use super::stands_for;
use crate::limits::{
    WATCHDOG_ANSWER_BYTES_MAX, WATCHDOG_MS_MAX, WATCHDOG_REASON_CHARS_MAX, WATCHDOGS_MAX,
};
use crate::session::Session;

/// What a program answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    verdict: Verdict,
    #[serde(default)]
    reason: String,
}

/// What the built-in checks say: they see tool, arguments, what the agent's tools require, and the session (`S002-87`).
pub(crate) fn built_in(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
) -> Vec<Alarm> {
    let mut alarms = watchdog::look(&Sight {
        tool: called.id(),
        arguments,
        manifest: &session.bounds.requires(session.tools().requires()),
        session: &session.id,
        facts,
    });
    alarms.extend(stands_for::said(session, called, facts));
    alarms
}

/// What all of them say.
pub(crate) async fn ask(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
) -> Vec<Alarm> {
    let mut alarms = built_in(session, called, arguments, facts);
    let settings = session.shared.settings();
    if settings.watchdogs.is_empty() {
        return alarms;
    }
    let mut input = json!({
        "version": 1,
        "tool": called.id(),
        "arguments": arguments,
        "manifest": session.bounds.requires(session.tools().requires()),
        "session": session.id,
        "workspace": session.hands.workspace.root(),
        "accesses": facts.all().iter().map(told).collect::<Vec<_>>(),
    })
    .to_string();
    input.push('\n');
    let programs = settings.watchdogs.iter().take(WATCHDOGS_MAX);
    let said = join_all(programs.map(|one| run(session, one, input.as_bytes()))).await;
    alarms.extend(said.into_iter().flatten());
    if settings.watchdogs.len() > WATCHDOGS_MAX {
        alarms.push(Alarm::ask_each_time(format!(
            "There are more than {WATCHDOGS_MAX} watchdogs, so the rest were not asked."
        )));
    }
    alarms
}

/// A fact as a program reads it.
fn told(fact: &Fact) -> Value {
    json!({
        "capability": fact.capability,
        "target": fact.target,
        "real": fact.real,
        "inside": fact.inside,
    })
}

/// Asks one program. Whatever goes wrong with it asks the person.
async fn run(session: &Session, watchdog: &WatchdogSettings, input: &[u8]) -> Option<Alarm> {
    let name = in_a_sentence(&watchdog.name, WATCHDOG_REASON_CHARS_MAX);
    // What it did not say nobody can answer for good.
    let failed = |what: String| {
        let told = format!("The watchdog `{name}` {what}");
        Some(Alarm::ask_each_time(told))
    };
    let file = PathBuf::from(&watchdog.program);
    if !file.is_absolute() {
        return failed("names no absolute file, so it was not asked.".to_owned());
    }
    let timeout_ms = watchdog.timeout_ms.clamp(1, WATCHDOG_MS_MAX);
    let program = Program {
        file,
        named: watchdog.program.clone(),
        workspace: session.hands.workspace.clone(),
        input: input.to_vec(),
        timeout_ms: timeout_ms.into(),
        output_bytes_max: WATCHDOG_ANSWER_BYTES_MAX,
    };
    let answered = match runtime::run_program(&program, |_| {}, &session.stop_token()).await {
        Ok(answered) => answered,
        Err(error) => return failed(format!("could not be started: {error}")),
    };
    match said(&answered, timeout_ms) {
        Err(what) => failed(what),
        Ok(said) => {
            let reason = match said.reason.trim() {
                "" => "it gives no reason.",
                reason => reason,
            };
            let reason = in_a_sentence(reason, WATCHDOG_REASON_CHARS_MAX);
            let reason = format!("The watchdog `{name}` says: {reason}");
            match said.verdict {
                Verdict::Allow => None,
                Verdict::Ask => Some(Alarm::ask(reason)),
                Verdict::Deny => Some(Alarm::deny(reason)),
            }
        }
    }
}

/// What it said; the error is the end of a sentence.
fn said(answered: &Answered, timeout_ms: u32) -> Result<Said, String> {
    if answered.too_long {
        return Err("answered more than it may.".to_owned());
    }
    match answered.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => return Err(format!("ended with exit code {code}.")),
        Exit::Signal(signal) => return Err(format!("was ended by signal {signal}.")),
        Exit::TimedOut => return Err(format!("did not answer within {timeout_ms} ms.")),
        Exit::Cancelled => return Err("was stopped before it answered.".to_owned()),
    }
    serde_json::from_slice(&answered.output)
        .map_err(|error| format!("did not answer with `{{\"verdict\":…,\"reason\":…}}`: {error}."))
}
