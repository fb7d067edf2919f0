//! The verdict on the effects of a dry run: every path that the call changed is judged by the rules for changing it.

use std::path::Path;

use protocol::rule::evidence::{DryRunEvidence, GitSettingsChange};
use protocol::rule::verdict::{RuleTrace, TrailStep};
use protocol::{At, Capability, Gate, ResolvedAccess, RuleAction, RuleScope, Verdict};

use crate::explanation;
use crate::request::EvaluationRequest;
use crate::rules::traces::merge_traces;
use crate::rules::{RuleDecision, RuleSet, Subject, SubjectKind, quote_truncated};

/// How many paths are spoken of one by one.
const LISTED_PATHS_MAX: usize = 3;

/// How many paths a command may change without a question, where undoable changes need none.
const UNASKED_CHANGES_MAX: usize = 200;

/// Notice on a new repository, where files that nobody may change in an existing one are shown to the person instead.
const NEW_REPOSITORY_NOTICE: &str = "It begins a repository, whose configuration and hooks run programs later on: they are yours to look at.";

/// Notice on a command that its agent runs itself.
const DELEGATED_NOTICE: &str = "The agent runs it itself and may do something else than that, so its effects alone do not let it pass.";

/// Judges the effects of a dry run by the rules. A path that no rule matches asks, unless the call itself was let
/// through before, or the person wants no question about what a file tool would be let through with.
pub(crate) fn evaluate_effects(
    request: &EvaluationRequest<'_>,
    dry_run: &DryRunEvidence,
) -> TrailStep {
    let mut verdict = Verdict::Allow;
    let mut rules = Vec::new();
    let mut reasons = vec![summarize_changes(dry_run)];
    let mut begins = false;
    for fact in &dry_run.effects {
        let subject = effect_subject(request, fact);
        let otherwise = unruled_verdict(dry_run, fact);
        let decision = request
            .rules
            .evaluate_subject(&subject, request.now, otherwise);
        let effect_verdict = match decision.verdict.unwrap_or(otherwise) {
            Verdict::Deny
                if is_in_new_repository(dry_run, fact) && is_builtin_denial(&decision) =>
            {
                begins = true;
                Verdict::Ask
            }
            Verdict::Deny if are_known_settings(dry_run, fact) && is_builtin_denial(&decision) => {
                otherwise
            }
            effect_verdict => {
                if effect_verdict != Verdict::Allow && reasons.len() <= LISTED_PATHS_MAX {
                    reasons.extend(explanation::explain_piece(&subject, &decision));
                }
                effect_verdict
            }
        };
        verdict = verdict.max(effect_verdict);
        merge_traces(&mut rules, decision.traces);
    }
    for host in &dry_run.response_hosts {
        let decision = evaluate_response(request.rules, request.tool, host, request.now);
        let effect_verdict = decision.verdict.unwrap_or(Verdict::Allow);
        if effect_verdict != Verdict::Allow {
            let fact = ResolvedAccess::new_inside(Capability::NetFetch, host.clone());
            reasons.extend(explanation::explain_piece(
                &response_subject(request.tool, &fact),
                &decision,
            ));
        }
        verdict = verdict.max(effect_verdict);
        merge_traces(&mut rules, decision.traces);
    }
    let outside = evaluate_outside_reads(request, dry_run);
    if let Some(read) = outside {
        verdict = verdict.max(read.verdict);
        reasons.extend(read.reasons);
        merge_traces(&mut rules, read.traces);
    }
    if begins {
        reasons.push(NEW_REPOSITORY_NOTICE.to_owned());
    }
    if dry_run.effects.is_empty() && !dry_run.agreed && !dry_run.nothing_is_allowed {
        verdict = verdict.max(Verdict::Ask);
    }
    if dry_run.delegated && !dry_run.agreed {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(DELEGATED_NOTICE.to_owned());
    }
    // Data that was sent cannot be taken back: nobody wants that to go unseen.
    let has_only_sent = dry_run.effects.is_empty() || dry_run.undoable_is_allowed;
    if !dry_run.reached.is_empty() && has_only_sent && !dry_run.agreed {
        verdict = verdict.max(Verdict::Ask);
    }
    if !dry_run.agreed && count_looked_at(dry_run) > UNASKED_CHANGES_MAX {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(format!(
            "More than {UNASKED_CHANGES_MAX} paths are looked at, even where each could be undone."
        ));
    }
    // Whoever let the command through did not know that it plants something.
    if !dry_run.later_runs.is_empty() {
        verdict = verdict.max(Verdict::Ask);
        reasons.extend(dry_run.later_runs.iter().take(LISTED_PATHS_MAX).cloned());
    }
    // Nor that it says anew where commits go.
    if let Some(GitSettingsChange::Other(names)) = &dry_run.git_settings {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(describe_settings(names));
    }
    let consequences = dry_run.loss.iter().chain(&dry_run.extent);
    let consequences = consequences.chain(&dry_run.repository_change);
    if !dry_run.agreed {
        for reason in consequences {
            verdict = verdict.max(Verdict::Ask);
            reasons.push(reason.clone());
        }
    }
    // A command that only uses a remote did nothing of what it is for.
    if let (Some(used), false, true) = (
        request.facts.remotes().first(),
        dry_run.agreed,
        dry_run.reached.is_empty(),
    ) {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(format!(
            "It could not reach the remote `{}` at `{}`.",
            quote_truncated(&used.remote),
            quote_truncated(&used.address)
        ));
    }
    // A person would want to know of refusals before the call counts as done.
    if dry_run.refused > 0 && !dry_run.agreed && !leaves_out_secrets(request, dry_run) {
        verdict = verdict.max(Verdict::Ask);
    }
    // Whoever let it through did not know that it does something else here than outside.
    if let (Some(first), false) = (dry_run.secrets.first(), dry_run.effects.is_empty()) {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(describe_missing_secrets(first, dry_run.secrets.len()));
    }
    rules.sort_by_key(|trace| std::cmp::Reverse((trace.won, Verdict::from(trace.rule.action))));
    TrailStep {
        gate: Gate::Effects,
        verdict: Some(verdict),
        text: reasons.join(" "),
        rules,
    }
}

