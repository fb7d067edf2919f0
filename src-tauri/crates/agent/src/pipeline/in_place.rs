//! A call that runs for real, over a picture of the workspace: what it did is recorded, shown and judged afterwards, and taken
//! back where it may not be.

use std::sync::Arc;

use protocol::rule::evidence::DryRunEvidence;
use protocol::view::display_text::{join_spans, to_spans};
use protocol::view::effects::{Assurance, Effects};
use protocol::view::preview::{CommandPreview, EffectsPreview, UndoAvailability};
use protocol::{
    CallState, EventBody, Plan, Preview, ToolCall, ToolError, UndoEntry, UndoId, Verdict,
};
use runtime::{DryRunEnvironment, FileError, InPlaceResult, Snapshot};
use serde_json::{Map, Value};
use tools::ToolContext;

use crate::engine::config::Host;
use crate::engine::undo;
use crate::permissions::egress;
use crate::permissions::policy_input::PolicyInput;
use crate::pipeline::abort::Abort;
use crate::pipeline::dry_run;
use crate::pipeline::evaluate;
use crate::pipeline::outcome;
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::retry::Retry;
use crate::pipeline::snapshot::{CallSnapshot, call_title};
use crate::session::Session;

/// What becomes of a call of which no copy could be taken: it is judged as one that cannot be taken back. But whoever wanted
/// it to run for real wanted it over a picture, so it does not run without one: the person is asked again.
pub(crate) fn retry_unless_chosen(
    session: &Session,
    ready: &PreparedCall,
    real: &Option<Vec<String>>,
    again: Retry,
) -> Result<Retry, Abort> {
    let Retry {
        snapshot_failure: Some(why),
        dry_run: tried,
        ..
    } = again
    else {
        return Ok(again);
    };
    if real.is_none() || ready.in_place {
        return Ok(Retry::without_snapshot(why, tried));
    }
    let told = format!("It was not run for real, because {why}");
    match session.engine.config.host {
        Host::Person => Ok(Retry::after_rules_changed(Some(told), tried)),
        Host::Headless { .. } => Err(outcome::failed_outcome(&ToolError::Failed(told)).into()),
    }
}

/// What the tool is given: the picture of the workspace that it runs in, and a way to these hosts and no others.
pub(crate) fn in_place_context(
    session: &Session,
    hands: ToolContext,
    ready: &PreparedCall,
    kept: &CallSnapshot,
    hosts: Option<Vec<String>>,
) -> ToolContext {
    let CallSnapshot::Workspace(picture) = kept else {
        return hands;
    };
    let now = session.engine.config.clock.now();
    let (net, hosts) = (&ready.tool_context.net, hosts.unwrap_or_default());
    ToolContext {
        snapshot: Some(picture.clone()),
        net: egress::allow_hosts(net, hosts, session.rules(), now),
        ..hands
    }
}

/// A call as it was judged before it ran.
pub(crate) struct EvaluatedCall<'a> {
    pub call: &'a ToolCall,
    pub tool: &'a ResolvedTool<'a>,
    pub arguments: &'a Map<String, Value>,
    pub prepared: &'a PreparedCall,
    pub input: &'a PolicyInput,
    /// Whether a person, or whoever speaks for one, let it run.
    pub is_agreed: bool,
}

impl<'a> EvaluatedCall<'a> {
    /// A call with its verdict.
    pub fn new(
        call: &'a ToolCall,
        tool: &'a ResolvedTool<'a>,
        arguments: &'a Map<String, Value>,
        (prepared, input): (&'a PreparedCall, &'a PolicyInput),
        is_agreed: bool,
    ) -> Self {
        Self {
            call,
            tool,
            arguments,
            prepared,
            input,
            is_agreed,
        }
    }
}

/// Records what a call did that ran for real, shows and judges it. Of every other one nothing is to be said. Gives what the
/// history still has to be told of.
pub(crate) async fn settle_changes(
    session: &Arc<Session>,
    judged: &EvaluatedCall<'_>,
    kept: CallSnapshot,
    mut ran: ToolRun,
) -> Result<(ToolRun, Option<Box<UndoEntry>>), Abort> {
    let picture = match kept {
        CallSnapshot::None => return Ok((ran, None)),
        CallSnapshot::Entry(entry) => return Ok((ran, Some(entry))),
        CallSnapshot::Workspace(picture) => picture,
    };
    let done = match read_changes(picture).await {
        Ok(done) => done,
        Err(error) => {
            ran.result = Err(ToolError::Failed(format!(
                "It ran for real, and what it changed could not be recorded: {error} How the folder was before is kept, and tried again at the next start."
            )));
            return Ok((ran, None));
        }
    };
    let is_command = judged.tool.0.tool.confinement().is_default();
    if !is_command && done.plan == Plan::None {
        return Ok((ran, None));
    }
    if let Some(entry) = &done.entry {
        let event = EventBody::UndoPrepared {
            call: judged.call.id.clone(),
            entry: entry.clone(),
        };
        session.journal.record_synced(event).await?;
    }
    let (verdict, lead) = judge_effects(session, judged, &done);
    let stands = match verdict {
        Verdict::Allow => true,
        // Whoever let it run for real cannot be asked any more whether it may happen.
        Verdict::Ask => judged.is_agreed,
        Verdict::Deny => false,
    };
    match done.entry.filter(|_| !stands) {
        None => Ok((ran, None)),
        Some(entry) => Err(undo_changes(session, entry.id, &lead).await),
    }
}

