//! Which asks a person can skip for a while: those about calls whose effects are known and can be taken back (M32).

use protocol::rule::evidence::{DryRunEvidence, GitSettingsChange};
use protocol::rule::verdict::TrailStep;
use protocol::{Capability, Gate, ToolMode, Verdict};

use crate::effects;
use crate::request::EvaluationRequest;

/// The step of a call that would have asked.
const SKIPPED_REASON: &str = "You skip asks for a while.";

/// Returns the step that lets a call through which would ask, given the steps of the gates so far; none if the person does
/// not skip asks, or an ask is none that can be skipped.
pub(crate) fn skip_ask(request: &EvaluationRequest<'_>, steps: &[TrailStep]) -> Option<TrailStep> {
    let mut asks = steps
        .iter()
        .filter(|step| step.verdict == Some(Verdict::Ask));
    let can_skip = request.skips_asks
        && request.rules.broken.is_none()
        && has_known_effects(request)
        && asks.all(|step| can_skip_step(request, step));
    can_skip.then(|| TrailStep::new(Gate::SkippedAsks, Verdict::Allow, SKIPPED_REASON))
}

/// Whether what the call does is known and stays on this machine: by its dry run, or by what kind of call it is.
fn has_known_effects(request: &EvaluationRequest<'_>) -> bool {
    if request.facts.sent_to_others().is_some() {
        return false;
    }
    if let Some(dry_run) = request.dry_run {
        return !dry_run.delegated;
    }
    let mut facts = request.facts.all().iter();
    let runs_command = facts.any(|fact| fact.capability == Capability::ShellRun);
    match request.tool_class.mode {
        Some(ToolMode::Local) => false,
        Some(ToolMode::Read | ToolMode::SafeWrite | ToolMode::Destructive | ToolMode::External) => {
            !runs_command
        }
        // A call of somebody else's tool whose name says that it reads (M26).
        None => request.tool_class.verb_permission.is_some(),
    }
}

fn can_skip_step(request: &EvaluationRequest<'_>, step: &TrailStep) -> bool {
    match step.gate {
        Gate::Mode => true,
        Gate::Rules => !effects::asks_by_rule(step),
        Gate::Capability => effects::can_settle_doubt(request),
        Gate::Effects => request
            .dry_run
            .is_some_and(|dry_run| can_skip_effects(request, dry_run, step)),
        Gate::Watchdog
        | Gate::Undo
        | Gate::Interaction
        | Gate::SkippedAsks
        | Gate::Headless
        | Gate::Consent => false,
    }
}

/// Whether effects ask only because of their number, of what was refused, or of the hosts that were reached: all that they
/// changed can be undone, and nothing of it is lost, runs later, or concerns a repository or a secret.
fn can_skip_effects(
    request: &EvaluationRequest<'_>,
    dry_run: &DryRunEvidence,
    step: &TrailStep,
) -> bool {
    let has_done_its_work = request.facts.remotes().is_empty() || !dry_run.reached.is_empty();
    let changes_settings = matches!(dry_run.git_settings, Some(GitSettingsChange::Other(_)));
    let misses_secret = !dry_run.secrets.is_empty() && !dry_run.effects.is_empty();
    effects::are_undoable(dry_run)
        && has_done_its_work
        && !effects::asks_by_rule(step)
        && !changes_settings
        && !misses_secret
        && dry_run.begun.is_empty()
        && dry_run.outside_reads.is_empty()
        && dry_run.later_runs.is_empty()
        && dry_run.loss.is_none()
        && dry_run.extent.is_empty()
        && dry_run.repository_change.is_none()
}

#[cfg(test)]
mod tests;
