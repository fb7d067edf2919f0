//! Running a call for real over a snapshot of the workspace: its effects are recorded, shown and judged afterwards, and
//! reverted if they are denied.

use std::sync::Arc;

use policy::{Approved, Judgement};
use protocol::event::CallChange;
use protocol::rule::evidence::DryRunEvidence;
use protocol::text::display_text::{join_spans, to_spans};
use protocol::view::effects::{Assurance, Effects};
use protocol::view::preview::{CommandPreview, EffectsPreview, UndoAvailability};
use protocol::{CallState, EventBody, Plan, Preview, ToolError, UndoId, Verdict};
use runtime::{DryRunEnvironment, FileError, InPlaceResult, Snapshot};
use tools::{PreviewedPlan, ToolContext};

use crate::host::config::Host;
use crate::permissions::egress;
use crate::permissions::policy_input::PolicyInput;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::{Attempt, Step};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::execute::{FinishedRun, delegated, network_guard};
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::snapshot::call_title;
use crate::pipeline::verdict::Assessment;
use crate::pipeline::{dry_run, evaluate, execute, outcome, snapshot};
use crate::session::Session;
use crate::undo;

/// A call that is to run in place, with the input of its verdict.
pub(crate) struct InPlaceRequest<'a> {
    pub prepared: &'a PreparedCall,
    pub input: &'a PolicyInput,
    /// Hosts that the call may reach.
    pub hosts: Vec<String>,
    /// Result of an earlier dry run of the call, if there was one.
    pub dry_run: Option<Box<DryRunResult>>,
    /// Whether the person, or the caller on the person's behalf, let the call run.
    pub is_agreed: bool,
}

/// Runs the tool for real over a snapshot of the workspace, and settles its changes.
pub(crate) async fn run(
    cx: &CallContext<'_>,
    request: InPlaceRequest<'_>,
    approved: Approved,
) -> Result<Step<FinishedRun>, Abort> {
    let prepared = request.prepared;
    let workspace = match snapshot::take_workspace_snapshot(cx, prepared).await {
        Ok(workspace) => workspace,
        Err(why) => {
            return retry_without_snapshot(cx.session, prepared, why, request.dry_run)
                .map(Step::Retry);
        }
    };
    execute::record_start(cx).await?;
    let delegate = cx.delegate();
    let fetching = match &delegate {
        Some(delegate) if delegate.can_fetch => {
            match delegated::wait_for_fetch(cx, &approved, delegate).await {
                Ok(reply) => Some(reply),
                Err(error) => return Err(outcome::failed_outcome(&error).into()),
            }
        }
        Some(_) | None => None,
    };
    let now = cx.session.engine.now();
    let guarded = network_guard::guard_network(cx, prepared);
    let hosts = request.hosts.clone();
    let tool_context = ToolContext {
        snapshot: Some(workspace.clone()),
        net: egress::allow_hosts(&prepared.tool_context.net, hosts, cx.session.rules(), now),
        ..guarded
    };
    let run = match &delegate {
        Some(delegate) if !cx.is_held() => delegated::run_as_requested(cx, delegate).await,
        Some(_) | None => execute::run_tool(cx, approved, tool_context).await,
    };
    let settled = settle_changes(cx, &request, workspace, run).await;
    if let (Some(delegate), Some(reply)) = (&delegate, fetching) {
        delegated::send_streams(delegate, failure_reason(&settled), reply);
    }
    let run = settled?;
    Ok(Step::Done(FinishedRun {
        run,
        undo_entry: None,
    }))
}

/// Returns why a call that ran did not end well, if it did not.
fn failure_reason(settled: &Result<ToolRun, Abort>) -> Option<String> {
    match settled {
        Ok(run) => run.result.as_ref().err().map(ToString::to_string),
        Err(Abort::Outcome(outcome)) => Some(outcome.text.clone()),
        Err(Abort::Fault(fault)) => Some(fault.message.clone()),
        Err(Abort::Closing) => Some("the app is closing.".to_owned()),
    }
}

/// Returns the next attempt of a call for which no snapshot could be taken: it is judged as one that cannot be undone.
/// If the person chose to run it in place, a snapshot was part of that choice, so the call does not run without one and
/// the person is asked again.
fn retry_without_snapshot(
    session: &Session,
    prepared: &PreparedCall,
    why: String,
    dry_run: Option<Box<DryRunResult>>,
) -> Result<Attempt, Abort> {
    if prepared.in_place {
        return Ok(Attempt::without_snapshot(why, dry_run));
    }
    let told = format!("It was not run for real, because {why}");
    match session.engine.config.host {
        Host::Person => Ok(Attempt {
            changed: Some(told),
            snapshot_failure: None,
            dry_run,
        }),
        Host::Headless { .. } => Err(outcome::failed_outcome(&ToolError::Failed(told)).into()),
    }
}

