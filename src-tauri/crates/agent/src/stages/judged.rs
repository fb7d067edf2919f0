//! Stages 5 to 8: the verdict, before anything is read and again with all that is known.

use std::sync::Arc;

use policy::rules::Subject;
use policy::watchdog::{self, Alarm};
use policy::{Facts, Judgement};
use protocol::ToolMode;
use protocol::preview::UndoOutlook;
use protocol::{Access, CallId, Capability, Digest, EventBody, Fact, Outcome, ToolCall, Verdict};
use serde_json::{Map, Value};

use super::found::Called;
use super::prepared::Ready;
use super::{Ended, finish, prepared, watched};
use crate::config::Host;
use crate::repeats::{self, Effect};
use crate::session::Session;
use crate::weighed::{self, Circumstances, Weighed};
use crate::{surface, uses};

/// The verdict on a call that is denied whatever stands on the disk, before anything there is looked at (`S003-26`): one of a
/// tool that is denied as a whole, and one that names, plainly written, what a rule denies.
pub(crate) fn forbidden_outright(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
) -> Option<(Weighed, Judgement)> {
    let accesses = called.0.tool.accesses(arguments);
    let touches: Vec<_> = accesses.iter().map(|access| access.capability).collect();
    let classified = called.0.classified.clone();
    let mode = classified.touching(touches.iter().copied()).mode;
    let rules = session.rules();
    let now = session.shared.config.clock.now();
    if rules.denies_outright(called.id(), mode, &touches, now) {
        let nothing = Facts::default();
        return Some(judge_unprepared(session, call, called, arguments, &nothing));
    }
    let denies = |fact: &Fact| {
        let about = Facts::from_iter([fact.clone()]);
        let mut pieces = Subject::all(called.id(), mode, &about).into_iter();
        pieces.any(|piece| rules.said(&piece, now, Verdict::Allow).verdict == Some(Verdict::Deny))
    };
    let denied = accesses.iter().filter_map(as_written).filter(denies);
    let unlooked: Facts = denied
        .map(|fact| Fact {
            inside: false,
            unresolved: Some(UNLOOKED.to_owned()),
            ..fact
        })
        .collect();
    let is_denied = !unlooked.all().is_empty();
    is_denied.then(|| judge_unprepared(session, call, called, arguments, &unlooked))
}

/// Why nothing is known of where a denied access leads.
pub(crate) const UNLOOKED: &str = "a rule denies what it names, so it was not looked at";

/// What an access says of itself, unlooked at; none where only a look could tell what it names. A path that is plainly
/// written names what it says, wherever a link may lead from there.
fn as_written(access: &Access) -> Option<Fact> {
    let plain = match access.capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
            let mut parts = access.target.split('/');
            parts.all(|part| !matches!(part, "" | "." | ".."))
        }
        Capability::NetFetch | Capability::ShellRun => true,
    };
    plain.then(|| {
        let mut fact = Fact::inside(access.capability, access.target.clone());
        if access.capability == Capability::NetFetch {
            fact.real = policy::host::resolve(&access.target).real;
        }
        fact
    })
}

/// The verdict on a call before even its preview touches a file; a deny is what nothing could make right. A call that declares
/// no access touches none, and waits for its one full verdict.
pub(crate) fn forbidden(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
) -> Option<(Weighed, Judgement)> {
    let touches = !facts.all().is_empty();
    touches.then(|| judge_unprepared(session, call, called, arguments, facts))
}

fn judge_unprepared(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
) -> (Weighed, Judgement) {
    let alarms = watched::built_in(session, called, arguments, facts);
    // Without a look, or a word on undo where that counts, nobody could judge it again.
    let weighed = weighed(&call.id, called, facts, &UndoOutlook::NotNeeded, alarms);
    let is_destructive = weighed.classified.mode == Some(ToolMode::Destructive);
    let weighed = Weighed {
        is_whole: !facts.all().is_empty() && !is_destructive,
        ..weighed
    };
    let judgement = unprepared(session, &weighed);
    (weighed, judgement)
}

/// Everything that is known of a prepared call, with all alarms.
pub(crate) fn weigh(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
    ready: &Ready,
    mut alarms: Vec<Alarm>,
) -> Arc<Weighed> {
    // Whoever approves beforehand has not seen what a watchdog wants to be seen (`S002-91`).
    if matches!(session.shared.config.host, Host::Headless { .. }) {
        for alarm in &mut alarms {
            alarm.verdict = Verdict::Deny;
        }
    }
    let exactly = exactly(called, arguments, facts, &alarms);
    alarms.extend(repeated(session, called, ready).map(Alarm::ask_each_time));
    let weighed = weighed(&call.id, called, facts, &ready.undo, alarms);
    Arc::new(Weighed {
        tried: ready.tried.clone(),
        facts: weighed.facts.known_as(exactly),
        ..weighed
    })
}

