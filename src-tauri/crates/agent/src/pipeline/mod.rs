//! The life of a tool call, from the model's request to its outcome: one file for each step.
//!
//! No step knows a particular tool. A step returns a value, and the functions of this file decide what to do next. A
//! step that ends the call returns an [`Abort`]. If something changes what was judged or shown, the call is attempted
//! again from step 3.

pub(crate) mod abort;
pub(crate) mod approval;
pub(crate) mod attempt;
pub(crate) mod bounds;
pub(crate) mod call;
pub(crate) mod call_context;
mod changed_files;
pub(crate) mod changes;
mod containment;
pub(crate) mod dry_run;
pub(crate) mod early_outcome;
pub(crate) mod evaluate;
pub(crate) mod execute;
pub(crate) mod external_program;
pub mod hooks;
pub(crate) mod implied_tool;
pub(crate) mod in_place;
pub(crate) mod outcome;
pub(crate) mod outgoing;
pub(crate) mod prepare;
pub(crate) mod pushed_commits;
pub(crate) mod resolve;
pub(crate) mod response_review;
pub(crate) mod snapshot;
pub(crate) mod state_output;
pub(crate) mod verdict;
pub(crate) mod watchdogs;

use std::sync::Arc;

use protocol::{Outcome, Verdict};

use crate::pipeline::abort::Abort;
use crate::pipeline::approval::{Approval, ApprovalAnswer};
use crate::pipeline::attempt::{Attempt, Step};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::execute::ExecutionMode;
use crate::pipeline::hooks::HookContext;
use crate::pipeline::in_place::InPlaceRequest;
use crate::pipeline::verdict::Assessment;
use crate::session::Session;
use crate::session::conversation::OpenCall;

/// A call that ran.
pub(crate) struct CompletedCall {
    pub outcome: Outcome,
    /// Whether the call may have changed something.
    pub may_have_changed: bool,
}

/// Takes one call through all steps. `hooked` receives the context of the later hooks, once the hooks were asked about
/// the call.
pub(crate) async fn run_pipeline(
    session: &Arc<Session>,
    open: &OpenCall,
    hooked: &mut HookContext,
) -> Result<CompletedCall, Abort> {
    if open.is_masked {
        return Err(early_outcome::abort_masked());
    }
    // 1. Resolve the tool.
    let tools = session.tools();
    let tool = resolve::resolve_tool(&tools, session, &open.call, hooked).await?;
    // 2. Validate the arguments: the person's, if they were edited, or the model's.
    let arguments = resolve::resolve_arguments(session, &open.call, &tool, open.arguments())
        .await
        .map_err(|error| outcome::failed_outcome(&error))?;
    let mut cx = CallContext {
        session,
        call: &open.call,
        tool,
        arguments,
        edited: open.edited.clone(),
        hooked,
    };
    let mut attempt = Attempt::default();
    loop {
        match attempt_call(&mut cx, attempt).await? {
            Step::Retry(next) => attempt = next,
            Step::Done(outcome) => {
                return Ok(CompletedCall {
                    outcome,
                    may_have_changed: cx.tool.may_change(),
                });
            }
        }
    }
}