/// Records, shows and judges the changes of the call, and reverts them if they are denied.
async fn settle_changes(
    cx: &CallContext<'_>,
    request: &InPlaceRequest<'_>,
    workspace: Arc<Snapshot>,
    mut run: ToolRun,
) -> Result<ToolRun, Abort> {
    let session = cx.session;
    let done = match read_changes(workspace).await {
        Ok(done) => done,
        Err(error) => {
            run.result = Err(ToolError::Failed(format!(
                "It ran for real, and what it changed could not be recorded: {error} How the folder was before is kept, and tried again at the next start."
            )));
            return Ok(run);
        }
    };
    let is_command = cx.tool.0.tool.confinement().is_default();
    if !is_command && done.plan == Plan::None {
        return Ok(run);
    }
    if let Some(entry) = &done.entry {
        let event = EventBody::for_call(
            &cx.call.id,
            CallChange::UndoPrepared {
                entry: entry.clone(),
            },
        );
        session.journal.record_synced(event).await?;
    }
    let judgement = judge_effects(cx, request, &done);
    let stands = match judgement.verdict() {
        Verdict::Allow => true,
        // Whoever let it run for real cannot be asked any more whether it may happen.
        Verdict::Ask => request.is_agreed,
        Verdict::Deny => false,
    };
    match done.entry.filter(|_| !stands) {
        None => Ok(run),
        Some(entry) => Err(undo_changes(session, entry.id, &judgement.trail().lead).await),
    }
}

/// Compares the workspace with its snapshot, and adds the file differences to the effects.
async fn read_changes(snapshot: Arc<Snapshot>) -> Result<InPlaceResult, FileError> {
    let looked = tokio::task::spawn_blocking(move || {
        let mut done = DryRunEnvironment::record_changes(snapshot)?;
        if let Plan::Effects(captured) = &done.plan {
            tools::diff::add_file_diffs(&done.before, captured, &mut done.effects);
        }
        Ok(done)
    });
    let broke_off = |_| FileError::from_display("the workspace", "looking at it broke off");
    looked.await.map_err(broke_off)?
}

/// Judges the effects of the call, and records the verdict with the preview of the effects.
fn judge_effects(
    cx: &CallContext<'_>,
    request: &InPlaceRequest<'_>,
    result: &InPlaceResult,
) -> Judgement {
    let evidence = DryRunEvidence {
        refused: result.effects.refused.len() as u64,
        secrets: result.effects.refused_secrets(),
        reached: reached_hosts(&result.effects),
        agreed: true,
        for_real: true,
        ..dry_run::policy_effects_of_plan(cx.session, &result.plan)
    };
    let preview = match cx.tool.0.tool.confinement().is_default() {
        true => add_effects(&request.prepared.preview, &result.effects),
        false => describe_call(cx, &result.effects),
    };
    let shown = PreviewedPlan {
        preview,
        plan: result.plan.clone(),
    };
    let prepared = request.prepared.after_in_place_run(shown, evidence.clone());
    let input = PolicyInput {
        dry_run: Some(evidence),
        undo: UndoAvailability::Snapshot,
        ..PolicyInput::clone(request.input)
    };
    let judgement = evaluate::evaluate(cx, &prepared, &input);
    let assessed = Assessment {
        prepared,
        input: Arc::new(input),
        judgement,
        allowed_hosts: Vec::new(),
        releases: Vec::new(),
    };
    evaluate::record_verdict(cx, &assessed);
    assessed.judgement
}

fn reached_hosts(effects: &Effects) -> Vec<String> {
    let mut hosts: Vec<String> = effects.reached.iter().map(|one| one.host.clone()).collect();
    hosts.dedup();
    hosts
}

/// Returns the preview of a command after it ran.
fn add_effects(before: &Preview, effects: &Effects) -> Preview {
    let Some(command) = before.command() else {
        return before.clone();
    };
    Preview::Effects(Box::new(EffectsPreview {
        command: CommandPreview {
            assurance: Some(Assurance::Snapshot),
            assured: Vec::new(),
            in_place: false,
            ..command.clone()
        },
        effects: effects.clone(),
    }))
}

/// Returns the preview of a call of an external tool after it ran, in the form of a command.
fn describe_call(cx: &CallContext<'_>, effects: &Effects) -> Preview {
    let root = cx.session.tool_context.workspace.root().to_string_lossy();
    Preview::Effects(Box::new(EffectsPreview {
        command: CommandPreview {
            folder: join_spans(&to_spans(&root)),
            command: to_spans(&call_title(cx)),
            facts: Vec::new(),
            timeout_ms: cx.tool.interface().timeout_ms(),
            assurance: Some(Assurance::Snapshot),
            assured: Vec::new(),
            in_place: false,
            delegated: false,
        },
        effects: effects.clone(),
    }))
}

/// Reverts the changes of a call whose effects are denied.
async fn undo_changes(session: &Session, entry: UndoId, lead: &str) -> Abort {
    let done = undo::restore_entries(&session.engine, undo::single_entry(entry), Vec::new()).await;
    let (text, message) = match done {
        Ok(_) => (
            "It ran for real, and all that it changed in the folder was undone.".to_owned(),
            "Denied and undone".to_owned(),
        ),
        Err(fault) => (
            format!(
                "It ran for real, and what it changed could not be undone: {}",
                fault.message
            ),
            "Denied, but not undone".to_owned(),
        ),
    };
    let text = format!(
        "{lead} {text} Do not try it in another form; go on without it or say what you need."
    );
    outcome::ended_outcome(CallState::Denied, text, message).into()
}
