//! Steps 3 and 4: resolving the accesses of a call, and preparing its preview and plan.

use std::path::Path;

use policy::CallFacts;
use policy::audience::sends_something;
use protocol::rule::evidence::{ArgumentValue, Confinement, DryRunEvidence};
use protocol::server::audience::Audience;
use protocol::view::preview::UndoAvailability;
use protocol::{Access, Capability, Digest, Plan, Preview, ToolError};
use tools::{PreviewedPlan, ToolContext};

use crate::permissions::access_resolver::AccessResolver;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::Attempt;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::changes::ChangeFindings;
use crate::pipeline::{bounds, changes, outcome};
use crate::session::Session;
use crate::session::run_state::repeats::CallKey;

/// Everything that is shown of a call, and that an approval of the call is bound to.
pub(crate) struct PreparedCall {
    /// Resolved accesses of the call, including those of its plan.
    pub facts: CallFacts,
    pub preview: Preview,
    pub plan: Plan,
    pub undo: UndoAvailability,
    /// Folders that a person opens for reading by allowing the call; nothing else happens then, and the call is judged
    /// again.
    pub new_roots: Vec<String>,
    /// Whether the call can run in a dry run, and has not done so yet.
    pub can_dry_run: bool,
    /// Whether the call runs for real over a snapshot of the workspace, because no stronger protection is available.
    pub in_place: bool,
    /// Means by which the tool is confined to the accesses that the call was judged on.
    pub confinement: Confinement,
    /// Effects of the dry run, as evidence for the verdict; none if the call has not run yet.
    pub dry_run: Option<DryRunEvidence>,
    /// What the changes mean that are known without a dry run.
    pub changes: ChangeFindings,
    /// Tool context, restricted to the accesses that the call was judged on.
    pub tool_context: ToolContext,
    /// Key that is equal for repetitions of the same call.
    pub repeat_key: CallKey,
}

impl PreparedCall {
    /// Returns a call with these facts for which nothing was prepared.
    pub fn unprepared(session: &Session, facts: CallFacts, undo: UndoAvailability) -> Self {
        Self {
            preview: Preview::Nothing,
            plan: Plan::None,
            undo,
            new_roots: facts.roots_to_open().map(str::to_owned).collect(),
            can_dry_run: false,
            in_place: false,
            confinement: Confinement::Held,
            dry_run: None,
            changes: ChangeFindings::default(),
            tool_context: session.tool_context.restrict_to(facts.all()),
            repeat_key: CallKey::default(),
            facts,
        }
    }

    /// Returns a call that is denied before anything is prepared: its tool context allows nothing.
    pub fn denied(session: &Session, facts: CallFacts) -> Self {
        Self {
            new_roots: Vec::new(),
            tool_context: session.tool_context.restrict_to(&[]),
            ..Self::unprepared(session, facts, UndoAvailability::NotNeeded)
        }
    }

    /// Returns the same call after it ran in place, with its new preview and its effects.
    pub fn after_in_place_run(
        &self,
        previewed_plan: PreviewedPlan,
        evidence: DryRunEvidence,
    ) -> Self {
        Self {
            facts: self.facts.clone(),
            preview: previewed_plan.preview,
            plan: previewed_plan.plan,
            undo: UndoAvailability::Snapshot,
            new_roots: Vec::new(),
            can_dry_run: false,
            in_place: false,
            confinement: self.confinement,
            dry_run: Some(evidence),
            changes: ChangeFindings::default(),
            tool_context: self.tool_context.clone(),
            repeat_key: self.repeat_key,
        }
    }
}