/// The verdict on the files that a dry run read outside of the workspace.
struct OutsideReads {
    verdict: Verdict,
    reasons: Vec<String>,
    traces: Vec<RuleTrace>,
}

/// Judges the files that a dry run read outside of the workspace; none if there are none. No word of the command named
/// them, so only a rule that names them, or allows the call itself, lets it read them without a question.
fn evaluate_outside_reads(
    request: &EvaluationRequest<'_>,
    dry_run: &DryRunEvidence,
) -> Option<OutsideReads> {
    let otherwise = match dry_run.agreed {
        true => Verdict::Allow,
        false => Verdict::Ask,
    };
    let mut judged = OutsideReads {
        verdict: Verdict::Allow,
        reasons: Vec::new(),
        traces: Vec::new(),
    };
    let mut unruled = Vec::new();
    for path in &dry_run.outside_reads {
        let fact = ResolvedAccess {
            inside: false,
            ..ResolvedAccess::new_inside(Capability::FsRead, path)
        };
        let subject = effect_subject(request, &fact);
        let decision = request
            .rules
            .evaluate_subject(&subject, request.now, otherwise);
        let verdict = decision.verdict.unwrap_or(otherwise);
        judged.verdict = judged.verdict.max(verdict);
        match explanation::explain_piece(&subject, &decision) {
            _ if verdict == Verdict::Allow => {}
            Some(reason) if judged.reasons.len() < LISTED_PATHS_MAX => judged.reasons.push(reason),
            Some(_) => {}
            None => unruled.push(path.as_str()),
        }
        merge_traces(&mut judged.traces, decision.traces);
    }
    if let Some((first, more)) = unruled.split_first() {
        judged
            .reasons
            .push(describe_outside_reads(first, more.len()));
    }
    (!dry_run.outside_reads.is_empty()).then_some(judged)
}

fn describe_outside_reads(first: &str, more: usize) -> String {
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "It read `{}`{more}, outside of the workspace.",
        quote_truncated(first)
    )
}

/// Returns the verdict on a changed path that no rule matches.
fn unruled_verdict(dry_run: &DryRunEvidence, fact: &ResolvedAccess) -> Verdict {
    // Only the repository of the workspace itself was examined, and none below it.
    let is_everyday = dry_run.is_everyday_git && fact.real.starts_with(".git/");
    let is_undoable = is_everyday || !changes_repository(fact);
    match dry_run.agreed || (dry_run.undoable_is_allowed && is_undoable) {
        true => Verdict::Allow,
        false => Verdict::Ask,
    }
}

/// Returns how many changed paths a person would look at: none that a build makes again, and none of git's own records,
/// which were examined.
fn count_looked_at(dry_run: &DryRunEvidence) -> usize {
    let is_record =
        |fact: &&ResolvedAccess| dry_run.is_everyday_git && fact.real.starts_with(".git/");
    let records = dry_run.effects.iter().filter(is_record).count();
    let builds = usize::try_from(dry_run.build_outputs).unwrap_or(usize::MAX);
    let others = dry_run.effects.len() - records;
    others.saturating_sub(builds)
}