/// Compares the workspace with its picture; the effects have their differences then.
async fn read_changes(picture: Arc<Snapshot>) -> Result<InPlaceResult, FileError> {
    let looked = tokio::task::spawn_blocking(move || {
        let mut done = DryRunEnvironment::record_changes(picture)?;
        if let Plan::Effects(captured) = &done.plan {
            tools::diff::add_file_diffs(&done.before, captured, &mut done.effects);
        }
        Ok(done)
    });
    let broke_off = |_| FileError::from_display("the workspace", "looking at it broke off");
    looked.await.map_err(broke_off)?
}

/// The verdict on what it did, recorded with what is shown of it.
fn judge_effects(
    session: &Session,
    judged: &EvaluatedCall<'_>,
    done: &InPlaceResult,
) -> (Verdict, String) {
    let EvaluatedCall {
        call,
        tool,
        arguments,
        prepared: ready,
        input: known,
        ..
    } = judged;
    let tried = DryRunEvidence {
        refused: done.effects.refused.len() as u64,
        secrets: done.effects.refused_secrets(),
        reached: reached_hosts(&done.effects),
        agreed: true,
        for_real: true,
        ..dry_run::policy_effects_of_plan(session, &done.plan)
    };
    let preview = match tool.0.tool.confinement().is_default() {
        true => add_effects(&ready.preview, &done.effects),
        false => describe_call(session, tool, arguments, &done.effects),
    };
    let ready = PreparedCall {
        preview,
        plan: done.plan.clone(),
        undo: UndoAvailability::Pictured,
        new_roots: Vec::new(),
        can_dry_run: false,
        in_place: false,
        confinement: ready.confinement,
        dry_run: Some(tried.clone()),
        tool_context: ready.tool_context.clone(),
        repeat_key: ready.repeat_key,
    };
    let known = PolicyInput {
        tried: Some(tried),
        undo: UndoAvailability::Pictured,
        ..PolicyInput::clone(known)
    };
    let judgement = evaluate::evaluate(session, call, tool, arguments, &ready, &known);
    evaluate::record_verdict(session, call, tool, arguments, &ready, &known, &judgement);
    (judgement.verdict(), judgement.trail().lead.clone())
}

fn reached_hosts(effects: &Effects) -> Vec<String> {
    let mut hosts: Vec<String> = effects.reached.iter().map(|one| one.host.clone()).collect();
    hosts.dedup();
    hosts
}

/// What is shown of a command once it ran.
fn add_effects(before: &Preview, effects: &Effects) -> Preview {
    let command = match before {
        Preview::Command(command) => command,
        Preview::Effects(shown) => &shown.command,
        other => return other.clone(),
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

/// What is shown of a call of somebody else's tool once it ran, in the shape of a command.
fn describe_call(
    session: &Session,
    tool: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    effects: &Effects,
) -> Preview {
    let root = session.tool_context.workspace.root().to_string_lossy();
    Preview::Effects(Box::new(EffectsPreview {
        command: CommandPreview {
            folder: join_spans(&to_spans(&root)),
            command: to_spans(&call_title(tool, arguments)),
            facts: Vec::new(),
            timeout_ms: tool.interface().timeout_ms(),
            assurance: Some(Assurance::Snapshot),
            assured: Vec::new(),
            in_place: false,
        },
        effects: effects.clone(),
    }))
}

/// What it did may not be, so nothing of it stays in the folder.
async fn undo_changes(session: &Session, entry: UndoId, lead: &str) -> Abort {
    let done = undo::restore_entries(&session.engine, undo::single_entry(entry), Vec::new()).await;
    let (text, message) = match done {
        Ok(_) => (
            "It ran for real, and all that it changed in the folder was taken back.".to_owned(),
            "Denied, and taken back".to_owned(),
        ),
        Err(fault) => (
            format!(
                "It ran for real, and what it changed could not be taken back: {}",
                fault.message
            ),
            "Denied, but not taken back".to_owned(),
        ),
    };
    let text = format!(
        "{lead} {text} Do not try it in another form; go on without it or say what you need."
    );
    outcome::ended_outcome(CallState::Denied, text, message).into()
}
