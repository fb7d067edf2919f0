//! Step 5: the verdict, first before anything on disk is read, then again with all that is known.

use std::sync::Arc;

use policy::rules::Subject;
use policy::watchdogs::{Alarm, grantable_reasons};
use policy::{CallFacts, Judgement};
use protocol::ToolMode;
use protocol::event::CallChange;
use protocol::view::preview::UndoAvailability;
use protocol::{Access, CallId, Capability, Digest, Outcome, ResolvedAccess, Verdict};
use serde_json::Map;

use crate::host::config::Host;
use crate::permissions::policy_input;
use crate::permissions::policy_input::{PolicyContext, PolicyInput, UNRESOLVED_REASON};
use crate::pipeline::abort::Abort;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::verdict::Assessment;
use crate::pipeline::{bounds, dry_run, outcome, prepare, watchdogs};
use crate::session::Session;
use crate::session::run_state::repeats;
use crate::session::run_state::repeats::CallEffect;

/// A verdict on a call of which little is known. Only a denial counts: no later finding lifts it.
pub(crate) struct EarlyVerdict {
    pub input: PolicyInput,
    pub judgement: Judgement,
}

/// Returns the verdict on a call that is denied regardless of the contents of the disk, before anything there is read
/// (`S003-26`): a call of a tool that is denied as a whole, or one that plainly names something that a rule denies.
pub(crate) fn evaluate_by_name(cx: &CallContext<'_>, accesses: &[Access]) -> Option<EarlyVerdict> {
    let capabilities: Vec<_> = accesses.iter().map(|access| access.capability).collect();
    let class = cx.tool.0.classified.clone();
    let mode = class
        .tighten_for_accesses(capabilities.iter().copied())
        .mode;
    let (tool, rules) = (cx.tool.id(), cx.session.rules());
    let now = cx.session.engine.now();
    if rules.denies_every_call(tool, mode, &capabilities, now) {
        return Some(evaluate_unseen(cx, &CallFacts::default()));
    }
    let is_denied = |fact: &ResolvedAccess| {
        let facts = CallFacts::from_iter([fact.clone()]);
        let mut subjects = Subject::from_facts(tool, mode, &facts).into_iter();
        subjects.any(|subject| {
            let decision = rules.evaluate_subject(&subject, now, Verdict::Allow);
            decision.verdict == Some(Verdict::Deny)
        })
    };
    let denied = accesses
        .iter()
        .filter_map(fact_as_written)
        .filter(is_denied);
    let unresolved: CallFacts = denied
        .map(|fact| ResolvedAccess {
            inside: false,
            unresolved: Some(UNRESOLVED_REASON.to_owned()),
            ..fact
        })
        .collect();
    let denies = !unresolved.all().is_empty();
    denies.then(|| evaluate_unseen(cx, &unresolved))
}

/// Returns the fact that an access states by itself, without reading the disk; none if its target can be told only from
/// the disk. A plainly written path is taken as written, wherever a link may lead from there.
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

fn evaluate_unseen(cx: &CallContext<'_>, facts: &CallFacts) -> EarlyVerdict {
    let alarms = watchdogs::run_built_in(cx.session, &cx.tool, &cx.arguments, facts);
    evaluate_unprepared(cx, facts, alarms)
}

/// Returns the verdict on a call before its preview reads any file.
pub(crate) fn evaluate_unprepared(
    cx: &CallContext<'_>,
    facts: &CallFacts,
    alarms: Vec<Alarm>,
) -> EarlyVerdict {
    let undo = UndoAvailability::NotNeeded;
    let input = base_policy_input(&cx.call.id, &cx.tool, facts, &undo, alarms);
    // Without a look, or a word on undo where that counts, nobody could judge it again.
    let is_destructive = input.classified.mode == Some(ToolMode::Destructive);
    let input = PolicyInput {
        is_complete: !facts.all().is_empty() && !is_destructive,
        ..input
    };
    let judgement = evaluate_early(cx.session, &input);
    EarlyVerdict { input, judgement }
}

/// Returns everything that is known of a prepared call, with all alarms.
pub(crate) fn build_policy_input(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
    mut alarms: Vec<Alarm>,
) -> Arc<PolicyInput> {
    // Whoever approves beforehand has not seen what a watchdog wants to be seen (`S002-91`).
    if matches!(cx.session.engine.config.host, Host::Headless { .. }) {
        for alarm in &mut alarms {
            alarm.verdict = Verdict::Deny;
        }
    }
    let facts = &prepared.facts;
    let exact_call = exact_call_digest(cx, facts, &alarms);
    alarms.extend(repeat_reason(cx, prepared).map(Alarm::ask_every_time));
    let input = base_policy_input(&cx.call.id, &cx.tool, facts, &prepared.undo, alarms);
    Arc::new(PolicyInput {
        later_runs: prepared.changes.later_runs.clone(),
        dry_run: prepared.dry_run.clone(),
        dry_run_first: dry_run::runs_first(cx, prepared),
        facts: input.facts.with_exact_digest(exact_call),
        ..input
    })
}