/// What a grant for exactly this call names: tool, arguments, where they lead, and what its watchdogs ask; none where none
/// of them asks what could be answered for good.
fn exactly(
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    facts: &Facts,
    alarms: &[Alarm],
) -> Option<Digest> {
    let reasons = watchdog::lasting(alarms);
    (!reasons.is_empty()).then(|| Digest::of_json(&(called.id(), arguments, facts.all(), reasons)))
}

fn weighed(
    call: &CallId,
    called: &Called<'_>,
    facts: &Facts,
    undo: &UndoOutlook,
    alarms: Vec<Alarm>,
) -> Weighed {
    Weighed {
        call: call.clone(),
        tool: called.id().to_owned(),
        classified: called.0.classified.clone().touching(facts.declared()),
        facts: facts.clone(),
        undo: undo.clone(),
        needs_person: called.interface().safety.requires_user_interaction,
        alarms,
        tried: None,
        is_whole: true,
    }
}

/// The verdict on a prepared call.
pub(crate) fn judge(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    ready: &Ready,
    weighed: &Weighed,
) -> Judgement {
    let rules = session.rules();
    let shown = || prepared::shown(session, call, called, arguments, ready);
    policy::judge(&weighed.request(&rules, Circumstances::of(session), &shown))
}

/// The verdict before everything is known. Where nobody is there, what asks is only denied with all that is known.
fn unprepared(session: &Session, weighed: &Weighed) -> Judgement {
    let rules = session.rules();
    let circumstances = Circumstances {
        headless: None,
        ..Circumstances::of(session)
    };
    policy::judge(&weighed.request(&rules, circumstances, &weighed::nothing))
}

/// The verdict on one more host that a running call of a tool comes to, with its reason.
///
/// # Errors
/// The tool is gone.
pub(crate) fn on_the_way(
    session: &Session,
    call: &CallId,
    tool: &str,
    fact: Fact,
) -> Result<(Verdict, String), String> {
    let tools = session.tools();
    let called = Called(tools.find(tool).map_err(|error| error.to_string())?);
    let mut facts = Facts::from_iter([fact]);
    surface::hold(session, called.interface(), &mut facts);
    let alarms = watched::built_in(session, &called, &Map::new(), &facts);
    let undo = UndoOutlook::NotNeeded;
    let judgement = unprepared(session, &weighed(call, &called, &facts, &undo, alarms));
    match uses::take(session, &judgement, false) {
        true => Ok((judgement.verdict(), judgement.trail().lead.clone())),
        false => Ok((
            Verdict::Ask,
            "The rule that allows it is used up.".to_owned(),
        )),
    }
}

/// Records the verdict with its reasons and what is shown.
pub(crate) fn tell(
    session: &Session,
    call: &ToolCall,
    called: &Called<'_>,
    arguments: &Map<String, Value>,
    ready: &Ready,
    weighed: &Weighed,
    judgement: &Judgement,
) {
    let interface = called.interface();
    session.journal.tell(EventBody::CallJudged {
        call: call.id.clone(),
        tool: interface.id().to_owned(),
        title: interface.title().to_owned(),
        target: called.0.tool.target(arguments),
        mode: weighed.classified.mode,
        kind: weighed.classified.kind,
        trail: judgement.trail().clone(),
        preview: ready.preview.clone(),
        undo: ready.undo.clone(),
        grounds: weighed.grounds(),
    });
}

/// Why a call is asked about that may change something and repeats itself; none if it does not, or only reads.
fn repeated(session: &Session, called: &Called<'_>, ready: &Ready) -> Option<String> {
    match called.effect() {
        Effect::None => None,
        Effect::Possible => {
            let times = session.repeats(|repeats| repeats.count(ready.same));
            repeats::reason(times, session.shared.settings().limits.repeats)
        }
    }
}

/// Ends a call that a gate denied. How often it was made is forgotten: a denial must not lead to the next one.
pub(crate) fn denied(
    session: &Session,
    called: &Called<'_>,
    ready: &Ready,
    judgement: &Judgement,
) -> Ended {
    session.repeats(|repeats| repeats.forget(ready.same));
    finish::denied(called, judgement)
}

/// Counts what a call came to. A read that comes to the same again and again tells the model so.
pub(crate) fn count(
    session: &Session,
    called: &Called<'_>,
    ready: &Ready,
    mut outcome: Outcome,
) -> Outcome {
    let times = session.repeats(|repeats| repeats.add(ready.same, called.effect(), &outcome));
    if called.effect() == Effect::None {
        let tells_after = session.shared.settings().limits.repeats;
        outcome.notes.extend(repeats::note(times, tells_after));
    }
    outcome
}
