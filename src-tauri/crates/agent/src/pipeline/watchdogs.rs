//! Step 5: asking the watchdogs about a call before it runs: the built-in checks, then the person's own programs
//! (`S002-86`).
//!
//! Programs are asked only if nothing else denies the call: they see the accesses that would really happen, and cost
//! nothing for a call that is already denied.

use futures::future::join_all;
use policy::CallFacts;
use policy::watchdogs::{self, Alarm, WatchdogInput};
use protocol::settings::WatchdogSettings;
use protocol::text::display_text::to_single_line;
use protocol::{ResolvedAccess, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::limits::{PROGRAM_REASON_CHARS_MAX, WATCHDOGS_MAX};
use crate::permissions::manifest;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::external_program;
use crate::pipeline::external_program::ProgramRequest;
use crate::pipeline::implied_tool;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;

/// Form of a program's answer.
const ANSWER_FORM: &str = "{\"verdict\":…,\"reason\":…}";

/// Answer of a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WatchdogAnswer {
    verdict: Verdict,
    #[serde(default)]
    reason: String,
}

/// Runs the built-in checks on tool, arguments, the agent's manifest, and the session (`S002-87`).
pub(crate) fn run_built_in(
    session: &Session,
    tool: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &CallFacts,
) -> Vec<Alarm> {
    let mut alarms = watchdogs::run_builtin_watchdogs(&WatchdogInput {
        tool: tool.id(),
        arguments,
        manifest: session.bounds.own_manifest(),
        session: &session.id,
        facts,
    });
    alarms.extend(implied_tool::check_implied_tool(session, tool, facts));
    alarms
}

/// Asks the person's programs. A program also receives the bounds of the agent: its manifest and the requirements of
/// its tools together (`S002-09`).
pub(crate) async fn run_programs(cx: &CallContext<'_>, facts: &CallFacts) -> Vec<Alarm> {
    let session = cx.session;
    let settings = session.engine.settings();
    if settings.watchdogs.is_empty() {
        return Vec::new();
    }
    let input = external_program::encode_input(&json!({
        "version": 2,
        "tool": cx.tool.id(),
        "arguments": cx.arguments,
        "manifest": session.bounds.own_manifest().map(manifest::manifest_summary),
        "requires": session.bounds.tool_requirements(session.tools().requirements()),
        "session": session.id,
        "workspace": session.tool_context.workspace.root(),
        "accesses": facts.all().iter().map(fact_json).collect::<Vec<_>>(),
    }));
    let programs = settings.watchdogs.iter().take(WATCHDOGS_MAX);
    let said = join_all(programs.map(|one| run_program(session, one, &input))).await;
    let mut alarms: Vec<Alarm> = said.into_iter().flatten().collect();
    if settings.watchdogs.len() > WATCHDOGS_MAX {
        alarms.push(Alarm::ask_every_time(format!(
            "There are more than {WATCHDOGS_MAX} watchdogs, so the rest were not asked."
        )));
    }
    alarms
}

/// Returns a fact in the form that a program reads.
fn fact_json(fact: &ResolvedAccess) -> Value {
    json!({
        "capability": fact.capability,
        "target": fact.target,
        "real": fact.real,
        "inside": fact.inside,
    })
}

/// Asks one program. If it fails in any way, the person is asked.
async fn run_program(
    session: &Session,
    watchdog: &WatchdogSettings,
    input: &[u8],
) -> Option<Alarm> {
    let name = to_single_line(&watchdog.name, PROGRAM_REASON_CHARS_MAX);
    let question = ProgramRequest {
        program: &watchdog.program,
        input,
        timeout_ms: watchdog.timeout_ms,
    };
    let printed =
        external_program::run_program(session, question, &session.cancellation_token()).await;
    match printed
        .and_then(|printed| external_program::parse_answer::<WatchdogAnswer>(&printed, ANSWER_FORM))
    {
        // Nobody can settle for good a verdict that the watchdog did not give.
        Err(what) => Some(Alarm::ask_every_time(format!(
            "The watchdog `{name}` {what}"
        ))),
        Ok(said) => {
            let reason = external_program::clean_reason(&said.reason);
            let reason = format!("The watchdog `{name}` says: {reason}");
            match said.verdict {
                Verdict::Allow => None,
                Verdict::Ask => Some(Alarm::ask(reason)),
                Verdict::Deny => Some(Alarm::deny(reason)),
            }
        }
    }
}
