//! Stages 6 and 9: where the call's accesses really lead, and what it would do.

use std::path::Path;

use policy::CallFacts;
use protocol::rule::evidence::{ArgumentValue, Confinement, DryRunEvidence};
use protocol::view::preview::UndoAvailability;
use protocol::{Access, Capability, Digest, Plan, Preview, ToolCall, ToolError};
use serde_json::{Map, Value};
use tools::{PreviewedPlan, ToolContext};

use crate::permissions::access_resolver::AccessResolver;
use crate::permissions::agent_bounds;
use crate::pipeline::abort::Abort;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::outcome;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;
use crate::session::run::repeats::CallKey;

/// Everything that is shown of a call, and what it is bound to.
pub(crate) struct PreparedCall {
    pub preview: Preview,
    pub plan: Plan,
    pub undo: UndoAvailability,
    /// What a person opens by letting it pass; nothing else happens then, and it is judged anew.
    pub new_roots: Vec<String>,
    /// Whether it can be done where nothing real changes, and was not yet.
    pub can_dry_run: bool,
    /// Whether it runs for real over a picture of the workspace, because nothing better holds.
    pub in_place: bool,
    /// What keeps its tool to what it was judged on.
    pub confinement: Confinement,
    /// What it did where nothing real changes, as it is judged; none if it was not tried.
    pub dry_run: Option<DryRunEvidence>,
    /// What the tool is given: of the files what the call was judged on, and no others.
    pub tool_context: ToolContext,
    /// What the call has in common with every other one that is the same.
    pub repeat_key: CallKey,
}

impl PreparedCall {
    /// That of a call of which nothing was prepared.
    pub fn empty(session: &Session, undo: UndoAvailability) -> Self {
        Self {
            preview: Preview::Nothing,
            plan: Plan::None,
            undo,
            new_roots: Vec::new(),
            can_dry_run: false,
            in_place: false,
            confinement: Confinement::Held,
            dry_run: None,
            tool_context: session.tool_context.restrict_to(&[]),
            repeat_key: CallKey::default(),
        }
    }
}

