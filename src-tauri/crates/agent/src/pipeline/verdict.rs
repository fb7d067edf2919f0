//! Steps 3 to 5: everything from valid arguments to the verdict.
//!
//! The pipeline acts on the verdict, and `policy explain` shows it. Nothing is run, recorded or counted in this file.

use std::sync::Arc;

use policy::egress::names_own_loopback;
use policy::watchdogs::Alarm;
use policy::{CallFacts, Judgement};
use protocol::view::preview::UndoAvailability;
use protocol::{Access, Verdict};

use crate::permissions::policy_input::PolicyInput;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::evaluate::EarlyVerdict;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::{dry_run, evaluate, outgoing, prepare, pushed_commits, watchdogs};
use crate::session::run_state::released_secrets::SecretRelease;

/// A call with its verdict, and all inputs of the verdict.
pub(crate) struct Assessment {
    pub prepared: PreparedCall,
    pub input: Arc<PolicyInput>,
    pub judgement: Judgement,
    /// Hosts that a command of the call may reach, because rules allow all of them.
    pub allowed_hosts: Vec<String>,
    /// Secrets that the verdict asks about, each with its receiver.
    pub releases: Vec<SecretRelease>,
}

impl Assessment {
    /// Whether the verdict is on effects of a dry run that was allowed before.
    pub fn is_agreed(&self) -> bool {
        self.input
            .dry_run
            .as_ref()
            .is_some_and(|dry_run| dry_run.agreed)
    }
}

/// A call that is not denied before it is prepared.
struct ScreenedCall {
    facts: CallFacts,
    /// Alarms of the built-in watchdogs on these facts.
    alarms: Vec<Alarm>,
}

/// Judges a call. A call that is denied whatever its preview shows is denied before a preview is made.
///
/// # Errors
/// The call could not succeed, so there is nothing to judge.
pub(crate) async fn assess_call(
    cx: &CallContext<'_>,
    attempt: &Attempt,
) -> Result<Assessment, Abort> {
    let accesses = cx.tool.0.tool.accesses(&cx.arguments);
    prepare::restore_outputs(cx.session, &accesses)?;
    let ScreenedCall { facts, mut alarms } = match screen_call(cx, &accesses).await {
        Ok(screened) => screened,
        Err(denied) => return Ok(mask_denied(cx, denied).await),
    };
    let declared = facts.all().len();
    let prepared = prepare::prepare_call(cx, &accesses, facts, attempt).await?;
    // A plan may touch what the call itself did not name.
    if prepared.facts.all().len() > declared {
        alarms = watchdogs::run_built_in(cx.session, &cx.tool, &cx.arguments, &prepared.facts);
    }
    Ok(judge_prepared(cx, prepared, alarms).await)
}

/// Judges a call that cannot be prepared, for this reason: the pipeline would fail it before judging it.
pub(crate) async fn assess_unprepared(cx: &CallContext<'_>, why: String) -> Assessment {
    let accesses = cx.tool.0.tool.accesses(&cx.arguments);
    match screen_call(cx, &accesses).await {
        Err(denied) => mask_denied(cx, denied).await,
        Ok(ScreenedCall { facts, alarms }) => {
            let undo = UndoAvailability::Unsecured { reason: why };
            let prepared = PreparedCall::unprepared(cx.session, facts, undo);
            judge_prepared(cx, prepared, alarms).await
        }
    }
}

/// Resolves the accesses of the call, or returns its verdict if the call is denied before anything is prepared.
async fn screen_call(
    cx: &CallContext<'_>,
    accesses: &[Access],
) -> Result<ScreenedCall, Box<Assessment>> {
    deny_or_pass(cx, evaluate::evaluate_by_name(cx, accesses))?;
    let mut facts = prepare::resolve_facts(cx, accesses);
    facts.set_sandboxed(dry_run::is_sandboxed(cx).await);
    let (rules, now) = (cx.session.rules(), cx.session.engine.now());
    facts.set_own_loopback(names_own_loopback(&facts, &rules, now));
    facts.open_home_state(runtime::is_home_state);
    let alarms = watchdogs::run_built_in(cx.session, &cx.tool, &cx.arguments, &facts);
    // A call that declares no access touches none, and waits for its one full verdict.
    if !facts.all().is_empty() {
        let verdict = evaluate::evaluate_unprepared(cx, &facts, alarms.clone());
        deny_or_pass(cx, Some(verdict))?;
    }
    Ok(ScreenedCall { facts, alarms })
}

/// Ends the assessment if an early verdict denies the call.
fn deny_or_pass(
    cx: &CallContext<'_>,
    verdict: Option<EarlyVerdict>,
) -> Result<(), Box<Assessment>> {
    let denial = verdict.filter(|verdict| verdict.judgement.verdict() == Verdict::Deny);
    denial.map_or(Ok(()), |EarlyVerdict { input, judgement }| {
        Err(Box::new(Assessment {
            prepared: PreparedCall::denied(cx.session, input.facts.clone()),
            input: Arc::new(input),
            judgement,
            allowed_hosts: Vec::new(),
            releases: Vec::new(),
        }))
    })
}

/// Masks the secrets of a call that is denied before it is known who would receive its arguments.
async fn mask_denied(cx: &CallContext<'_>, denied: Box<Assessment>) -> Assessment {
    outgoing::mask_secrets(cx.session, cx.call, &cx.arguments).await;
    *denied
}

async fn judge_prepared(
    cx: &CallContext<'_>,
    prepared: PreparedCall,
    mut alarms: Vec<Alarm>,
) -> Assessment {
    alarms.extend(prepared.changes.alarms());
    let sent = outgoing::check_secrets(cx, &prepared.facts).await;
    alarms.extend(sent.alarm);
    alarms.extend(pushed_commits::check_pushes(cx, &prepared).await);
    alarms.extend(watchdogs::run_programs(cx, &prepared.facts).await);
    let input = evaluate::build_policy_input(cx, &prepared, alarms);
    let mut judgement = evaluate::evaluate(cx, &prepared, &input);
    if let Some(released) = sent.released {
        judgement = judgement.with_step(released);
    }
    let mut allowed_hosts = Vec::new();
    if let Some(egress) = dry_run::resolve_allowed_egress(cx.session, &prepared, &judgement) {
        judgement = judgement.with_step(egress.step);
        allowed_hosts = egress.hosts;
    }
    Assessment {
        prepared,
        input,
        judgement,
        allowed_hosts,
        releases: sent.releases,
    }
}