/// Restores the compressed long outputs of the session that the call reads.
///
/// # Errors
/// An output that was removed ends the call with an error that says when the output was removed.
pub(crate) fn restore_outputs(session: &Session, accesses: &[Access]) -> Result<(), Abort> {
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

/// Resolves all accesses that the call declares, and restricts them to those that its tool requires.
pub(crate) fn resolve_facts(cx: &CallContext<'_>, accesses: &[Access]) -> CallFacts {
    let tool = &cx.tool.0.tool;
    let resolver = AccessResolver::Disk(&cx.session.tool_context.workspace);
    let mut facts = resolver.resolve_accesses(accesses);
    facts.set_confinement(tool.confinement());
    if !tool.confinement().is_default() {
        let arguments = ArgumentValue::collect_from(&cx.arguments);
        let others_read = tool.audience() == Some(Audience::Others);
        if others_read && sends_something(cx.tool.0.classified, &arguments) {
            facts.set_sent_to_others(cx.tool.interface().identity.namespace.clone());
        }
        facts.set_arguments(arguments);
    }
    resolver.add_mentions(&mut facts, &tool.mentions(&cx.arguments));
    bounds::restrict_to_bounds(cx.session, cx.tool.interface(), &mut facts);
    facts
}

/// Prepares the preview and plan of the call; after a dry run, takes them from its result. Changes nothing.
///
/// # Errors
/// The call cannot succeed: it fails here, before anybody is asked.
pub(crate) async fn prepare_call(
    cx: &CallContext<'_>,
    accesses: &[Access],
    mut facts: CallFacts,
    attempt: &Attempt,
) -> Result<PreparedCall, Abort> {
    let session = cx.session;
    let tool = &cx.tool.0.tool;
    let mut tool_context = session.tool_context.restrict_to(facts.all());
    let new_roots: Vec<String> = facts.roots_to_open().map(str::to_owned).collect();
    let previewed = match &attempt.dry_run {
        Some(result) => Ok(result.previewed().clone()),
        // The tool could not look at it yet.
        None if !new_roots.is_empty() => Ok(PreviewedPlan {
            preview: Preview::Nothing,
            plan: Plan::None,
        }),
        None => tool.prepare(&cx.arguments, &tool_context).await,
    };
    let PreviewedPlan { mut preview, plan } =
        previewed.map_err(|error| outcome::failed_outcome(&error))?;
    if !cx.is_held() {
        mark_delegated(&mut preview);
    }
    if add_plan_facts(cx, &mut facts, &plan) {
        tool_context = session.tool_context.restrict_to(facts.all());
    }
    let is_open = new_roots.is_empty() && attempt.dry_run.is_none();
    let can_dry_run = is_open && tool.can_dry_run(&tool_context).await;
    let in_place = is_open
        && !can_dry_run
        && attempt.snapshot_failure.is_none()
        && needs_snapshot(cx)
        && tool.can_run_in_place(&tool_context).await;
    let undo = match (&attempt.snapshot_failure, &plan) {
        (Some(reason), _) => UndoAvailability::Unsecured {
            reason: reason.clone(),
        },
        (None, Plan::None) if !is_open => UndoAvailability::NotNeeded,
        (None, Plan::None) if can_dry_run => UndoAvailability::Captured,
        (None, Plan::None) if in_place => UndoAvailability::Snapshot,
        (None, Plan::None) => undo_without_plan(cx, accesses),
        (None, Plan::Effects(_)) if preview.is_delegated() => UndoAvailability::Snapshot,
        (None, plan) => session
            .engine
            .history
            .undo_availability(&session.tool_context.workspace, plan),
    };
    let mut changes = changes::examine_changes(session, &plan).await;
    let dry_run = attempt
        .dry_run
        .as_ref()
        .map(|result| changes.move_to(result.policy_effects(cx)));
    Ok(PreparedCall {
        facts,
        preview,
        plan,
        undo,
        new_roots,
        can_dry_run,
        in_place,
        confinement: tool.confinement(),
        dry_run,
        changes,
        tool_context,
        repeat_key: CallKey::from_call(cx.tool.id(), &cx.arguments),
    })
}

/// Says in the preview of a command that the agent runs it itself: it cannot be run in place here.
fn mark_delegated(preview: &mut Preview) {
    let command = match preview {
        Preview::Command(command) => command,
        Preview::Effects(shown) => &mut shown.command,
        _ => return,
    };
    command.delegated = true;
    command.in_place = false;
}

/// Whether a snapshot should be taken for a call of this tool, if one can be taken.
fn needs_snapshot(cx: &CallContext<'_>) -> bool {
    match cx.tool.0.tool.confinement() {
        Confinement::Held => true,
        Confinement::Remote => false,
        Confinement::Unconfined | Confinement::Sandboxed => cx
            .session
            .engine
            .settings()
            .server_tools
            .requires_snapshot(cx.tool.id()),
    }
}

/// Adds the writes and deletions of a plan that the call itself did not declare because they depend on the files: they
/// are judged, shown and restricted to the tool's requirements like the rest. Returns whether there were any. Effects
/// of a command are judged separately.
fn add_plan_facts(cx: &CallContext<'_>, facts: &mut CallFacts, plan: &Plan) -> bool {
    let Plan::Write(changes) = plan else {
        return false;
    };
    let resolver = AccessResolver::Disk(&cx.session.tool_context.workspace);
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
            facts.add(resolver.resolve_access(&Access::new(capability, change.path.as_str())));
            found = true;
        }
    }
    if found {
        bounds::restrict_to_bounds(cx.session, cx.tool.interface(), facts);
    }
    found
}

/// Returns the digest of call, tool, arguments, workspace folder, preview, plan and availability of undo, which a
/// decision must name.
pub(crate) fn approval_digest(cx: &CallContext<'_>, prepared: &PreparedCall) -> Digest {
    Digest::from_json(&(
        &cx.call.id,
        cx.tool.id(),
        &cx.arguments,
        cx.session.tool_context.workspace.root(),
        &prepared.preview,
        prepared.plan.digest(),
        &prepared.undo,
    ))
}

/// Returns the availability of undo for a call without a plan: such a call either changes nothing, or its changes
/// cannot be known.
fn undo_without_plan(cx: &CallContext<'_>, accesses: &[Access]) -> UndoAvailability {
    let may_change = accesses.iter().any(|access| match access.capability {
        Capability::ShellRun | Capability::FsWrite | Capability::FsDelete => true,
        // A call that only reads from elsewhere changes nothing there.
        Capability::NetFetch => !cx.tool.only_reads(),
        Capability::FsRead => false,
    });
    // A program of this machine may change something, unless the person says that it does not.
    let is_program = match cx.tool.0.tool.confinement() {
        Confinement::Unconfined | Confinement::Sandboxed => {
            let settings = cx.session.engine.settings();
            !settings.server_tools.is_read_only(cx.tool.id())
        }
        Confinement::Held | Confinement::Remote => false,
    };
    match may_change || is_program {
        false => UndoAvailability::NotNeeded,
        true => UndoAvailability::Unsecured {
            reason: "what it changes is not known before it runs.".to_owned(),
        },
    }
}
