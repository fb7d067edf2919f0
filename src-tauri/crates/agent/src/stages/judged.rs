//! Stages 5 to 8: the verdict, before anything is read and again with all that is known.

use policy::{Judgement, Request};
use protocol::preview::UndoOutlook;
use protocol::{Digest, EventBody, Fact, Outcome, Preview, ToolCall, Verdict};
use serde_json::{Map, Value};

use super::found::Called;
use super::prepared::{Ready, classified};
use super::{Ended, finish};
use crate::config::Host;
use crate::repeats;
use crate::session::Session;

/// Ends a call of a tool that is denied as a whole, before any file is looked at (`S003-26`).
pub(crate) fn forbidden_outright(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> Result<(), Ended> {
    let accesses = called.0.tool.accesses(arguments);
    let touches: Vec<_> = accesses.iter().map(|access| access.capability).collect();
    let mode = classified(called).mode;
    match session.rules().denies_outright(called.id(), mode, &touches) {
        true => denied_unprepared(session, call, called, arguments, &[]),
        false => Ok(()),
    }
}

/// Ends a call that nothing could make right, before even its preview touches a file. A call that declares no access
/// touches none, and waits for its one full verdict.
pub(crate) fn forbidden(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &[Fact],
) -> Result<(), Ended> {
    if facts.is_empty() {
        return Ok(());
    }
    denied_unprepared(session, call, called, arguments, facts)
}

fn denied_unprepared(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &[Fact],
) -> Result<(), Ended> {
    let nothing = Ready {
        preview: Preview::Nothing,
        plan: protocol::Plan::None,
        undo: UndoOutlook::NotNeeded,
        shown: Digest(String::new()),
        same: Digest(String::new()),
    };
    let judgement = judge_for(session, call, called, facts, &nothing, None, None);
    if judgement.verdict() == Verdict::Deny {
        tell(session, call, called, arguments, &nothing, &judgement);
        return Err(finish::denied(called, &judgement));
    }
    Ok(())
}

/// The verdict on a prepared call.
pub(crate) fn judge(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    facts: &[Fact],
    ready: &Ready,
) -> Judgement {
    let asks_after = session.shared.settings().limits.repeats;
    let times = session.repeats(|repeats| repeats.of(&ready.same));
    let watchdog = repeats::reason(times, asks_after);
    let headless = match session.shared.config.host {
        Host::Person | Host::Headless { approve_all: true } => None,
        Host::Headless { approve_all: false } => {
            Some("Nobody is there to ask, so asking means denying.")
        }
    };
    let watchdog = watchdog.as_deref();
    judge_for(session, call, called, facts, ready, headless, watchdog)
}

fn judge_for(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    facts: &[Fact],
    ready: &Ready,
    headless: Option<&str>,
    watchdog: Option<&str>,
) -> Judgement {
    policy::judge(&Request {
        call: &call.id,
        tool: called.id(),
        classified: &classified(called),
        facts,
        undo: &ready.undo,
        needs_person: called.interface().safety.requires_user_interaction,
        rules: &session.rules(),
        ask_for_everything: session.shared.settings().ask_for_everything,
        headless,
        watchdog,
        shown: &ready.shown,
    })
}

/// Records the verdict with its reasons and what is shown.
pub(crate) fn tell(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    ready: &Ready,
    judgement: &Judgement,
) {
    let interface = called.interface();
    session.journal.tell(EventBody::CallJudged {
        call: call.id.clone(),
        tool: interface.id().to_owned(),
        title: interface.title().to_owned(),
        target: called.0.tool.target(arguments),
        mode: classified(called).mode,
        kind: classified(called).kind,
        trail: judgement.trail().clone(),
        preview: ready.preview.clone(),
        undo: ready.undo.clone(),
    });
}

/// Keeps in mind what a call came to, so that it is noticed when it comes to that again and again.
pub(crate) fn remember(session: &Session, ready: Ready, outcome: &Outcome) {
    session.repeats(|repeats| repeats.take(ready.same, outcome));
}
