//! The one page that every tool call walks, from the model's words to its outcome.
//!
//! No line here knows a particular tool. A gate is one line and one file; it returns a value, and this page says what
//! follows from it. Where something came up that changes what is shown, the call walks once more.

pub(crate) mod abort;
pub(crate) mod approval;
pub(crate) mod call;
pub(crate) mod dry_run;
pub(crate) mod early_outcome;
pub(crate) mod evaluate;
pub(crate) mod execute;
pub(crate) mod external_program;
pub mod hooks;
pub(crate) mod implied_tool;
pub(crate) mod in_place;
pub(crate) mod outcome;
pub(crate) mod prepare;
pub(crate) mod resolve;
pub(crate) mod response_review;
pub(crate) mod retry;
pub(crate) mod snapshot;
pub(crate) mod verdict;
pub(crate) mod watchdogs;

use std::sync::Arc;

use policy::Approved;
use protocol::{Outcome, ToolCall, Verdict};

use crate::permissions::{agent_bounds, rule_uses};
use crate::pipeline::abort::Abort;
use crate::pipeline::approval::{ApprovalAnswer, ApprovalCard};
use crate::pipeline::dry_run::{DryRunRequest, DryRunResult};
use crate::pipeline::execute::network_guard;
use crate::pipeline::hooks::HookContext;
use crate::pipeline::in_place::EvaluatedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::retry::Retry;
use crate::pipeline::snapshot::SnapshotResult;
use crate::session::Session;
use crate::session::conversation::OpenCall;
use crate::session::state_store;

type Arguments = serde_json::Map<String, serde_json::Value>;

/// The outcome, and whether the call may have changed something.
pub(crate) async fn run_pipeline(
    session: &Arc<Session>,
    open: &OpenCall,
    hooked: &mut HookContext,
) -> Result<(Outcome, bool), Abort> {
    let call: &ToolCall = &open.call;
    let tools = session.tools();
    let tool = resolve::resolve_tool(&tools, session, call, hooked).await?;
    let mut edited = open.edited.clone();
    let given = edited.as_ref().unwrap_or(&call.arguments);
    let mut arguments = resolve::resolve_arguments(session, call, &tool, given)
        .await
        .map_err(|error| outcome::failed_outcome(&error))?;
    let mut again = Retry::default();
    loop {
        let at = (&tool, &mut arguments, &mut edited);
        match run_once(session, call, at, hooked, again).await? {
            Ok(outcome) => return Ok((outcome, tool.may_change())),
            Err(next) => again = next,
        }
    }
}

/// Walks once: to the outcome, or to what it walks with once more.
async fn run_once(
    session: &Arc<Session>,
    call: &ToolCall,
    at: (&ResolvedTool<'_>, &mut Arguments, &mut Option<Arguments>),
    hooked: &mut HookContext,
    again: Retry,
) -> Result<Result<Outcome, Retry>, Abort> {
    let (tool, arguments, edited) = at;
    let (changed, tried) = (again.changed, again.dry_run);
    let assessed = verdict::assess_call(
        session,
        call,
        tool,
        arguments,
        &tried,
        again.snapshot_failure,
    )
    .await?;
    let is_agreed = assessed.is_agreed();
    let is_hooked = tried.as_ref().is_some_and(DryRunResult::is_hooked);
    let (facts, ready, known) = (assessed.facts, assessed.prepared, assessed.input);
    let (judgement, open) = (assessed.judgement, assessed.allowed_hosts);
    if !rule_uses::take_uses(session, &judgement, is_agreed) {
        return Ok(Err(Retry::after_rules_changed(changed, tried)));
    }
    evaluate::record_verdict(session, call, tool, arguments, &ready, &known, &judgement);

    let answer = match judgement.verdict() {
        Verdict::Deny => return Err(evaluate::abort_denied(session, tool, &ready, &judgement)),
        Verdict::Allow => ApprovalAnswer::without_asking(session, &ready),
        Verdict::Ask if ready.can_dry_run && dry_run::runs_first(session) => {
            ApprovalAnswer::offline_dry_run()
        }
        Verdict::Ask => {
            let card = ApprovalCard::new(&judgement, &ready, known.clone(), changed);
            approval::ask_person(session, call, tool, card).await?
        }
    };
    let mut go = match answer {
        ApprovalAnswer::Approved(go) => go,
        ApprovalAnswer::DryRun { hosts } if ready.can_dry_run || tried.is_some() => {
            let trial = DryRunRequest::new(session, call, tool, arguments, &ready);
            return trial.run_and_retry(hosts, hooked, None).await.map(Err);
        }
        ApprovalAnswer::DryRun { .. } => {
            return Ok(Err(Retry::after_change(dry_run::UNAVAILABLE_REASON)));
        }
        ApprovalAnswer::RulesChanged(what) => {
            return Ok(Err(Retry::after_rules_changed(Some(what), tried)));
        }
        ApprovalAnswer::Changed(what) => return Ok(Err(Retry::after_change(what))),
        ApprovalAnswer::Edited(wanted) => {
            let what =
                resolve::replace_arguments(session, call, tool, arguments, edited, wanted).await;
            return Ok(Err(Retry::after_change(what)));
        }
    };
    go.feedback.edited.clone_from(edited);
    let real = go.in_place_hosts(session, &ready, &open)?;
    let is_agreed = go.consent.is_some();
    let approved: Approved = judgement
        .approve(arguments.clone(), go.plan, go.consent)
        .map_err(|refused| outcome::abort_refused(tool, &refused))?;
    if agent_bounds::open_roots(session, &ready.new_roots)? {
        return Ok(Err(Retry::default()));
    }
    if !is_hooked {
        execute::run_before_hooks(session, &call.id, tool, arguments, hooked).await?;
    }
    if ready.can_dry_run && real.is_none() {
        let trial = DryRunRequest::new(session, call, tool, arguments, &ready).with_hooks_run();
        return trial
            .run_and_retry(open, hooked, Some(go.feedback))
            .await
            .map(Err);
    }
    let kept = match snapshot::take_snapshot(session, tool, &approved, &ready, real.is_some())
        .await?
    {
        SnapshotResult::Taken(kept) => kept,
        SnapshotResult::Failed(why) => {
            let again = Retry::without_snapshot(why, tried);
            return in_place::retry_unless_chosen(session, &ready, &real, again).map(Err);
        }
        SnapshotResult::Changed => return Ok(Err(Retry::after_change(execute::CHANGED_REASON))),
    };
    let journal = &session.journal;
    journal
        .record_start_synced(&call.id, tool.may_change())
        .await?;
    let ran = match &tried {
        Some(tried) if real.is_none() => tried.commit(session, &approved, &mut go.feedback).await,
        _ => {
            let hands = network_guard::guard_network(session, call, tool, &facts, &ready);
            let hands = in_place::in_place_context(session, hands, &ready, &kept, real);
            execute::run_tool(session, tool, approved, hands, hooked.clone()).await
        }
    };
    let judged = EvaluatedCall::new(call, tool, arguments, (&ready, &known), is_agreed);
    let (mut ran, copy) = in_place::settle_changes(session, &judged, kept, ran).await?;
    if let Some(again) = response_review::review_response(
        session,
        tool,
        (&facts, &ready, &tried),
        &mut ran,
        &go.feedback,
    ) {
        return Ok(Err(again));
    }
    let outcome = outcome::build_outcome(session, call, tool, ran, copy, &go.feedback);
    let outcome = state_store::save_output(session, call, tool, edited, outcome);
    Ok(Ok(evaluate::count_repeats(session, tool, &ready, outcome)))
}