/// Returns the digest that a grant for exactly this call names: of tool, arguments, resolved accesses, and the
/// questions of its watchdogs; none if no watchdog asks a question that a grant could answer.
fn exact_call_digest(cx: &CallContext<'_>, facts: &CallFacts, alarms: &[Alarm]) -> Option<Digest> {
    let reasons = grantable_reasons(alarms);
    (!reasons.is_empty())
        .then(|| Digest::from_json(&(cx.tool.id(), &cx.arguments, facts.all(), reasons)))
}

fn base_policy_input(
    call: &CallId,
    tool: &ResolvedTool<'_>,
    facts: &CallFacts,
    undo: &UndoAvailability,
    alarms: Vec<Alarm>,
) -> PolicyInput {
    PolicyInput {
        call: call.clone(),
        tool: tool.id().to_owned(),
        classified: tool
            .0
            .classified
            .clone()
            .tighten_for_accesses(facts.declared_capabilities()),
        facts: facts.clone(),
        undo: undo.clone(),
        needs_person: tool.interface().safety.requires_user_interaction,
        alarms,
        later_runs: Vec::new(),
        dry_run: None,
        dry_run_first: false,
        is_complete: true,
    }
}

/// Returns the verdict on a prepared call.
pub(crate) fn evaluate(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
    input: &PolicyInput,
) -> Judgement {
    let rules = cx.session.rules();
    let shown = || prepare::approval_digest(cx, prepared);
    let context = cx.session.policy_context();
    policy::evaluate(&input.to_request(&rules, context, &shown))
}

/// Returns the verdict before everything is known. In a headless session, a call that would ask is denied only once
/// everything is known.
fn evaluate_early(session: &Session, input: &PolicyInput) -> Judgement {
    let rules = session.rules();
    let context = PolicyContext {
        headless: None,
        ..session.policy_context()
    };
    policy::evaluate(&input.to_request(&rules, context, &policy_input::empty_digest))
}

/// A verdict on an additional host that a running call reaches.
pub(crate) struct HostVerdict {
    pub verdict: Verdict,
    pub reason: String,
}

/// Judges an additional host that a running call of a tool reaches.
///
/// # Errors
/// The tool no longer exists.
pub(crate) fn evaluate_host(
    session: &Session,
    call: &CallId,
    tool: &str,
    fact: ResolvedAccess,
) -> Result<HostVerdict, String> {
    let tools = session.tools();
    let tool = ResolvedTool(tools.find(tool).map_err(|error| error.to_string())?);
    let mut facts = CallFacts::from_iter([fact]);
    bounds::restrict_to_bounds(session, tool.interface(), &mut facts);
    let alarms = watchdogs::run_built_in(session, &tool, &Map::new(), &facts);
    let undo = UndoAvailability::NotNeeded;
    let input = base_policy_input(call, &tool, &facts, &undo, alarms);
    let judgement = evaluate_early(session, &input);
    Ok(match session.take_rule_uses(&judgement, false) {
        true => HostVerdict {
            verdict: judgement.verdict(),
            reason: judgement.trail().lead.clone(),
        },
        false => HostVerdict {
            verdict: Verdict::Ask,
            reason: "The rule that allows it is used up.".to_owned(),
        },
    })
}

/// Records the verdict with its reasons and the preview.
pub(crate) fn record_verdict(cx: &CallContext<'_>, assessed: &Assessment) {
    let interface = cx.tool.interface();
    let (prepared, input) = (&assessed.prepared, &assessed.input);
    cx.session.journal.record_call(
        &cx.call.id,
        CallChange::Judged {
            tool: interface.id().to_owned(),
            title: interface.title().to_owned(),
            target: cx.tool.0.tool.target(&cx.arguments),
            mode: input.classified.mode,
            kind: input.classified.kind,
            trail: assessed.judgement.trail().clone(),
            preview: prepared.preview.clone(),
            undo: prepared.undo.clone(),
            evidence: input.evidence(),
        },
    );
}

/// Returns the reason to ask about a call that may change something and repeats an earlier one; none if the call
/// repeats nothing, or only reads.
fn repeat_reason(cx: &CallContext<'_>, prepared: &PreparedCall) -> Option<String> {
    match cx.tool.call_effect() {
        CallEffect::None => None,
        CallEffect::Possible => {
            let key = prepared.repeat_key;
            let times = cx.session.with_repeats(|repeats| repeats.repeat_count(key));
            repeats::repeat_reason(times, cx.session.engine.settings().limits.repeats)
        }
    }
}

/// Ends a call that the verdict denies. Its repetition count is reset: a denial must not lead to the next one.
pub(crate) fn abort_denied(cx: &CallContext<'_>, assessed: &Assessment) -> Abort {
    let key = assessed.prepared.repeat_key;
    cx.session.with_repeats(|repeats| repeats.remove(key));
    outcome::abort_denied(&cx.tool, &assessed.judgement)
}

/// Counts the outcome of a call. A read with the same result again and again gets a note for the model.
pub(crate) fn count_repeats(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
    mut outcome: Outcome,
) -> Outcome {
    let effect = cx.tool.call_effect();
    let times = cx
        .session
        .with_repeats(|repeats| repeats.add_outcome(prepared.repeat_key, effect, &outcome));
    if effect == CallEffect::None {
        let tells_after = cx.session.engine.settings().limits.repeats;
        outcome
            .notes
            .extend(repeats::repeat_note(times, tells_after));
    }
    outcome
}
