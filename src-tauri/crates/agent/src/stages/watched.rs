//! Stage 7: what the watchdogs say of a call before it runs: the built-in checks, then the person's own programs (`S002-86`).
//!
//! A program is asked when nothing else denies the call: it sees what would really happen, and costs nothing where that is
//! settled already.

use futures::future::join_all;
use policy::Facts;
use policy::watchdog::{self, Alarm, Sight};
use protocol::settings::WatchdogSettings;
use protocol::shown::in_a_sentence;
use protocol::{Fact, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::found::Called;
use super::stands_for;
use crate::limits::{PROGRAM_REASON_CHARS_MAX, WATCHDOGS_MAX};
use crate::manifest;
use crate::programs::{self, Question};
use crate::session::Session;

/// How a program answers.
const FORM: &str = "{\"verdict\":…,\"reason\":…}";

/// What a program answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    verdict: Verdict,
    #[serde(default)]
    reason: String,
}

/// What the built-in checks say: they see tool, arguments, the agent's manifest, and the session (`S002-87`).
pub(crate) fn built_in(
    session: &Session,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
) -> Vec<Alarm> {
    let mut alarms = watchdog::look(&Sight {
        tool: called.id(),
        arguments,
        manifest: session.bounds.own(),
        session: &session.id,
        facts,
    });
    alarms.extend(stands_for::said(session, called, facts));
    alarms
}

/// What all of them say. A program is given what the agent may touch, too: its manifest and its tools together (`S002-09`).
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
    let input = programs::input(&json!({
        "version": 2,
        "tool": called.id(),
        "arguments": arguments,
        "manifest": session.bounds.own().map(manifest::told),
        "requires": session.bounds.requires(session.tools().requires()),
        "session": session.id,
        "workspace": session.hands.workspace.root(),
        "accesses": facts.all().iter().map(told).collect::<Vec<_>>(),
    }));
    let programs = settings.watchdogs.iter().take(WATCHDOGS_MAX);
    let said = join_all(programs.map(|one| run(session, one, &input))).await;
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
    let name = in_a_sentence(&watchdog.name, PROGRAM_REASON_CHARS_MAX);
    let question = Question {
        program: &watchdog.program,
        input,
        timeout_ms: watchdog.timeout_ms,
    };
    let printed = programs::ask(session, question, &session.stop_token()).await;
    match printed.and_then(|printed| programs::answer::<Said>(&printed, FORM)) {
        // What it did not say nobody can answer for good.
        Err(what) => Some(Alarm::ask_each_time(format!(
            "The watchdog `{name}` {what}"
        ))),
        Ok(said) => {
            let reason = programs::reason(&said.reason);
            let reason = format!("The watchdog `{name}` says: {reason}");
            match said.verdict {
                Verdict::Allow => None,
                Verdict::Ask => Some(Alarm::ask(reason)),
                Verdict::Deny => Some(Alarm::deny(reason)),
            }
        }
    }
}