/// Whether a path is one of git's own, other than its list of what is staged: what a branch, a tag or the configuration
/// says is no file of the project, and no file tool changes it.
fn changes_repository(fact: &ResolvedAccess) -> bool {
    let parts: Vec<&str> = fact.real.split('/').collect();
    let git = parts
        .iter()
        .position(|part| part.eq_ignore_ascii_case(".git"));
    git.is_some_and(|at| parts[at + 1..] != ["index"])
}

/// Whether any rule of a request, in force or not, matches the effects of the call's dry run.
pub fn has_effect_rule(request: &EvaluationRequest<'_>) -> bool {
    let spoken_of = |subject: &Subject<'_>| {
        let decision = request
            .rules
            .evaluate_subject(subject, request.now, Verdict::Ask);
        !decision.traces.is_empty()
    };
    let (tool, now) = (request.tool, request.now);
    request.dry_run.is_some_and(|dry_run| {
        let mut changed = dry_run.effects.iter();
        let mut hosts = dry_run.response_hosts.iter();
        changed.any(|fact| spoken_of(&effect_subject(request, fact)))
            || hosts.any(|host| {
                !evaluate_response(request.rules, tool, host, now)
                    .traces
                    .is_empty()
            })
    })
}

/// Returns the subject for a path that a call changed.
fn effect_subject<'a>(request: &EvaluationRequest<'a>, fact: &'a ResolvedAccess) -> Subject<'a> {
    Subject {
        mode: request.tool_class.mode,
        is_named_removal: request.facts.removes(&fact.real),
        exact_digest: request.facts.exact_digest(),
        ..Subject::new(request.tool, SubjectKind::Effect(fact))
    }
}

/// Whether all that a dry run was refused are secrets below folders that it searched, and it changed nothing and reached no
/// host: it left them out, as the search of a file tool does. Whoever names a secret wants to read it.
fn leaves_out_secrets(request: &EvaluationRequest<'_>, dry_run: &DryRunEvidence) -> bool {
    let root = Path::new(request.rules.root().unwrap_or_default());
    let is_searched = |secret: &String| {
        let mut searched = request.facts.recursive_reads();
        searched.any(|folder| Path::new(secret).starts_with(root.join(&folder.real)))
    };
    let is_named = |secret: &String| {
        let name = Path::new(secret).file_name().unwrap_or_default();
        let mut facts = request.facts.all().iter();
        facts.any(|fact| match fact.capability == Capability::ShellRun {
            true => fact.target.contains(&*name.to_string_lossy()),
            false => root.join(&fact.real) == Path::new(secret),
        })
    };
    dry_run.effects.is_empty()
        && dry_run.reached.is_empty()
        && dry_run.refused == dry_run.secrets.len() as u64
        && dry_run
            .secrets
            .iter()
            .all(|secret| is_searched(secret) && !is_named(secret))
}

/// Describes effects of a dry run that was refused the contents of secrets.
fn describe_missing_secrets(first: &str, secrets: usize) -> String {
    let more = match secrets - 1 {
        0 => String::new(),
        1 => " and 1 more".to_owned(),
        more => format!(" and {more} more"),
    };
    format!(
        "It was refused the secret `{first}`{more}, so what it did may not be what it does with it: look closely."
    )
}

/// Whether a rule asks about the answer of one of these hosts, or denies reading it. An answer that no rule matches may
/// be read.
pub fn requires_response_review(rules: &RuleSet, tool: &str, hosts: &[String], now: At) -> bool {
    let mut hosts = hosts.iter();
    hosts.any(|host| evaluate_response(rules, tool, host, now).verdict > Some(Verdict::Allow))
}

fn evaluate_response(rules: &RuleSet, tool: &str, host: &str, now: At) -> RuleDecision {
    let fact = ResolvedAccess::new_inside(Capability::NetFetch, host);
    rules.evaluate_subject(&response_subject(tool, &fact), now, Verdict::Allow)
}

fn response_subject<'a>(tool: &'a str, fact: &'a ResolvedAccess) -> Subject<'a> {
    Subject::new(tool, SubjectKind::Response(fact))
}

/// Denies effects beyond the surface of the agent: the capability check of a dry run, which no rule lifts.
pub(crate) fn check_effects_scope(dry_run: &DryRunEvidence) -> Option<TrailStep> {
    let beyond = dry_run.beyond.as_ref();
    beyond.map(|why| TrailStep::new(Gate::Capability, Verdict::Deny, why))
}

