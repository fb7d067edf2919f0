//! Stages 5 to 8: the verdict, before anything is read and again with all that is known.

use std::sync::Arc;

use policy::rules::Subject;
use policy::watchdogs::{Alarm, grantable_reasons};
use policy::{CallFacts, Judgement};
use protocol::ToolMode;
use protocol::view::preview::UndoAvailability;
use protocol::{
    Access, CallId, Capability, Digest, EventBody, Outcome, ResolvedAccess, ToolCall, Verdict,
};
use serde_json::{Map, Value};

use crate::engine::config::Host;
use crate::permissions::policy_input;
use crate::permissions::policy_input::{PolicyContext, PolicyInput};
use crate::permissions::{agent_bounds, rule_uses};
use crate::pipeline::abort::Abort;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::{outcome, prepare, watchdogs};
use crate::session::Session;
use crate::session::run::repeats;
use crate::session::run::repeats::CallEffect;

/// The verdict on a call that is denied whatever stands on the disk, before anything there is looked at (`S003-26`): one of a
/// tool that is denied as a whole, and one that names, plainly written, what a rule denies.
pub(crate) fn deny_by_name(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> Option<(PolicyInput, Judgement)> {
    let accesses = called.0.tool.accesses(arguments);
    let touches: Vec<_> = accesses.iter().map(|access| access.capability).collect();
    let classified = called.0.classified.clone();
    let mode = classified
        .tighten_for_accesses(touches.iter().copied())
        .mode;
    let rules = session.rules();
    let now = session.engine.config.clock.now();
    if rules.denies_every_call(called.id(), mode, &touches, now) {
        let nothing = CallFacts::default();
        return Some(evaluate_unprepared(
            session, call, called, arguments, &nothing,
        ));
    }
    let denies = |fact: &ResolvedAccess| {
        let about = CallFacts::from_iter([fact.clone()]);
        let mut pieces = Subject::from_facts(called.id(), mode, &about).into_iter();
        pieces.any(|piece| {
            rules.evaluate_subject(&piece, now, Verdict::Allow).verdict == Some(Verdict::Deny)
        })
    };
    let denied = accesses.iter().filter_map(fact_as_written).filter(denies);
    let unlooked: CallFacts = denied
        .map(|fact| ResolvedAccess {
            inside: false,
            unresolved: Some(UNRESOLVED_REASON.to_owned()),
            ..fact
        })
        .collect();
    let is_denied = !unlooked.all().is_empty();
    is_denied.then(|| evaluate_unprepared(session, call, called, arguments, &unlooked))
}

/// Why nothing is known of where a denied access leads.
pub(crate) const UNRESOLVED_REASON: &str = "a rule denies what it names, so it was not looked at";

/// What an access says of itself, unlooked at; none where only a look could tell what it names. A path that is plainly
/// written names what it says, wherever a link may lead from there.
fn fact_as_written(access: &Access) -> Option<ResolvedAccess> {
    let plain = match access.capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
            let mut parts = access.target.split('/');
            parts.all(|part| !matches!(part, "" | "." | ".."))
        }
        Capability::NetFetch | Capability::ShellRun => true,
    };
    plain.then(|| {
        let mut fact = ResolvedAccess::new_inside(access.capability, access.target.clone());
        if access.capability == Capability::NetFetch {
            fact.real = policy::patterns::host::resolve_host(&access.target).real;
        }
        fact
    })
}

/// The verdict on a call before even its preview touches a file; a deny is what nothing could make right. A call that declares
/// no access touches none, and waits for its one full verdict.
pub(crate) fn deny_by_access(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &CallFacts,
) -> Option<(PolicyInput, Judgement)> {
    let touches = !facts.all().is_empty();
    touches.then(|| evaluate_unprepared(session, call, called, arguments, facts))
}

fn evaluate_unprepared(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &CallFacts,
) -> (PolicyInput, Judgement) {
    let alarms = watchdogs::run_built_in(session, called, arguments, facts);
    // Without a look, or a word on undo where that counts, nobody could judge it again.
    let weighed = base_policy_input(
        &call.id,
        called,
        facts,
        &UndoAvailability::NotNeeded,
        alarms,
    );
    let is_destructive = weighed.classified.mode == Some(ToolMode::Destructive);
    let weighed = PolicyInput {
        is_complete: !facts.all().is_empty() && !is_destructive,
        ..weighed
    };
    let judgement = evaluate_early(session, &weighed);
    (weighed, judgement)
}

/// Everything that is known of a prepared call, with all alarms.
pub(crate) fn build_policy_input(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &CallFacts,
    ready: &PreparedCall,
    mut alarms: Vec<Alarm>,
) -> Arc<PolicyInput> {
    // Whoever approves beforehand has not seen what a watchdog wants to be seen (`S002-91`).
    if matches!(session.engine.config.host, Host::Headless { .. }) {
        for alarm in &mut alarms {
            alarm.verdict = Verdict::Deny;
        }
    }
    let exactly = exact_call_digest(called, arguments, facts, &alarms);
    alarms.extend(repeat_reason(session, called, ready).map(Alarm::ask_every_time));
    let weighed = base_policy_input(&call.id, called, facts, &ready.undo, alarms);
    Arc::new(PolicyInput {
        tried: ready.dry_run.clone(),
        facts: weighed.facts.with_exact_digest(exactly),
        ..weighed
    })
}