/// Unpacks the long outputs of the session that the call reads.
///
/// # Errors
/// An output that was removed ends the call, which is told when that was.
pub(crate) fn restore_outputs(
    session: &Session,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> Result<(), Abort> {
    let accesses = called.0.tool.accesses(arguments);
    let reads = accesses
        .iter()
        .filter(|access| access.capability == Capability::FsRead);
    for access in reads {
        let restored = session
            .tool_context
            .folder
            .restore_output(Path::new(&access.target));
        restored.map_err(|error| outcome::failed_outcome(&ToolError::Failed(error.to_string())))?;
    }
    Ok(())
}

/// Where everything that the call declares really leads, held to what its tool requires.
pub(crate) fn resolve_facts(
    session: &Session,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> CallFacts {
    let tool = &called.0.tool;
    let ground = AccessResolver::Disk(&session.tool_context.workspace);
    let mut facts = ground.resolve_accesses(&tool.accesses(arguments));
    facts.set_confinement(tool.confinement());
    if !tool.confinement().is_default() {
        facts.set_arguments(ArgumentValue::collect_from(arguments));
    }
    ground.add_mentions(&mut facts, &tool.mentions(arguments));
    agent_bounds::restrict_to_bounds(session, called.interface(), &mut facts);
    facts
}

/// What the call would do. Nothing is changed by this; a call that cannot work fails here, before anybody is asked.
pub(crate) async fn prepare_call(
    session: &Session,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    facts: &mut CallFacts,
    rehearsed: &Option<DryRunResult>,
    unsecured: Option<String>,
) -> Result<PreparedCall, Abort> {
    let mut hands = session.tool_context.restrict_to(facts.all());
    let opens: Vec<String> = facts.roots_to_open().map(str::to_owned).collect();
    let prepared = match rehearsed {
        Some(rehearsed) => Ok(rehearsed.prepared().clone()),
        // The tool could not look at it yet.
        None if !opens.is_empty() => Ok(PreviewedPlan {
            preview: Preview::Nothing,
            plan: Plan::None,
        }),
        None => called.0.tool.prepare(arguments, &hands).await,
    };
    let prepared = prepared.map_err(|error| outcome::failed_outcome(&error))?;
    if add_plan_facts(session, called, facts, &prepared.plan) {
        hands = session.tool_context.restrict_to(facts.all());
    }
    let can_try =
        opens.is_empty() && rehearsed.is_none() && called.0.tool.can_dry_run(&hands).await;
    let in_place = !can_try
        && opens.is_empty()
        && rehearsed.is_none()
        && unsecured.is_none()
        && needs_snapshot(session, called)
        && called.0.tool.can_run_in_place(&hands).await;
    let undo = match (unsecured, &prepared.plan) {
        (Some(reason), _) => UndoAvailability::Unsecured { reason },
        (None, Plan::None) if rehearsed.is_some() || !opens.is_empty() => {
            UndoAvailability::NotNeeded
        }
        (None, Plan::None) if can_try => UndoAvailability::Captured,
        (None, Plan::None) if in_place => UndoAvailability::Pictured,
        (None, Plan::None) => prepare_without_plan(session, called, arguments),
        (None, plan) => session
            .engine
            .history
            .undo_availability(&session.tool_context.workspace, plan),
    };
    Ok(PreparedCall {
        preview: prepared.preview,
        plan: prepared.plan,
        undo,
        new_roots: opens,
        can_dry_run: can_try,
        in_place,
        confinement: called.0.tool.confinement(),
        dry_run: rehearsed
            .as_ref()
            .map(|rehearsed| rehearsed.policy_effects(session)),
        tool_context: hands,
        repeat_key: CallKey::from_call(called.id(), arguments),
    })
}

/// Whether a picture is to be taken for a call of this tool, where one can be.
fn needs_snapshot(session: &Session, called: &ResolvedTool<'_>) -> bool {
    match called.0.tool.confinement() {
        Confinement::Held => true,
        Confinement::Remote => false,
        Confinement::Unconfined | Confinement::Room => session
            .engine
            .settings()
            .server_tools
            .requires_snapshot(called.id()),
    }
}

/// Adds what a plan writes that the call itself did not name, because only a look could tell: it is judged, shown and held to
/// the tool's requirements with the rest. Answers whether there was any. What a command did is judged by itself.
fn add_plan_facts(
    session: &Session,
    called: &ResolvedTool<'_>,
    facts: &mut CallFacts,
    plan: &Plan,
) -> bool {
    let Plan::Write(changes) = plan else {
        return false;
    };
    let ground = AccessResolver::Disk(&session.tool_context.workspace);
    let mut found = false;
    for change in changes {
        let capability = match change.after {
            Some(_) => Capability::FsWrite,
            None => Capability::FsDelete,
        };
        let is_named = |fact: &protocol::ResolvedAccess| {
            fact.capability == capability
                && fact.inside
                && !fact.derived
                && fact.real == change.path
        };
        if !facts.all().iter().any(is_named) {
            facts.add(ground.resolve_access(&Access::new(capability, change.path.as_str())));
            found = true;
        }
    }
    if found {
        agent_bounds::restrict_to_bounds(session, called.interface(), facts);
    }
    found
}

/// Digest of call, tool, arguments, folder, preview, plan and outlook: what a decision must name.
pub(crate) fn approval_digest(
    session: &Session,
    call: &ToolCall,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    ready: &PreparedCall,
) -> Digest {
    Digest::from_json(&(
        &call.id,
        called.id(),
        arguments,
        session.tool_context.workspace.root(),
        &ready.preview,
        ready.plan.digest(),
        &ready.undo,
    ))
}

/// A call without a plan either changes nothing or nobody can say what.
fn prepare_without_plan(
    session: &Session,
    called: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> UndoAvailability {
    let runs = called
        .0
        .tool
        .accesses(arguments)
        .iter()
        .any(|access| match access.capability {
            Capability::ShellRun | Capability::FsWrite | Capability::FsDelete => true,
            // What is only read from elsewhere changes nothing there.
            Capability::NetFetch => !called.only_reads(),
            Capability::FsRead => false,
        });
    // A program of this machine may change something, unless the person says that it does not.
    let is_open = match called.0.tool.confinement() {
        Confinement::Unconfined | Confinement::Room => {
            let settings = session.engine.settings();
            !settings.server_tools.is_read_only(called.id())
        }
        Confinement::Held | Confinement::Remote => false,
    };
    match runs || is_open {
        false => UndoAvailability::NotNeeded,
        true => UndoAvailability::Unsecured {
            reason: "what it changes is not known before it runs.".to_owned(),
        },
    }
}