/// Whether a path lies in a repository that came to be in the same run.
fn is_in_new_repository(dry_run: &DryRunEvidence, fact: &ResolvedAccess) -> bool {
    let mut repositories = dry_run.begun.iter();
    repositories.any(|git| {
        let below = fact.real.strip_prefix(git.as_str());
        below.is_some_and(|below| below.starts_with('/'))
    })
}

/// Whether a path is that of the repository's settings, of which none that could run a program changed.
fn are_known_settings(dry_run: &DryRunEvidence, fact: &ResolvedAccess) -> bool {
    dry_run.git_settings.is_some() && fact.real == ".git/config"
}

/// Describes a change of git's settings by their names.
fn describe_settings(names: &[String]) -> String {
    let named = names.iter().take(LISTED_PATHS_MAX);
    let named: Vec<String> = named.map(|name| format!("`{name}`")).collect();
    let more = match names.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("It changes settings of git: {}{more}.", named.join(", "))
}

/// Whether only built-in protections deny, and no rule that anybody wrote.
fn is_builtin_denial(decision: &RuleDecision) -> bool {
    let mut denials = decision
        .traces
        .iter()
        .filter(|trace| trace.rule.action == RuleAction::Deny);
    denials.all(|trace| trace.rule.scope == RuleScope::Builtin)
}

/// Whether the verdict on the effects settles the asks of the gates before: it does where only the mode of the call, or
/// the lack of a rule, made them ask, or doubt about what runs; not where a rule, a watchdog or a place did, where the person wants to be asked
/// about everything, or where the rules could not be read.
pub(crate) fn can_settle_ask(request: &EvaluationRequest<'_>, steps: &[TrailStep]) -> bool {
    let asks = |step: &&TrailStep| step.verdict == Some(Verdict::Ask);
    !request.ask_for_everything
        && request.rules.broken.is_none()
        && steps.iter().filter(asks).all(|step| match step.gate {
            Gate::Mode => true,
            Gate::Rules => !asks_by_rule(step),
            Gate::Capability => can_settle_doubt(request),
            Gate::Watchdog
            | Gate::Effects
            | Gate::Undo
            | Gate::Interaction
            | Gate::SkippedAsks
            | Gate::Headless
            | Gate::Consent => false,
        })
}

/// Whether a rule made a step ask.
pub(crate) fn asks_by_rule(step: &TrailStep) -> bool {
    let mut rules = step.rules.iter();
    rules.any(|trace| trace.won && Verdict::from(trace.rule.action) == Verdict::Ask)
}

/// Whether every change of a dry run is one that a file tool would be let through with, where the person judges calls by
/// their effects.
pub(crate) fn are_undoable(dry_run: &DryRunEvidence) -> bool {
    let mut effects = dry_run.effects.iter();
    dry_run.undoable_is_allowed
        && effects.all(|fact| unruled_verdict(dry_run, fact) == Verdict::Allow)
}

/// Whether the effects settle a doubt about what a command runs: where the person judges commands by what they change,
/// it is known now. Not where a rule restricts commands, which the doubtful one may be, nor before a place is opened.
pub(crate) fn can_settle_doubt(request: &EvaluationRequest<'_>) -> bool {
    let judges_effects = match request.dry_run {
        Some(dry_run) => dry_run.undoable_is_allowed,
        None => request.dry_run_first,
    };
    let mode = request.tool_class.mode;
    judges_effects
        && !request.facts.has_only_mentions()
        && request.facts.roots_to_open().next().is_none()
        && !request
            .rules
            .restricts_commands(request.tool, mode, request.now)
}

fn summarize_changes(dry_run: &DryRunEvidence) -> String {
    if !dry_run.response_hosts.is_empty() {
        let hosts = dry_run.response_hosts.join(", ");
        return format!("It came from {hosts}, and the agent has not read it.");
    }
    let changed = match dry_run.effects.len() {
        0 => "nothing".to_owned(),
        1 => "1 path".to_owned(),
        many => format!("{many} paths"),
    };
    let refused = match dry_run.refused {
        0 => "nothing".to_owned(),
        1 => "1 thing".to_owned(),
        many => format!("{many} things"),
    };
    let reached = match dry_run.reached.is_empty() {
        true => String::new(),
        false => format!(" It reached {}.", dry_run.reached.join(", ")),
    };
    let without = match dry_run.own_settings.first() {
        Some(first) => format!(" It ran without the settings in `{first}`."),
        None => String::new(),
    };
    let ran = match dry_run.for_real {
        true => "Run for real",
        false => "In a dry run",
    };
    format!("{ran}, it changed {changed} and was refused {refused}.{reached}{without}")
}

#[cfg(test)]
mod tests;