/// What a grant for exactly this call names: tool, arguments, where they lead, and what its watchdogs ask; none where none
/// of them asks what could be answered for good.
fn exact_call_digest(
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &CallFacts,
    alarms: &[Alarm],
) -> Option<Digest> {
    let reasons = grantable_reasons(alarms);
    (!reasons.is_empty())
        .then(|| Digest::from_json(&(called.id(), arguments, facts.all(), reasons)))
}

fn base_policy_input(
    call: &CallId,
    called: &ResolvedTool<'_>,
    facts: &CallFacts,
    undo: &UndoAvailability,
    alarms: Vec<Alarm>,
) -> PolicyInput {
    PolicyInput {
        call: call.clone(),
        tool: called.id().to_owned(),
        classified: called
            .0
            .classified
            .clone()
            .tighten_for_accesses(facts.declared_capabilities()),
        facts: facts.clone(),
        undo: undo.clone(),
        needs_person: called.interface().safety.requires_user_interaction,
        alarms,
        tried: None,
        is_complete: true,
    }
}

/// The verdict on a prepared call.
pub(crate) fn evaluate(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    ready: &PreparedCall,
    weighed: &PolicyInput,
) -> Judgement {
    let rules = session.rules();
    let shown = || prepare::approval_digest(session, call, called, arguments, ready);
    policy::evaluate(&weighed.to_request(&rules, PolicyContext::from_session(session), &shown))
}

/// The verdict before everything is known. Where nobody is there, what asks is only denied with all that is known.
fn evaluate_early(session: &Session, weighed: &PolicyInput) -> Judgement {
    let rules = session.rules();
    let circumstances = PolicyContext {
        headless: None,
        ..PolicyContext::from_session(session)
    };
    policy::evaluate(&weighed.to_request(&rules, circumstances, &policy_input::empty_digest))
}

/// The verdict on one more host that a running call of a tool comes to, with its reason.
///
/// # Errors
/// The tool is gone.
pub(crate) fn evaluate_host(
    session: &Session,
    call: &CallId,
    tool: &str,
    fact: ResolvedAccess,
) -> Result<(Verdict, String), String> {
    let tools = session.tools();
    let called = ResolvedTool(tools.find(tool).map_err(|error| error.to_string())?);
    let mut facts = CallFacts::from_iter([fact]);
    agent_bounds::restrict_to_bounds(session, called.interface(), &mut facts);
    let alarms = watchdogs::run_built_in(session, &called, &Map::new(), &facts);
    let undo = UndoAvailability::NotNeeded;
    let judgement = evaluate_early(
        session,
        &base_policy_input(call, &called, &facts, &undo, alarms),
    );
    match rule_uses::take_uses(session, &judgement, false) {
        true => Ok((judgement.verdict(), judgement.trail().lead.clone())),
        false => Ok((
            Verdict::Ask,
            "The rule that allows it is used up.".to_owned(),
        )),
    }
}

/// Records the verdict with its reasons and what is shown.
pub(crate) fn record_verdict(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    ready: &PreparedCall,
    weighed: &PolicyInput,
    judgement: &Judgement,
) {
    let interface = called.interface();
    session.journal.record(EventBody::CallJudged {
        call: call.id.clone(),
        tool: interface.id().to_owned(),
        title: interface.title().to_owned(),
        target: called.0.tool.target(arguments),
        mode: weighed.classified.mode,
        kind: weighed.classified.kind,
        trail: judgement.trail().clone(),
        preview: ready.preview.clone(),
        undo: ready.undo.clone(),
        grounds: weighed.evidence(),
    });
}

/// Why a call is asked about that may change something and repeats itself; none if it does not, or only reads.
fn repeat_reason(
    session: &Session,
    called: &ResolvedTool<'_>,
    ready: &PreparedCall,
) -> Option<String> {
    match called.call_effect() {
        CallEffect::None => None,
        CallEffect::Possible => {
            let times = session.with_repeats(|repeats| repeats.repeat_count(ready.repeat_key));
            repeats::repeat_reason(times, session.engine.settings().limits.repeats)
        }
    }
}

/// Ends a call that a gate denied. How often it was made is forgotten: a denial must not lead to the next one.
pub(crate) fn abort_denied(
    session: &Session,
    called: &ResolvedTool<'_>,
    ready: &PreparedCall,
    judgement: &Judgement,
) -> Abort {
    session.with_repeats(|repeats| repeats.remove(ready.repeat_key));
    outcome::abort_denied(called, judgement)
}

/// Counts what a call came to. A read that comes to the same again and again tells the model so.
pub(crate) fn count_repeats(
    session: &Session,
    called: &ResolvedTool<'_>,
    ready: &PreparedCall,
    mut outcome: Outcome,
) -> Outcome {
    let times = session.with_repeats(|repeats| {
        repeats.add_outcome(ready.repeat_key, called.call_effect(), &outcome)
    });
    if called.call_effect() == CallEffect::None {
        let tells_after = session.engine.settings().limits.repeats;
        outcome
            .notes
            .extend(repeats::repeat_note(times, tells_after));
    }
    outcome
}
