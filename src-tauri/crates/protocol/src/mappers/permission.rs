//! 003: decisions as permission records, made from a trail or from a person's decision.

use serde_json::{Map, Value, json};

use crate::{Decision, Gate, Trail};

/// Maps a decision that was made without asking.
pub(super) fn map_policy_decision(id: &str, trail: &Trail) -> Value {
    let rule = trail.steps.iter().flat_map(|step| &step.rules);
    let rules: Vec<_> = rule
        .filter(|trace| trace.won)
        .map(|trace| &trace.rule)
        .collect();
    let kind = match trail
        .steps
        .iter()
        .rev()
        .find(|step| step.verdict == Some(trail.verdict))
    {
        _ if !rules.is_empty() => "rule",
        Some(step) => match step.gate {
            Gate::Mode => "mode",
            Gate::Capability => "working_dir",
            Gate::Watchdog => "safety_check",
            Gate::Rules => "rule",
            Gate::Effects
            | Gate::Undo
            | Gate::Interaction
            | Gate::SkippedAsks
            | Gate::Headless
            | Gate::Consent => "other",
        },
        None => "other",
    };
    json!({
        "decision_id": id,
        "behavior": trail.verdict,
        "source": "policy settings",
        "reason": { "type": kind, "text": trail.lead },
        "rule_refs": rules,
        "user_modified": false,
    })
}

/// Maps a person's decision; none for a dry run, network access or other arguments, which are no decision: the call is
/// shown again.
pub(super) fn map_person_decision(id: &str, decision: &Decision) -> Option<Value> {
    let (behavior, note, modified) = match decision {
        Decision::Allow { hunks, note, .. } => ("allow", note.as_str(), hunks.is_some()),
        Decision::InPlace { .. } => ("allow", "", false),
        Decision::Answer { .. } => ("allow", "", true),
        Decision::Reject { note, .. } => ("deny", note.as_str(), false),
        Decision::Skip => ("deny", "", false),
        Decision::DryRun | Decision::WithNetwork { .. } | Decision::Edit { .. } => return None,
    };
    Some(json!({
        "decision_id": id,
        "behavior": behavior,
        "source": "command",
        "reason": { "type": "permission_prompt", "text": note },
        "user_modified": modified,
    }))
}

/// Returns the names of the members that differ.
pub(super) fn list_changed_members(
    from: &Map<String, Value>,
    to: &Map<String, Value>,
) -> Vec<String> {
    let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&String| from.get(name.as_str()) != to.get(name.as_str());
    names.into_iter().filter(differs).cloned().collect()
}