/// Judges the call, asks the person if the verdict says so, and runs it if it may run.
async fn attempt_call(cx: &mut CallContext<'_>, attempt: Attempt) -> Result<Step<Outcome>, Abort> {
    // 3. Resolve what it touches. 4. Prepare the preview and plan. 5. Judge: scope, rules, mode, watchdogs.
    let assessed = verdict::assess_call(cx, &attempt).await?;
    if dry_run::is_outdated(cx.session, &assessed) {
        return Ok(Step::Retry(Attempt::after_change(dry_run::OUTDATED_REASON)));
    }
    if !cx
        .session
        .take_rule_uses(&assessed.judgement, assessed.is_agreed())
    {
        return Ok(Step::Retry(attempt.judge_again(None)));
    }
    evaluate::record_verdict(cx, &assessed);

    // 6. Ask the person.
    let prepared = &assessed.prepared;
    let answer = match assessed.judgement.verdict() {
        Verdict::Deny => return Err(evaluate::abort_denied(cx, &assessed)),
        Verdict::Allow => ApprovalAnswer::without_asking(cx.session, prepared),
        Verdict::Ask if dry_run::runs_first(cx, prepared) => ApprovalAnswer::offline_dry_run(),
        Verdict::Ask => approval::ask_person(cx, &assessed, &attempt).await?,
    };
    let retry = match answer {
        ApprovalAnswer::Approved(approval) => {
            return run_approved(cx, assessed, approval, attempt).await;
        }
        ApprovalAnswer::DryRun { hosts } => dry_run::run_before_asking(cx, prepared, hosts).await?,
        ApprovalAnswer::RulesChanged(what) => attempt.judge_again(Some(what)),
        ApprovalAnswer::Changed(what) => Attempt::after_change(what),
        ApprovalAnswer::Edited(arguments) => {
            Attempt::after_change(resolve::replace_arguments(cx, arguments).await)
        }
    };
    Ok(Step::Retry(retry))
}

/// Runs an approved call, and builds its outcome.
async fn run_approved(
    cx: &mut CallContext<'_>,
    assessed: Assessment,
    approval: Approval,
    attempt: Attempt,
) -> Result<Step<Outcome>, Abort> {
    let is_hooked = attempt.is_hooked();
    let feedback = approval.feedback.or_note_of(attempt.feedback());
    let mode = ExecutionMode::choose(cx, &assessed, approval.in_place, attempt.dry_run)?;
    let containment = containment::check_containment(cx, &assessed, &mode);
    let prepared = assessed.prepared;
    let is_agreed = approval.consent.is_some();
    let approved = assessed
        .judgement
        .approve(cx.arguments.clone(), approval.plan, approval.consent)
        .map_err(|refused| outcome::abort_refused(&cx.tool, &refused))?;
    if bounds::open_roots(cx.session, &prepared.new_roots)? {
        return Ok(Step::Retry(Attempt::default()));
    }
    if containment.is_err() {
        // The calls after it are judged as if it had been sent.
        outgoing::remember_sent(cx, &prepared.facts);
    }
    containment?;

    // 7. Ask the hooks, unless they were asked before a dry run.
    if !is_hooked {
        hooks::ask_before_execution(cx).await?;
    }
    outgoing::remember_sent(cx, &prepared.facts);

    // 8. Run it: in a dry run first, by committing what a dry run captured, in place over a snapshot, or directly.
    let ran = match mode {
        ExecutionMode::DryRunFirst => {
            let (hosts, agreed) = (assessed.allowed_hosts, Some(feedback));
            let retry = dry_run::run(cx, &prepared, hosts, agreed).await?;
            return Ok(Step::Retry(retry));
        }
        ExecutionMode::Commit(result) => {
            execute::run(cx, &prepared, approved, Some(result)).await?
        }
        ExecutionMode::InPlace { hosts, dry_run } => {
            let request = InPlaceRequest {
                prepared: &prepared,
                input: &assessed.input,
                hosts,
                dry_run,
                is_agreed,
            };
            in_place::run(cx, request, approved).await?
        }
        ExecutionMode::Direct => execute::run(cx, &prepared, approved, None).await?,
    };
    let mut finished = match ran {
        Step::Done(finished) => finished,
        Step::Retry(retry) => return Ok(Step::Retry(retry)),
    };

    // 9. Show a response that a rule asks about before the model reads it.
    if let Some(retry) =
        response_review::review_response(cx, &prepared, &mut finished.run, &feedback)
    {
        return Ok(Step::Retry(retry));
    }

    // 10. Make the outcome.
    let outcome = outcome::build_outcome(cx, finished, &feedback);
    let outcome = state_output::save_output(cx, outcome);
    Ok(Step::Done(evaluate::count_repeats(cx, &prepared, outcome)))
}
